"""The instructions that a project gives to agents in its `AGENTS.md` files.

The file in the folder of the question's document comes first, then those above it up to the
workspace root; without a document, those of the roots. The files may be untrusted text: they pass
the privacy filter, are cut to a size, and are inside tags that they can't close. They grant no
rights: they do not affect rules, tools and hosts.
"""

from collections.abc import Iterator
from pathlib import Path

from stet.context.context_values import element, escape_tags
from stet.workspace.safe_excerpt import excerpt, redactor_of
from stet.workspace.snapshot import Snapshot
from stet.workspace.uris import path_of, uri_of

NAME = "AGENTS.md"
MAX_CHARACTERS = 8_000
"""The maximum number of code points of one file."""
MAX_ALL = 16_000
"""The maximum number of code points of all files together."""


def project_instructions(snapshot: Snapshot, uri: str | None, max_characters: int = MAX_ALL) -> str:
    """Return the project's instructions for the model, the nearest first. Blocks on the disk.

    Args:
        snapshot: The workspace.
        uri: The document of the question; None for no document.
        max_characters: The most code points of all files together.

    Returns:
        The instructions; "" if there are none.
    """
    left = max_characters
    elements = []
    for folder in _folders(snapshot, uri):
        document = snapshot.show_or_none(uri_of(folder / NAME))
        size = min(left, MAX_CHARACTERS)
        if document is None or size <= 0 or not (text := document.text.strip()):
            continue
        cut = "" if len(text) <= size else f"\n(cut: {len(text) - size} more characters)"
        left -= min(len(text), size)
        body = escape_tags(excerpt(text, size, redactor_of(snapshot))) + cut
        name = snapshot.name_of(document.uri)
        elements.append(element("project_instructions", body, {"path": name}))
    return "\n".join(elements)


def _folders(snapshot: Snapshot, uri: str | None) -> Iterator[Path]:
    """Yield the folders whose instruction file counts, the nearest first."""
    roots = [root.path for root in snapshot.roots]
    path = None if uri is None else path_of(uri)
    inside = [root for root in roots if path is not None and path.is_relative_to(root)]
    if path is None or not inside:
        yield from roots
        return
    top = max(inside, key=lambda root: len(root.parts))
    for folder in path.parents:
        yield folder
        if folder == top:
            return
