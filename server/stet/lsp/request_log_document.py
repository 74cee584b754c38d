"""What was sent to whom, kept beside the proposals and shown as a document (`stet.ledger`).

The rows hold places, hosts and numbers, never text of a file or of a conversation, and names with
marks in the place of secrets. All servers of a workspace write into one table.
"""

import asyncio
import dataclasses
import json
import logging
from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Protocol

from stet.lsp.editor_client import Client
from stet.lsp.presentation.generated_documents import GeneratedDocuments
from stet.privacy.request_log import Recipient, RequestRecord
from stet.system.system import System
from stet.text.escape import escape_line
from stet.text.render import iso_time
from stet.workspace.uris import canonical
from stet.workspace.workspace import Workspace

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_HEAD = """\
# What was sent

Every request that left Stet in this workspace, the latest first: to models, also those on this
machine, to endpoints of embeddings, search APIs, hosts of pages and OpenCode. No text is kept here.
Keys and passwords that were found in it were sent as marks such as `[redacted: AWS key #1]`.
"""
_WHAT = {
    Recipient.MODEL: "model",
    Recipient.EMBEDDINGS: "embeddings",
    Recipient.SEARCH: "web search",
    Recipient.PAGE: "web page",
    Recipient.OPENCODE: "OpenCode",
}


def render_request_log(records: Sequence[RequestRecord], *, n_older: int = 0) -> str:
    """Return the page.

    Args:
        records: The requests on it, oldest first.
        n_older: How many are kept that are not on it.
    """
    if not records:
        return f"{_HEAD}\nNothing has been sent.\n"
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
        f"## {iso_time(record.at) or 'at an unknown time'}: {_WHAT[record.to]}{model} at {_name(host)}\n"
    ]
    about = f"About {record.tokens:,} tokens ({record.characters:,} characters)"
    if record.turn:
        about += f", turn {_name(record.turn)} of the chat {_name(record.chat)}"
    lines.append(f"{about}. {_redacted(record)}\n")
    lines += [f"- {_name(part)}" for part in record.parts]
    return "\n".join(lines) + "\n"


def _redacted(record: RequestRecord) -> str:
    if record.is_open:
        return "Secrets were not looked for (`privacy.redactSecrets` is off)."
    if not record.kinds:
        return "No secret was found in it."
    kinds = ", ".join(f"{n} {escape_line(kind)}" for kind, n in record.kinds)
    return f"Redacted: {kinds}."


def _name(text: str) -> str:
    """Return an untrusted text as a code span that no character in it can end."""
    return f"`{escape_line(text).replace('`', chr(39))}`"


def _n(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


log = logging.getLogger(__name__)

MAX_SHOWN = 300
"""Requests on the page, the latest; more are counted."""


class RequestRows(Protocol):
    """Where they are kept; nothing raises when the disk fails."""

    def keep_sent(self, fields: str) -> None:
        """Keep one."""
        ...

    def load_sent(self) -> tuple[str, ...]:
        """All that are kept, oldest first; may take long."""
        ...


class RequestLogDocument:
    """Between the requests and their rows; touched on the event loop only."""

    def __init__(
        self,
        workspace: Workspace,
        rows: RequestRows,
        client: Client,
        system: System,
        generated: GeneratedDocuments,
    ) -> None:
        self._workspace = workspace
        self._rows = rows
        self._client = client
        self._system = system
        self._generated = generated
        workspace.request_log.persist = self._store

    async def open(self) -> str:
        """Write and show the page of what was sent; gives its URI.

        Raises:
            OSError: If it can't be written.
        """
        sent = await asyncio.to_thread(self._load) or self._workspace.request_log.latest
        text = render_request_log(sent[-MAX_SHOWN:], n_older=max(0, len(sent) - MAX_SHOWN))
        roots = "\n".join(canonical(root.path.as_uri()) for root in self._workspace.roots)
        stem = f"sent-{sha256(roots.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
        name = self._generated.free_name(stem, ".md", text)
        uri = (await asyncio.to_thread(self._system.write_generated, name, text)).as_uri()
        self._client.start(self._client.show_document(uri), "show what was sent")
        return uri

    def _store(self, sending: RequestRecord) -> None:
        fields = json.dumps(dataclasses.asdict(sending))
        self._rows.keep_sent(fields)

    def _load(self) -> tuple[RequestRecord, ...]:
        """Return the persisted records that are valid. Call in a worker thread, because the
        validator is imported.
        """
        return tuple(_read(self._rows.load_sent()))


def _read(rows: Iterable[str]) -> Iterable[RequestRecord]:
    for row in rows:
        try:
            yield _rows_type().validate_json(row)
        except ValueError:
            log.warning("a kept note of what was sent makes no sense, and is left out")


@cache
def _rows_type() -> "TypeAdapter[RequestRecord]":
    # Imported late: pydantic takes long, and this runs in a thread.
    from pydantic import TypeAdapter

    return TypeAdapter(RequestRecord)
