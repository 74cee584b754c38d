"""The progress of a turn, message by message, and what is on the screen when its end is reported."""

from pathlib import Path
from typing import Any

import pytest

from stet.lsp.presentation.turn_view import EVERY, TITLE
from tests.support.editor import FakeEditor
from tests.support.live_turns import ask, calls, done, edit, run, scripted
from tests.support.openai_server import OpenAIServer, Reply, delta, usage

CART, SHOP = "one\n\n\ntwo\n", "three\n"
EDITS = (
    edit("cart.py", "one", "1", "One"),
    edit("shop.py", "three", "3", "Three"),
    edit("cart.py", "two", "2", "Two"),
)


def workspace(tmp_path: Path) -> Path:
    """Make a workspace of two files."""
    root = tmp_path / "ws"
    root.mkdir()
    (root / "cart.py").write_text(CART)
    (root / "shop.py").write_text(SHOP)
    return root


def message_of(report: Any) -> str:
    """Return the message of a progress report, with the words for tokens instead of their number."""
    words = str(report.message)
    head, comma, tokens = words.rpartition(", ")
    return f"{head}, tokens" if comma and tokens.endswith(" tokens") else words


async def test_progress_of_three_edits_in_two_files_is_exact(tmp_path: Path) -> None:
    model = scripted(
        tmp_path,
        calls(("read_file", {"file": "shop.py"}), text="Let me look."),
        calls(*EDITS[:2]),
        calls(EDITS[2]),
        done("Counted."),
    )
    async with FakeEditor.start(workspace(tmp_path), env=model) as editor:
        turn = await run(editor, "Count", uri=editor.open("cart.py"))
        assert len(turn["hunks"]) == 3
        [reports] = [
            reports
            for reports in map(editor.progress_of, editor.progress_reports)
            if getattr(reports[0], "title", "") == "Stet: Count"
        ]
    shown = [
        message_of(one) for one in reports if not message_of(one).startswith("script.json: writing")
    ]
    assert shown[:-1] == [
        "starting",
        "script.json: round 1 of 10",
        "read_file shop.py",
        "script.json: round 2 of 10, tokens",
        "editing cart.py (1)",
        "editing shop.py (1)",
        "script.json: round 3 of 10, tokens",
        "editing cart.py (2)",
        "script.json: round 4 of 10, tokens",
    ]
    assert shown[-1].startswith("Counted. 3 hunks to review. (4 rounds, ")


async def test_hunks_are_shown_before_the_end_of_their_turn_is_reported(tmp_path: Path) -> None:
    model = scripted(tmp_path, calls(*EDITS[::2]), done("Counted."))
    async with FakeEditor.start(workspace(tmp_path), env=model) as editor:
        uri = editor.open("cart.py")
        await ask(editor, "Count", uri=uri)
        await editor.wait_until(lambda: editor.messages)
        assert len(editor.diagnostics.get(uri, ())) == 2


KEY = "sk-proj-Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MGFiY2RlZmdoaWprbG1ub3A"
LONG = "x = " + "1 + " * 40 + "1"
LINES = (
    "def one():",
    f'    key = "{KEY}"',
    "    # \x1b[8m[more](command:x)",
    f"    {LONG}",
    "    return 1",
)
MODELS = {
    "data": [{"id": "/models/coder.gguf", "meta": {"n_ctx": 8192, "n_params": 1_777_000_000}}]
}


def written(text: str) -> Reply:
    """Make an answer that arrives line by line, each when the next progress report is due."""
    events = [delta(content=line) for line in text.splitlines(keepends=True)]
    return Reply([*events, delta(finish="stop"), usage(10, 5)], pause=2 * EVERY)


@pytest.mark.parametrize("mode", ["rewrite", "agent"])
async def test_progress_shows_the_code_that_a_small_model_writes(tmp_path: Path, mode: str) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    before = "def one():\n    return 0\n"
    (root / "one.py").write_text(before)
    answer = written("```python\n" + "".join(f"{line}\n" for line in LINES) + "```\n")
    async with OpenAIServer([answer], pages={"/v1/models": MODELS}) as server:
        settings = {"model": {"provider": "llamacpp", "baseUrl": server.base_url}}
        async with FakeEditor.start(root, env={"no_proxy": "*"}, settings=settings) as editor:
            uri = editor.open("one.py", before, "python")
            place = {"from": 1, "to": 2} if mode == "rewrite" else {}
            turn = await run(editor, "one() should return 1.", uri=uri, mode=mode, **place)
            assert turn["state"] == "completed", turn["error"]
            [reports] = [
                reports
                for reports in map(editor.progress_of, editor.progress_reports)
                if getattr(reports[0], "title", "").startswith("Stet: one()")
            ]
    shown = [str(one.message).partition(": ")[2] for one in reports]
    lines = [one for one in shown if one.startswith("line ")]
    expected = [
        "line 1: def one():",
        "line 2",
        "line 3: # \\x1b[8m[more] (command:x)",
        f"line 4: {LONG[: TITLE - 1]}…",
        "line 5: return 1",
    ]
    # On a busy machine two lines may arrive within the time of one report.
    assert len(lines) > len(expected) // 2
    assert lines == [one for one in expected if one in lines]
    assert KEY[:12] not in "".join(str(one.message) for one in reports)


async def test_answer_with_a_block_is_streamed_from_its_beginning_to_its_end(
    tmp_path: Path,
) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    before = "def one():\n    return 0\n"
    (root / "one.py").write_text(before)
    answer = written("It returns 1.\n\n```python\ndef one():\n    return 1\n```\n\nThat is all.")
    texts = [""]
    async with OpenAIServer([answer], pages={"/v1/models": MODELS}) as server:
        settings = {"model": {"provider": "llamacpp", "baseUrl": server.base_url}}
        async with FakeEditor.start(
            root,
            env={"no_proxy": "*"},
            settings=settings,
            experimental={"stet": {"answers": True}},
        ) as editor:

            def answered(params: Any) -> None:
                texts.append(texts[-1][: params.start] + params.text)

            editor.feature("$/stet/answer")(answered)
            uri = editor.open("one.py", before, "python")
            turn = await run(editor, "one() should return 1.", uri=uri)
    assert turn["answer"] == "It returns 1.\n\nThat is all."
    assert texts[-1] == turn["answer"]
    assert all(turn["answer"].startswith(text) for text in texts)
