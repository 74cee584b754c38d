"""Digests of lives with one message at a time, to verify that a refactoring keeps behaviour.

Each word is sent when the server is idle, so its outcome depends on the words alone. A digest
covers the answers, the edits that the server sends, all hunks and all texts after each word.

    python -m tests.fuzz.digest            compare with `digests.txt`
    python -m tests.fuzz.digest --write    record the digests of this tree
    python -m tests.fuzz.digest SEED       print what the digest of a seed covers, one line per word
"""

import asyncio
import hashlib
import json
import random
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.fuzz.answers import Then
from tests.fuzz.connection import Connection, Message
from tests.fuzz.editor import Editor
from tests.fuzz.grammar import N_OPEN, WORDS
from tests.fuzz.life import begin, new_editor, plan

FILE = Path(__file__).with_name("digests.txt")
SEEDS = range(2, 26, 2)
"""Even seeds: their editors answer edits at once."""
N_WORDS = 400
TIMED = {
    *("disk", "cancel", "steer", "stop", "rare", "files", "folders", "configuration", "odd id"),
    *("tell oddly", "watched", "save", "huge", "close"),
}
"""Words left out: their outcome depends on the moment at which they arrive."""
MOST_LOOKS = 300
"""The most requests for the state of the turns."""
STILL = 12
"""The number of equal consecutive states that shows that all turns wait for one with a question."""
_VOLATILE = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z?"  # a time
    r"|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"  # a UUID
    r"|\b[0-9a-f]{16}\b"  # a hash of a hunk: the folder is part of it
    r"|(?<=chat-)[0-9a-f]{8}|(?<=sent-)[0-9a-f]{8}|(?<=review-)[0-9a-f]{8}"  # hashes of the folder
)


async def transcript(seed: int) -> list[str]:
    """Live the first words of a life one at a time. Return one line of JSON for each word."""
    lines = []
    # Child processes of a killed server may write for a moment longer.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        editor = new_editor(Path(folder) / "ws", seed)
        received: list[Message] = []

        def take(message: Message) -> None:
            received.append(message)
            editor.take(message)

        home = Path(folder) / "home"
        editor.connection = await Connection.begun(home, take, options=("--counted",))
        try:
            await begin(editor)
            for name, dice in plan(seed, N_WORDS):
                if name not in TIMED and not (name == "open" and len(editor.documents) > N_OPEN):
                    WORDS[name][1](editor, random.Random(dice))
                    line = json.dumps([name, dice, *await _outcome(editor, received)])
                    lines.append(_VOLATILE.sub("*", line.replace(folder, "")))
        finally:
            await editor.connection.close()
    return lines


async def _outcome(editor: Editor, received: list[Message]) -> list[Any]:
    """Wait until the server is idle. Return its answers and edits, all hunks and all texts."""
    await _rest(editor)
    hunks: list[Any] = []
    _ask(editor, "stet.proposals", hunks.extend)
    await editor.connection.until(lambda: not editor.answers.n_owed(), "answer about hunks")
    counted = sorted(json.dumps(one, sort_keys=True) for one in received if _counts(one))
    received.clear()
    return [counted, hunks, {key: one.text for key, one in editor.documents.items()}]


async def _rest(editor: Editor) -> None:
    """Wait until no edit is in flight and each turn has ended, or waits for its user or for such a
    waiting turn."""
    status: dict[str, Any] = {}
    looks: list[list[Any]] = []
    while len(looks) < MOST_LOOKS:
        editor.catch_up(all_of_them=True)
        _ask(editor, "stet.status", status.update)
        await editor.connection.until(lambda: not editor.answers.n_owed(), "answer")
        turns: list[Any] = []
        for turn in status["turns"]:
            _ask(editor, "stet.turn", turns.append, {"turn": turn})
        await editor.connection.until(lambda: not editor.answers.n_owed(), "answer about turns")
        looks.append(turns)
        sent: list[Any] = []
        _ask(editor, "stet.proposals", sent.extend, {"state": "sent"})
        await editor.connection.until(lambda: not editor.answers.n_owed(), "answer about edits")
        if sent:
            continue
        if all(turn["question"] for turn in turns):
            break
        if any(turn["question"] for turn in turns) and looks[-STILL:] == [turns] * STILL:
            break


def _ask(editor: Editor, command: str, then: Then, *arguments: object) -> None:
    """Send a command whose answer is not part of the outcome."""
    params = {"command": command, "arguments": list(arguments)}
    message = {"jsonrpc": "2.0", "id": "rest", "method": "workspace/executeCommand"}
    editor.send({**message, "params": params}, then)


def _counts(message: Message) -> bool:
    """Tell whether a message depends on the words alone, not on the time."""
    if "method" in message:
        return str(message["method"]) == "workspace/applyEdit"
    result = message.get("result")
    is_status = isinstance(result, dict) and "bridges" in result
    is_search = isinstance(result, list) and any("excerpt" in str(one) for one in result)
    return message["id"] != "rest" and not is_status and not is_search


def digest(seed: int) -> str:
    """Return the SHA-256 digest of a life's transcript, its first 16 hexadecimal digits."""
    text = "\n".join(asyncio.run(transcript(seed)))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def recorded() -> dict[int, str]:
    """Return the recorded digests by seed."""
    rows = (line.split() for line in FILE.read_text().splitlines())
    return {int(seed): value for seed, value in rows}


def main(arguments: list[str]) -> int:
    """Run the command line. Return the exit code."""
    if arguments and arguments[0].isdigit():
        _ = sys.stdout.write("\n".join((*asyncio.run(transcript(int(arguments[0]))), "")))
        return 0
    current = {seed: digest(seed) for seed in SEEDS}
    if "--write" in arguments:
        FILE.write_text("".join(f"{seed} {value}\n" for seed, value in current.items()))
        return 0
    changed = [seed for seed, value in recorded().items() if current.get(seed) != value]
    _ = sys.stdout.write(f"{len(current)} lives, other digests: {changed or 'none'}\n")
    return bool(changed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
