"""`stet review`, `stet accept` and `stet reject` beside an open editor, and without one."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from tests.support.editor import FakeEditor
from tests.support.live_turns import calls, done, edit, run, states, wait_for_states
from tests.support.shell import Screen, Shell

TEXT = "".join(f"line {number}\n" for number in range(1, 31))
EDITS = [edit("l.txt", f"line {number}\n", f"LINE {number}\n") for number in (2, 15, 28)]
SCRIPT = (calls(*EDITS), done("Louder."))


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Make a shell whose model proposes three hunks in one file."""
    shell = Shell.at(tmp_path)
    shell.write("l.txt", TEXT)
    shell.script(*SCRIPT)
    return shell


@pytest.fixture
async def editor(shell: Shell) -> AsyncIterator[FakeEditor]:
    """Start an editor in the shell's folder and home, with three pending hunks."""
    async with FakeEditor.start(shell.folder, env=shell.env) as editor:
        await run(editor, "Louder.", uri=editor.open("l.txt"))
        yield editor


async def stet(shell: Shell, *arguments: str) -> tuple[int, str, str]:
    """Run a command while the editor goes on; return the code, the output and the messages."""
    ended = await asyncio.to_thread(shell.run, *arguments)
    return ended.returncode, ended.stdout, ended.stderr


def type_above(editor: FakeEditor) -> None:
    """Type an unsaved line above the hunks."""
    editor.change("l.txt", "line 1\n", "typed\nline 1\n")
    editor.flush()


async def test_accepted_hunk_is_applied_in_the_editor(shell: Shell, editor: FakeEditor) -> None:
    first, second, third = await states(editor)
    type_above(editor)
    code, _, messages = await stet(shell, "accept", first, third)
    assert (code, messages) == (
        0,
        "Accepted 2 hunks in the editor, which has not saved the text yet\n",
    )
    changed = TEXT.replace("line 2\n", "LINE 2\n").replace("line 28\n", "LINE 28\n")
    assert editor.text("l.txt") == f"typed\n{changed}"
    assert (shell.folder / "l.txt").read_text() == TEXT
    code, _, messages = await stet(shell, "reject", second, "--reason", "too loud")
    assert (code, messages) == (0, "Rejected 1 hunk\n")
    [rejected] = await editor.command("stet.proposals", {"state": "rejected"})
    assert (rejected["hunk"], rejected["reason"]) == (second, "too loud")
    code, out, messages = await stet(shell, "review")
    assert (code, out, messages) == (0, "", f"Nothing is pending in {shell.folder}.\n")


async def test_review_shows_the_text_of_the_editor(shell: Shell, editor: FakeEditor) -> None:
    first, *_ = await states(editor)
    type_above(editor)
    code, out, _ = await stet(shell, "review", "--file", "l.txt")
    assert code == 0
    assert out.startswith(
        f"\n{first} (pending)\n\nl.txt: hunk 1 of 3\nEdit l.txt: replace text\n--- l.txt\n"
        "+++ l.txt\n@@ -1,6 +1,6 @@\n typed\n line 1\n-line 2\n+LINE 2\n line 3\n"
    )
    code, out, _ = await stet(shell, "review", "--json")
    assert [item["hunk"] for item in json.loads(out)] == list(await states(editor))


async def test_all_hunks_of_a_file_are_decided_at_once(shell: Shell, editor: FakeEditor) -> None:
    code, _, messages = await stet(shell, "accept", "--all", "--file", "l.txt")
    assert (code, messages.split(" in ")[0]) == (0, "Accepted 3 hunks")
    assert set((await states(editor)).values()) == {"accepted"}


async def test_unknown_hunk_is_reported(shell: Shell, editor: FakeEditor) -> None:
    code, _, messages = await stet(shell, "accept", "h99")
    assert (code, messages) == (2, "stet: there is no hunk h99 here; `stet review` shows the IDs\n")
    code, _, messages = await stet(shell, "accept")
    assert (code, messages) == (2, "stet: name hunks, or use --all; `stet review` shows the IDs\n")
    assert set((await states(editor)).values()) == {"pending"}


