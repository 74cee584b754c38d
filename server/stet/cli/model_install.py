"""`stet model install`: offer the local models, and download one."""

import asyncio
import shutil
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

from stet.cli.terminal import CliError, Terminal
from stet.llm.embedded.speed import (
    MEASURED_SECONDS,
    estimate_speed,
    measure_shape,
    measure_speed,
)
from stet.llm.weights import model_folder
from stet.llm.weights.catalog import (
    CATALOG,
    HUB_FORM,
    SMALL,
    CatalogModel,
    ModelWeights,
    find_model,
    hub_weights,
    parse_hub_address,
)
from stet.llm.weights.install import Source, install_file, install_weights
from stet.llm.weights.local_model import installed_models
from stet.llm.weights.partial_file import InstallError, PartialFile
from stet.system.memory import free_memory
from stet.system.system import System
from stet.text.escape import escape_line

GB = 1_000_000_000
ROOM = 4 * GB
"""The free space on the disk below which the small model is the default."""
LARGE = 500_000_000
"""The download, in bytes, from which on a user at a terminal is asked."""
SHAPES_SECONDS = 6.0
"""How long the models that are not installed are measured, all together."""


@dataclass(frozen=True, slots=True)
class InstallRequest:
    """What `stet model install` was called with.

    Attributes:
        name: A size, or the address of a file on Hugging Face; "" to choose.
        source: Where to download from.
        file: A downloaded file to use; None to download.
        quiet: Whether to print nothing if a model is installed.
    """

    name: str = ""
    source: Source = "auto"
    file: Path | None = None
    quiet: bool = False


def install(request: InstallRequest) -> int:
    """Download a local model; return the exit code.

    Raises:
        CliError: If the name is not a model, the weights can't be downloaded, the user declines, or
            the runtime is missing.
    """
    terminal, folder = Terminal(), model_folder.default_folder()
    if find_spec(model_folder.RUNTIME) is None:
        raise CliError(model_folder.HOW_TO_GET_RUNTIME)
    if request.quiet and not request.name and request.file is None and _any_installed(folder):
        return 0
    weights = _choose(request, terminal, folder)
    reporter = InstallReporter(terminal)
    try:
        with reporter.bar:
            path = asyncio.run(_install(weights, request, folder, reporter))
    except InstallError as error:
        raise CliError(str(error)) from error
    if reporter.fetched or not request.quiet:
        terminal.say(f"Installed {weights.name}: {path}")
    if reporter.fetched and terminal.is_interactive:
        _show_speed(weights, terminal, folder)
    return 0


def _show_speed(weights: ModelWeights, terminal: Terminal, folder: Path) -> None:
    """Measure a model that was just installed."""
    local = next((one for one in installed_models(folder) if one.path.name == weights.file), None)
    if local is not None:
        with terminal.working("measuring its speed"):
            speed = asyncio.run(measure_speed(local, System()))
        if speed:
            terminal.say(f"It writes {speed:.0f} tokens a second here.")


def named_weights(name: str) -> ModelWeights:
    """Return the weights that a size, a model's name or an address means.

    Raises:
        CliError: If it means none; the message names the sizes and the form of an address.
    """
    if (model := find_model(name)) is not None:
        return model.weights
    if name.startswith("hf:"):
        try:
            return hub_weights(parse_hub_address(name))
        except ValueError as error:
            raise CliError(str(error), code=2) from error
    sizes = " or ".join(one.size for one in CATALOG)
    raise CliError(f"{name!r} is not a local model: use {sizes}, or {HUB_FORM}", code=2)


def default_model(memory: int | None, disk: int) -> CatalogModel:
    """Return the largest model that leaves half of the free memory, and room on the disk.

    Args:
        memory: The free memory in bytes; None if it is not known.
        disk: The free space on the disk, in bytes.
    """
    fitting = [
        one for one in CATALOG if disk >= ROOM and memory is not None and 2 * one.memory <= memory
    ]
    return fitting[-1] if fitting else SMALL


def _any_installed(folder: Path) -> bool:
    return any(_is_installed(one.weights, folder) for one in CATALOG)


def _is_installed(weights: ModelWeights, folder: Path) -> bool:
    path = model_folder.installed_path(weights, folder)
    return path.is_file() and path.stat().st_size == (weights.size or path.stat().st_size)


def _choose(request: InstallRequest, terminal: Terminal, folder: Path) -> ModelWeights:
    """Return the weights to install: those of the request, or those that the user chooses.

    Raises:
        CliError: If the user declines, or the file is that of no model.
    """
    if request.file is not None:
        return _weights_of_file(request.file, request.name)
    if request.name:
        weights = named_weights(request.name)
        if terminal.is_interactive and not _is_installed(weights, folder):
            _confirm(weights, folder)
        return weights
    return _offer(terminal, folder) if terminal.is_interactive else SMALL.weights


def _weights_of_file(file: Path, name: str) -> ModelWeights:
    """Return the offered weights that a file may be: those of the name, or of its size.

    Raises:
        CliError: If neither names an offered model.
    """
    if name:
        return named_weights(name)
    n_bytes = file.stat().st_size if file.is_file() else 0
    for one in CATALOG:
        if one.weights.size == n_bytes:
            return one.weights
    raise CliError(
        f"{str(file)!r} is not the file of an offered model. To use it as it is, set "
        "model.provider to local and model.name to its path."
    )


