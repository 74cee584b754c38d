"""What `stet doctor` says of Stet's own folders and files: can they be used, are they whole."""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from stet.cli.finding import Finding
from stet.lsp.observability import trace_path
from stet.observability.log_file import log_file_path
from stet.observability.report_directory import ReportDirectory
from stet.settings.layers import PROJECT_FILE, MergedSettings, user_file_path
from stet.storage.schema import (
    MIGRATIONS,
    DatabaseBusy,
    DatabaseDamaged,
    StoreError,
    translate_errors,
)
from stet.storage.state_store import StateStore
from stet.system.file_lock import FileLock
from stet.system.system import System
from stet.workspace.uris import uri_of

MIN_FREE = 50_000_000
"""Bytes on a disk below which writing soon fails."""
_LOCKED_SECONDS = 1.0


def check_settings_files(layers: MergedSettings, root: Path) -> Iterator[Finding]:
    """Files of settings that are there and can't be read: they count for nothing."""
    for path in (user_file_path(), root / PROJECT_FILE):
        if os.path.lexists(path) and str(path) not in layers.files:
            fix = "Let it be a file that you may read, or remove it."
            yield Finding("problem", "settings", f"{path} can't be read and is ignored", fix)


def check_folders() -> Iterator[Finding]:
    """Whether Stet may write where its own files go, and has room there."""
    import platformdirs  # late: as everywhere

    for about, folder in (
        ("state", platformdirs.user_state_path("stet")),
        ("cache", platformdirs.user_cache_path("stet")),
        ("log", log_file_path().parent),
    ):
        why_not = _unwritable_reason(folder)
        if why_not:
            fix = "Make room there, or change its owner or its rights."
            yield Finding("problem", about, f"{folder} can't be written: {why_not}", fix)
        else:
            yield Finding("ok", about, str(folder))


def check_log() -> Iterator[Finding]:
    """Whether the log itself can be written, and what lies beside it."""
    path = log_file_path()
    if os.path.lexists(path) and not (path.is_file() and os.access(path, os.W_OK)):
        yield Finding("problem", "log", f"{path} can't be written", "Remove it.")
    if trace_path().exists():
        fix = "Delete it when you no longer need it: it holds what you asked and what was read."
        yield Finding("note", "trace", str(trace_path()), fix)
    reports = ReportDirectory().reports()
    if reports:
        problems = f"{len(reports)} of failures inside Stet, the newest {reports[0]}"
        fix = "Attach it to an issue in Stet's tracker; delete it when you have."
        yield Finding("note", "reports", problems, fix)


def check_state(system: System, root: Path) -> Iterator[Finding]:
    """Whether what is kept of the folder `root` is whole, and who is at work on it."""
    folder = StateStore(system, lambda: [uri_of(root)], print).folder
    path = folder / "state.db"
    if not path.exists():
        yield Finding("ok", "kept", f"nothing of {root} yet")
        return
    try:
        with translate_errors():
            findings = _check_database(path)
    except DatabaseDamaged as fault:
        fix = (
            "The next server puts it aside and begins anew; what was kept there stays in the copy."
        )
        yield Finding("problem", "kept", f"{path} is damaged: {fault}", fix)
    except DatabaseBusy:
        fix = "See which other program has it open: a server that hangs, a backup."
        yield Finding("problem", "kept", f"{path} is locked all the time", fix)
    except StoreError as fault:
        fix = "Change its owner or its rights, or move it away."
        yield Finding("problem", "kept", f"{path} can't be used: {fault}", fix)
    else:
        yield findings
    n_servers = sum(_is_lock_taken(lock) for lock in (folder / "owners").glob("*.lock"))
    if n_servers > 1:
        fix = "Close one of the editors, unless you mean it: each shows the hunks of its own."
        yield Finding("note", "servers", f"{n_servers} work on {root} now", fix)


def _check_database(path: Path) -> Finding:
    """How the database stands.

    Raises:
        sqlite3.Error: If it is locked, damaged, or can't be opened.
    """
    address = f"file:{quote(str(path))}?mode=rw"
    with closing(sqlite3.connect(address, uri=True, timeout=_LOCKED_SECONDS)) as database:
        [version] = database.execute("PRAGMA user_version").fetchone()
        if version > len(MIGRATIONS):
            fix = "Use that version, or move the file away."
            return Finding("problem", "kept", f"{path} was made by a later version of Stet", fix)
        [result] = database.execute("PRAGMA quick_check(1)").fetchone()
        if result != "ok":
            raise DatabaseDamaged(result)
        database.execute("BEGIN IMMEDIATE")
        database.rollback()
        [n_hunks] = database.execute("SELECT count(*) FROM hunk").fetchone()
    return Finding("ok", "kept", f"{n_hunks} hunks, {path}")


def _is_lock_taken(lock: Path) -> bool:
    """Whether a living process holds the lock."""
    try:
        taken = FileLock.acquire(lock)
    except OSError:
        return False
    if taken is not None:
        taken.release()
    return taken is None


def _unwritable_reason(folder: Path) -> str:
    """Why a folder, or the nearest above it that exists, takes no new files; empty if it does."""
    existing = next((path for path in (folder, *folder.parents) if os.path.lexists(path)), folder)
    if not existing.is_dir():
        return f"{existing} is no folder"
    try:
        with tempfile.TemporaryFile(dir=existing, prefix=".stet-") as file:
            file.write(b"stet")
        n_free = shutil.disk_usage(existing).free
    except OSError as error:
        return error.strerror or type(error).__name__
    return f"only {n_free / 1e6:.0f} MB are free" if n_free < MIN_FREE else ""
