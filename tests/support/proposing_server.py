"""The server with additional commands: `test.propose` proposes given edits, others inspect the
server or simulate events of the machine.

Run as a script: `python -I tests/support/proposing_server.py`. With `--hurried` it waits less long
for edits that the editor has confirmed; with `--impatient` less long for a model, whose events are
limited to 200,000 bytes; with `--full` the disk is full at the start.
"""

import asyncio
import resource
import sys
import threading
import zlib
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, cast

from stet.cli.serve_command import start_logging
from stet.llm import completion_stream, openai_model
from stet.llm.model_endpoint import Timeouts
from stet.llm.retry import RetryPolicy
from stet.lsp.chat import chat_writer
from stet.lsp.edits import edit_confirmation as arrival
from stet.lsp.routing import Router
from stet.lsp.server import build_server, serve_session
from stet.lsp.state import ServerState
from stet.review.policy.rules import EditRules
from stet.review.proposal import CreateDraft, EditDraft, Hunk, MoveDraft, RemoveDraft
from stet.review.resolve.prepared_edit import prepare_draft
from stet.settings.values import EditSettings
from stet.text.edit import Replacement, TextEdit
from stet.workspace.path_status import inspect_path
from stet.workspace.snapshot import Snapshot

ProposalSpec = Mapping[str, Any]


def propose(state: ServerState, given: tuple[object, ...]) -> dict[str, object]:
    """Answer `test.propose`: propose by objects with `edit`, `create`, `move` or `remove`.

    `{edit: file, changes: [[old, new]]}`, `{create: file, text}`,
    `{move: file, to: file, links: {file: [[old, new]]}}`, `{remove: file}`.

    Returns:
        The ids of the hunks, in the order of the proposals.
    """
    snapshot = state.workspace.snapshot()
    rules = EditRules(
        EditSettings(),
        editable=lambda _: True,
        may_create=lambda _: True,
        path_status=lambda uri: inspect_path(snapshot, uri),
    )
    hunks: list[Hunk] = []
    for spec in given:
        assert isinstance(spec, Mapping)
        hunks += _proposed(state, snapshot, rules, spec)
    return {"hunks": [hunk.id for hunk in hunks]}


def _proposed(
    state: ServerState, snapshot: Snapshot, rules: EditRules, spec: ProposalSpec
) -> Iterable[Hunk]:
    message: dict[str, Any] = {
        "turn": str(spec.get("turn", "t1")),
        "author": "test",
        "summary": "as the test wants",
    }
    ledger = state.ledger
    if name := spec.get("edit"):
        return ledger.propose(prepare_draft(_edit(snapshot, name, spec["changes"], message), rules))
    if name := spec.get("create"):
        draft = CreateDraft(uri=_uri(snapshot, name), name=name, text=spec["text"], **message)
        return ledger.propose(prepare_draft(draft, rules))
    if name := spec.get("move"):
        links = tuple(
            _edit(snapshot, link, changes, message) for link, changes in spec["links"].items()
        )
        move = MoveDraft(
            uri=_uri(snapshot, name),
            name=name,
            new_uri=_uri(snapshot, spec["to"]),
            new_name=spec["to"],
            links=links,
            **message,
        )
        return ledger.propose(prepare_draft(move, rules))
    name = spec["remove"]
    uri = _uri(snapshot, name)
    remove = RemoveDraft(uri=uri, name=name, text=snapshot.show(uri).text, **message)
    return ledger.propose(prepare_draft(remove, rules))


def _uri(snapshot: Snapshot, name: str) -> str:
    return snapshot.locate(name).uri


def _edit(
    snapshot: Snapshot, name: str, changes: Iterable[tuple[str, str]], message: ProposalSpec
) -> EditDraft:
    document = snapshot.show(_uri(snapshot, name))
    replacements = []
    for old, new in changes:
        assert document.text.count(old) == 1, f"{old!r} in {document.text!r}"
        start = document.text.index(old)
        replacements.append(Replacement(start, start + len(old), new))
    return EditDraft(document=document, name=name, edit=TextEdit(tuple(replacements)), **message)


def checksums(state: ServerState, given: tuple[object, ...]) -> list[int | None]:
    """Answer `test.checksums`: the CRC-32 of each document as UTF-16; null if unknown."""
    documents = (state.workspace.document(str(uri)) for uri in given)
    return [
        None if one is None else zlib.crc32(one.text.encode("utf-16-le", "surrogatepass"))
        for one in documents
    ]


def jump(state: ServerState, given: tuple[object, ...]) -> dict[str, object]:
    """Answer `test.jump`: put all clocks forward by some seconds, as if the machine had slept. A
    negative number sets the system clock back, but no monotonic clock.
    """
    [seconds] = given
    assert isinstance(seconds, float | int)
    machine: Any = state.system
    _ahead(machine, "now", seconds)
    if seconds > 0:
        _ahead(asyncio.get_running_loop(), "time", seconds)
        _ahead(machine, "monotonic", seconds)
    return {}


def _ahead(clocks: Any, name: str, seconds: float) -> None:
    clock = getattr(clocks, name)
    setattr(clocks, name, lambda: clock() + seconds)


def stall_disk(state: ServerState, given: tuple[object, ...]) -> dict[str, object]:
    """Answer `test.stallDisk`: true: writes wait until false."""
    [is_stalled] = given
    if not is_stalled:
        _goes_on.set()
        return {}
    _goes_on.clear()
    store: Any = state.store
    is_held = threading.Event()

    def hold() -> None:
        with store._lock:
            is_held.set()
            _goes_on.wait()

    threading.Thread(target=hold, daemon=True).start()
    is_held.wait()
    return {}


_goes_on = threading.Event()


def fill_disk(state: ServerState, given: tuple[object, ...]) -> dict[str, object]:
    """Answer `test.fillDisk`: limit the size of files in bytes; -1 removes the limit."""
    [n_bytes] = given
    assert isinstance(n_bytes, int)
    limit_files(n_bytes)
    return {}


def limit_files(n_bytes: int) -> None:
    """Limit the size of files in bytes; -1 removes the limit."""
    sys.dont_write_bytecode = (
        True  # or a module imported now is truncated, for all later processes too
    )
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard if n_bytes < 0 else n_bytes, hard))


def main() -> int:
    """Serve on standard input and output."""
    if "--hurried" in sys.argv:
        arrival.CONFIRM_SECONDS, arrival.UNOPENED_SECONDS, arrival.OPENED_SECONDS = 1.0, 0.5, 0.5
        chat_writer.CONFIRM_SECONDS = 0.5
    if "--impatient" in sys.argv:
        lately: Any = openai_model
        lately.Timeouts = partial(Timeouts, connect=2.0, first=1.5, idle=1.0, total=2.5)
        lately.RetryPolicy = partial(RetryPolicy, tries=3, base=0.01, cap=0.02, longest_wait=1.0)
        completion_stream.MAX_EVENT_BYTES = 200_000
    if "--full" in sys.argv:
        limit_files(1)
    start_logging("")
    server = build_server()

    def state() -> ServerState:
        return cast("ServerState", server.state())

    route: Router[ServerState] = Router(server, state)
    route.command("test.propose", propose)
    route.command("test.checksums", checksums)
    route.command("test.jump", jump)
    route.command("test.fillDisk", fill_disk)
    route.command("test.stallDisk", stall_disk)
    return serve_session(server)


if __name__ == "__main__":
    sys.exit(main())
