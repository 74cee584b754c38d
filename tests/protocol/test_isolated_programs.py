"""`stet run`: what a real program changes in its overlay of the workspace becomes hunks.

At the end of each test the editor checks that no file on the disk has changed behind it.
"""

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.conftest import Part
from tests.parts.isolation import isolation
from tests.support.editor import FakeEditor
from tests.support.shell import STET, Shell
from tests.support.unsaved_text import unsaved_editor

TEXT = "one\ntwo\nthree\n"
LIVE = "one, unsaved\ntwo\nthree\n"
SETTINGS = {"edit": {"canDelete": True}}


@pytest.fixture
def shell(tmp_path: Path, part: Part) -> Shell:
    part(isolation)
    shell = Shell.at(tmp_path)
    shell.write("a.txt", TEXT)
    for name in ("b.txt", "c.txt", "d.txt", "sub/e.txt", "private.txt", ".ssh/config", ".env"):
        (shell.folder / name).parent.mkdir(exist_ok=True)
        shell.write(name, f"{name}\n")
    shell.write(".gitignore", "build/\n*.log\n")
    shell.write(".stetignore", "private.txt\n")
    (shell.folder / "link").symlink_to("b.txt")
    return shell


@pytest.fixture
async def editor(shell: Shell) -> AsyncIterator[FakeEditor]:
    """Start an editor whose buffer of `a.txt` has an unsaved line."""
    async with unsaved_editor(shell, SETTINGS) as editor:
        yield editor


async def run(shell: Shell, script: str) -> subprocess.CompletedProcess[str]:
    """Run a script in isolation."""
    return await asyncio.to_thread(shell.run, "run", "sh", "-c", script)


async def proposed(editor: FakeEditor) -> set[tuple[str, str, str]]:
    """Return file, kind and new text of each pending hunk."""
    listed = await editor.command("stet.proposals", {"state": "pending"})
    return {(item["uri"].rpartition("/")[2], item["kind"], item["new"]) for item in listed}


def saved(shell: Shell) -> dict[str, str]:
    """Return the text of each file on the disk."""
    files = (path for path in shell.folder.rglob("*") if path.is_file())
    return {path.relative_to(shell.folder).as_posix(): path.read_text() for path in files}


async def test_program_sees_unsaved_text_and_its_shell_edit_becomes_a_hunk(
    shell: Shell, editor: FakeEditor
) -> None:
    ended = await run(shell, "pwd; cat a.txt; sed -i s/two/2/ a.txt; cat a.txt")
    assert ended.stdout == f"{shell.folder}\n{LIVE}{LIVE.replace('two', '2')}"
    assert ended.stderr == "stet: 1 hunk waits for review: see the editor, or `stet review`\n"
    assert ended.returncode == 0
    assert await proposed(editor) == {("a.txt", "replace", "2\n")}
    [item] = await editor.command("stet.proposals")
    assert (item["author"], item["summary"]) == ("sh", "sh: edit a.txt")
    assert editor.text("a.txt") == LIVE


async def test_new_deleted_and_renamed_files_become_hunks(shell: Shell, editor: FakeEditor) -> None:
    ended = await run(
        shell, "mkdir deep; echo new >deep/new.txt; rm c.txt; mv d.txt deep/d2.txt; rm -r sub; ls"
    )
    assert ended.stdout == "a.txt\nb.txt\ndeep\nlink\n"
    assert ended.stderr == "stet: 4 hunks wait for review: see the editor, or `stet review`\n"
    assert {(name, kind) for name, kind, _ in await proposed(editor)} == {
        ("new.txt", "create"),
        ("c.txt", "remove"),
        ("d.txt", "move"),
        ("e.txt", "remove"),
    }


async def test_folder_that_is_replaced_has_its_files_removed(
    shell: Shell, editor: FakeEditor
) -> None:
    ended = await run(shell, "rm -r sub; mkdir sub; echo new >sub/n.txt; ls sub")
    assert ended.stdout == "n.txt\n"
    assert {(name, kind) for name, kind, _ in await proposed(editor)} == {
        ("e.txt", "remove"),
        ("n.txt", "create"),
    }


