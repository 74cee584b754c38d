"""Files created, moved and removed by real Neovim, with their hunks, and the undo of this."""

import json
from collections.abc import Callable, Sequence

import pytest

from tests.editors.neovim import Neovim
from tests.support.proposals import PROPOSING_SERVER

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]
Begin = Callable[..., Neovim]
FILES = {
    "a.txt": "one\ntwo\nsee index.txt\n",
    "index.txt": "to a.txt\n",
    "gone.txt": "caf\u00e9\r\nold\n",
}


@pytest.fixture
def editor(neovim: Begin) -> Neovim:
    command = json.dumps(list(PROPOSING_SERVER))
    lua = f"""
    vim.api.nvim_create_autocmd('VimEnter', {{ callback = function()
      vim.lsp.config('stet', {{ cmd = vim.json.decode([=[{command}]=]) }})
    end }})
    """
    return neovim(FILES, [], lua=lua)


def propose(editor: Neovim, **spec: object) -> list[str]:
    return list(editor.command("test.propose", **spec)["hunks"])


def wait_for(editor: Neovim, hunks: Sequence[str], state: str) -> None:
    """Wait until these hunks have this state."""
    wanted = "{" + ",".join(f"['{hunk}'] = true" for hunk in hunks) + "}"
    editor.wait(
        "#vim.tbl_filter(function(hunk) "
        f"return ({wanted})[hunk.hunk] and hunk.state == '{state}' "
        f"end, T.poll('stet.proposals') or {{}}) == {len(hunks)}",
        f"{hunks} are {state}",
    )


def files(editor: Neovim) -> dict[str, str]:
    """Return the workspace on the disk."""
    return {
        path.relative_to(editor.root).as_posix(): path.read_bytes().decode()
        for path in sorted(editor.root.rglob("*"))
        if path.is_file()
    }


def test_a_file_is_moved_with_what_is_typed_in_it_and_back(editor: Neovim) -> None:
    links = {"index.txt": [["a.txt", "sub/b.txt"]], "a.txt": [["index.txt", "../index.txt"]]}
    hunks = propose(editor, move="a.txt", to="sub/b.txt", links=links)
    editor.keys("ggOtyped<Esc>")
    editor.wait_for_lines(["typed", "one", "two", "see index.txt"])
    editor.command("stet.accept", turn="t1")
    wait_for(editor, hunks, "accepted")
    editor.wait_for_lines(["typed", "one", "two", "see ../index.txt"])
    editor.wait("vim.api.nvim_buf_get_name(0):match('sub/b.txt$')", "the buffer went along")
    editor.keys(":wall<CR>")
    editor.wait("not vim.bo.modified", "the file is written")
    assert files(editor) == {
        "gone.txt": FILES["gone.txt"],
        "index.txt": "to sub/b.txt\n",
        "sub/b.txt": "typed\none\ntwo\nsee ../index.txt\n",
    }
    editor.command("stet.undo", turn="t1")
    wait_for(editor, hunks, "undone")
    editor.wait_for_lines(["typed", "one", "two", "see index.txt"])
    editor.keys(":wall<CR>")
    editor.wait("not vim.bo.modified", "the file is written")
    assert files(editor) == {**FILES, "a.txt": "typed\none\ntwo\nsee index.txt\n"}


def test_a_file_is_removed_and_comes_back(editor: Neovim) -> None:
    hunks = propose(editor, remove="gone.txt")
    editor.command("stet.accept", turn="t1")
    wait_for(editor, hunks, "accepted")
    assert "gone.txt" not in files(editor)
    editor.command("stet.undo", turn="t1")
    wait_for(editor, hunks, "undone")
    assert files(editor) == FILES


def test_a_file_is_made_and_taken_back(editor: Neovim) -> None:
    hunks = propose(editor, create="new/c.txt", text="x\ny\n")
    editor.command("stet.accept", turn="t1")
    wait_for(editor, hunks, "accepted")
    editor.keys(":edit new/c.txt<CR>")
    editor.wait_for_lines(["x", "y"])
    editor.keys(":write<CR>")
    editor.wait("not vim.bo.modified", "the file is written")
    assert files(editor) == {**FILES, "new/c.txt": "x\ny\n"}
    editor.command("stet.undo", turn="t1")
    wait_for(editor, hunks, "undone")
    assert files(editor) == FILES


def test_a_file_that_came_in_between_is_left_alone(editor: Neovim) -> None:
    hunks = propose(editor, move="a.txt", to="b.txt", links={})
    (editor.root / "b.txt").write_text("theirs\n")
    editor.command("stet.accept", turn="t1")
    editor.wait("vim.fn.execute('messages'):match('not applied')", "the user is told")
    wait_for(editor, hunks, "pending")
    assert files(editor) == {**FILES, "b.txt": "theirs\n"}


def test_hunks_go_with_a_file_that_is_saved_under_another_name(editor: Neovim) -> None:
    [hunk] = propose(editor, edit="a.txt", changes=[["two", "2"]])
    editor.wait_for_hunks(1)
    editor.keys(":saveas c.txt<CR>")
    editor.wait_for_hunks(1)
    editor.keys("ggOtyped<Esc>")
    editor.wait_for_hunks(2)
    editor.command("stet.accept", hunk=hunk)
    wait_for(editor, [hunk], "accepted")
    editor.wait_for_lines(["typed", "one", "2", "see index.txt"])
    assert files(editor)["a.txt"] == FILES["a.txt"]


def test_neovims_own_undo_lets_an_accepted_hunk_wait_again(editor: Neovim) -> None:
    [hunk] = propose(editor, edit="a.txt", changes=[["two", "2"]])
    editor.command("stet.accept", hunk=hunk)
    wait_for(editor, [hunk], "accepted")
    editor.keys("u")
    wait_for(editor, [hunk], "pending")
    editor.wait_for_lines(["one", "two", "see index.txt"])
    editor.keys("<C-r>")
    wait_for(editor, [hunk], "accepted")
    editor.command("stet.undo", hunk=hunk)
    wait_for(editor, [hunk], "undone")
    editor.wait_for_lines(["one", "two", "see index.txt"])
