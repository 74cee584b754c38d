"""Search for comments by Pygments, for languages that have a lexer there."""

from pathlib import PurePosixPath

from pygments.lexer import Lexer
from pygments.lexers import find_lexer_class_by_name, find_lexer_class_for_filename
from pygments.token import Comment
from pygments.util import ClassNotFound

_NAMES = {
    "javascriptreact": "jsx",
    "typescriptreact": "tsx",
    "shellscript": "bash",
    "latex": "tex",
    "jsonc": "json",
    "objective-cpp": "objective-c++",
    "restructuredtext": "rst",
}
"""Pygments' name for an editor's name of a language, if they differ."""
_NONE = frozenset({"text", "output"})
"""Pygments' names of lexers that find no comments."""
_NOT_COMMENTS = (Comment.Preproc, Comment.PreprocFile, Comment.Hashbang)


def comments_by_lexer(text: str, language: str, name: str) -> list[tuple[int, int]] | None:
    """Return the ranges of the comments of `text` (code points, half-open), in order; None without
    a lexer.

    Args:
        text: The whole text.
        language: The editor's name of the language.
        name: The file's name, used if the language is not known.
    """
    lexer = _lexer(language, name)
    if lexer is None:
        return None
    # Lexers only know the line end `\n`; the number of code points stays the same.
    even = text.replace("\r\n", " \n").replace("\r", "\n") + "\n"
    spans: list[tuple[int, int]] = []
    is_over = True
    for start, kind, value in lexer.get_tokens_unprocessed(even):
        if kind not in Comment or any(kind in other for other in _NOT_COMMENTS):
            continue
        end = min(start + len(value), len(text))
        if not is_over and spans[-1][1] == start:
            spans[-1] = (spans[-1][0], end)  # the next piece of one comment
        elif start < end and not (spans and start < spans[-1][1]):
            spans.append((start, end))
        is_over = not spans or (kind in Comment.Single and value.endswith("\n"))
    return spans


def _lexer(language: str, name: str) -> Lexer | None:
    for find, key in (
        (find_lexer_class_by_name, _NAMES.get(language, language)),
        (find_lexer_class_for_filename, PurePosixPath(name).name),
    ):
        if not key or key == "plaintext":
            continue
        try:
            found = find(key)
        except ClassNotFound:
            continue
        if found is not None and not _NONE & set(found.aliases):
            return found()
    return None
