"""Lives of real servers with editors that send anything: 100,000 messages without a violation."""

import asyncio
from pathlib import Path
from typing import cast

import pytest

from tests.fuzz.connection import Connection
from tests.fuzz.editor import Editor
from tests.fuzz.life import Figures, Op, plan, play
from tests.fuzz.reference import Violation, key_of
from tests.fuzz.run import cut_down_by, fuzz, grown, measured

N_MESSAGES = 34_000
"""Messages of each part; separate parts can run on several cores."""


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(n, marks=pytest.mark.long) for n in (101, 201))]
)
def test_whatever_editors_send_is_answered_once_and_leaves_texts_as_they_must_be(seed: int) -> None:
    result = fuzz(N_MESSAGES, seed)
    assert result.failure is None, str(result)
    assert result.n_edits > 0


@pytest.mark.long
@pytest.mark.parametrize(
    ("piece", "seed", "reported"),
    [
        ("past the line", 1, "another text"),
        ("no answer", 2, "there is no answer"),
        ("noisy", 4, "no protocol"),
        ("fault", 5, "the log tells of a fault"),
        ("raw calls", 6, "a provider refuses the conversation"),
        ("lossy", 7, "on the disk is not what was told"),
    ],
)
@pytest.mark.timeout(300)
def test_injected_fault_is_detected(
    piece: str, seed: int, reported: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if piece == "no answer":
        monkeypatch.setattr("tests.fuzz.connection.LONGEST_SECONDS", 5.0)
    # A fault may need a certain order of answers, which depends on time: one life may miss it.
    lives = (asyncio.run(play(seed, plan(seed, 3_000), broken=piece)) for _ in range(4))
    assert any(reported in life.violation for life in lives)


@pytest.mark.timeout(600)
def test_edit_without_an_approval_is_detected() -> None:
    never_yes = {"agent", "check", "open", "type"}
    lives = {seed: [op for op in plan(seed, 12_000) if op[0] in never_yes] for seed in (3, 5, 6, 7)}
    assert asyncio.run(play(3, lives[3])).violation == ""
    # The pending hunks at a check depend on the machine's speed: one life may have no such edit.
    reported = (asyncio.run(play(seed, ops, broken="unasked")) for seed, ops in lives.items())
    assert any("nobody said yes" in life.violation for life in reported)


@pytest.mark.timeout(300)
def test_memory_leak_is_detected() -> None:
    result = measured(6_000, 1, broken="forgetful", words={"type", "change", "select", "ask"})
    assert result.failure is not None
    assert "more memory in use" in result.failure.violation


def test_two_percent_may_be_in_use_more_and_no_descriptor_stays_open() -> None:
    middle = Figures(100, 1_000_000, 5, 10)
    assert grown([middle, middle, middle, Figures(200, 1_019_000, 9, 11)]) == ""
    assert "2.1% more" in grown([middle, middle, middle, Figures(200, 1_021_000, 5, 10)])
    assert "30 descriptors" in grown([middle, middle, middle, Figures(200, 1_000_000, 5, 30)])


def test_a_failing_life_is_cut_down_to_what_it_takes() -> None:
    ops: tuple[Op, ...] = tuple((f"w{n}", n) for n in range(1000))

    def fails(fewer: tuple[Op, ...]) -> str:
        return "both" if {("w3", 3), ("w777", 777)} <= set(fewer) else ""

    assert cut_down_by(fails, ops, "first") == ((("w3", 3), ("w777", 777)), "both")


class OneWay:
    """A connection that sends nothing."""

    def send(self, *messages: object) -> None:
        """Drop messages."""


@pytest.mark.parametrize("is_open_before", [True, False])
def test_an_edit_for_the_disk_is_wrong_where_the_server_had_read_that_the_file_is_open(
    *, is_open_before: bool, tmp_path: Path
) -> None:
    editor = Editor(tmp_path, "vscode", seed=3)
    editor.connection = cast("Connection", OneWay())
    editor.folder.write(tmp_path / "a.py", b"u1x\n")
    editor.allowed.take_all([{"hunk": "h1", "hash": "1", "old": "u1x\n", "new": "m1x\n"}])
    uri, end = editor.folder.uri_of("a.py"), {"line": 1, "character": 0}
    identifier = {"uri": uri, "version": None}
    insertion = {"range": {"start": end, "end": end}, "newText": "m1x\n"}
    edit = {"documentChanges": [{"textDocument": identifier, "edits": [insertion]}]}

    def open_then_send() -> None:
        editor.open(uri, "u1x\n")
        asked = editor.command("stet.status")
        editor.take({"jsonrpc": "2.0", "id": asked, "result": {}})

    def receive() -> None:
        request = {"id": 1, "method": "workspace/applyEdit", "params": {"edit": edit}}
        editor.late.take(request, editor.answers.n_sent, editor.answers.n_taken)

    if is_open_before:
        open_then_send()
        receive()
        with pytest.raises(Violation, match="for the disk, but it is open"):
            editor.catch_up(all_of_them=True)
    else:
        receive()  # the editor handles the edit only after its user has opened the file
        open_then_send()
        editor.catch_up(all_of_them=True)
        assert editor.documents[key_of(uri)].text == "u1x\nm1x\n"