def _confirm(weights: ModelWeights, folder: Path) -> None:
    """Ask before a large download.

    Raises:
        CliError: If the user declines.
    """
    partial = PartialFile(model_folder.installed_path(weights, folder))
    n_bytes = weights.size - partial.size
    if weights.size and n_bytes < LARGE:
        return
    size = f"{n_bytes / 1e6:,.0f} MB" if weights.size else "a file of unknown size"
    if _ask(f"Download {size} ({weights.name})? [Y/n] ").lower() not in {"", "y", "yes"}:
        raise CliError("nothing was installed")


def _offer(terminal: Terminal, folder: Path) -> ModelWeights:
    """Show the models and return the one that the user chooses.

    Raises:
        CliError: If the user chooses none.
    """
    memory, disk = free_memory(), _free_disk(folder)
    speeds = Speeds({}, {})
    # Ctrl-C ends the measurement and no more; what was measured is shown.
    with (
        suppress(KeyboardInterrupt),
        terminal.working("measuring the speed of this machine (Ctrl-C: skip)"),
    ):
        asyncio.run(_measure(speeds, folder, memory))
    for one in CATALOG:
        for line in _describe(one, speeds.describe(one)):
            terminal.say(line)
    default = default_model(memory, disk)
    known = "an unknown amount of" if memory is None else f"{memory / GB:.1f} GB of"
    terminal.say(f"Free here: {known} memory, {disk / GB:.0f} GB on the disk.")
    sizes = "/".join(one.size for one in CATALOG)
    answer = _ask(f"Which one? [{sizes}; Enter: {default.size}; n: none] ").lower()
    if answer in {"n", "no", "none", "q"}:
        raise CliError("nothing was installed")
    return named_weights(answer or default.size)


async def _measure(speeds: "Speeds", folder: Path, memory: int | None) -> None:
    """Measure the installed models, and the shapes of those that are not and that fit in memory."""
    for local in installed_models(folder):
        if speed := await measure_speed(local, System()):
            speeds.installed[local.size] = speed
    until = time.monotonic() + SHAPES_SECONDS
    for one in CATALOG:
        if one.size in speeds.installed or (memory is not None and one.memory > memory):
            continue
        if speed := await measure_shape(one, System(), until - time.monotonic()):
            speeds.shapes[one.size] = speed


@dataclass(frozen=True, slots=True)
class Speeds:
    """What was measured on this machine: tokens a second, by the size of a model.

    Attributes:
        installed: The speeds of installed models.
        shapes: The speeds of models of the same shape with random weights.
    """

    installed: dict[str, float]
    shapes: dict[str, float]

    def describe(self, model: CatalogModel) -> str:
        """Return the speed of a model in words, and how it is known."""
        if (speed := self.installed.get(model.size)) is not None:
            return f"{speed:.0f} tokens a second (measured here in {MEASURED_SECONDS:.0f} s)"
        if (speed := self.shapes.get(model.size)) is not None:
            return f"about {speed:.0f} tokens a second (measured here with random weights)"
        for other in CATALOG:
            known = self.installed.get(other.size) or self.shapes.get(other.size)
            if known is not None:
                speed = estimate_speed(model, other, known)
                from_other = f"estimated from {other.size}, measured here"
                return f"about {speed:.0f} tokens a second ({from_other})"
        return f"{model.tokens_per_second:.0f} tokens a second (measured on a cloud machine)"


def _describe(model: CatalogModel, speed: str) -> tuple[str, ...]:
    """Return what the user reads of a model before choosing one."""
    weights = model.weights
    return (
        f"{model.size}: {weights.name}, {model.licence}, {weights.size / 1e6:,.0f} MB to download, "
        f"{model.memory / GB:.1f} GB of memory",
        f"    {model.purpose}",
        f"    {model.scores}",
        f"    {speed}",
    )


def _ask(question: str) -> str:
    """Return the user's answer, without blanks around it.

    Raises:
        CliError: At the end of the input.
    """
    try:
        return input(question).strip()
    except EOFError as error:
        raise CliError("nothing was installed") from error


def _free_disk(folder: Path) -> int:
    """Return the free bytes on the disk of a folder that may not exist yet."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    return shutil.disk_usage(existing).free


async def _install(
    weights: ModelWeights, request: InstallRequest, folder: Path, reporter: "InstallReporter"
) -> Path:
    if request.file is not None:
        return await install_file(weights, request.file, folder, reporter.report)
    return await install_weights(weights, folder, System(), reporter.report, request.source)


class InstallReporter:
    """A progress bar that is drawn only if a download is necessary.

    Attributes:
        fetched: Whether a download was necessary.
    """

    def __init__(self, terminal: Terminal) -> None:
        self.fetched = False
        self.bar = ExitStack()
        description = TextColumn("{task.description}", markup=False)
        columns = (description, BarColumn(), TaskProgressColumn())
        hidden = not terminal.err.is_terminal
        self._progress = Progress(*columns, console=terminal.err, transient=True, disable=hidden)
        self._task = self._progress.add_task("", total=1.0)

    def report(self, what: str, share: float) -> None:
        """Report a step of the installation."""
        if not self.fetched:
            self.fetched = True
            self.bar.enter_context(self._progress)
        self._progress.update(self._task, description=escape_line(what), completed=share)
