"""The process that finds instructions in comments, so that a text made to be slow stalls nothing.

It reads one JSON object, `{"text", "language", "name"}`, and writes one JSON array of
`[marker, instruction, start, end]`; offsets are code points. Memory and processor time are limited
where the system can do that; whoever starts it limits the rest.
"""

import json
import re
import sys

from stet.system.helper_limits import limit_resources
from stet.text.ai_comments import AiComment, find_ai_comments
from stet.workspace.comments.grammar_comments import comments_by_grammar
from stet.workspace.comments.markdown_comments import comments_of_markdown
from stet.workspace.comments.sign_comments import comments_by_sign

MEMORY = 2_000_000_000
"""Bytes of address space."""
CPU_SECONDS = 10
_MARK = re.compile(r"(?<!\w)AI[!?]", re.IGNORECASE)


def main() -> None:
    """Answer one question on the standard streams."""
    limit_resources(memory=MEMORY, cpu_seconds=CPU_SECONDS)
    asked = json.loads(sys.stdin.readline())
    text = asked["text"]
    found: tuple[AiComment, ...] = ()
    if _MARK.search(text):
        found = find_ai_comments(text, comments_of(text, asked["language"], asked["name"]))
    answer = [[one.marker, one.text, one.start, one.end] for one in found]
    sys.stdout.write(json.dumps(answer))


def comments_of(text: str, language: str, name: str) -> list[tuple[int, int]]:
    """Where the comments of `text` are (code points, half-open), in order and disjoint.

    Args:
        text: All of it.
        language: The editor's name of the language; empty if it is not known.
        name: The file's name.
    """
    language = language.lower()
    if language == "markdown":
        return comments_of_markdown(text)
    found = comments_by_grammar(text, language)
    if found is None:
        # Imported here: it takes long, and a grammar does not need it.
        from stet.workspace.comments.lexer_comments import comments_by_lexer

        found = comments_by_lexer(text, language, name)
    return comments_by_sign(text) if found is None else found


if __name__ == "__main__":
    main()
