"""`@path`, `@folder/` and `@selection` in a question: what the user wants attached to it.

    Compare @src/app.py with @"my notes/old draft.md" and the files in @docs/

A mention begins a word. A name that holds a blank stands between double quotes. A bare word (`add
@property`) is a mention only if there is such a file; a name with a dot or a slash that leads
nowhere is told to the model and the user, and is no error.
"""

import re
from dataclasses import dataclass

from stet.context.attachment_collector import AttachmentCollector, CollectedAttachments
from stet.context.current_document import CurrentDocument
from stet.workspace.paths import PathRefused
from stet.workspace.snapshot import NotShown, Snapshot

MAX_MENTIONS = 20

_MENTION = re.compile(r'(?:^|(?<=[\s(\[{,;:]))@(?:"(?P<quoted>[^"\r\n]+)"|(?P<bare>[^\s"`@]+))')
_TRAILING = ".,;:!?)]}'"
"""What may follow a name without a blank and is not part of it."""
SELECTION = "selection"


@dataclass(frozen=True, slots=True)
class Mention:
    """One name as it was written.

    Attributes:
        name: Without `@` and quotes.
        is_sure: Whether it can only be meant as a name.
    """

    name: str
    is_sure: bool


def parse_mentions(prompt: str) -> tuple[Mention, ...]:
    """Return the mentions in a question, each once, in order."""
    mentions: dict[str, Mention] = {}
    for match in _MENTION.finditer(prompt):
        if (quoted := match["quoted"]) is not None:
            mentions.setdefault(quoted, Mention(quoted, is_sure=True))
        elif name := match["bare"].rstrip(_TRAILING):
            mentions.setdefault(name, Mention(name, is_sure="/" in name or "." in name))
    return tuple(mentions.values())


def collect_mentioned(
    snapshot: Snapshot, prompt: str, current: CurrentDocument | None
) -> CollectedAttachments:
    """Return what a question mentions. Reads the disk: call in a worker thread."""
    mentions = parse_mentions(prompt)
    collector = AttachmentCollector(snapshot, current)
    problems = [
        problem
        for mention in mentions[:MAX_MENTIONS]
        if (problem := _collect(mention, collector, snapshot, current))
    ]
    if len(mentions) > MAX_MENTIONS:
        problems.append(f"Only the first {MAX_MENTIONS} of {len(mentions)} mentions are attached.")
    return CollectedAttachments(
        tuple(collector.files.values()), tuple(collector.folders), tuple(problems)
    )


def _collect(
    mention: Mention,
    collector: AttachmentCollector,
    snapshot: Snapshot,
    current: CurrentDocument | None,
) -> str:
    """Gather what is mentioned; why not, if it can't be."""
    if mention.name == SELECTION:
        is_there = current is not None and bool(current.selected)
        return "" if is_there else "@selection: nothing is selected."
    try:
        located = snapshot.locate(mention.name)
        if collector.is_folder(located):
            collector.add_folder(located)
        else:
            collector.add_file(located)
    except (PathRefused, NotShown) as refused:
        return f"@{mention.name}: {refused.message}" if mention.is_sure else ""
    return ""
