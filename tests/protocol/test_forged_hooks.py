"""Attacks by calls of hooks: an agent that was misled, or a program that says that it is one.

What is outside of the workspace is left to the agent's own permissions, so there Stet must answer
nothing; a yes of Stet would be taken for the user's.
"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.hook_calls import READS, WRITES, is_really_below
from tests.support.editor import FakeEditor
from tests.support.file_tools import NAMES, FileAgent
from tests.support.shell import Shell

CANARY = "canary-7f3a"
every_agent = pytest.mark.parametrize("name", sorted(NAMES))


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell.at(tmp_path)
    shell.write("a.txt", "one\ntwo\n")
    shell.write(".env", f"KEY={CANARY}\n")
    (tmp_path / "secret.txt").write_text(f"{CANARY}\n")
    (shell.folder / "sub").mkdir()
    (shell.folder / ".git" / "hooks").mkdir(parents=True)
    shell.write(".git/HEAD", "ref: refs/heads/main\n")
    (shell.folder / "to-env.txt").symlink_to(".env")
    (shell.folder / "to-secret.txt").symlink_to(tmp_path / "secret.txt")
    (shell.folder / "up").symlink_to(tmp_path)
    return shell


@pytest.fixture
async def editor(shell: Shell) -> AsyncIterator[FakeEditor]:
    async with FakeEditor.start(shell.folder, env=shell.env) as editor:
        await editor.command("stet.proposals")
        yield editor


class Attacker:
    """A session that has a copy of `a.txt`, beside a session that has one too."""

    def __init__(self, shell: Shell, name: str) -> None:
        self.agent = FileAgent(shell, name, session="attacker")
        self._shell = shell
        self.folders: dict[str, str] = {}

    async def begin(self) -> None:
        """Make the copies of both sessions."""
        await self.agent.prompt()
        own = (await self.agent.read("a.txt")).path.parent
        other = FileAgent(self._shell, self.agent.name, session="other")
        await other.prompt()
        folders = {
            "root": self._shell.folder,
            "up": self._shell.folder.parent,
            "shadow": own,
            "other": (await other.read("a.txt")).path.parent,
            "dead": own.parents[1] / str(2**22 + 1) / own.name,
            "run": own.parents[2],
        }
        self.folders = {name: str(path) for name, path in folders.items()}

    async def allowed(self, tool: str, form: str, given: dict[str, object]) -> Path | None:
        """Call the hook before a tool; return the path to which Stet says yes."""
        call = self.agent.call(tool, form.format(**self.folders), given)
        answer = await self.agent.hook("PreToolUse", **call)
        updated: Any = answer.get("updatedInput") or answer.get("modifiedArgs")
        if answer.get("permissionDecision") != "allow":
            assert updated is None
            return None
        path = Path(updated[NAMES[self.agent.name].path])
        assert is_really_below(path, self.folders["shadow"]), form
        return path

    async def done(self, tool: str, path: Path) -> None:
        """Call the hook after a tool."""
        await self.agent.hook("PostToolUse", **self.agent.call(tool, path, {}))


def copies(shell: Shell) -> list[Path]:
    """Return the folders of copies of all sessions."""
    return list(Path(shell.env["XDG_CACHE_HOME"]).rglob("shadow/*/*"))


def files(folder: Path) -> dict[str, bytes]:
    """Return the contents of the files in a folder, but not those below its folders."""
    return {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file()}


async def check_no_effect(shell: Shell, editor: FakeEditor, before: dict[str, bytes]) -> None:
    """Check that the attacks have neither changed a file nor proposed to change a secret one."""
    assert files(shell.folder.parent) == before
    editor.disk_is_mine()
    listed = await editor.command("stet.proposals")
    assert [item["uri"] for item in listed if ".env" in item["uri"] or ".git" in item["uri"]] == []
    assert [item for item in listed if not item["uri"].startswith(f"file://{shell.folder}/")] == []


@every_agent
async def test_no_read_shows_a_secret_or_a_file_outside(
    name: str, shell: Shell, editor: FakeEditor
) -> None:
    before = files(shell.folder.parent)
    attacker = Attacker(shell, name)
    await attacker.begin()
    for form in READS:
        path = await attacker.allowed(NAMES[name].read, form, {})
        assert path is None or CANARY not in path.read_text(), form
    await check_no_effect(shell, editor, before)


@every_agent
async def test_no_write_leaves_the_copies_of_the_session(
    name: str, shell: Shell, editor: FakeEditor
) -> None:
    before = files(shell.folder.parent)
    attacker = Attacker(shell, name)
    await attacker.begin()
    tool = NAMES[name].create
    assert await attacker.allowed(tool, "fine.txt", {NAMES[name].content: "x"}) is not None
    for form in WRITES:
        path = await attacker.allowed(tool, form, {NAMES[name].content: "x"})
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("written by an attacker\n")
            await attacker.done(tool, path)
    await check_no_effect(shell, editor, before)


@every_agent
async def test_link_in_the_copies_is_neither_read_nor_written(
    name: str, shell: Shell, editor: FakeEditor
) -> None:
    """The agent may do with its copies what it likes, also by shell."""
    before = files(shell.folder.parent)
    attacker = Attacker(shell, name)
    await attacker.begin()
    shadow = Path(attacker.folders["shadow"])
    (shadow / "a.txt").unlink()
    (shadow / "a.txt").symlink_to(shell.folder.parent / "secret.txt")
    (shadow / "sub").symlink_to(shell.folder / ".git")
    await attacker.done("edit", shadow / "a.txt")
    await attacker.done("edit", shadow / "sub" / "HEAD")
    assert await attacker.allowed(NAMES[name].create, "sub/hooks", {}) is None
    shown = await attacker.allowed(NAMES[name].read, "a.txt", {})
    assert shown is not None
    assert shown.read_text() == "one\ntwo\n"
    await check_no_effect(shell, editor, before)
    assert CANARY not in str(await editor.command("stet.proposals"))


@every_agent
@pytest.mark.parametrize("session", ["../..", "a/b", "a.b", "", "x" * 101, "a\n", None, 1.5, {}])
async def test_forged_id_of_a_session_makes_no_folder(
    session: object, name: str, shell: Shell, editor: FakeEditor
) -> None:
    agent = FileAgent(shell, name)
    key = "sessionId" if name == "copilot" else "session_id"
    answer = await agent.hook("PreToolUse", **agent.call("edit", "a.txt", {}), **{key: session})
    assert answer["permissionDecision"] == "deny"
    assert copies(shell) == []


@every_agent
async def test_file_that_can_t_be_named_to_the_user_is_not_written_past_the_review(
    name: str, shell: Shell, editor: FakeEditor
) -> None:
    agent = FileAgent(shell, name)
    await agent.prompt()
    for file in ("a\nb.txt", "a\u200b.txt", "a\x1b[2J.txt", "x" * 100_000, "sub/\u202etxt.py"):
        created = await agent.create(file, "x")
        assert created.denied.startswith("The user can't review a file of this name"), file[:20]
    await check_no_effect(shell, editor, files(shell.folder.parent))
