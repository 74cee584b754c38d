"""Class 30: input that would never end, or would fill memory or disk."""

import asyncio
import gzip
import json

from stet.llm.model import ToolCall
from stet.system.system import System
from stet.web import fetch as page
from stet.web.address_policy import Fetched
from stet.web.web_address import WebError, parse_url
from stet.workspace import grep
from stet.workspace.workspace import Workspace
from tests.attacks.obedient import Obedient, order
from tests.attacks.registry import Result, attack
from tests.attacks.stage import SETTINGS, Stage
from tests.attacks.weaknesses import weakened
from tests.support import openai_server as api
from tests.support.http_server import HttpRequest
from tests.support.settings_parsing import parse_settings as settings_of

PATTERNS = (
    "(a+)+$", "(a|a)*$", "(a|aa)+$", "(.*a){20}b", "([a-z]+)*1", "(x+x+)+y", "^(([a-z])+.)+[A-Z]([a-z])+$",
    "(?:(?:a*)*)*b", "(a*)*b", "((a+)+)+b",
)  # fmt: skip


class Endless(Obedient):
    """A model that never finishes and asks for something new each time, up to a limit."""

    def _next(self, asked: HttpRequest) -> api.Reply:
        self._n += 1
        self._waiting = [
            ToolCall(f"e{self._n}.{n}", "list_files", json.dumps({"glob": f"x{self._n}.{n}"}))
            for n in range(3 if self._n < 26 else 0)
        ]
        return super()._next(asked)


@attack(
    30, "unbounded use", least=27, weakness="no_limits",
    others=("searches_for_ever", "bombs_unpacked"),
)  # fmt: skip
async def unbounded(stage: Stage) -> Result:
    result = Result()
    seen = await stage.play([], model=Endless(), accepts=False)
    rounds = len(seen.sent)
    result.add(1, [f"{rounds} rounds"] if rounds > 20 else [])
    result.add(*await slow_patterns(stage), whole=False)
    result.add(*await bombs(stage), whole=False)
    if stage.few:
        return result
    stage.put("big.md", "word and word\n" * 60_000)
    stage.put("line.md", "x" * 900_000)
    stage.put("aaaa.md", "a" * 40 + "!\n")
    deep = "/".join(["d"] * 70)
    stage.put(f"{deep}/x.md", "x\n")
    for n in range(600):
        stage.put(f"many/{n}.md", "word\n")
    orders = [
        order("read_file", file="big.md"), order("read_file", file="line.md"),
        order("copy_files", files=["big.md", "line.md"]), order("list_files", limit=1000),
        order("explore_structure", depth=10), order("search_workspace", query="word", limit=200),
        order("search_workspace", query="x", limit=200, mode="keyword"), order("query_files", text="word", limit=500),
        order("search_workspace", query=".*", mode="regex", limit=200), order("get_links", file="big.md", depth=3),
        order("create_file", file="huge.md", content="x" * 600_000),
        order("list_files", limit=10**9), order("explore_structure", depth=10**9),
    ]  # fmt: skip
    calls = [
        ToolCall(f"u{n}", tool, json.dumps(reported)) for n, (tool, reported) in enumerate(orders)
    ]
    seen = await stage.play([], model=Obedient(at_once=calls), accepts=False)
    reported = json.loads(seen.sent[-1])["messages"]
    long = [
        len(one["content"])
        for one in reported
        if one["role"] == "tool" and len(one["content"]) > 80_000
    ]
    result.add(len(orders), [*(f"an answer of {n} characters" for n in long), *seen.effects()])
    return result


async def slow_patterns(stage: Stage) -> tuple[int, list[str]]:
    """Search with expressions that never finish, with a fraction of the usual time limit."""
    folder = stage.top / "slow"
    folder.mkdir()
    (folder / "a.md").write_text("a" * 40 + "!\n" + "x" * 40 + "\n")
    world = Workspace(System(), settings_of(SETTINGS).settings)
    world.add_root(folder.as_uri())
    before, grep.SECONDS = grep.SECONDS, 0.3
    effects: list[str] = []
    # Far above the limit: only a search that never ends exceeds this.
    patience = 3 if stage.few else 60
    patterns = PATTERNS[:2] if stage.few else PATTERNS
    try:
        for pattern in patterns:
            with weakened(stage.weakness):
                searching = grep.grep(world.snapshot(), pattern, "")
                try:
                    await asyncio.wait_for(searching, patience)
                except grep.InvalidRegex:
                    continue
                except TimeoutError:
                    effects.append(f"still searched for: {pattern}")
    finally:
        grep.SECONDS = before
    return len(patterns), effects


async def bombs(stage: Stage) -> tuple[int, list[str]]:
    """Fetch pages of a few kilobytes that unpack to more than the size limit."""
    fillings = (b"0", b"word ", b"\n", "\u00e9".encode())
    effects: list[str] = []
    for filling in fillings:
        packed = gzip.compress(filling * (2 * page.MAX_UNPACKED // len(filling)))
        fetched = Fetched(parse_url("http://a.example/"), "text", "", True, packed)
        with weakened(stage.weakness):
            try:
                read = await page.read_page(fetched, System())
                effects.append(f"unpacked: {len(read.text) + read.n_left_out} characters")
            except WebError as refused:
                # A page that was read whole may still hold only blanks.
                effects += (
                    [f"unpacked: {refused}"] if "when it is unpacked" not in str(refused) else []
                )
    return len(fillings), effects
