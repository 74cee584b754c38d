"""`<attached_files>`: what the user has attached, then the first lines of what else is in scope."""

from collections.abc import Iterator

from stet.context.gathering import Gathered
from stet.context.in_scope import InScope
from stet.context.sections.contents import file_contents, gathered_contents
from stet.context.tags import element, on_one_line
from stet.context.values import Section
from stet.settings.values import Settings

NAME = "attached_files"
MAX_NAMED = 20
"""How many of the files that were left out are named."""


def attached_files(chosen: Gathered, found: InScope, settings: Settings) -> Section | None:
    """One `<file_contents>` for each file, and what was left out; None where there is nothing."""
    elements = list(gathered_contents(chosen, settings))
    lines = settings.context.head_lines
    elements += [file_contents(one.document, one.name, one.mtime, lines) for one in found.files]
    elements += _left_out(found, settings)
    return Section(NAME, element(NAME, "\n".join(elements))) if elements else None


def _left_out(found: InScope, settings: Settings) -> Iterator[str]:
    """A line for what there was no room for."""
    names = [on_one_line(name) for name in found.left_out[:MAX_NAMED]]
    if names:
        n_more = len(found.left_out) - len(names)
        more = f" and {n_more} more" if n_more else ""
        yield (
            f"(cut: context.maxFiles is {settings.context.max_files}; in scope too, but not shown: "
            f"{', '.join(names)}{more}; `read_file` shows them)"
        )
    if found.is_partial:
        yield "(cut: there are too many files to read the links of all; some may be missing here)"
