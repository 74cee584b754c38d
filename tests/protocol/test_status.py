"""What `stet.status` says of the model: which, and why there is none."""

from pathlib import Path

from tests.support.editor import FakeEditor
from tests.support.live_turns import done, run, scripted


async def test_after_a_turn_without_a_model_it_says_why_there_is_none(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.txt").write_text("one\n")
    missing = {"STET_SCRIPTED_MODEL": str(tmp_path / "script.json")}
    async with FakeEditor.start(root, env=missing) as editor:
        before = await editor.command("stet.status")
        assert (before["model"], before["why"]) == (None, "no turn has needed a model yet")
        turn = await run(editor, "Hello", uri=editor.open("a.txt"))
        assert turn["state"] == "failed"
        after = await editor.command("stet.status")
        assert (after["model"], after["why"]) == (None, turn["error"])
        scripted(tmp_path, done())
        await run(editor, "Hello again", uri=editor.uri("a.txt"))
        now = await editor.command("stet.status")
        assert (now["provider"], now["why"] != turn["error"]) == ("scripted", True)
