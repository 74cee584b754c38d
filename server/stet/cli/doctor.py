"""`stet doctor`: checks of the installation and the editors, with a remedy for each problem.

Each check yields findings; a finding that is a problem includes its fix. The checks cover settings,
folders, the log and the database too.
"""

import asyncio
import importlib.util
import json
import logging
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import asdict
from functools import partial
from pathlib import Path
from urllib.parse import quote

from rich.text import Text

from stet import __version__
from stet.cli.agents.agent_list import check_agents
from stet.cli.editor_check import EDITORS, check_editor
from stet.cli.files import current_folder
from stet.cli.finding import Finding
from stet.cli.model_command import describe_choice, describe_daemon
from stet.cli.terminal import Terminal
from stet.llm.embedded.model_daemons import ModelDaemons, RunningDaemon
from stet.llm.embeddings import EmbeddingError, embedding_endpoint
from stet.llm.fill_in_middle import FillInMiddleModel, FillRequest
from stet.llm.model import Message, ModelError, NoModel, Request
from stet.llm.model_selection import ModelChoice, open_model, select_model
from stet.llm.weights import model_folder
from stet.llm.weights.local_model import installed_models, memory_warning
from stet.lsp.observability import TRACE
from stet.mcp_servers.tool_list import server_name_problem
from stet.observability.crash_reports import ReportDirectory
from stet.observability.log_handlers import log_files, log_folder
from stet.search.embedding import can_embed
from stet.search.index_state import count_contents, index_folder
from stet.settings.layers import PROJECT_FILE, MergedSettings, read_layers, user_file_path
from stet.settings.values import (
    CompletionSettings,
    McpServerSettings,
    ModelSettings,
    SearchSettings,
    WebSettings,
)
from stet.storage.schema import MIGRATIONS, translate_errors
from stet.storage.state_store import StateStore
from stet.storage.write_failures import DatabaseBusy, DatabaseDamaged, StoreError
from stet.system.file_lock import FileLock
from stet.system.memory import free_memory
from stet.system.system import System
from stet.text.escape import escape_line
from stet.text.render import counted
from stet.web.search_formats import key_variables, search_endpoint
from stet.workspace.uris import uri_of

log = logging.getLogger(__name__)

PROBE_SECONDS = 30
_MARKS = {"ok": "green", "note": "yellow", "problem": "red"}


def run(*, as_json: bool) -> int:
    """Run all checks and show the findings; return 1 if there is a problem.

    Args:
        as_json: Whether one JSON object is printed: `version`, and `findings` with the attributes
            of `Finding`.
    """
    terminal = Terminal()
    if not as_json:
        terminal.show(f"Stet {__version__}\n", "bold")
    with terminal.working("checking"):
        findings = asyncio.run(check_all(System()))
    if as_json:
        report = {"version": __version__, "findings": [asdict(finding) for finding in findings]}
        terminal.out.file.write(f"{json.dumps(report)}\n")
    else:
        for finding in findings:
            terminal.out.print(_line(finding), soft_wrap=True)
    return int(any(finding.mark == "problem" for finding in findings))


async def check_all(system: System) -> list[Finding]:
    """Run all checks and return the findings in reading order, even if some checks fail."""
    found: list[Finding] = []
    try:
        root = current_folder()
    except OSError:
        root = Path(tempfile.gettempdir())
        fix = "Change to another folder. The lines below are about the system's temporary folder."
        found.append(Finding("problem", "folder", "the current folder no longer exists", fix))
    layers = read_layers(system.read_bytes, [root])
    chosen = layers.settings
    found += await _run_check("settings", lambda: check_settings(layers))
    found += await _run_check("settings", lambda: check_settings_files(layers, root))
    found += await _run_check("model", lambda: check_model(chosen.model, system))
    found += await _run_check("completion", lambda: check_completion(chosen.completion, system))
    found += await _run_check("web", lambda: check_web(chosen.web, system))
    found += await _run_check("MCP servers", lambda: check_mcp_servers(chosen.mcp_servers))
    found += await _run_check("search", lambda: check_search(chosen.search, system, root))
    found += await _run_check("grammars", check_grammars)
    found += await _run_check("embedded", lambda: check_embedded(system))
    checks = (_run_check(one.name, partial(check_editor, one, system)) for one in EDITORS.values())
    for each in await asyncio.gather(*checks):
        found += each
    found += await _run_check("agents", lambda: check_agents(system))
    found += await _run_check("folders", check_folders)
    found += await _run_check("log", check_log)
    found += await _run_check("history", lambda: check_state(system, root))
    return found