async def test_keys_of_the_review_decide_in_the_editor(shell: Shell, editor: FakeEditor) -> None:
    def decide() -> int:
        screen = Screen(shell, ["review"])
        for key in "ynq":
            screen.wait_for("Accept this hunk? [y,n,a,q,e,?] ")
            screen.shown = ""
            screen.type(f"{key}\n")
        return screen.ended()

    assert await asyncio.to_thread(decide) == 0
    first, second, third = await states(editor)
    await wait_for_states(editor, **{first: "accepted", second: "rejected", third: "pending"})


async def test_protected_hunk_is_accepted_in_the_review_only(shell: Shell) -> None:
    shell.write("Makefile", "all:\n")
    shell.script(calls(edit("Makefile", "all:\n", "every:\n")), done("Renamed."))
    async with FakeEditor.start(shell.folder, env=shell.env) as editor:
        await run(editor, "Rename it.", uri=editor.open("Makefile"))
        [hunk] = await states(editor)
        for which in ([hunk], ["--all"]):
            code, _, messages = await stet(shell, "accept", *which)
            assert (code, messages) == (
                3,
                f"{hunk} was not decided: protected file; use `stet review`\n",
            )


async def test_conflict_is_named_at_the_end_of_the_review(shell: Shell, editor: FakeEditor) -> None:
    first, *_ = await states(editor)
    editor.change("l.txt", "line 2\n", "my line\n")
    editor.flush()
    await wait_for_states(editor, **{first: "conflict"})

    def decide() -> str:
        screen = Screen(shell, ["review"])
        screen.wait_for("Accept this hunk? [y,n,a,q,e,?] ")
        screen.type("q\n")
        assert screen.ended() == 0
        return screen.shown

    shown = await asyncio.to_thread(decide)
    assert "1 hunk in conflict: resolve in an editor" in shown


async def test_editor_with_the_file_open_is_asked(shell: Shell, editor: FakeEditor) -> None:
    async with FakeEditor.start(shell.folder, env=shell.env) as newer:
        await newer.command("stet.proposals")
        code, _, _ = await stet(shell, "accept", "--all", "--file", "l.txt")
        assert code == 0
    assert set((await states(editor)).values()) == {"accepted"}


async def test_other_folder_is_not_asked(shell: Shell, editor: FakeEditor, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    code, _, messages = await stet(shell, "review", "--root", str(other))
    assert (code, messages) == (0, f"Nothing is pending in {other}.\n")


async def test_setting_opens_and_closes_the_socket(shell: Shell) -> None:
    options = {"agents": {"socket": False}}
    async with FakeEditor.start(shell.folder, env=shell.env, options=options) as editor:
        await editor.command("stet.proposals")  # answered after the start
        assert descriptors(shell) == []
        for is_open in (True, False, True):
            changed = {"stet": {"agents": {"socket": is_open}}}
            editor.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(changed))
            n_files = int(is_open)
            await editor.wait_until(lambda n=n_files: len(descriptors(shell)) == n, every=0.01)  # type: ignore[misc]


async def test_files_of_the_socket_are_private_and_go_with_the_server(shell: Shell) -> None:
    async with FakeEditor.start(shell.folder, env=shell.env) as editor:
        await editor.wait_until(lambda: descriptors(shell), every=0.01)
        [descriptor] = descriptors(shell)
        assert descriptor.stat().st_mode & 0o777 == 0o600
        assert descriptor.parent.stat().st_mode & 0o777 == 0o700
        assert json.loads(descriptor.read_text())["roots"] == [str(shell.folder)]
    assert list(descriptor.parent.glob("serve-*")) == []


def descriptors(shell: Shell) -> list[Path]:
    """Return the descriptors of running servers."""
    return list(Path(shell.env["XDG_CACHE_HOME"], "stet", "run").glob("serve-*.json"))


async def test_without_an_editor_accepted_text_is_saved(shell: Shell) -> None:
    async with FakeEditor.start(shell.folder, env=shell.env) as editor:
        await run(editor, "Louder.", uri=editor.open("l.txt"))
        first, _, _ = await states(editor)
    code, _, messages = await stet(shell, "accept", first)
    assert (code, messages) == (0, "Accepted 1 hunk\nSaved l.txt\n")
    assert (shell.folder / "l.txt").read_text() == TEXT.replace("line 2\n", "LINE 2\n")
    code, _, messages = await stet(shell, "reject", "--all")
    assert (code, messages) == (0, "Rejected 2 hunks\n")
    code, _, messages = await stet(shell, "review")
    assert (code, messages) == (0, f"Nothing is pending in {shell.folder}.\n")
