"""`stet model`: list the available models and the chosen one, and install the embedded model."""

import asyncio
from contextlib import ExitStack
from importlib.util import find_spec
from urllib.parse import urlsplit

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
from rich.table import Table
from rich.text import Text

from stet.cli.files import current_folder
from stet.cli.terminal import CliError, Terminal
from stet.llm.embedded import weights
from stet.llm.model import NoModel
from stet.llm.model_selection import (
    ModelChoice,
    ModelEnvironment,
    decide_model,
    find_key,
    inspect_environment,
)
from stet.llm.providers import HOSTED
from stet.settings.layers import read_layers
from stet.system.system import System
from stet.text.escape import escape_line


def show() -> int:
    """List the available models and the chosen one; return the exit code."""
    terminal = Terminal()
    settings = read_layers(System().read_bytes, [current_folder()]).settings.model
    models = asyncio.run(inspect_environment(settings, System()))
    table = Table(box=None, pad_edge=False)
    table.add_column("provider", style="bold")
    table.add_column("state")
    for name, state in _states(models):
        table.add_row(Text(name), Text(escape_line(state)))
    terminal.out.print(table)
    terminal.show("")
    try:
        terminal.show(f"in use: {describe_choice(decide_model(settings, models))}")
    except NoModel as error:
        terminal.show(f"in use: none. {error}", "yellow")
    return 0


def describe_choice(choice: ModelChoice) -> str:
    """Return one line: the model, its provider, its address without a password and the reason."""
    address = urlsplit(choice.base_url)
    host = address.netloc.rpartition("@")[2]
    where = f" at {address.scheme}://{host}{address.path}" if host else ""
    return f"{choice.model or 'its first model'} ({choice.provider}{where}). {choice.why}"


def install(*, quiet: bool) -> int:
    """Download the embedded model's weights; return the exit code.

    Raises:
        CliError: If the weights can't be downloaded, or the runtime is missing.
    """
    terminal = Terminal()
    if find_spec(weights.RUNTIME) is None:
        raise CliError(weights.HOW_TO_GET_RUNTIME)
    reporter = InstallReporter(terminal)
    try:
        with reporter.bar:
            folder = weights.default_folder()
            path = asyncio.run(
                weights.install_weights(weights.SMOLLM2, folder, System(), reporter.report)
            )
    except weights.InstallError as error:
        raise CliError(str(error)) from error
    if reporter.fetched or not quiet:
        terminal.say(f"Installed {weights.SMOLLM2.name}: {path}")
    return 0


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


def _states(models: ModelEnvironment) -> list[tuple[str, str]]:
    """Return the name and the state of each provider that can be chosen automatically."""
    rows = []
    for preset in HOSTED:
        variable, key = find_key(preset, models.environ)
        rows.append((preset.name, f"{variable} is set" if key else f"no key ({variable})"))
    running = {server.provider: server for server in models.servers}
    for name in ("ollama", "lmstudio"):
        server = running.get(name)
        rows.append((name, f"running: {', '.join(server.models)}" if server else "not running"))
    rows.append(("local", models.embedded_missing or f"{weights.SMOLLM2.name} installed"))
    return rows
