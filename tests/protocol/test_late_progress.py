"""An editor that answers a request for progress only after the work has ended."""

import asyncio
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from tests.support.editor import FakeEditor
from tests.support.live_turns import ask, done, scripted


@pytest.mark.parametrize(("client", "kinds"), [("helix", ["end"]), ("neovim", [])])
async def test_progress_that_is_answered_late_is_ended_where_a_spinner_has_begun(
    client: str, kinds: list[str], tmp_path: Path
) -> None:
    """Helix shows a spinner from the request on, until the end is reported."""
    root = tmp_path / "work"
    root.mkdir()
    (root / "a.txt").write_text("one\n")
    async with FakeEditor.start(root, client=client, env=scripted(tmp_path, done())) as editor:
        editor.open("a.txt")
        answer = asyncio.Event()
        tokens: list[lsp.ProgressToken] = []

        async def create(params: lsp.WorkDoneProgressCreateParams) -> None:
            tokens.append(params.token)
            editor.progress_reports.setdefault(params.token, [])
            await answer.wait()

        editor.protocol.fm.features[lsp.WINDOW_WORK_DONE_PROGRESS_CREATE] = create
        turn = await ask(editor, "Go.", uri=editor.uri("a.txt"))
        while (await editor.command("stet.turn", {"turn": turn}))["success"] is None:
            pass
        answer.set()
        await editor.command("stet.proposals")
        [token] = tokens
        assert [one.kind for one in editor.progress_of(token)] == kinds