_Findings = Finding | Iterable[Finding]


async def _run_check(
    about: str, check: Callable[[], _Findings | Awaitable[_Findings]]
) -> list[Finding]:
    """Return the findings of a check; a check that raises becomes a finding."""
    try:
        findings = check()
        if isinstance(findings, Awaitable):
            findings = await findings
        return [findings] if isinstance(findings, Finding) else list(findings)
    except Exception as error:  # the problem itself may make the check fail
        log.exception("%s could not be checked", about)
        what = f"could not be checked: {type(error).__name__}: {error}"
        fix = "Fix what the error names, or report it in Stet's issue tracker."
        return [Finding("problem", about, what, fix)]


def check_settings(layers: MergedSettings) -> Iterator[Finding]:
    """Report the settings files that were read, and their problems."""
    if str(user_file_path()) not in layers.files:
        yield Finding("ok", "settings", f"defaults ({user_file_path()} does not exist)")
    for file in layers.files:
        yield Finding("ok", "settings", file)
    for problem in layers.problems:
        yield Finding("problem", "settings", str(problem), f"Fix it in {problem.source}.")


async def check_model(settings: ModelSettings, system: System) -> list[Finding]:
    """Report the model that would be used, and whether it answers."""
    daemons = ModelDaemons.of(system)
    if not _running(daemons):
        daemons = None  # the model would stay loaded
    try:
        choice = await select_model(settings, system, daemons)
    except NoModel as error:
        return [Finding("problem", "model", "none", str(error))]
    chosen = Finding("ok", "model", describe_choice(choice))
    return [chosen, await _probe(choice, system, daemons)]


async def _probe(choice: ModelChoice, system: System, daemons: ModelDaemons | None) -> Finding:
    """Report whether the model answers a one-word question."""
    request = Request((Message("user", "Answer with the one word: yes"),), max_tokens=16)
    began = system.monotonic()
    try:
        model = await open_model(choice, system, daemons)
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                completion = await model.complete(request, lambda _: None)
        finally:
            await model.close()
    except ModelError as error:
        return Finding("problem", "reply", "none", str(error))
    except TimeoutError:
        fix = "Try again later, or choose another model (model.provider, model.name)."
        return Finding("problem", "reply", f"no reply in {PROBE_SECONDS} s", fix)
    seconds = system.monotonic() - began
    tokens = completion.usage.total
    return Finding("ok", "reply", f"in {seconds:.1f} s ({tokens} tokens)")


async def check_completion(settings: CompletionSettings, system: System) -> list[Finding]:
    """Report whether the completion model completes a line; nothing if completions are off."""
    if not settings.enabled:
        return []
    if not settings.base_url:
        return [Finding("problem", "completion", "no address", "Set completion.baseUrl.")]
    model = FillInMiddleModel(settings, system)
    request = FillRequest("def add(a, b):\n    return ", "\n", max_tokens=8, one_line=True)
    began = system.monotonic()
    try:
        await model.fill(request, lambda _: True)
    except ModelError as error:
        return [Finding("problem", "completion", "none", str(error))]
    finally:
        await model.close()
    seconds = system.monotonic() - began
    return [Finding("ok", "completion", f"{model.host} completes a line, in {seconds:.1f} s")]


def check_web(settings: WebSettings, system: System) -> Iterator[Finding]:
    """Report the search API and whether pages can be read; nothing if no API is configured.

    No request is sent to the API, because each request costs money.
    """
    if settings.provider == "none":
        return
    endpoint = search_endpoint(settings, system.environ())
    if endpoint is not None:
        choice = f"{endpoint.provider}, {endpoint.base_url}, with the key in {endpoint.key_env}"
        yield Finding("ok", "web", choice)
        if importlib.util.find_spec("trafilatura") is None:
            fix = "Install Stet with the extra `web`."
            yield Finding("note", "web", "can't read HTML pages: trafilatura is not installed", fix)
        return
    names = " or ".join(key_variables(settings))
    fix = f"Set {names} in the editor's environment, or another variable in web.apiKeyEnv."
    yield Finding("problem", "web", f"{settings.provider}, without an API key", fix)


