"""Streaming of an answer in which a model may write tool calls as text."""

import re
from collections.abc import Sequence

from stet.llm.model import Sink, ToolDefinition
from stet.llm.written_calls import CODE_LANGUAGES, read_written_calls

_OPENINGS = (
    *("<tool", "</tool", "<function", "</function", "<invoke", "<|", "<\uff5c"),
    *("[{", "[[", "[TOOL_", "[tool_", '{"', "{'", "{{", "{}"),
)
"""How a line begins that may begin a call, besides a fence; blanks after a bracket are ignored."""
_BLANK_AFTER_BRACKET = re.compile(r"^([{\[])\s+")
_FENCE = re.compile(
    r"(?P<fence>```+|~~~+)[ \t]*(?P<language>[\w+-]*)[ \t]*\n(?P<body>.*)", re.DOTALL
)
_MAY_BEGIN_FENCE = re.compile(r"[`~]{1,2}\Z|(?:```+|~~~+)[^\n]*\Z|(?:```+|~~~+)[^\n]*\n\s*\Z")
_CODE = ("{", "[", "<", "print(")


class StreamGate:
    """A sink that streams text and holds back text that may be a call.

    A line is sent as it arrives once its beginning shows that the line begins no call. From a line
    that may begin a call on, text is held back until the answer is whole, or until a fenced block
    is closed that contains no call.

    Args:
        sink: Receives the text.
        tools: The tools offered to the model.
    """

    def __init__(self, sink: Sink, tools: Sequence[ToolDefinition]) -> None:
        self._sink = sink
        self._tools = tools
        self._reset()

    def _reset(self) -> None:
        self._waiting = ""
        """The text from the last undecided line on."""
        self._sent = ""
        self._is_within_line = False
        """Whether the beginning of the current line has been sent."""
        self._fence = ""
        """The fence of the block of which the beginning has been sent; empty outside of a block."""
        self._is_holding = False
        """Whether the waiting text is a call, or begins like one: nothing more is sent."""
        self._is_in_block = False
        """Whether the waiting text is an open block that may be a call."""

    def restarting(self, on_wait: Sink) -> Sink:
        """Return `on_wait` for a request that is repeated from its beginning."""

        def restart(sentence: str) -> None:
            self._reset()
            on_wait(sentence)

        return restart

    def write(self, piece: str) -> None:
        """Handle a piece of the answer."""
        self._waiting += piece
        # Do not search a long call again for each piece: only a fence ends a block.
        if self._is_holding or (self._is_in_block and "`" not in piece and "~" not in piece):
            return
        while self._waiting and self._send_line():
            pass

    def finish(self, text: str) -> None:
        """Send the part of the complete answer `text` that has not been sent yet."""
        if text.startswith(self._sent):
            self._send(text[len(self._sent) :])

    def _send_line(self) -> bool:
        """Send the waiting text up to the end of its first line or block; False if undecided."""
        if not self._is_within_line and not self._fence and (held := self._held_to()) is not None:
            if held == 0:
                return False
            self._send(self._waiting[:held])
            self._waiting, self._is_in_block = self._waiting[held:], False
            return True
        line, feed, rest = self._waiting.partition("\n")
        if not self._is_within_line and not feed and not line.strip():
            return False
        if not self._is_within_line:
            if self._fence:
                is_closing = line.strip().startswith(self._fence)
                self._fence = "" if is_closing else self._fence
            elif found := _FENCE.match(f"{line.lstrip()}\n"):
                self._fence = found["fence"]
        self._send(line + feed)
        self._waiting, self._is_within_line = rest, not feed
        return True

    def _held_to(self) -> int | None:
        """Return how much text to send at once where a line may begin a call.

        Returns:
            0 if nothing may be sent yet; the length of a block that contains no call; None if the
            line begins no call.
        """
        start = self._waiting.lstrip()
        if not start:
            return 0 if "\n" not in self._waiting else None
        if _MAY_BEGIN_FENCE.match(start):
            return 0
        if found := _FENCE.match(start):
            return self._block_end(found)
        plain = _BLANK_AFTER_BRACKET.sub(r"\1", start)
        calls = [f"{bracket}{tool.name}(" for tool in self._tools for bracket in ("", "[")]
        openings = (*_OPENINGS, *calls)
        self._is_holding = plain.startswith(openings)
        may_call = self._is_holding or any(one.startswith(plain) for one in openings)
        return 0 if may_call else None

    def _block_end(self, found: re.Match[str]) -> int | None:
        """Return the length of a closed block without calls; 0 while the block may be a call."""
        body = found["body"].lstrip()
        if found["language"].lower() not in CODE_LANGUAGES or not body.startswith(_CODE):
            return None
        closing = re.search(rf"^\s*{found['fence']}[ \t]*$", found["body"], re.MULTILINE)
        self._is_in_block = closing is None
        if closing is None:
            return 0
        before = len(self._waiting) - len(self._waiting.lstrip())
        end = before + found.start("body") + closing.end()
        self._is_holding = bool(read_written_calls(self._waiting[:end], self._tools).calls)
        return 0 if self._is_holding else end

    def _send(self, text: str) -> None:
        self._sent += text
        if text:
            self._sink(text)
