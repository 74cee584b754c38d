"""Runs arms on tasks, one at a time, each in fresh folders, and keeps each result at once."""

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.agent_eval.arms import Arm, Command, Workplace
from tests.agent_eval.checking import failure, write_files
from tests.agent_eval.counting_proxy import CountingProxy
from tests.agent_eval.model_server import ModelServerFailed
from tests.agent_eval.results import Conditions, Result, ResultFile
from tests.agent_eval.task import Task, held_out
from tests.agent_eval.transcript import transcript

WARM_UP_SECONDS = 900
WARM_UP = Task(
    id="warm-up",
    kind="bug",
    prompt='In hello.py, hello() returns "Helo"; it should return "Hello".',
    file="hello.py",
    symbol="hello",
    files={"hello.py": 'def hello():\n    return "Helo"\n'},
    solution={"hello.py": 'def hello():\n    return "Hello"\n'},
    check="from hello import hello\nassert hello() == 'Hello'\n",
)
"""An agent's first task, which is not counted: then the server knows the start of its prompts."""
_SKIPPED_FOLDERS = frozenset({".git", "__pycache__"})
_MAX_FILE = 2**20
_GIT_CONFIG = "[user]\n\tname = Eval\n\temail = eval@example.org\n"


@dataclass(frozen=True, slots=True)
class _Ended:
    """How a process ended."""

    output: str
    errors: str
    exit_code: int
    seconds: float
    is_ended: bool


class Runner:
    """Runs agents at one proxy.

    Args:
        proxy: Counts the requests to the model.
        conditions: What is the same for all arms.
        store: Where the results go.
        base: A folder for the files of the tasks. All agents and tasks use the same path in it,
            so that the starts of the prompts are alike and the server reads them only once.
    """

    def __init__(
        self, proxy: CountingProxy, conditions: Conditions, store: ResultFile, base: Path
    ) -> None:
        self._proxy = proxy
        self._conditions = conditions
        self._store = store
        self._base = base

    async def run(self, arms: Sequence[Arm], chosen: Sequence[Task], *, warms_up: bool) -> None:
        """Run each arm on each task that has no result yet.

        Raises:
            MissingPart: If the program of an arm is not available.
            ModelServerFailed: If the model server ends; the task has no result then.
        """
        for arm in arms:
            version = arm.version()
            known = {result.key for result in self._store.read()}
            missing = [
                task
                for task in chosen
                # A changed checkout may be another one than before.
                if (task.id, task.digest, arm.name, version, self._conditions) not in known
                or version.endswith("-dirty")
            ]
            if missing and warms_up:
                await self._attempt(arm, version, WARM_UP, WARM_UP_SECONDS)
            for task in missing:
                result = await self._attempt(arm, version, task, self._conditions.limit)
                self._store.append(result)
                _report(result)

    async def _attempt(self, arm: Arm, version: str, task: Task, limit: int) -> Result:
        """Let an agent work on a task, and judge what it has done."""
        workplace = self._workplace(task)
        command = arm.command(task, workplace)
        self._proxy.begin()
        ended = await _run(command, workplace, limit)
        if not await self._proxy.is_upstream_alive():
            raise ModelServerFailed(f"the model server ended during {arm.name} {task.id}")
        await self._proxy.count_unfinished()
        after = _read_files(workplace.folder)
        changed = {
            name for name in {*task.files, *after} if task.files.get(name) != after.get(name)
        }
        reason = failure(task, after)
        exchanges = self._proxy.exchanges
        name = f"transcripts/{arm.name}-{version}/{task.id}.txt"
        path = self._store.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            transcript(task, after, exchanges, (ended.output, ended.errors), reason),
            encoding="utf-8",
        )
        return Result(
            task=task.id,
            digest=task.digest,
            kind=task.kind,
            held_out=task.id in held_out(),
            arm=arm.name,
            version=version,
            conditions=self._conditions,
            solved=not reason,
            failure=reason,
            applied=bool(changed),
            wrong_files=tuple(sorted(changed - set(task.solution))),
            shows_call=arm.shows_call(ended.output),
            rounds=len(exchanges),
            prompt_tokens=sum(one.prompt_tokens for one in exchanges),
            cached_tokens=sum(one.cached_tokens for one in exchanges),
            completion_tokens=sum(one.completion_tokens for one in exchanges),
            seconds=round(ended.seconds, 1),
            is_ended=ended.is_ended,
            exit_code=ended.exit_code,
            transcript=name,
        )

    def _workplace(self, task: Task) -> Workplace:
        """Make fresh folders for a task."""
        folder, home = self._base / "project", self._base / "home"
        for one in (folder, home):
            shutil.rmtree(one, ignore_errors=True)
            one.mkdir(parents=True)
        write_files(folder, task.files)
        write_files(home, {".gitconfig": _GIT_CONFIG})
        for arguments in (
            ["init", "--quiet", "--initial-branch=main"],
            ["add", "--all"],
            ["commit", "--quiet", "--message=Start"],
        ):
            subprocess.run(["git", *arguments], cwd=folder, env=_environment(home), check=True)
        return Workplace(
            folder, home, self._proxy.base_url, self._conditions.model, self._conditions.context
        )


def _environment(home: Path) -> dict[str, str]:
    return {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "HOME": str(home),
        "LANG": "C.UTF-8",
    }


async def _run(command: Command, workplace: Workplace, limit: int) -> _Ended:
    """Run a command until it ends or the limit is reached, then end its process group."""
    outputs = [workplace.home / name for name in ("stdout", "stderr")]
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(path.open("wb")) for path in outputs]
        begun = time.monotonic()
        process = await asyncio.create_subprocess_exec(
            *command.argv,
            cwd=workplace.folder,
            env={**_environment(workplace.home), **command.env},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=files[0],
            stderr=files[1],
            start_new_session=True,
        )
        is_ended = False
        try:
            async with asyncio.timeout(limit):
                await process.wait()
        except TimeoutError:
            is_ended = True
        finally:
            # Its children are in the group, too, and may outlive it.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        code = await process.wait()
    seconds = time.monotonic() - begun
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in outputs]
    return _Ended(texts[0], texts[1], code, seconds, is_ended)


def _read_files(folder: Path) -> dict[str, str]:
    """Return the texts in a folder by their paths, without hidden files."""
    found = {}
    for path in _walk(folder):
        if path.stat().st_size <= _MAX_FILE:
            text = path.read_bytes().decode(errors="replace")
            found[path.relative_to(folder).as_posix()] = text
    return found


def _walk(folder: Path) -> Iterator[Path]:
    """Yield the regular files below a folder; no link is followed."""
    for path in sorted(folder.iterdir()):
        if path.is_symlink() or path.name in _SKIPPED_FOLDERS or path.name.startswith("."):
            continue
        if path.is_dir():
            yield from _walk(path)
        elif path.is_file():
            yield path


def _report(result: Result) -> None:
    outcome = "solved" if result.solved else f"not solved: {result.failure}"
    sys.stderr.write(
        f"{result.arm} {result.task}: {outcome} ({result.rounds} rounds,"
        f" {result.tokens} tokens, {result.seconds:.0f} s)\n"
    )
