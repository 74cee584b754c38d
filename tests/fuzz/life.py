"""One life of a server: initialization by an editor, words of the grammar, shutdown."""

import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fuzz import odd_values as nasty
from tests.fuzz.checks import check_disk, check_hunks, check_texts
from tests.fuzz.connection import Connection
from tests.fuzz.disk import check_persisted, with_disk
from tests.fuzz.editor import Editor
from tests.fuzz.grammar import WORDS
from tests.fuzz.reference import Violation

CLIENTS = ("neovim", "vscode", "eglot", "helix-master", "kakoune", "sublime")
"""UTF-8, UTF-16, UTF-32, UTF-8, whole texts only, UTF-16."""
CHUNK = 20
"""Words that are sent together, before arrived messages are read."""
BATCH = 200
"""Words between two checks of everything."""
LOOKS = 10
"""Samples of the server's memory per measurement."""
MOST_OWED = 60
TURNS_LEFT_ALONE = 100
"""How often a check asks whether turns are over, so that they can proceed; some wait forever."""
Op = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Figures:
    """The server's resource usage at one moment."""

    n_messages: int
    in_use: int
    resident: int
    descriptors: int


@dataclass(slots=True)
class Life:
    """The results of a life.

    Attributes:
        n_messages: The number of messages sent to the server.
        n_edits: The number of edits that the editor made for the server.
        violation: The violation; empty for none.
        figures: The usage at the beginning, the middle and the end, if it was requested.
    """

    n_messages: int = 0
    n_edits: int = 0
    violation: str = ""
    figures: list[Figures] = field(default_factory=list)


def plan(seed: int, n_words: int) -> tuple[Op, ...]:
    """Plan the words of a life, each with its own dice."""
    dice = random.Random(seed)
    weights = [weight for weight, _ in WORDS.values()]
    names = dice.choices(list(WORDS), weights=weights, k=n_words)
    return with_disk(tuple((name, dice.randrange(1 << 30)) for name in names), seed)


async def play(
    seed: int, ops: Sequence[Op], *, broken: str = "", counts_memory: bool = False
) -> Life:
    """Run a life."""
    life = Life()
    # Child processes of a killed server may write for a moment longer.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home = Path(folder) / "home"
        editor = new_editor(Path(folder) / "ws", seed)
        editor.connection = await Connection.begun(
            home, editor.take, broken=broken, counts_memory=counts_memory
        )
        try:
            await begin(editor)
            await _live(editor, ops, life, counts_memory=counts_memory)
            await _end(editor, random.Random(seed))
        except Violation as violation:
            log = "\n".join(editor.connection.log[-60:])
            life.violation = f"{violation}\n{editor.profile.file}; the end of its log:\n{log}"
        finally:
            await editor.connection.close()
    life.n_messages, life.n_edits = editor.answers.n_sent, editor.n_edits
    return life


def new_editor(root: Path, seed: int) -> Editor:
    """Create an editor with a workspace of a few files."""
    (root / "notes").mkdir(parents=True)
    editor = Editor(root, CLIENTS[seed % len(CLIENTS)], seed)
    dice = random.Random(seed)
    for name in ("a.py", "b.md", "notes/c.md", "d.txt", "e\u0301.txt"):
        editor.folder.write(root / name, nasty.lines(dice, 6).encode("utf-8", "surrogatepass"))
    editor.settings = {
        "search": {"embeddings": "off"},
        "agent": {"maxIterations": 8, "maxSeconds": 20, "disabledTools": ["execute_command"]},
        "edit": {"scope": "folder", "reviewStyle": "margin"},
        "instructions": {"onSave": seed % 2 == 0},
        "context": {"scope": "open"},
    }
    return editor


