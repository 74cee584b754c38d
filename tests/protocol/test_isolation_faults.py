"""`stet run` while the user works, and when a process ends early."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.conftest import Part
from tests.parts.isolation import isolation
from tests.support.editor import FakeEditor
from tests.support.isolated_run import TEXT, Run, numbered_lines, texts, wait_for_hunks
from tests.support.shell import Screen, Shell
from tests.support.unsaved_text import saved_editor


@pytest.fixture
def shell(tmp_path: Path, part: Part) -> Shell:
    part(isolation)
    return numbered_lines(tmp_path)


@pytest.fixture
async def editor(shell: Shell) -> AsyncIterator[FakeEditor]:
    async with saved_editor(shell) as editor:
        yield editor


async def test_hunks_come_while_the_program_runs_and_typing_is_merged(
    shell: Shell, editor: FakeEditor
) -> None:
    async with Run.start(shell, "sed -i s/two/2/ a.txt; WAIT sed -i s/five/5/ a.txt") as run:
        await run.begun()
        await wait_for_hunks(editor, "2\n")
        editor.change("a.txt", "one\n", "one, typed\n")
        editor.flush()
        await run.go()
        assert (await run.ended())[0] == 0
    assert await texts(editor) == ["2\n", "5\n"]
    assert editor.text("a.txt") == TEXT.replace("one", "one, typed")


async def test_typing_in_a_file_that_was_opened_later_is_merged(
    shell: Shell, editor: FakeEditor
) -> None:
    editor.write(shell.folder / "c.txt", TEXT)
    async with Run.start(shell, "WAIT sed -i s/five/5/ c.txt") as run:
        await run.begun()
        editor.open("c.txt")
        editor.change("c.txt", "one\n", "one, typed\n")
        editor.flush()
        await editor.command("stet.proposals")  # the text is known
        await run.go()
        assert (await run.ended())[0] == 0
    assert await texts(editor) == ["5\n"]
    assert editor.text("c.txt") == TEXT.replace("one", "one, typed")


async def test_rejected_hunk_is_not_proposed_again_by_a_later_edit(
    shell: Shell, editor: FakeEditor
) -> None:
    async with Run.start(shell, "sed -i s/two/2/ a.txt; WAIT sed -i s/five/5/ a.txt") as run:
        await run.begun()
        await wait_for_hunks(editor, "2\n")
        [item] = await editor.command("stet.proposals", {"state": "pending"})
        await editor.command("stet.reject", {"hunk": item["hunk"]})
        await run.go()
        await run.ended()
    assert await texts(editor) == ["5\n"]


async def test_edit_of_lines_that_the_user_has_changed_waits_as_a_conflict(
    shell: Shell, editor: FakeEditor
) -> None:
    async with Run.start(shell, "WAIT sed -i s/two/2/ a.txt") as run:
        await run.begun()
        editor.change("a.txt", "two\n", "two, typed\n")
        editor.flush()
        await editor.command("stet.proposals")
        await run.go()
        code, errors = await run.ended()
    assert code == 0
    assert "1 hunk waits for review" in errors
    [item] = await editor.command("stet.proposals")
    assert (item["state"], item["old"], item["new"]) == ("conflict", "two, typed\n", "2\n")


async def test_killed_program_has_what_it_wrote_proposed(shell: Shell, editor: FakeEditor) -> None:
    async with Run.start(shell, "echo 2 >b.txt; WAIT kill -9 $$") as run:
        await run.begun()
        await run.go()
        code, errors = await run.ended()
    assert code == 128 + signal.SIGKILL
    assert "1 hunk waits for review" in errors
    assert await texts(editor) == ["2\n"]


async def test_killed_stet_run_ends_the_program_and_has_what_it_wrote_proposed(
    shell: Shell, editor: FakeEditor
) -> None:
    async with Run.start(shell, "echo 2 >b.txt; WAIT echo 3 >b.txt") as run:
        await run.begun()
        run.process.kill()
        await run.ended()
        await wait_for_hunks(editor, "2\n")
    await editor.wait_until(lambda: "sh proposed 1 hunk to review" in str(editor.messages))
    layers = Path(shell.env["XDG_CACHE_HOME"], "stet", "isolated")
    assert not await asyncio.to_thread(lambda: list(layers.glob("*/*")))


async def test_terminated_stet_run_terminates_the_program(shell: Shell, editor: FakeEditor) -> None:
    script = "trap 'echo 3 >b.txt; exit 5' TERM; echo 2 >b.txt; WAIT"
    async with Run.start(shell, script) as run:
        await run.begun()
        run.process.terminate()
        assert (await run.ended())[0] == 5
    assert await texts(editor) == ["3\n"]


async def test_editor_that_ends_has_the_hunks_and_the_rest_stays_in_the_layers(
    shell: Shell,
) -> None:
    async with AsyncExitStack() as stack:
        async with FakeEditor.start(shell.folder, env=shell.env) as editor:
            run = await stack.enter_async_context(
                Run.start(shell, "echo 2 >b.txt; WAIT echo 3 >b.txt")
            )
            await run.begun()
        await run.go()
        code, errors = await run.ended()
    assert code == 0
    folder = errors.rpartition(" stays in ")[2].strip()
    assert await asyncio.to_thread(Path(folder, "b.txt").read_text) == "3\n"
    async with FakeEditor.start(shell.folder, env=shell.env) as editor:
        editor.open("b.txt")
        assert await texts(editor) == ["2\n"]


@pytest.mark.parametrize(("script", "code"), [("exit 7", 7), ("kill -TERM $$", 143)])
async def test_exit_code_is_that_of_the_program(
    shell: Shell, editor: FakeEditor, script: str, code: int
) -> None:
    ended = await asyncio.to_thread(shell.run, "run", "sh", "-c", script)
    assert (ended.returncode, ended.stderr) == (code, "")


async def test_program_that_does_not_exist(shell: Shell, editor: FakeEditor) -> None:
    ended = await asyncio.to_thread(shell.run, "run", "--", "no-such-agent", "--root")
    assert ended.returncode == 127
    assert ended.stderr == "stet: no-such-agent: No such file or directory\n"


def test_folder_that_no_editor_has_open(shell: Shell) -> None:
    ended = shell.run("run", "sh", "-c", "echo 1 >b.txt")
    assert ended.returncode == 125
    assert ended.stderr.startswith("stet: no editor with Stet has ")
    assert (shell.folder / "b.txt").read_text() == "b\n"


async def test_program_has_the_terminal(shell: Shell, editor: FakeEditor) -> None:
    def talk() -> int:
        script = "tty >/dev/null && printf 'name? '; read name; echo $name >b.txt; echo bye"
        screen = Screen(shell, ["run", "sh", "-c", script])
        screen.wait_for("name? ")
        screen.type("Ada\n")
        screen.wait_for("bye")
        return screen.ended()

    assert await asyncio.to_thread(talk) == 0
    assert await texts(editor) == ["Ada\n"]
