"""The lines of code that a model has written so far, for the progress of its turn.

A rewrite and the blocks of a small model are no text of the answer: the user sees them as hunks, at
the end of the turn. Until then the progress shows how far the model is.
"""

import re
from collections.abc import Callable

from stet.llm.model import Sink
from stet.privacy.redactor import Redactor
from stet.privacy.secrets import find_secrets

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_SEARCHED = 2000
"""The characters of a line that are searched for secrets; far fewer are shown."""


class CodeProgress:
    """A sink of an answer, which reports with each piece of code how far the code is.

    Only whole lines are reported: the beginning of a secret is not recognised as one.

    Args:
        report: Takes the number of lines so far, and the latest of them that is not blank, without
            line end; "" if that line has a secret. Its control characters are not escaped.
        redactor: Knows the secrets of the workspace.
        begins_in_code: Whether the text before the first fence is code, too. Lines before a fence
            are then no longer counted.
    """

    def __init__(
        self, report: Callable[[int, str], None], redactor: Redactor, *, begins_in_code: bool
    ) -> None:
        self._report = report
        self._redactor = redactor
        self._begins_in_code = begins_in_code
        self._reset()

    def _reset(self) -> None:
        self._unfinished = ""
        """The beginning of a line whose end has not been written."""
        self._n_lines = 0
        self._latest: str | None = None
        """What is reported as the latest line; None before the first line."""
        self._fence = ""
        """The fence of the open block; "" outside of a block."""
        self._has_block = False
        self._is_in_code = self._begins_in_code

    def write(self, piece: str) -> None:
        """Handle a piece of the answer."""
        *lines, rest = piece.split("\n")
        for line in lines:
            self._end_line(self._unfinished + line)
            self._unfinished = ""
        self._unfinished += rest
        if self._is_in_code and self._latest is not None:
            self._report(self._n_lines, self._latest)

    def passing_on(self, sink: Sink) -> Sink:
        """Return a sink that handles each piece, and then passes it to another sink."""

        def handle(piece: str) -> None:
            self.write(piece)
            sink(piece)

        return handle

    def restarting(self, on_wait: Sink) -> Sink:
        """Return `on_wait` for a request that is repeated from its beginning."""

        def restart(sentence: str) -> None:
            self._reset()
            on_wait(sentence)

        return restart

    def _end_line(self, line: str) -> None:
        if self._read_fence(line) or not self._is_in_code:
            return
        self._n_lines += 1
        if line.strip():
            self._latest = "" if self._has_secret(line) else line.strip()

    def _read_fence(self, line: str) -> bool:
        """Open or close a block if a line is a fence; return whether it is one."""
        if (found := _FENCE.match(line)) is None:
            return False
        if self._fence:
            if line.strip() != found[1] or not found[1].startswith(self._fence):
                return False  # a shorter fence, or one with a language, is text of the block
            self._fence, self._is_in_code = "", False
            return True
        if not self._has_block:
            self._n_lines, self._latest = 0, None
        self._fence, self._has_block, self._is_in_code = found[1], True, True
        return True

    def _has_secret(self, line: str) -> bool:
        """Return whether a line has a secret, or may be a line of a private key."""
        text = line[:_SEARCHED]
        # A secret that the model has made up must not be searched for in other texts: not learned.
        return bool(find_secrets(text, wrapped=True) or self._redactor.redact(text).kinds)
