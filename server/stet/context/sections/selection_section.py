"""`<manually_added_selection>`: what the user has selected."""

from stet.context.context_tags import element, escape_tags
from stet.context.context_values import ContextSection
from stet.context.current_document import CurrentDocument
from stet.settings.values import Settings

NAME = "manually_added_selection"
MAX_SELECTIONS = 50
"""How many selected ranges are shown, however short they are."""


def selection_section(current: CurrentDocument, settings: Settings) -> ContextSection:
    """One element for each selected range, in the order of the text; the limit is for all of them.

    What there is no room for is counted on a last line.

    Lines are 1-based and inclusive; a selection that ends before the first character of a line does
    not include that line.
    """
    left = settings.context.selection_limit
    elements: list[str] = []
    for range_ in current.selected[:MAX_SELECTIONS]:
        text = current.document.text_in(range_)
        n_shown = text[: max(0, left)]
        left -= len(text)
        if len(n_shown) < len(text):
            n_shown += f"\n(cut: {len(text) - len(n_shown)} more characters are selected)\n"
        lines = f"{range_.start.line + 1}-{range_.last_line + 1}"
        elements.append(element(NAME, escape_tags(n_shown), {"path": current.name, "lines": lines}))
        if left <= 0:
            break
    if n_more := len(current.selected) - len(elements):
        elements.append(f"(cut: {n_more} more selection{'s' if n_more != 1 else ''})")
    return ContextSection(NAME, "\n".join(elements))
