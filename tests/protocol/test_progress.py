"""The progress of a turn, message by message, and what is on the screen when its end is reported."""

from pathlib import Path
from typing import Any

from tests.support.editor import FakeEditor
from tests.support.live_turns import ask, calls, done, edit, run, scripted

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
