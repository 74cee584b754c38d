"""Stet's own documents in the editor: their registry, the context and the request log.

The documents are in the state folder, not among the user's files. They never reach the user's
workspace, so a model neither reads nor edits them, and they are in no scope.

`render_context_document` shows the content of a question, for editors that don't show the answers
of commands. `RequestLogDocument` shows the sent requests and their receivers (`stet.requestLog`).
Its rows contain files, hosts and numbers, never text of a file or a conversation; secrets in names
are replaced by marks. All servers of a workspace write into one table.
"""

import asyncio
import dataclasses
import itertools
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from stet.lsp.editor_client import Client
from stet.privacy.request_log import Recipient, RequestRecord
from stet.storage.state_store import StateStore
from stet.system.system import System
from stet.text.edit import TextChange
from stet.text.escape import escape_line
from stet.text.position import Range
from stet.text.render import fence_for, iso_time
from stet.workspace.activity import ActivitySource, ActivityView
from stet.workspace.uris import canonical, path_of
from stet.workspace.workspace import Modification, ModificationKind, Workspace

Listener = Callable[[str, ModificationKind, Sequence[TextChange]], None]

log = logging.getLogger(__name__)


class GeneratedDocuments:
    """The generated documents that the editor has open.

    Attributes:
        system: The access to the disk that has the documents.
        workspace: The open generated documents, and the user's position in them.
        opened: The canonical URIs of the open documents; a keystroke needs only this lookup.
    """

    def __init__(self, system: System, workspace: Workspace) -> None:
        """Create the registry; `workspace` is the user's, with the roots and the encoding."""
        self.system = system
        self._user_workspace = workspace
        self.workspace = Workspace(system)
        self.opened: set[str] = set()
        self._entered = self._left = float("-inf")
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> None:
        """Call `listener` after each modification of a generated document, with the URI, the kind
        of the modification and the changes of the text.
        """
        self._listeners.append(listener)

    def is_generated(self, uri: str) -> bool:
        """Return whether a URI is that of a generated document, open or not."""
        path = path_of(uri)
        return path is not None and any(folder in path.parents for folder in self._folders)

    def apply(self, modification: Modification) -> None:
        """Apply a modification of a generated document."""
        kind, uri = modification.kind, modification.uri
        self.opened.add(canonical(uri))
        self.workspace.encoding = self._user_workspace.encoding
        changes = self.workspace.apply(modification)
        if kind is ModificationKind.CLOSED:
            self.opened.discard(canonical(uri))
        for listener in self._listeners:
            listener(uri, kind, changes)

    def focused(self, uri: str | None) -> None:
        """Record the document that has the focus, generated or not; None: no document has it."""
        if uri is not None and self.is_generated(uri):
            self.workspace.activity.focus(uri, ActivitySource.NOTIFIED)
            self._entered = self.system.monotonic()
        else:
            self._left = self.system.monotonic()

    def active_selection(self, activity: ActivityView) -> tuple[str, Range] | None:
        """Return the generated document in which the user is, and the selection there.

        Return None if the user is in no generated document.

        Args:
            activity: The user's activity in other documents; the latest activity counts.
        """
        view = self.workspace.activity.view()
        uri, latest = view.active, activity.active
        selection = None if uri is None else view.selection_of(uri)
        if uri is None or selection is None:
            return None
        theirs = None if latest is None else activity.selection_of(latest)
        left = max(self._left, self._left if theirs is None else theirs.at)
        return (uri, selection.ranges[0]) if max(self._entered, selection.at) > left else None

    def free_name(self, stem: str, ending: str, text: str) -> str:
        """Return a name for a file with `text` that the editor does not have open with another
        text.

        The name contains a digest of the roots, because other servers write into the same folder.

        Raises:
            OSError: If there is no state folder.
        """
        folder = self.folder
        roots = "\n".join(canonical(root.path.as_uri()) for root in self._user_workspace.roots)
        stem = f"{stem}-{short_digest(roots)}"
        names = (f"{stem}{'' if n == 1 else f'-{n}'}{ending}" for n in itertools.count(1))
        opened = ((name, self.workspace.document((folder / name).as_uri())) for name in names)
        return next(name for name, old in opened if old is None or old.text == text)

    async def write(self, stem: str, text: str) -> Path:
        """Write a Markdown document in a worker thread; return its path. Its name begins with
        `stem`.

        Raises:
            OSError: If the document can't be written.
        """
        name = self.free_name(stem, ".md", text)
        return await asyncio.to_thread(self.system.write_generated, name, text)

    async def show(self, client: Client, stem: str, text: str, task: str) -> str:
        """Write a document with `write`, and show it in a task named `task`; return its URI.

        Raises:
            OSError: If the document can't be written.
        """
        uri = (await self.write(stem, text)).as_uri()
        client.start(client.show_document(uri), task)
        return uri

    @cached_property
    def folder(self) -> Path:
        """The folder of the documents; determined once.

        Raises:
            OSError: If there is no such folder.
        """
        return self.system.state_folder()

    @cached_property
    def _folders(self) -> frozenset[Path]:
        """The folder, as it is and with links resolved; empty if there is no such folder."""
        try:
            folder = self.folder
        except OSError as error:
            log.warning("there is no state folder: %s", error)
            return frozenset()
        return frozenset({folder, self.system.real_path(folder)})


