"""Rewrites of ten functions of about 20 lines by the local model `medium`, beside llama.cpp alone.

Ours is a language client that selects a function and sends `stet.ask` with the mode `rewrite`: the
first token is the first progress report that shows what is written, the whole is the end of the
turn, with its hunk. The peer is llama.cpp's server with its defaults (`bare_llama.py`), on two
threads: the same file of weights, context, messages, limit and temperature, read as a stream by
plain HTTP. Ours takes its second thread if a processor is free, and repeats tokens of the prompt by
n-gram lookup; the peer does not. Both models stay loaded, and both have read the system prompt
before. The two run one after the other, each function once, and take turns in beginning.

The tokens of both prompts must be as many. The answers may differ where a larger batch is rounded
differently; how many are the same is shown.
"""

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import Any, NamedTuple

from stet.agent.rewrite_turn import create_rewrite_plan
from stet.agent.rewriting.rewrite_passage import RewriteForm, RewritePassage
from stet.llm.api_format import to_api_message
from stet.llm.embedded.llama_server import free_threads
from stet.llm.weights.catalog import MEDIUM
from stet.llm.weights.model_folder import installed_path
from stet.text.document import TextDocument
from stet.text.position import Position, Range
from tests.bench import bare_llama
from tests.bench.bare_llama import SECONDS, Answer
from tests.bench.rewrite_tasks import TASKS, WARM_UP, RewriteTask
from tests.bench.table import Row, at_most, times_at_most
from tests.parts import medium_model
from tests.support.editor import FakeEditor
from tests.support.live_turns import ask

THREADS = 2
SETTINGS = {"model": {"provider": "local", "name": MEDIUM.size}}
WRITING = ("writing, ", "line ")
"""How the progress begins, after the name of the model, while the model writes."""


class Pair(NamedTuple):
    """What one function took here and at the peer."""

    task: RewriteTask
    ours: Answer
    peer: Answer


def rows() -> Iterator[Row]:
    """Yield the seconds to the first token and to the end."""
    yield from measured(TASKS)


def measured(tasks: Sequence[RewriteTask]) -> Iterator[Row]:
    """Measure some of the functions.

    Raises:
        MissingPart: If the model can't be had.
    """
    if free_threads(THREADS) < THREADS:
        sys.stderr.write("another program uses the processors: the numbers mean little\n")
    pairs = asyncio.run(_pairs(tasks))
    what = "a rewrite of 20 lines"
    for name, limit, ours, peer in (
        (f"{what}: first token", 10, [p.ours.first for p in pairs], [p.peer.first for p in pairs]),
        (f"{what}: the whole", 25, [p.ours.whole for p in pairs], [p.peer.whole for p in pairs]),
    ):
        times = median(ours), median(peer), "llama.cpp"
        yield Row(name, "s", *times, must=times_at_most(1.1), aim=times_at_most(0.8))
        yield Row(f"{name}, ours alone", "s", times[0], must=at_most(limit))
        for spread, low, high in (("ours", *_quartiles(ours)), ("llama.cpp", *_quartiles(peer))):
            yield Row(f"{name}, lower quartile, {spread}", "s", low, in_detail=True)
            yield Row(f"{name}, upper quartile, {spread}", "s", high, in_detail=True)
    for task, mine, other in pairs:
        row = f"{task.name}: the whole ({mine.n_answer} and {other.n_answer} tokens)"
        yield Row(row, "s", mine.whole, other.whole, "llama.cpp", in_detail=True)
    n_same = sum(mine.text.strip() == other.text.strip() for _, mine, other in pairs)
    yield Row("the same answer", f"of {len(pairs)}", n_same, in_detail=True)


def _quartiles(times: Sequence[float]) -> tuple[float, float]:
    lower, _, upper = quantiles(times, n=4) if len(times) > 1 else (times[0],) * 3
    return lower, upper


