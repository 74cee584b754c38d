"""eglot shows only the diagnostics that arrive after a file was opened."""

from pathlib import Path

import pytest

from tests.support.editor import FakeEditor
from tests.support.proposals import PROPOSING_SERVER, propose

WANTED = {"edit": "a.txt", "changes": [["two", "2"]]}


@pytest.mark.parametrize("client", ["eglot", "neovim"])
async def test_what_waits_in_a_file_is_reported_again_when_it_is_opened(
    tmp_path: Path, client: str
) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    async with FakeEditor.start(tmp_path, client=client, command=PROPOSING_SERVER) as editor:
        await propose(editor, WANTED)
        uri = editor.uri("a.txt")
        await editor.wait_for_diagnostics("a.txt")
        editor.diagnostics.pop(uri)
        editor.open("a.txt")
        await editor.wait_for_diagnostics("a.txt")
        assert [one.code for one in editor.diagnostics[uri]] == ["proposal"]
