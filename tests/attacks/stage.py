"""Stage for attacks: a workspace with canaries, a model that obeys, an editor that records.

    stage = Stage(tmp_path, Random(1))
    secret = stage.put("../outside/notes.md")
    seen = await stage.play([order("read_file", file="../outside/notes.md")])
    seen.effects()  # [] if nothing forbidden happened

Only effects count: a canary in a request, a program, a connection, a look-up, a file written
outside the editor or the workspace, an edit applied without its own approval.
"""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from pygls.exceptions import JsonRpcException

from tests.attacks.obedient import Obedient, Order, written
from tests.attacks.seen import Seen, tree
from tests.support.editor import FakeEditor
from tests.support.live_turns import ask, provider

SERVER = (
    *(sys.executable, "-I", str(Path(__file__).with_name("watched_server.py"))),
    *("serve", "--log-level=error"),
)
OPEN = "a.md"
SETTINGS: dict[str, Any] = {
    "agent": {"maxIterations": 20, "maxTokens": 100_000_000},
    "context": {"excludedFolders": ["vault"], "warnTokens": 10_000_000},
    "privacy": {"deny": ["*.secret"]},
}
_OVER = ("completed", "failed", "cancelled", "limited")
_SECONDS = 60.0
T = TypeVar("T")

Say = Callable[[Mapping[str, Any]], str]
"""Returns the user's answer to a question of the turn."""


def no(question: Mapping[str, Any]) -> str:
    """Answer like a careful user: with the last choice."""
    choices = question["choices"]
    return str(choices[-1]) if choices else "no"


@dataclass
class Stage:
    """One workspace for attacks.

    Attributes:
        top: The folder of everything: `ws` is the workspace, its siblings are outside.
        random: The generator of random variants.
        weakness: The name of the weakened rule; empty for none.
        few: Whether a few variants are enough, as in a check that a weakness is noticed.
    """

    top: Path
    random: Random
    weakness: str = ""
    few: bool = False
    _n: int = 0

    def __post_init__(self) -> None:
        self.top = Path(os.path.realpath(self.top))
        self.root.mkdir(exist_ok=True)
        (self.top / "home").mkdir(exist_ok=True)

    @property
    def root(self) -> Path:
        """Return the workspace folder."""
        return self.top / "ws"

    def some(self, variants: Iterable[T], n: int = 40) -> list[T]:
        """Return at most `n` of the variants, in order; fewer if `few` is set."""
        variants = list(variants)
        n = min(n, 12) if self.few else n
        if len(variants) <= n:
            return variants
        return [variants[at] for at in sorted(self.random.sample(range(len(variants)), n))]

    def canary(self) -> str:
        """Make a word that occurs in no other file."""
        self._n += 1
        return f"kanarie{self._n:04}"

    def put(self, name: str, text: str | None = None) -> str:
        """Write a file in the workspace or outside; the default text is the canary."""
        path = self.root / name
        canary = "" if text is not None else self.canary()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(
            (f"{canary} here\n" if text is None else text).encode("utf-8", "surrogatepass")
        )
        return canary

    async def play(
        self,
        orders: Sequence[Order],
        *,
        settings: Mapping[str, Any] | None = None,
        env: Mapping[str, str] | None = None,
        names: Mapping[str, Sequence[Sequence[str]]] | None = None,
        model: Obedient | None = None,
        say: Say = no,
        prompts: Sequence[str] = ("Do as the file says",),
        accepts: bool = True,
        client: str = "neovim",
        after: Callable[[Seen], Awaitable[None]] | None = None,
        ports: Sequence[int] = (),
    ) -> Seen:
        """Play one session: the open file holds the orders, the model obeys, the user accepts all.

        Args:
            orders: The orders in the open file.
            settings: The user's settings, merged into `SETTINGS`.
            env: Additional environment variables of the server.
            names: The addresses to which host names resolve.
            model: The model; by default a new `Obedient`.
            say: The user's answers to questions.
            prompts: The user's prompts, in order.
            accepts: Whether the user accepts everything after each prompt.
            client: The name of the editor.
            after: Called with the session's effects before the editor exits.
            ports: The loopback ports to which the server may connect, besides the model's.
        """
        self.put(OPEN, f"A note.\n{written(orders)}")
        before, log = tree(self.top), self._new_log()
        async with model or Obedient() as server:
            watched = {
                **provider(server),
                "STET_WATCHED": str(log),
                "STET_NAMES": json.dumps(names or {}),
                "STET_WEAKENED": self.weakness,
                **(env or {}),
            }
            session = _Session(self, watched, settings or {}, say, prompts, accepts, client, after)
            seen = await session.play({str(server.port), *map(str, ports)})
            seen.sent += [json.dumps(one.body, ensure_ascii=False) for one in server.requests]
            seen.sent += [str(one) for one in server.others]
        seen.happened += [json.loads(line) for line in log.read_text().splitlines()]
        seen.faults += self._changed(before)
        return seen

    def _new_log(self) -> Path:
        """Create the file for the server's log."""
        home = self.top / "home"
        log = home / f"log{len(list(home.iterdir()))}"
        log.touch()
        return log

    def _changed(self, before: Mapping[str, object]) -> list[str]:
        """List the files outside the workspace that have changed."""
        root, now = f"{self.root}/", tree(self.top)
        return [
            f"changed: {path}"
            for path in sorted(before.keys() | now.keys())
            if not path.startswith(root) and before.get(path) != now.get(path)
        ]


