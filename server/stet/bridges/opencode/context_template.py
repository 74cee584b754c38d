r"""The text of the context part.

    <system-reminder>
    Currently open files in the editor, the one in focus first:
    - src/app.py
    - notes.md

    Selected text (from src/app.py):
    ... between two lines of three double quotes
    </system-reminder>

Names and the selected text were written by somebody else. Where they hold a tag that OpenCode's
model or ours takes for an instruction, its `<` is written `&lt;`; three or more double quotes in a
row, which would end the quotation, are written each behind a backslash; control characters in names are written
as their escapes, and control tokens of a model's template are broken.
"""

import re

from stet.bridges.opencode.session_context import SelectedText, SessionContext
from stet.context.context_values import escape_tags, single_line
from stet.text.spoofing import escape_special_tokens

_TAG = re.compile(r"<(?=\s*+/?+\s*+system(?:[-_\s]*+reminder|(?![\w-])))", re.IGNORECASE)
_QUOTES = '"' * 3
_QUOTATION = re.compile(r'"{3,}')


def render_context(context: SessionContext) -> str:
    """Return the whole part, or "" if there is nothing to report."""
    parts = [part for part in (_files(context), _selection(context.selected)) if part]
    if not parts:
        return ""
    inside = "\n\n".join(parts)
    return f"<system-reminder>\n{inside}\n</system-reminder>"


def _files(context: SessionContext) -> str:
    if not context.files:
        return ""
    focus = ", the one in focus first" if context.is_focused else ""
    lines = [f"Currently open files in the editor{focus}:"]
    lines += [f"- {_name(name)}" for name in context.files]
    if context.n_more:
        lines.append(f"(and {context.n_more} more)")
    return "\n".join(lines)


def _selection(selected: SelectedText | None) -> str:
    if selected is None or not selected.texts:
        return ""
    # Ranges apart from each other; each begins on a line of its own. Joined first: a tag may begin in
    # one and end in the next.
    text = _quotable("\n".join(selected.texts))
    quoted = text if text.endswith("\n") else f"{text}\n"
    cut = f"(cut: {selected.n_cut} more characters are selected)\n" if selected.n_cut else ""
    return f"Selected text (from {_name(selected.source)}):\n{_QUOTES}\n{quoted}{_QUOTES}\n{cut}".rstrip(
        "\n"
    )


def _quotable(text: str) -> str:
    return _escape_markup(escape_tags(text))


def _name(text: str) -> str:
    return _escape_markup(single_line(text))


def _escape_markup(text: str) -> str:
    text = _TAG.sub("&lt;", escape_special_tokens(text))
    return _QUOTATION.sub(lambda found: r"\"" * len(found[0]), text)