def short_digest(text: str) -> str:
    """Return a digest of a text for use in a file name: eight characters."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


_MAX_PROMPT = 200
"""The most characters of the question that the document repeats."""


def render_context_document(prompt: str, answer: Mapping[str, object]) -> str:
    """Return the document in Markdown, with each section in a fence that the section does not
    contain.

    Args:
        prompt: The question.
        answer: The answer of `stet.showContext`: `tokens`, and `sections` with `name`, `text` and
            `tokens`.
    """
    sections = answer["sections"]
    assert isinstance(sections, list), "it is the answer of the command"
    parts = [
        f"# Context preview\n\n{escape_line(prompt)[:_MAX_PROMPT]}\n\nAbout "
        f"{answer['tokens']} tokens, including your message. Nothing was sent.\n"
    ]
    for section in sections:
        text = str(section["text"])
        fence = fence_for(text)
        end = "" if text.endswith("\n") else "\n"
        head = f"## {escape_line(str(section['name']))} ({section['tokens']} tokens)"
        parts.append(f"{head}\n\n{fence}\n{text}{end}{fence}\n")
    # Replace lone surrogates, which can't be written.
    return "\n".join(parts).encode("utf-8", "replace").decode()


_HEAD = """\
# Request log

Every request that Stet sent from this workspace, latest first: to models (including local
ones), completion models, embedding endpoints, search APIs, web hosts, OpenCode, other agents
and MCP servers. The text itself is not stored here.
Detected keys and passwords were replaced by markers such as `[redacted: AWS key #1]`.
"""
_WHAT = {
    Recipient.MODEL: "model",
    Recipient.COMPLETION: "inline completion",
    Recipient.EMBEDDINGS: "embeddings",
    Recipient.SEARCH: "web search",
    Recipient.PAGE: "web page",
    Recipient.OPENCODE: "OpenCode",
    Recipient.AGENT: "agent",
    Recipient.MCP: "MCP server",
}


def render_request_log(records: Sequence[RequestRecord], *, n_older: int = 0) -> str:
    """Return the document of the request log.

    Args:
        records: The requests to show, oldest first.
        n_older: The number of stored requests that are not shown.
    """
    if not records:
        return f"{_HEAD}\nNo requests yet.\n"
    total = sum(record.tokens for record in records)
    redacted = sum(n for one in records for _, n in one.kinds)
    parts = [
        _HEAD,
        f"{_n(len(records), 'request')}, about {total:,} tokens, {_n(redacted, 'secret')} redacted.\n",
        *map(_entry, reversed(records)),
    ]
    if n_older:
        parts.append(f"{_n(n_older, 'older request')} not shown.\n")
    return "\n".join(parts)


def _entry(record: RequestRecord) -> str:
    host = record.host or "this machine"
    model = f" {_name(record.model)}" if record.model else ""
    lines = [
        f"## {iso_time(record.at) or 'Unknown time'}: {_WHAT[record.to]}{model} at {_name(host)}\n"
    ]
    about = f"About {record.tokens:,} tokens ({record.characters:,} characters)"
    if record.turn:
        about += f", turn {_name(record.turn)}, chat {_name(record.chat)}"
    lines.append(f"{about}. {_redacted(record)}\n")
    lines += [f"- {_name(part)}" for part in record.parts]
    return "\n".join(lines) + "\n"


def _redacted(record: RequestRecord) -> str:
    if record.is_open:
        return "Not checked for secrets (`privacy.redactSecrets` is off)."
    if not record.kinds:
        return "No secrets found."
    kinds = ", ".join(f"{n} {escape_line(kind)}" for kind, n in record.kinds)
    return f"Redacted: {kinds}."


def _name(text: str) -> str:
    """Return an untrusted text as a code span that no character in it can end."""
    return f"`{escape_line(text).replace('`', chr(39))}`"


def _n(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


MAX_SHOWN = 300
"""The most requests in the document, the latest ones; older ones are only counted."""


class RequestLogDocument:
    """The persisted log of sent requests, which is shown as a document; used on the event loop
    only.
    """

    def __init__(
        self, workspace: Workspace, rows: StateStore, client: Client, generated: GeneratedDocuments
    ) -> None:
        self._workspace = workspace
        self._rows = rows
        self._client = client
        self._generated = generated
        workspace.request_log.persist = self._store

    async def open(self) -> str:
        """Write and show the document of sent requests; return its URI.

        Raises:
            OSError: If the document can't be written.
        """
        sent = await asyncio.to_thread(self._load) or self._workspace.request_log.latest
        text = render_request_log(sent[-MAX_SHOWN:], n_older=max(0, len(sent) - MAX_SHOWN))
        return await self._generated.show(self._client, "sent", text, "show what was sent")

    def _store(self, sending: RequestRecord) -> None:
        self._rows.persist_request(json.dumps(dataclasses.asdict(sending)))

    def _load(self) -> tuple[RequestRecord, ...]:
        """Return the persisted records that are valid. Call in a worker thread, because the
        validator is imported.
        """
        from pydantic import TypeAdapter  # takes long

        row_type, records = TypeAdapter(RequestRecord), []
        for row in self._rows.load_requests():
            try:
                records.append(row_type.validate_json(row))
            except ValueError:
                log.warning("a persisted request can't be read and is left out")
        return tuple(records)