async def _pairs(tasks: Sequence[RewriteTask]) -> list[Pair]:
    data = medium_model.ensure()
    model = installed_path(MEDIUM.weights, data / "stet" / "models")
    pairs: list[Pair] = []
    with bare_llama.bare_server(model, MEDIUM.context_tokens, THREADS) as port:
        async with _client(data) as client:
            for number, task in enumerate((WARM_UP, *tasks)):
                body = request_body(task)
                if number % 2:
                    ours = await client.rewrite(task)
                    peer = await asyncio.to_thread(bare_llama.ask, port, body)
                else:
                    peer = await asyncio.to_thread(bare_llama.ask, port, body)
                    ours = await client.rewrite(task)
                assert ours.n_prompt == peer.n_prompt, "another prompt was sent"
                pairs.append(Pair(task, ours, peer))
    return pairs[1:]


@asynccontextmanager
async def _client(data: Path) -> AsyncIterator["Client"]:
    with tempfile.TemporaryDirectory() as folder:
        async with FakeEditor.start(
            Path(folder),
            env={"XDG_DATA_HOME": str(data)},
            settings=SETTINGS,
            fresh=True,
            experimental={"stet": {"answers": True}},
        ) as editor:
            yield Client(editor)


class Client:
    """An editor whose server uses the model, with the text of the latest answer."""

    def __init__(self, editor: FakeEditor) -> None:
        self._editor = editor
        self._text = ""
        editor.feature("$/stet/answer")(partial(self._answered))  # a method refuses what pygls sets

    async def rewrite(self, task: RewriteTask) -> Answer:
        """Rewrite a function to the end of the turn."""
        editor, self._text = self._editor, ""
        uri = editor.open(f"{task.name}.py", task.source, "python")
        lines = {"from": 1, "to": task.source.count("\n")}
        known = set(editor.progress_reports)
        begun = perf_counter()
        turn = await ask(editor, task.request, mode="rewrite", uri=uri, **lines)
        await editor.wait_until(lambda: self._is_shown(known, _is_writing), SECONDS)
        first = perf_counter() - begun
        await editor.wait_until(lambda: self._is_shown(known, _is_end), SECONDS)
        whole = perf_counter() - begun
        found = await editor.command("stet.turn", {"turn": turn})
        editor.close(uri)
        n_prompt, n_answer = (found["usage"][f"{kind}Tokens"] for kind in ("prompt", "completion"))
        return Answer(first, whole, self._text, n_prompt, n_answer)

    def _answered(self, params: Any) -> None:
        self._text = self._text[: params.start] + params.text

    def _is_shown(self, known: Collection[object], is_wanted: Callable[[Any], bool]) -> bool:
        """Tell whether a progress other than the known ones has a report that is wanted."""
        reports = self._editor.progress_reports.items()
        return any(
            is_wanted(one)
            for token, all_of_it in reports
            if token not in known
            for one in all_of_it
        )


def _is_writing(report: Any) -> bool:
    """Tell whether a report shows what the model writes, or the turn has ended without."""
    message = str(getattr(report, "message", "")).partition(": ")[2]
    return message.startswith(WRITING) or _is_end(report)


def _is_end(report: Any) -> bool:
    return getattr(report, "kind", "") == "end"


def request_body(task: RewriteTask) -> dict[str, object]:
    """Return the request that Stet sends, for the peer."""
    document = TextDocument("file:///task.py", task.source, language_id="python")
    whole = Range(Position(0, 0), Position(task.source.count("\n"), 0))
    passage = RewritePassage.of(document, f"{task.name}.py", whole, task.request)
    plan = create_rewrite_plan(passage, RewriteForm.FUNCTION, obeys_grammar=True)
    [request] = plan.requests
    return {
        "model": "medium",
        "messages": [to_api_message(message) for message in request.messages],
        "temperature": 0.0,
        "max_tokens": request.max_tokens,
        "cache_prompt": True,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