async def begin(editor: Editor) -> None:
    """Initialize the server, with a few words sent too early."""
    for method in ("textDocument/hover", "workspace/executeCommand", "shutdown"):
        editor.request(method, {"command": "stet.status"})
    editor.notify("textDocument/didOpen", {"textDocument": {"uri": editor.folder.uri_of("a.py")}})
    hello = {
        **editor.profile.recorded(),
        "processId": None,
        "rootUri": editor.folder.uri_of(""),
        "workspaceFolders": [{"uri": editor.folder.uri_of("").rstrip("/"), "name": "ws"}],
        "initializationOptions": editor.settings,
    }

    def record_answer(answer: Any) -> None:
        editor.encoding = answer["capabilities"].get("positionEncoding") or "utf-16"

    editor.request("initialize", hello, record_answer)
    await editor.connection.until(lambda: not editor.answers.n_owed(), "answer to initialize")
    editor.notify("initialized", {})


async def _live(editor: Editor, ops: Sequence[Op], life: Life, *, counts_memory: bool) -> None:
    marks = {len(ops) // 4, len(ops) // 2, len(ops) * 3 // 4} if counts_memory else set()
    for start in range(0, len(ops), CHUNK):
        for name, dice in ops[start : start + CHUNK]:
            WORDS[name][1](editor, random.Random(dice))
            editor.catch_up()
        await editor.connection.drain()
        if start % BATCH == 0:
            await _look(editor)
        await editor.connection.until(lambda: editor.answers.n_owed() < MOST_OWED, "answer in time")
        if marks & set(range(start, start + CHUNK)):
            life.figures.append(await _measure(editor))
    await _look(editor)
    await check_persisted(editor)
    if counts_memory:
        life.figures.append(await _measure(editor))


async def _look(editor: Editor) -> None:
    """Let turns proceed; check that everything is answered and all texts and hunks are right."""
    status: dict[str, Any] = {"turns": ["unknown"]}
    for _ in range(TURNS_LEFT_ALONE):
        editor.catch_up(all_of_them=True)
        editor.command("stet.status", then=status.update)
        await editor.connection.until(
            lambda: not editor.answers.n_owed(), f"answer to {sorted(editor.answers.owed)[:5]}"
        )
        if not status["turns"]:
            break
    check_texts(editor)
    check_hunks(editor)
    await editor.connection.until(lambda: not editor.answers.n_owed(), "answer about texts")


async def _measure(editor: Editor) -> Figures:
    """Measure the usage of an idle server without open documents and turns.

    Other work, like scanning a saved file, ends meanwhile: the smallest of several samples counts.
    """
    for document in list(editor.documents.values()):
        editor.close(document)
    status: dict[str, Any] = {"turns": ["unknown"]}
    while status["turns"]:
        editor.catch_up(all_of_them=True)
        editor.command("stet.cancel")
        editor.command("stet.status", then=status.update)
        await editor.connection.until(lambda: not editor.answers.n_owed(), "answer to status")
    found: list[Figures] = []

    def then(answer: Any) -> None:
        found.append(
            Figures(
                editor.answers.n_sent, answer["inUse"], answer["resident"], answer["descriptors"]
            )
        )

    for _ in range(LOOKS):
        editor.command("test.memory", then=then)
        await editor.connection.until(lambda: not editor.answers.n_owed(), "figures")
    return Figures(
        found[-1].n_messages,
        min(one.in_use for one in found),
        min(one.resident for one in found),
        min(one.descriptors for one in found),
    )


async def _end(editor: Editor, dice: random.Random) -> None:
    """Shut the server down, with a few words sent too late."""
    for name in ("agent", "look", "ask", "show", "look"):
        WORDS[name][1](editor, dice)
    editor.request("shutdown", None)
    for name in ("type", "ask", "look", "odd id", "ask oddly"):
        WORDS[name][1](editor, dice)
    editor.catch_up(all_of_them=True)
    await editor.connection.until(lambda: not editor.answers.n_owed(), "answer behind shutdown")
    editor.notify("exit", None)
    code = await editor.connection.ended()
    if code != 0:
        raise Violation(f"the server ended with {code}")
    check_disk(editor)