def check_mcp_servers(servers: Iterable[McpServerSettings]) -> Iterator[Finding]:
    """Report whether the programs of the MCP servers are found; none is started."""
    for server in servers:
        program = server.command[0] if server.command else ""
        fix = f"Install the program, or set mcpServers.{server.name}.command."
        if problem := server_name_problem(server.name):
            yield Finding("problem", "MCP server", problem, "Rename the server in the settings.")
        elif (path := shutil.which(program)) is None:
            found = f"{server.name}: the program {program!r} was not found"
            yield Finding("problem", "MCP server", found, fix)
        else:
            yield Finding("ok", "MCP server", f"{server.name}: {path}")


def check_search(settings: SearchSettings, system: System, root: Path) -> Iterator[Finding]:
    """Report the kind of embeddings, and the state of the index of the folder `root`."""
    if settings.embeddings == "off":
        yield Finding("ok", "search", "by words only: search.embeddings is off")
    elif settings.embeddings == "endpoint":
        yield _check_endpoint(settings, system)
    elif can_embed():
        yield Finding("ok", "search", "by words and by meaning, on this machine")
    else:
        fix = "Install Stet with the extra `search`, or set search.embeddings to off."
        yield Finding("note", "search", "by words only: wordllama is not installed", fix)
    try:
        state = count_contents(index_folder(system.cache_folder(), [uri_of(root)]))
    except (OSError, sqlite3.DatabaseError) as error:
        fix = "Run `stet index --rebuild`."
        yield Finding("problem", "index", f"the index of {root} can't be read: {error}", fix)
        return
    if state is None:
        fix = "Run `stet index`, or open the folder in an editor."
        yield Finding("note", "index", f"{root} is not indexed yet", fix)
    else:
        yield Finding("ok", "index", f"{state[0]:,} files, {state[1]:,} passages in {root}")


def _check_endpoint(settings: SearchSettings, system: System) -> Finding:
    try:
        endpoint = embedding_endpoint(settings, system.environ())
    except EmbeddingError as missing:
        fix = "Fix this, or set search.embeddings to local."
        return Finding("problem", "search", f"by words only: {missing}", fix)
    vectors = f"by words, and by meaning through {endpoint.host} with {endpoint.model}"
    return Finding("ok", "search", vectors)


def check_grammars() -> Iterator[Finding]:
    """Report whether the grammars of the extra `grammars` are missing."""
    if importlib.util.find_spec("tree_sitter") is None:
        fix = "Install Stet with the extra `grammars`."
        yield Finding(
            "note", "grammars", "not installed: search splits most languages by lines", fix
        )


async def check_embedded(system: System) -> Finding:
    """Report whether the embedded model can be used, and whether it is loaded."""
    missing = model_folder.why_no_runtime()
    installed = await asyncio.to_thread(installed_models, model_folder.default_folder())
    if missing or not installed:
        fix = missing or "Run `stet model install`."
        return Finding("note", "embedded", "not available", fix)
    running = await asyncio.to_thread(_running, ModelDaemons.of(system))
    states = [f"{one.name}, {one.path}" for one in installed]
    states += [describe_daemon(one) for one in running]
    warning = memory_warning(installed[-1], await asyncio.to_thread(free_memory))
    if any(one.model == installed[-1].path for one in running):
        warning = ""
    return Finding("note" if warning else "ok", "embedded", ", ".join(states), warning)


def _running(daemons: ModelDaemons | None) -> list[RunningDaemon]:
    return list(daemons.running()) if daemons else []


def _line(finding: Finding) -> Text:
    line = Text.assemble(
        (f"{finding.mark:<8}", _MARKS[finding.mark]),
        (f"{finding.about:<10}", "bold"),
        escape_line(finding.found),
    )
    if finding.fix:
        line.append(f"\n{'':<18}{escape_line(finding.fix)}", "yellow")
    return line


MIN_FREE = 50_000_000
"""The least free space on a disk, in bytes, that is no problem."""
_LOCKED_SECONDS = 1.0


def check_settings_files(layers: MergedSettings, root: Path) -> Iterator[Finding]:
    """Report settings files that exist but can't be read; they are ignored."""
    for path in (user_file_path(), root / PROJECT_FILE):
        if os.path.lexists(path) and str(path) not in layers.files:
            fix = "Make it a readable file, or remove it."
            yield Finding("problem", "settings", f"{path} can't be read and is ignored", fix)


