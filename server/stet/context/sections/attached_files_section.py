"""`<attached_files>`: what the user has attached, then the first lines of what else is in scope."""

from collections.abc import Iterator

from stet.context.attachment_collector import CollectedAttachments
from stet.context.context_tags import element, single_line
from stet.context.context_values import ContextSection
from stet.context.scope_files import ScopeFiles
from stet.context.sections.section_elements import attachment_elements, file_element
from stet.settings.values import Settings

NAME = "attached_files"
MAX_NAMED = 20
"""How many of the files that were left out are named."""


def attached_files_section(
    attached: CollectedAttachments, in_scope: ScopeFiles, settings: Settings
) -> ContextSection | None:
    """One `<file_contents>` for each file, and what was left out; None where there is nothing."""
    elements = list(attachment_elements(attached, settings))
    lines = settings.context.head_lines
    elements += [
        file_element(file.document, file.name, file.mtime, lines) for file in in_scope.files
    ]
    elements += _left_out_lines(in_scope, settings)
    return ContextSection(NAME, element(NAME, "\n".join(elements))) if elements else None


def _left_out_lines(in_scope: ScopeFiles, settings: Settings) -> Iterator[str]:
    """A line for what there was no room for."""
    names = [single_line(name) for name in in_scope.left_out[:MAX_NAMED]]
    if names:
        n_more = len(in_scope.left_out) - len(names)
        more = f" and {n_more} more" if n_more else ""
        yield (
            f"(cut: context.maxFiles is {settings.context.max_files}; in scope too, but not shown: "
            f"{', '.join(names)}{more}; `read_file` shows them)"
        )
    if in_scope.is_partial:
        yield "(cut: there are too many files to read the links of all; some may be missing here)"
