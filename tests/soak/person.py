"""A working person, who types, saves, asks, decides and switches branches.

The server, the repository and its branches are real; the editor is `FakeEditor`, and a scripted
model answers over loopback.
"""

import asyncio
import random
import subprocess
from collections import Counter
from pathlib import Path
from time import perf_counter
from typing import Any

from lsprotocol import types as lsp

from tests.support.editor import FakeEditor
from tests.support.live_turns import end_of
from tests.support.openai_server import OpenAIServer, Reply, call

N_FILES = 12
N_OPEN = 4
BRANCHES = ("main", "feature")
_WHO = ("-c", "user.name=Person", "-c", "user.email=person@example.org")


def make_repository(root: Path, git_folder: Path) -> None:
    """Make a repository with two branches; `.git` is outside, so that only texts change below the
    root.
    """
    root.mkdir()
    for number in range(N_FILES):
        (root / f"part{number}.py").write_text(_module(number, "main"))
    git(root, "init", "--quiet", "--initial-branch", "main", f"--separate-git-dir={git_folder}")
    commit(root)
    git(root, "checkout", "--quiet", "-b", "feature")
    for number in range(0, N_FILES, 2):
        (root / f"part{number}.py").write_text(_module(number, "feature"))
    commit(root)
    git(root, "checkout", "--quiet", "main")


def commit(root: Path) -> None:
    """Commit all changes."""
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--allow-empty", "--message", "Work")


def git(root: Path, *arguments: str) -> None:
    """Run git with a neutral identity."""
    command = ["git", *_WHO, *arguments]
    subprocess.run(command, cwd=root, check=True, capture_output=True)


class Person:
    """One person with one editor.

    Attributes:
        did: The number of actions by kind.
        strokes: Milliseconds from each keystroke to the next answer.
        turns: Milliseconds from each question to the end of its turn.
    """

    def __init__(self, editor: FakeEditor, model: OpenAIServer, root: Path, seed: int) -> None:
        self.did: Counter[str] = Counter()
        self.strokes: list[float] = []
        self.turns: list[float] = []
        self._editor = editor
        self._model = model
        self._root = root
        self._dice = random.Random(seed)
        self._branch = 0
        self._n_asked = 0
        self._chat = 0
        for number in range(N_OPEN):
            editor.open(f"part{number}.py")

    async def minute(self, number: int, n_strokes: int) -> None:
        """Act for the `number`th minute."""
        name = self._dice.choice(sorted(self._editor.documents))
        await self._type(name, n_strokes // 2)
        turn = await self._ask(name)
        await self._type(name, n_strokes - n_strokes // 2)
        await self._decide(turn, name)
        self._save_all()
        if number % 5 == 4:
            await self._switch_branch()
        if number % 7 == 6:
            self._turn_to_another_file()
        if number % 10 == 9:
            self._chat += 1

    async def _type(self, name: str, n_strokes: int) -> None:
        """Type into a comment line, letter by letter, and then restore the line."""
        line = 6 * self._dice.randrange(8)
        for letter in self._dice.choices("abcdefgh ", k=n_strokes):
            begun = perf_counter()
            self._editor.type(name, line, 2, letter)
            place = lsp.TextDocumentIdentifier(self._editor.uri(name))
            await self._editor.text_document_code_lens_async(lsp.CodeLensParams(place))
            self.strokes.append(1000 * (perf_counter() - begun))
        written = self._editor.text(name).splitlines(keepends=True)[line]
        self._editor.change(name, written, f"# note {name.rpartition('/')[2]} {line}\n")
        self.did["keys"] += n_strokes

    async def _ask(self, name: str) -> Any:
        """Ask for a turn that reads the file and changes two of its lines."""
        self._n_asked += 1
        file = name.rpartition("/")[2]
        lines = self._editor.text(name).splitlines()
        values = [line for line in lines if line.startswith("value_")]
        first, second = self._dice.sample(values, 2)
        self._model.forget()
        self._model.add(
            call("read_file", file=file),
            _edit(file, first, self._n_asked),
            _edit(file, second, self._n_asked + 1),
            call("done", summary=f"Changed {file}"),
        )
        begun = perf_counter()
        asked = await self._editor.command(
            "stet.ask",
            {"prompt": f"Question {self._n_asked}", "uri": name, "chat": f"chat {self._chat}"},
        )
        turn = await end_of(self._editor, asked["turn"])
        self.turns.append(1000 * (perf_counter() - begun))
        assert turn["state"] == "completed", turn
        self.did["turns"] += 1
        self.did["hunks"] += len(turn["hunks"])
        return turn

    async def _decide(self, turn: Any, name: str) -> None:
        """Accept all, reject all, or accept and undo."""
        match self._dice.randrange(4):
            case 0:
                await self._editor.command("stet.reject", {"turn": turn["turn"]})
                await self._becomes(turn, "rejected")
                self.did["rejected"] += 1
            case 1:
                await self._accept(turn)
                await self._editor.command("stet.undo", {"turn": turn["turn"]})
                await self._becomes(turn, "undone")
                self.did["undone"] += 1
            case _:
                await self._accept(turn)
                self.did["accepted"] += 1

    async def _accept(self, turn: Any) -> None:
        await self._editor.command("stet.accept", {"turn": turn["turn"]})
        await self._becomes(turn, "accepted")

    async def _becomes(self, turn: Any, state: str) -> None:
        while True:
            arrived = self._editor.n_news
            found = await self._editor.command("stet.proposals", {"turn": turn["turn"]})
            if {each["state"] for each in found} == {state}:
                return
            await self._editor.wait_until(lambda seen=arrived: self._editor.n_news > seen)  # type: ignore[misc]

    def _save_all(self) -> None:
        for uri in sorted(self._editor.documents):
            self._editor.save(uri)
        self.did["saves"] += len(self._editor.documents)

    async def _switch_branch(self) -> None:
        """Commit, check out the other branch, and let the editor reload changed files."""
        before = self._texts()
        self._branch = 1 - self._branch
        await asyncio.to_thread(commit, self._root)
        await asyncio.to_thread(git, self._root, "checkout", "--quiet", BRANCHES[self._branch])
        now = self._texts()
        events = []
        for name in sorted(name for name in now if now[name] != before[name]):
            self._editor.from_server(name)
            uri = self._editor.uri(name)
            events.append(lsp.FileEvent(uri, lsp.FileChangeType.Changed))
            if uri in self._editor.documents:
                self._editor.change(uri, before[name], now[name])
        self._editor.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams(events))
        self.did["branches"] += 1

    def _turn_to_another_file(self) -> None:
        self._editor.close(self._dice.choice(sorted(self._editor.documents)))
        closed = [f"part{n}.py" for n in range(N_FILES)]
        closed = [name for name in closed if self._editor.uri(name) not in self._editor.documents]
        self._editor.open(self._dice.choice(closed))
        self.did["files turned to"] += 1

    def _texts(self) -> dict[str, str]:
        return {path.name: path.read_text() for path in self._root.glob("*.py")}


def _module(number: int, branch: str) -> str:
    """Write notes to type into, and values to change; each line is unique."""
    lines = []
    for line in range(48):
        if line % 6 == 0:
            lines.append(f"# note part{number}.py {line}\n")
        else:
            lines.append(
                f"value_{line} = {line}  # {branch if line % 6 == 3 else ''} of {number}\n"
            )
    return "".join(lines)


def _edit(file: str, line: str, number: int) -> Reply:
    name = line.partition(" ")[0]
    return call("edit_file", file=file, old_text=line, new_text=f"{name} = {number}  # changed")
