"""The real embedded model fixes a wrong return value with `read_file` and `edit_file`.

Results of SmolLM2 with 135 million parameters, through the real server in mode `agent`, checked by
running the fixed function:

- The user says what should be returned ("it should return net + tax"): 10 of 15 functions of 2 to
  6 lines, written before the first run and never used to choose the worked example. By kind: wrong
  operator 3 of 3, constant 2 of 3, variable 1 of 3, inverted boolean 2 of 3, off by one 2 of 3.
  It mostly fails where the line is in a branch or a loop: then it changes another line.
- The user only says that it is wrong: 1 of 5. It can't find the right value alone.

`FIXED` has six of the ten, at least one of each kind; `MISSED` one of the five, which the user must
get as a proposal to reject, not as a changed file.
"""

from pathlib import Path
from typing import Any

import pytest

from stet.agent.small.grammar_model import find_quotes, grammar, parse, window
from stet.llm.embedded.embedded_model import EmbeddedModel
from stet.llm.model import Message, Request
from stet.system.system import System
from stet.text.document import TextDocument
from tests.support.editor import FakeEditor
from tests.support.live_turns import ask, wait_for_states
from tests.support.local_models import small_model, small_only

DATA = small_only()
SECONDS = 60.0
"""Seconds for a step on a busy machine; the whole file takes less on an idle machine."""
FIXED = [
    (
        "def price(net, tax):\n    return net - tax\n",
        "price() returns the wrong value: it should return net + tax. Fix it.",
        "price(10, 2) == 12",
    ),
    (
        "def speed(distance, time):\n    if time == 0:\n        return 0\n    return distance * time\n",
        "speed() returns the wrong value: it should return distance / time.",
        "speed(10, 2) == 5 and speed(1, 0) == 0",
    ),
    (
        "TIMEOUT = 5\n\ndef default_port():\n    return 8000\n",
        "default_port() returns the wrong value: it should return 8080. Fix it.",
        "default_port() == 8080",
    ),
    (
        'def domain(address):\n    user, host = address.split("@")\n    return user\n',
        "domain() returns the wrong value: it should return host. Fix it.",
        "domain('a@b') == 'b'",
    ),
    (
        "def is_adult(age):\n    return age < 18\n",
        "is_adult() is inverted: it should return age >= 18.",
        "is_adult(18) and not is_adult(17)",
    ),
    (
        "def last_index(items):\n    return len(items)\n",
        "last_index() is off by one: it should return len(items) - 1.",
        "last_index([1, 2]) == 1",
    ),
]
MISSED = (
    "def max_retries():\n    return 30\n",
    "max_retries() returns the wrong value: it should return 3.",
)

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(300)]


@pytest.fixture(autouse=True)
def _weights() -> None:
    small_model()


async def test_wrong_return_values_are_read_mended_and_accepted(tmp_path: Path) -> None:
    missed = []
    async with FakeEditor.start(tmp_path, env=DATA) as editor:
        for number, (source, instruction, check) in enumerate(FIXED):
            assert not _holds(check, source)
            uri = editor.open(f"f{number}.py", source, "python")
            turn = await _run(editor, instruction, uri)
            assert (turn["state"], turn["filesRead"]) == ("completed", [f"f{number}.py"])
            assert [one["tool"] for one in turn["toolCalls"]] == ["read_file", "edit_file", "done"]
            (hunk,) = await editor.command("stet.proposals", {"turn": turn["turn"]})
            assert (hunk["state"], editor.text(uri)) == ("pending", source)
            await editor.command("stet.accept", {"turn": turn["turn"]})
            await wait_for_states(editor, **{hunk["hunk"]: "accepted"})
            assert editor.text(uri) == source.replace(hunk["old"], hunk["new"])
            if not _holds(check, editor.text(uri)):
                missed.append((hunk["old"], hunk["new"]))
            editor.close(uri)
    # On one machine all are right each time; another processor may round differently.
    assert len(missed) <= 1, missed


async def test_a_fresh_server_gives_the_same_edit_and_a_missed_one_waits_for_the_user(
    tmp_path: Path,
) -> None:
    source, instruction = MISSED
    found = []
    for _ in range(2):
        async with FakeEditor.start(tmp_path, env=DATA) as editor:
            uri = editor.open("a.py", source, "python")
            turn = await _run(editor, instruction, uri)
            assert turn["summary"] == "Proposed 1 edit; the model gave no summary."
            (hunk,) = await editor.command("stet.proposals", {"turn": turn["turn"]})
            assert (hunk["state"], editor.text(uri)) == ("pending", source)
            found.append((hunk["old"], hunk["new"], turn["usage"]["totalTokens"]))
            await editor.command("stet.reject", {"turn": turn["turn"]})
            await wait_for_states(editor, **{hunk["hunk"]: "rejected"})
            assert editor.text(uri) == source
    assert found[0] == found[1]


async def test_lines_of_any_characters_make_a_grammar_that_the_model_obeys() -> None:
    text = 'a = ["^-]\\\\", \'`\']\n\tπ = "\\n\\t\\x00"  # ::= | {0,3}\nb = {c: d for c in ()}\n'
    document = TextDocument("file:///a.py", text)
    shown = window(document, None, "")
    made = grammar({}, {'o"d [x].py': find_quotes(shown)})
    no_done = made.replace(' | "done\\U0000000A"', "")
    model = EmbeddedModel(System(), small_model())
    try:
        request = Request((Message("user", "Edit the file."),), grammar=no_done)
        answered = await model.complete(request, lambda _: None)
    finally:
        await model.close()
    call = parse(answered.text, "")
    assert call is not None, answered.text
    assert call.name == "edit_file"
    assert any(f"- {quote.text}\n+ {quote.indent}" in answered.text for quote in find_quotes(shown))


async def _run(editor: FakeEditor, prompt: str, uri: str) -> Any:
    """Ask and wait for the end, for as long as a busy machine may take."""
    turn = await ask(editor, prompt, uri=uri)
    while True:
        # Read before the request: the awaited message may arrive together with the answer.
        arrived = editor.n_news
        found = await editor.command("stet.turn", {"turn": turn})
        if found["state"] not in ("queued", "running", "waiting"):
            return found
        await editor.wait_until(lambda seen=arrived: editor.n_news > seen, SECONDS)  # type: ignore[misc]


def _holds(check: str, source: str) -> bool:
    """Tell whether an expression is true of the functions of a module."""
    names: dict[str, Any] = {}
    try:
        exec(source, names)
        return bool(eval(check, names))
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        NameError,
        SyntaxError,
        TypeError,
        ValueError,
    ):
        return False
