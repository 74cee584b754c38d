"""`stet model list` and `stet model remove`: the available models, and which one is chosen."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from rich.table import Table
from rich.text import Text

from stet.cli.files import current_folder
from stet.cli.model_install import named_weights
from stet.cli.terminal import CliError, Terminal
from stet.llm.embedded.model_daemons import ModelDaemons, RunningDaemon
from stet.llm.model import NoModel
from stet.llm.model_selection import (
    ModelChoice,
    ModelEnvironment,
    decide_model,
    find_key,
    inspect_environment,
)
from stet.llm.providers import HOSTED
from stet.llm.weights import model_folder
from stet.llm.weights.catalog import CATALOG, ModelWeights
from stet.settings.layers import read_layers
from stet.system.system import System
from stet.text.escape import escape_line


def show() -> int:
    """List the available models and the chosen one; return the exit code."""
    terminal = Terminal()
    settings = read_layers(System().read_bytes, [current_folder()]).settings.model
    daemons = ModelDaemons.of(System())
    models = asyncio.run(inspect_environment(settings, System(), daemons))
    table = Table(box=None, pad_edge=False)
    table.add_column("provider", style="bold")
    table.add_column("state")
    for name, state in _states(models):
        table.add_row(Text(name), Text(escape_line(state)))
    terminal.out.print(table)
    terminal.show("")
    for line in _local_models(model_folder.default_folder()):
        terminal.show(line)
    for running in daemons.running() if daemons else ():
        terminal.show(describe_daemon(running))
    try:
        terminal.show(f"in use: {describe_choice(decide_model(settings, models))}")
    except NoModel as error:
        terminal.show(f"in use: none. {error}", "yellow")
    return 0


def describe_daemon(running: RunningDaemon) -> str:
    """Return one line: the model that stays loaded, the id of its process and its memory."""
    memory = f", {running.memory / 1e6:,.0f} MB of memory" if running.memory is not None else ""
    return f"{running.model.stem}: loaded for the next `stet ask` (process {running.process_id}{memory})"


def describe_choice(choice: ModelChoice) -> str:
    """Return one line: the model, its provider, its address without a password and the reason."""
    address = urlsplit(choice.base_url)
    host = address.netloc.rpartition("@")[2]
    where = f" at {address.scheme}://{host}{address.path}" if host else ""
    return f"{choice.model or 'its first model'} ({choice.provider}{where}). {choice.why}"


def remove(name: str) -> int:
    """Remove an installed local model; return the exit code.

    Raises:
        CliError: If there is no such model, or it can't be removed.
    """
    terminal, folder = Terminal(), model_folder.default_folder()
    weights = _installed_weights(name, folder)
    try:
        n_bytes = model_folder.remove_weights(weights, folder)
    except OSError as error:
        raise CliError(f"{error.filename} can't be removed: {error.strerror or error}") from error
    if not n_bytes:
        raise CliError(f"{name!r} is not installed: see `stet model list`")
    terminal.say(f"Removed {weights.name}: {n_bytes / 1e6:,.0f} MB are free now.")
    return 0


def _installed_weights(name: str, folder: Path) -> ModelWeights:
    """Return the weights of a size, a name, an address, or a file that `stet model list` lists.

    Raises:
        CliError: If there is no such model.
    """
    for path in model_folder.other_files(folder):
        if name in {path.name, path.stem}:
            return ModelWeights(path.stem, path.name)
    return named_weights(name)


def _local_models(folder: Path) -> Iterator[str]:
    """Yield a line for each local model: whether it is installed, and its size on the disk."""
    for one in CATALOG:
        path = model_folder.installed_path(one.weights, folder)
        size = f"{one.weights.size / 1e6:,.0f} MB"
        state = f"installed, {size}" if path.is_file() else f"not installed, {size} to download"
        yield f"{one.size} ({one.weights.name}): {state}"
    for path in model_folder.other_files(folder):
        yield f"{path.stem}: installed, {path.stat().st_size / 1e6:,.0f} MB"


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
    rows.append(("local", models.local.missing or "ready"))
    return rows