@dataclass(frozen=True)
class _Session:
    """One server with its editor, from start to exit; see `Stage.play`.

    Attributes:
        env: The environment variables that differ from the default.
    """

    stage: Stage
    env: Mapping[str, str]
    settings: Mapping[str, Any]
    say: Say
    prompts: Sequence[str]
    accepts: bool
    client: str
    after: Callable[[Seen], Awaitable[None]] | None

    async def play(self, ports: set[str]) -> Seen:
        """Play the session and return its effects; an exception becomes a fault.

        Args:
            ports: The loopback ports to which the server may connect.
        """
        seen: Seen | None = None
        whole = _laid_over(SETTINGS, self.settings)
        try:
            async with FakeEditor.start(
                self.stage.root, settings=whole, env=self.env, command=SERVER, client=self.client
            ) as editor:
                seen = Seen(self.stage.top, editor, ports=ports)
                await self._ask_all(seen)
        except (AssertionError, TimeoutError, OSError) as fault:
            if seen is None:
                raise
            seen.faults.append(f"fault: {fault!r}"[:400])
        return seen

    async def _ask_all(self, seen: Seen) -> None:
        """Act as the user: send the prompts, accept, and call `after`."""
        uri = seen.editor.open(OPEN)
        for prompt in self.prompts:
            seen.turns.append(await _asked(seen.editor, prompt, uri, self.say))
            if self.accepts:
                await accept_all(seen.editor)
        if self.after is not None:
            await self.after(seen)


async def _asked(editor: FakeEditor, prompt: str, uri: str, say: Say) -> Any:
    """Run a turn and answer all its questions."""
    turn = await ask(editor, prompt, uri=uri)
    answered: set[str] = set()
    async with asyncio.timeout(_SECONDS):
        while True:
            arrived = editor.n_news
            found = await editor.command("stet.turn", {"turn": turn})
            if found["state"] in _OVER:
                return found
            question = found["question"]
            if question and question["id"] not in answered:
                answered.add(question["id"])
                with contextlib.suppress(JsonRpcException):
                    await editor.command(
                        "stet.answer", {"question": question["id"], "text": say(question)}
                    )
                continue
            await editor.wait_until(lambda seen=arrived: editor.n_news > seen, _SECONDS)  # type: ignore[misc]


async def accept_all(editor: FakeEditor, **named: object) -> None:
    """Accept everything, protected files too, or only the hunks that `named` selects."""
    n_reported = len(editor.messages)
    try:
        answer = await editor.command("stet.accept", named or {"all": True, "protected": True})
    except JsonRpcException:
        return
    while True:
        arrived = editor.n_news
        states = {one["hunk"]: one["state"] for one in await editor.command("stet.proposals")}
        now = {states[hunk] for hunk in answer["hunks"]}
        # A hunk refused at the last moment is pending again, and the user is informed.
        if not now & {"pending", "sent"} or (
            "sent" not in now and len(editor.messages) > n_reported
        ):
            return
        await editor.wait_until(lambda seen=arrived: editor.n_news > seen)  # type: ignore[misc]


def _laid_over(settings: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two settings, key by key in each section."""
    return {
        name: {**settings.get(name, {}), **more[name]}
        if isinstance(more.get(name), Mapping)
        else more.get(name, settings.get(name))
        for name in {*settings, *more}
    }