async def test_hooks_do_nothing_in_an_overlay(shell: Shell, editor: FakeEditor) -> None:
    event = {
        "hook_event_name": "PreToolUse",
        "session_id": "1",
        "cwd": str(shell.folder),
        "tool_name": "Edit",
        "tool_input": {"file_path": "a.txt", "old_string": "two", "new_string": "2"},
    }
    hook = " ".join((*STET, "hook", "claude"))
    ended = await run(shell, f"echo '{json.dumps(event)}' | {hook}")
    assert (ended.stdout, ended.stderr) == ("{}", "")


async def test_file_that_is_removed_again_is_not_proposed(shell: Shell, editor: FakeEditor) -> None:
    ended = await run(
        shell, "echo x >x.txt; rm x.txt; touch b.txt; chmod +x b.txt; cp b.txt c; mv c b.txt"
    )
    assert (ended.stderr, await proposed(editor)) == ("", set())


async def test_ignored_output_is_dropped_and_secrets_are_hidden(
    shell: Shell, editor: FakeEditor
) -> None:
    ended = await run(
        shell,
        "ls -A; cat .env private.txt .ssh/config; mkdir build; echo o >build/x.o; cat build/x.o; echo l >a.log;"
        "echo TOKEN=1 >.env; cat .env; git init -q 2>/dev/null || mkdir .git; echo b >b.txt",
    )
    assert (
        ended.stdout
        == ".gitignore\n.stetignore\na.txt\nb.txt\nc.txt\nd.txt\nlink\nsub\no\nTOKEN=1\n"
    )
    assert ended.stderr.count("No such file or directory") == 3
    assert ended.stderr.endswith(
        "stet: Dropped, as ignored, hidden or special files: .env, .git, a.log, build.\n"
        "stet: 1 hunk waits for review: see the editor, or `stet review`\n"
    )
    assert await proposed(editor) == {("b.txt", "replace", "b\n")}


async def test_links_in_the_layer_are_not_followed(shell: Shell, editor: FakeEditor) -> None:
    outside = shell.folder.parent / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("outside\n")
    ended = await run(
        shell,
        f"ln -s {outside} folder; ln -sf {outside}/secret.txt b.txt; ln -s ../.. up; mkfifo pipe;"
        "ln -s a.txt inside",
    )
    assert ended.stderr == (
        "stet: Dropped, as ignored, hidden or special files: b.txt, folder, inside, pipe, up.\n"
    )
    assert await proposed(editor) == set()


async def test_writes_through_a_link_of_the_workspace_are_isolated(
    shell: Shell, editor: FakeEditor
) -> None:
    away = shell.folder.parent / "way"
    away.symlink_to(shell.folder)
    await run(
        shell, f"echo 1 >link; cd {away}; echo 2 >f.txt; cd {shell.folder}/..; echo 3 >work/g.txt"
    )
    assert await proposed(editor) == {
        ("b.txt", "replace", "1\n"),
        ("f.txt", "create", "2\n"),
        ("g.txt", "create", "3\n"),
    }
    assert saved(shell)["b.txt"] == "b.txt\n"


async def test_program_can_neither_leave_the_overlay_nor_see_its_layers(
    shell: Shell, editor: FakeEditor
) -> None:
    layers = Path(shell.env["XDG_CACHE_HOME"], "stet", "isolated")
    ended = await run(
        shell,
        f"ls -A {layers}; echo x >{layers}/x || echo closed; umount {shell.folder} || echo mounted;"
        f"unshare -Urm umount {shell.folder} || echo locked; grep CapEff /proc/self/status;"
        f"cat /proc/{os.getpid()}/root{shell.folder}/.env || echo separate; echo 2 >b.txt",
    )
    assert ended.stdout == "closed\nmounted\nlocked\nCapEff:\t0000000000000000\nseparate\n"
    assert await proposed(editor) == {("b.txt", "replace", "2\n")}
    assert saved(shell)["b.txt"] == "b.txt\n"
    assert not await asyncio.to_thread(lambda: list(layers.rglob("*.txt")))


