"""`stet doctor`: what is configured, what works, and what to do about the rest.

Each check answers with findings; a finding that is a problem carries its fix.
"""

import asyncio
import importlib.util
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from rich.text import Text

from stet import __version__
from stet.cli.editors import EDITORS, check_editor
from stet.cli.finding import Finding
from stet.cli.model import described
from stet.cli.terminal import Terminal
from stet.cli.where import here
from stet.index.search.embedding import can_embed
from stet.index.search.kept import counted, index_folder
from stet.llm.choose import Choice, choose, open_model
from stet.llm.embedded import weights
from stet.llm.embeddings import NoEmbedding, embedding_endpoint
from stet.llm.errors import ModelError, NoModel
from stet.llm.messages import Message
from stet.llm.model import Request
from stet.lsp.logs.file import log_file_path
from stet.settings.layers import Layers, read_layers, user_file_path
from stet.settings.values import ModelSettings, SearchSettings, WebSettings
from stet.system.os_system import OsSystem
from stet.system.system import System
from stet.text.escape import escape_line
from stet.web.endpoint import key_names, search_endpoint
from stet.workspace.uris import uri_of

PROBE_SECONDS = 30
_MARKS = {"ok": "green", "note": "yellow", "problem": "red"}


def run() -> int:
    """Look at everything and show it; 1 if something does not work."""
    terminal = Terminal()
    system = OsSystem()
    layers = read_layers(system, [here()])
    terminal.show(f"Stet {__version__}\n", "bold")
    with terminal.working("looking"):
        findings = asyncio.run(check_all(system, layers))
    for finding in findings:
        terminal.out.print(_line(finding), soft_wrap=True)
    return int(any(finding.mark == "problem" for finding in findings))


async def check_all(system: System, layers: Layers) -> list[Finding]:
    """Every check, in the order in which they are read."""
    settings = layers.settings.model
    return [
        *check_settings(layers),
        *await check_model(settings, system),
        *check_web(layers.settings.web, system),
        *check_search(layers.settings.search, system, here()),
        await check_embedded(system),
        *await asyncio.gather(*(check_editor(editor, system) for editor in EDITORS.values())),
        *check_folders(),
    ]


def check_settings(layers: Layers) -> Iterator[Finding]:
    """The files that are read, and what is wrong in them."""
    if str(user_file_path()) not in layers.files:
        yield Finding("ok", "settings", f"the defaults; there is no {user_file_path()}")
    for file in layers.files:
        yield Finding("ok", "settings", file)
    for problem in layers.problems:
        yield Finding("problem", "settings", str(problem), f"Mend it in {problem.source}.")


async def check_model(settings: ModelSettings, system: System) -> list[Finding]:
    """Which model would be asked, and whether it answers."""
    try:
        choice = await choose(settings, system)
    except NoModel as error:
        return [Finding("problem", "model", "none", str(error))]
    chosen = Finding("ok", "model", described(choice))
    return [chosen, await _probe(choice, settings, system)]


async def _probe(choice: Choice, settings: ModelSettings, system: System) -> Finding:
    """Ask the model for a word."""
    request = Request((Message("user", "Answer with the one word: yes"),), max_tokens=16)
    began = system.monotonic()
    try:
        model = await open_model(choice, settings, system)
    except ModelError as error:
        return Finding("problem", "reached", "no", str(error))
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            completion = await model.complete(request, lambda _: None)
    except ModelError as error:
        return Finding("problem", "reached", "no", str(error))
    except TimeoutError:
        fix = "Try again later, or choose another model (model.provider, model.name)."
        return Finding("problem", "reached", f"no answer in {PROBE_SECONDS} s", fix)
    finally:
        await model.close()
    seconds = system.monotonic() - began
    tokens = completion.usage.total
    return Finding("ok", "reached", f"it answered in {seconds:.1f} s ({tokens} tokens)")


def check_web(settings: WebSettings, system: System) -> Iterator[Finding]:
    """Which search API would be asked, and whether pages can be read; nothing if none is set.

    It is not asked, as each question costs.
    """
    if settings.provider == "none":
        return
    endpoint = search_endpoint(settings, system.environ())
    if endpoint is not None:
        found = f"{endpoint.provider}, {endpoint.base_url}, with the key in {endpoint.key_env}"
        yield Finding("ok", "web", found)
        if importlib.util.find_spec("trafilatura") is None:
            fix = "Install Stet with its extra `web`."
            yield Finding("note", "web", "no HTML page can be read: trafilatura is missing", fix)
        return
    names = " or ".join(key_names(settings))
    fix = f"Set {names} in the environment the editor starts in, or name another variable in web.apiKeyEnv."
    yield Finding("problem", "web", f"{settings.provider}, but its key is not there", fix)


def check_search(settings: SearchSettings, system: System, root: Path) -> Iterator[Finding]:
    """What searches go by, and how the index of the folder `root` stands."""
    if settings.embeddings == "off":
        yield Finding("ok", "search", "by words; search.embeddings is off")
    elif settings.embeddings == "endpoint":
        yield _check_endpoint(settings, system)
    elif can_embed():
        yield Finding("ok", "search", "by words and by meaning, on this machine")
    else:
        fix = "Install Stet with its extra `search`, or set search.embeddings to off."
        yield Finding("note", "search", "by words alone: wordllama is missing", fix)
    try:
        found = counted(index_folder(system.cache_folder(), [uri_of(root)]))
    except (OSError, sqlite3.DatabaseError) as error:
        fix = "`stet index --rebuild` makes it anew."
        yield Finding("problem", "index", f"that of {root} can't be read: {error}", fix)
        return
    if found is None:
        fix = "`stet index` makes it; in an editor it comes by itself."
        yield Finding("note", "index", f"none of {root} yet", fix)
    else:
        yield Finding("ok", "index", f"{found[0]:,} files, {found[1]:,} passages of {root}")


def _check_endpoint(settings: SearchSettings, system: System) -> Finding:
    try:
        endpoint = embedding_endpoint(settings, system.environ())
    except NoEmbedding as missing:
        fix = "Do so, or set search.embeddings to local."
        return Finding("problem", "search", f"by words alone: {missing}", fix)
    found = f"by words, and by meaning through {endpoint.host} with {endpoint.model}"
    return Finding("ok", "search", found)


async def check_embedded(system: System) -> Finding:
    """The model that Stet can run itself."""
    missing = await weights.missing(weights.SMOLLM2, weights.default_folder(), system)
    if missing:
        return Finding("note", "embedded", "not ready", missing)
    path = weights.SMOLLM2.path(weights.default_folder())
    return Finding("ok", "embedded", f"{weights.SMOLLM2.name}, {path}")


def check_folders() -> Iterator[Finding]:
    """Whether Stet may write where its own files go."""
    import platformdirs  # late: as everywhere

    for about, folder in (
        ("state", platformdirs.user_state_path("stet")),
        ("log", log_file_path().parent),
    ):
        if _is_writable(folder):
            yield Finding("ok", about, str(folder))
        else:
            yield Finding("problem", about, f"{folder} can't be written", "Change its owner.")


def _is_writable(folder: Path) -> bool:
    """Whether a folder, or the nearest above it that exists, takes new files."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    return existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)


def _line(finding: Finding) -> Text:
    line = Text.assemble(
        (f"{finding.mark:<8}", _MARKS[finding.mark]),
        (f"{finding.about:<10}", "bold"),
        escape_line(finding.found),
    )
    if finding.fix:
        line.append(f"\n{'':<18}{escape_line(finding.fix)}", "yellow")
    return line