def check_folders() -> Iterator[Finding]:
    """Report whether Stet's own folders are writable and have free space."""
    import platformdirs  # late: as in the other modules

    for about, folder in (
        ("state", platformdirs.user_state_path("stet")),
        ("cache", platformdirs.user_cache_path("stet")),
        ("log", log_folder()),
    ):
        why_not = _unwritable_reason(folder)
        if why_not:
            fix = "Free some space, or change its owner or permissions."
            yield Finding("problem", about, f"{folder} is not writable: {why_not}", fix)
        else:
            yield Finding("ok", about, str(folder))


def check_log() -> Iterator[Finding]:
    """Report the trace files and crash reports in the log folder."""
    for trace in log_files(log_folder(), TRACE):
        fix = "Delete it when you no longer need it: it contains your questions and files that were read."
        yield Finding("note", "trace", str(trace), fix)
    reports = ReportDirectory().reports()
    if reports:
        problems = f"{counted(len(reports), 'crash report')}, the newest: {reports[0]}"
        fix = "Attach it to an issue in Stet's tracker, then delete it."
        yield Finding("note", "reports", problems, fix)


def check_state(system: System, root: Path) -> Iterator[Finding]:
    """Check the stored state of the folder `root`, and report the processes that use it."""
    folder = StateStore(system, lambda: [uri_of(root)], print).folder
    path = folder / "state.db"
    if not path.exists():
        yield Finding("ok", "history", f"nothing stored for {root} yet")
        return
    try:
        with translate_errors():
            yield _check_database(path)
    except DatabaseDamaged as fault:
        fix = "Stet keeps a copy and creates a new one at its next start."
        yield Finding("problem", "history", f"{path} is damaged: {fault}", fix)
    except DatabaseBusy:
        fix = "Close the program that has it open: a hanging server, or a backup."
        yield Finding("problem", "history", f"{path} stays locked", fix)
    except StoreError as fault:
        fix = "Change its owner or permissions, or move it away."
        yield Finding("problem", "history", f"{path} can't be used: {fault}", fix)
    n_servers = sum(_is_lock_taken(lock) for lock in (folder / "owners").glob("*.lock"))
    if n_servers > 1:
        fix = (
            "Each server shows only its own hunks: close one of the editors, unless you want this."
        )
        yield Finding("note", "servers", f"{n_servers} servers are running for {root}", fix)


def _check_database(path: Path) -> Finding:
    """Check that the database is intact and writable.

    Raises:
        sqlite3.Error: If the database is locked, damaged, or can't be opened.
    """
    address = f"file:{quote(str(path))}?mode=rw"
    with closing(sqlite3.connect(address, uri=True, timeout=_LOCKED_SECONDS)) as database:
        [version] = database.execute("PRAGMA user_version").fetchone()
        if version > len(MIGRATIONS):
            fix = "Use that version, or move the file away."
            return Finding(
                "problem", "history", f"{path} was written by a newer version of Stet", fix
            )
        [result] = database.execute("PRAGMA quick_check(1)").fetchone()
        if result != "ok":
            raise DatabaseDamaged(result)
        database.execute("BEGIN IMMEDIATE")
        database.rollback()
        [n_hunks] = database.execute("SELECT count(*) FROM hunk").fetchone()
    return Finding("ok", "history", f"{counted(n_hunks, 'hunk')}, {path}")


def _is_lock_taken(lock: Path) -> bool:
    """Return whether a running process holds the lock."""
    try:
        taken = FileLock.acquire(lock)
    except OSError:
        return False
    if taken is not None:
        taken.release()
    return taken is None


def _unwritable_reason(folder: Path) -> str:
    """Return why no file can be created in a folder, or its nearest existing parent; else ""."""
    existing = next((path for path in (folder, *folder.parents) if os.path.lexists(path)), folder)
    if not existing.is_dir():
        return f"{existing} is not a folder"
    try:
        with tempfile.TemporaryFile(dir=existing, prefix=".stet-") as file:
            file.write(b"stet")
        n_free = shutil.disk_usage(existing).free
    except OSError as error:
        return error.strerror or type(error).__name__
    return f"only {n_free / 1e6:.0f} MB free" if n_free < MIN_FREE else ""