async def test_program_can_not_decide_about_hunks(shell: Shell, editor: FakeEditor) -> None:
    await run(shell, "echo 1 >b.txt")
    stet = " ".join(STET)
    script = f"{stet} accept --all; {stet} reject --all; (setsid {stet} accept --all; echo $?)"
    ended = await run(shell, script)
    assert ended.stderr.count("can't decide about hunks: the user does") == 3
    assert await proposed(editor) == {("b.txt", "replace", "1\n")}
    assert editor.applied == []
    accepted = await asyncio.to_thread(shell.run, "accept", "--all")
    assert accepted.returncode == 0
    assert len(editor.applied) == 1


async def test_hostile_names_and_depths_are_reported_and_do_no_harm(
    shell: Shell, editor: FakeEditor
) -> None:
    ended = await run(
        shell,
        "echo 1 >$(printf 'a\\377b'); echo 2 >$(printf 'a\\033[31mb'); echo 3 >'CON '; echo 4 >-n;"
        "mkdir '..x' && echo 5 >'..x/y'; n=0; while [ $n -lt 200 ]; do mkdir d; cd d; n=$((n+1)); done;"
        "echo 6 >deep.txt",
    )
    assert "\33" not in ended.stderr
    assert "stet: More than 100000 files or 100 levels: not all are proposed.\n" in ended.stderr
    assert ("-n", "create", "4\n") in await proposed(editor)
    assert ("y", "create", "5\n") in await proposed(editor)


async def test_buffer_without_a_file_is_seen_and_edited(shell: Shell, editor: FakeEditor) -> None:
    editor.open("new.txt", "fresh\n")
    await editor.command("stet.proposals")
    ended = await run(shell, "cat new.txt; sed -i s/fresh/2/ new.txt")
    assert ended.stdout == "fresh\n"
    assert await proposed(editor) == {("new.txt", "replace", "2\n")}


async def test_all_folders_of_the_workspace_are_isolated(shell: Shell) -> None:
    other = shell.folder.parent / "other"
    other.mkdir()
    (other / "o.txt").write_text("o\n")
    roots = [shell.folder, shell.folder / "sub", other]
    async with FakeEditor.start(roots, env=shell.env) as editor:
        await editor.command("stet.proposals")
        await run(shell, f"echo 1 >b.txt; echo 2 >sub/e.txt; echo 3 >{other}/o.txt")
        assert await proposed(editor) == {
            ("b.txt", "replace", "1\n"),
            ("e.txt", "replace", "2\n"),
            ("o.txt", "replace", "3\n"),
        }
    assert (other / "o.txt").read_text() == "o\n"


async def test_what_can_not_be_reviewed_is_reported(shell: Shell, editor: FakeEditor) -> None:
    ended = await run(
        shell,
        "head -c 2000000 /dev/zero | tr '\\0' x >big.txt; printf '\\377\\376' >b.txt;"
        "for n in $(seq 310); do echo $n >$n.txt; done",
    )
    assert ended.stderr == (
        "stet: More than 300 files were changed; the rest is not proposed.\n"
        "stet: b.txt is not UTF-8 text and is not proposed.\n"
        "stet: big.txt has more than 1600000 bytes and is not proposed.\n"
        "stet: 300 hunks wait for review: see the editor, or `stet review`\n"
    )
    await editor.wait_until(lambda: "sh proposed 300 hunks to review" in str(editor.messages))
    assert len(await proposed(editor)) == 300


async def test_forbidden_changes_follow_the_policy(shell: Shell) -> None:
    async with FakeEditor.start(
        shell.folder, env=shell.env, settings={"edit": {"canDelete": False}}
    ) as editor:
        await editor.command("stet.proposals")
        ended = await run(shell, "rm b.txt; mkdir -p .vscode; echo 1 >.vscode/tasks.json")
        assert "stet: Not proposed: Refused by the rule edit.canDelete" in ended.stderr
        [item] = await editor.command("stet.proposals")
        assert (item["kind"], item["protected"]) == ("create", True)
