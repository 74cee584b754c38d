"""Marks in the place of secrets, and the way back."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.privacy.redactor import KnownSecrets, RedactedText, Redactor, UnknownMark, new_marks
from tests.support.canaries import keys, private_key, random_letters

KEYS = keys()
AWS = KEYS["AWS key"]
OTHER = keys(2)["AWS key"]
TEXTS = st.lists(
    st.one_of(
        st.text(max_size=20),
        st.sampled_from(sorted(KEYS.values())),
        st.sampled_from(
            [
                *(f"'{key}'\n" for key in keys(2).values()),
                *("password = 'hunter2x!'\n", "\n", '"', " ", private_key(n_lines=2)),
                *("[redacted: AWS key #1]", "[redacted: secret #2]", "[redacted: "),
            ]
        ),
    ),
    max_size=8,
).map(" ".join)


def test_each_secret_has_a_mark_of_its_own_and_keeps_it() -> None:
    redactor = Redactor()
    text = f"a = '{AWS}'\nb = '{OTHER}'\nc = '{AWS}'\n"
    assert redactor.redact(text) == RedactedText(
        "a = '[redacted: AWS key #1]'\nb = '[redacted: AWS key #2]'\nc = '[redacted: AWS key #1]'\n",
        {"AWS key": 3},
    )
    assert redactor.redact(f"{OTHER} {AWS}").text == (
        "[redacted: AWS key #2] [redacted: AWS key #1]"
    )


def test_a_text_without_secrets_is_the_same() -> None:
    assert Redactor().redact("x = 1\n") == RedactedText("x = 1\n")


@given(TEXTS)
def test_restore_returns_the_text_before_redaction(text: str) -> None:
    redactor = Redactor()
    redacted = redactor.redact(text)
    assert redactor.restore(redacted.text, text) == text


@pytest.mark.slow
@given(TEXTS, TEXTS)
def test_no_planted_secret_survives_and_lines_stay_lines(before: str, after: str) -> None:
    redactor = Redactor()
    for kind, key in KEYS.items():
        text = f"{before}\nx '{key}' y\n{after}"
        sent = redactor.redact(text).text
        assert key not in sent, kind
        assert sent.count("\n") == text.count("\n")
        assert redactor.redact(sent).text == sent


def test_known_secret_is_redacted_without_its_context() -> None:
    redactor = Redactor()
    redactor.learn("password = 'tr0ub4dor&3-and-more'\n")
    assert redactor.redact("say tr0ub4dor&3-and-more to the guard").text == (
        "say [redacted: password #1] to the guard"
    )


def test_beginning_and_end_of_a_long_secret_are_redacted() -> None:
    redactor = Redactor()
    key = KEYS["web token"]
    redactor.learn(f"t = {key}")
    for part in (key[:40], key[-40:], key[:17]):
        assert part not in redactor.redact(f"(cut) {part}").text


def test_a_part_of_a_private_key_is_known_once_the_whole_was_shown() -> None:
    redactor = Redactor()
    key = private_key()
    middle = key.splitlines()[3]
    assert redactor.redact(f"3\t{middle}\n").text == f"3\t{middle}\n"
    redactor.learn_private_keys(f"KEY = '''{key}'''\n")
    assert redactor.redact(f"3\t{middle} \n").text == "3\t[redacted: private key line #3] \n"


def test_a_mark_is_restored_only_for_a_text_that_holds_its_secret() -> None:
    redactor = Redactor()
    mark = redactor.redact(AWS).text
    assert redactor.restore(f"x = {mark}", f"y = {AWS}") == f"x = {AWS}"
    for text in (mark, "[redacted: AWS key #77]", "[redacted: anything at all #1]"):
        with pytest.raises(UnknownMark, match="is not in this file"):
            redactor.restore(text, f"y = {OTHER}")


def test_text_that_resembles_a_mark_is_kept_and_is_no_mark() -> None:
    redactor = Redactor()
    file = f"See [redacted: AWS key #1]; key = '{AWS}'\n"
    sent = redactor.redact(file).text
    assert sent == "See [redacted: AWS key #1]; key = '[redacted: AWS key #2]'\n"
    assert redactor.restore(sent, file) == file


def test_mark_written_into_a_file_with_its_secret_is_ambiguous() -> None:
    redactor = Redactor()
    mark = redactor.redact(AWS).text
    with pytest.raises(UnknownMark, match="can't be distinguished from the same words"):
        redactor.restore(mark, f"{AWS} {mark}")


def test_marks_of_an_earlier_process_are_given_to_nothing_else() -> None:
    redactor = Redactor()
    redactor.reserve_marks(["You quoted [redacted: AWS key #1] there."])
    assert redactor.redact(AWS).text == "[redacted: AWS key #2]"


def test_text_with_a_known_mark_is_detected() -> None:
    redactor = Redactor()
    mark = redactor.redact(AWS).text
    assert redactor.first_known_mark(f"read {mark}") == mark
    assert redactor.first_known_mark("read [redacted: AWS key #9]") == ""


def test_mark_reveals_nothing_of_the_secret() -> None:
    one, two = Redactor(), Redactor()
    assert one.redact(AWS) == two.redact(OTHER)


def test_a_flood_of_secrets_does_not_make_every_text_slow() -> None:
    redactor = Redactor()
    flood = "\n".join(f"ghp_{random_letters(36, seed)}" for seed in range(3000))
    assert redactor.redact(flood).kinds == {"GitHub token": 3000}
    assert redactor.redact(f"{AWS} again").text == "[redacted: AWS key #1] again"


@pytest.mark.parametrize(
    ("new", "known", "mark"),
    [
        (["x = 1"], "", ""),
        (["k = [redacted: AWS key #1]"], "", "[redacted: AWS key #1]"),
        (["k = [redacted: AWS key #1]"], "# [redacted: AWS key #1]", ""),
        (["ok", "k = [ Redacted: key ]"], "", "[ Redacted: key ]"),
        (["[REDACTED: AWS"], "", "[REDACTED: AWS"),
        (["[redacted]"], "", ""),
    ],
)
def test_what_looks_like_a_new_mark_in_a_text_to_write(
    new: list[str], known: str, mark: str
) -> None:
    assert new_marks(new, known) == mark


def test_no_secret_is_forgotten_however_many_follow() -> None:
    redactor = Redactor()
    first = "tr0ub4dor&3-and-more"
    redactor.learn(f"password = '{first}'\n")
    for n in range(500):
        redactor.learn(f"password = 'p{n:04}-tr0ub4dor&3-{n}'\n")
    assert first not in redactor.redact(f"it says {first} here").text


def test_text_sent_before_its_secret_was_known_is_redacted_afterwards() -> None:
    redactor = Redactor()
    bare = "it says tr0ub4dor&3-and-more here"
    assert redactor.redact(bare).text == bare
    redactor.learn("password = 'tr0ub4dor&3-and-more'\n")
    assert redactor.redact(bare).text == "it says [redacted: password #1] here"


def test_the_middle_of_a_long_secret_is_known_too() -> None:
    redactor = Redactor()
    key = "abcDEF123ghiJKL456mnoPQR789stuVWX012yzA"
    redactor.learn(f"api_key = '{key}'\n")
    for start in range(len(key) - 16):
        part = key[start : start + 16]
        assert part not in redactor.redact(f"see {part} there").text


def test_many_known_secrets_do_not_make_a_text_slower() -> None:
    few, many = KnownSecrets(), KnownSecrets()
    few.add("sk-aaaaaaaa-0000-1", "API key")
    for n in range(5_000):
        many.add(f"sk-aaaaaaaa-{n}-{n}", "API key")
    text = "sk-aaaaaaaa-" * 4_000

    def seconds(known: KnownSecrets) -> float:
        begun = time.process_time()
        list(known.find_spans(text))
        return time.process_time() - begun

    assert seconds(many) < 100 * seconds(few) + 0.5
