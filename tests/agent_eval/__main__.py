"""`python -m tests.agent_eval --model PATH`: run the arms on the tuning half and keep each result.

Options: `--held-out` runs the other half instead, `--arms` and `--tasks` choose, `--limit` takes
the first tasks of each kind only. `--report` prints the table of what has been measured, `--write`
puts it into `docs/agent-quality.md`.
"""

import argparse
import asyncio
import hashlib
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.agent_eval.arms import ARMS
from tests.agent_eval.counting_proxy import CountingProxy
from tests.agent_eval.model_server import ModelServerFailed, ServerOptions, model_server
from tests.agent_eval.report import report, write
from tests.agent_eval.results import Conditions, ResultFile
from tests.agent_eval.runner import Runner
from tests.agent_eval.task import Task, held_out, tasks
from tests.parts.kept import MissingPart, cache


def main(arguments: list[str]) -> int:
    """Run or report; the exit code."""
    given = _parser().parse_args(arguments)
    store = ResultFile(given.results or cache().with_name("agent-eval"))
    if given.report or given.write:
        results = store.read()
        if given.write:
            write(results)
        sys.stdout.write(report(results) + "\n")
        return 0
    try:
        chosen = choose(given.tasks, given.limit, is_held_out=given.held_out)
        if reason := refusal(given, store, chosen):
            sys.stderr.write(f"{reason}\n")
            return 2
        asyncio.run(_run(given, store, chosen))
    except (MissingPart, ModelServerFailed, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except asyncio.CancelledError:
        sys.stderr.write("stopped; what was measured is kept\n")
        return 1
    return 0


def refusal(given: argparse.Namespace, store: ResultFile, chosen: Sequence[Task]) -> str:
    """Return why a run does not begin, or ""."""
    if given.model is None:
        return "--model PATH is missing: the GGUF file that all arms use"
    if not chosen:
        return "no task of this half has such an id; --held-out is the other half"
    if given.held_out and not given.look_again:
        version = ARMS["stet-agent"].version()
        seen = {
            one.version
            for one in store.read()
            if one.held_out and one.arm.startswith("stet-") and one.version != version
        }
        if seen:
            return (
                f"the held-out tasks were already looked at with {', '.join(sorted(seen))}:"
                " what is changed after it is tuned on them; --look-again runs them all the same"
            )
    return ""


def choose(names: Sequence[str], limit: int, *, is_held_out: bool) -> list[Task]:
    """Return the tasks of one half.

    Args:
        names: The ids of the tasks to take; empty for all.
        limit: The number of tasks of each kind; 0 for all.
        is_held_out: Which half.

    Raises:
        MissingPart: If the data of HumanEval is not available.
    """
    half = [task for task in tasks().values() if (task.id in held_out()) == is_held_out]
    found: list[Task] = []
    for task in half:
        is_named = not names or task.id in names
        n_before = sum(one.kind == task.kind for one in found)
        if is_named and (not limit or n_before < limit):
            found.append(task)
    return found


async def _run(given: argparse.Namespace, store: ResultFile, chosen: Sequence[Task]) -> None:
    running = asyncio.current_task()
    assert running is not None
    # Else a terminated run would leave its agent behind, in a process group of its own.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)
    path, sha256 = await asyncio.to_thread(_identify, Path(given.model))
    name = given.name or path.stem
    conditions = Conditions(name, sha256, given.context, given.threads, given.seconds)
    options = ServerOptions(str(path), given.context, given.threads)
    arms = [ARMS[arm] for arm in given.arms]
    with tempfile.TemporaryDirectory(prefix="agent-eval-") as base:
        async with model_server(options) as upstream, CountingProxy(upstream) as proxy:
            runner = Runner(proxy, conditions, store, Path(base))
            await runner.run(arms, chosen, warms_up=True)


def _identify(model: Path) -> tuple[Path, str]:
    """Return the absolute path of a file, and its hash."""
    with model.open("rb") as file:
        return model.resolve(), hashlib.file_digest(file, "sha256").hexdigest()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.agent_eval")
    parser.add_argument("--model", metavar="PATH", help="the GGUF file that all arms use")
    parser.add_argument("--name", help="the model's name for the agents; by default the file's")
    parser.add_argument("--arms", nargs="+", choices=[*ARMS], default=[*ARMS], metavar="ARM")
    parser.add_argument("--tasks", nargs="+", default=[], metavar="ID")
    parser.add_argument("--limit", type=int, default=0, help="tasks of each kind; 0 for all")
    parser.add_argument("--held-out", action="store_true", help="run the half not tuned on")
    parser.add_argument("--look-again", action="store_true", help="run that half once more")
    parser.add_argument("--seconds", type=int, default=180, help="the limit of a task")
    parser.add_argument("--context", type=int, default=16_384, help="tokens of the window")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--results", type=Path, metavar="FOLDER", help="by default in the cache")
    parser.add_argument("--report", action="store_true", help="print the table and run nothing")
    parser.add_argument("--write", action="store_true", help="renew the page, and run nothing")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
