"""The page of what was sent to whom, in Markdown; names on it are a stranger's and inert."""

from collections.abc import Sequence

from stet.text.escape import escape_line
from stet.text.render import iso_time
from stet.workspace.request_log import Recipient, RequestRecord

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
    """The page.

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
    """A stranger's words as a span of code, which nothing in them ends."""
    return f"`{escape_line(text).replace('`', chr(39))}`"


def _n(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"
