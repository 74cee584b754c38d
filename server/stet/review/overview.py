"""What is pending, as one unified diff that any editor shows in colour."""

from collections.abc import Callable, Mapping, Sequence

from stet.review.proposal import Hunk, HunkKind
from stet.text.diff import unified_diff
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit


def overview(hunks: Sequence[Hunk], texts: Mapping[str, str], name_of: Callable[[str], str]) -> str:
    """The diff between the texts as they are and as they would be.

    Args:
        hunks: Live ones, in any order.
        texts: The current text of every file they touch, by URI.
        name_of: What a file is called.
    """
    parts = []
    for uri, text in texts.items():
        mine = [hunk for hunk in hunks if hunk.uri == uri]
        created = any(hunk.kind is HunkKind.CREATE for hunk in mine)
        name = name_of(uri)
        after = _after(uri, text, mine)
        old_name = "/dev/null" if created else f"a/{name}"
        notes = "".join(f"# {hunk.id} {hunk.state}: {hunk.summary}\n" for hunk in mine)
        parts.append(notes + unified_diff(text, after, old_name, f"b/{name}"))
    return "\n".join(parts)


def _after(uri: str, text: str, hunks: Sequence[Hunk]) -> str:
    document = TextDocument(uri, text)
    replacements = [
        Replacement(document.offset_at(h.range.start), document.offset_at(h.range.end), h.new)
        for h in hunks
    ]
    return TextEdit(tuple(sorted(replacements, key=lambda r: (r.start, r.end)))).apply(text)
