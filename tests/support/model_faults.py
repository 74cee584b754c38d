"""The faults of model servers that a turn must survive, M1 to M43, as a table.

Each entry has the server's answers, in order, and the expected outcome of the turn. The numbers are
those of the project's list.
"""

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.support.openai_server import (
    End,
    Reply,
    Scripted,
    call,
    delta,
    encoded,
    error,
    piece,
    usage,
)

EDIT = '{"file": "a.py", "old_text": "x = 1", "new_text": "x = 3"}'
OTHER = '{"file": "a.py", "old_text": "y = 2", "new_text": "y = 4"}'
DONE = call("done", summary="Done.")
TEXT = [delta(role="assistant", content=""), delta(content="I have "), delta(content="done it.")]
CALLED = delta(finish="tool_calls")


@dataclass(frozen=True)
class Fault:
    """One kind of failure.

    Attributes:
        id: The number and a short description.
        replies: The server's answers.
        words: A part of the displayed sentence: at the end, during a retry, or of a tool.
        state: The final state of the turn.
        n_hunks: The number of proposed hunks.
        tools: The states of its tool calls, in order.
        spoken: The model's text, as far as it counts.
    """

    id: str
    replies: Sequence[Scripted]
    words: str = ""
    state: str = "failed"
    n_hunks: int = 0
    tools: tuple[str, ...] = ()
    spoken: str = ""


def calling(*pieces: Any, end: End = End.DONE, after: Sequence[Any] = (CALLED,)) -> Reply:
    """Make an answer that calls tools, in these pieces."""
    return Reply([*(delta(tool_calls=[one]) for one in pieces), *after], end)


def edit(arguments: str = EDIT, **fields: Any) -> Any:
    """Make a whole call of `edit_file` in one piece."""
    index = fields.pop("index", 0)
    return piece(index, **{"id": "c1", "name": "edit_file", "arguments": arguments, **fields})


def twice(reply: Reply) -> list[Scripted]:
    """Repeat the same fault in the retry."""
    return [reply, reply]


def goes_on(
    name: str, reply: Reply, *tools: str, n_hunks: int = 0, words: str = "", spoken: str = ""
) -> Fault:
    """Make a fault after which the turn continues, with an error or a clear intent."""
    states = (*tools, "completed")
    return Fault(name, [reply, DONE], words, "completed", n_hunks, states, spoken)


def reported_fault(name: str, words: str, *pieces: Any) -> Fault:
    """Make a fault of a call that can't be executed: the model is told the reason."""
    return goes_on(name, calling(*pieces), "error", words=words)


def _packed() -> Reply:
    body = b"".join(encoded(event) for event in DONE.events) + b"data: [DONE]\n\n"
    return Reply([gzip.compress(body)], End.EOF, headers={"content-encoding": "gzip"})


def _odd_lines() -> Reply:
    chunk = encoded(delta(content="Grüße 😀")).replace(b"\n\n", b"\r\n\r\n")
    events = [": hello\r\n\r\n", chunk, *DONE.events]
    return Reply([b"\r\n", *events], slice=1)


WAITING = "waitingForUserInput"
PASSES = [
    Fault(
        "M1 rate limit", [error(429, "Slow.", retry_after="0.1"), DONE], "rate limit", "completed"
    ),
    Fault("M3 overload", [error(503, "busy"), error(529, "busy"), DONE], "HTTP 529", "completed"),
    Fault("M3 reset before headers", [Reply(drop=True), DONE], "could not be reached", "completed"),
    Fault("M15 request time-out", [error(408, "slow"), DONE], "HTTP 408", "completed"),
    Fault("M6 reset once", [Reply(TEXT, End.RESET), DONE], "cut off", "completed"),
]
FAILS = [
    Fault("M2 long rate limit", [error(429, "Slow.", retry_after="120")], "try again at"),
    Fault("M4 end of file in text", twice(Reply(TEXT, End.EOF)), "cut off"),
    Fault("M5 end of file in arguments", twice(calling(edit(EDIT[:40]), end=End.EOF, after=())),
          "cut off"),
    Fault("M5 end of file behind a whole call", twice(calling(edit(), end=End.EOF, after=())),
          "cut off"),
    Fault("M6 reset in arguments", twice(calling(edit(), end=End.RESET, after=())), "cut off"),
    Fault("M8 malformed JSON", twice(Reply([*TEXT, 'data: {"choices": [{"del\n\n'])),
          "invalid JSON"),
    Fault("M9 error in the stream", twice(Reply([*TEXT, {"error": {"message": "Boom."}}],
          End.EOF)), "Boom"),
    Fault("M10 web page", [Reply(body="<html>Log in</html>", content_type="text/html")],
          "web page"),
    Fault("M11 refusal", [Reply([delta(refusal="I can't."), delta(finish="stop")])],
          "refused: I can't.", spoken="I can't."),
    Fault("M12 content filter", [Reply([*TEXT, delta(finish="content_filter")])],
          "content filter", spoken="I have done it."),
    Fault("M12 context length", [error(400, "maximum context length is 8192 tokens")],
          "context window"),
    Fault("M12 stall", twice(Reply(TEXT, End.HANG)), "stopped responding"),
    Fault("M12 empty choices", twice(Reply([{"choices": []}, usage(1, 0)])), "was empty"),
    Fault("M14 no such model", [error(404, "no such model")], "model.name"),
    Fault("M16 too large", [error(413, "too large")], "start a new chat"),
    Fault("M17 an encoding nobody asked for", twice(Reply([b"\x8b\x02\x80hello\x03"], End.EOF,
          headers={"content-encoding": "br"})), "compressed as 'br', which was not asked for"),
    Fault("M20 proxy", [error(407, "login")], "HTTPS_PROXY"),
    Fault("M21 slow drip", [Reply([delta(content="x")] * 3000, End.HANG, pause=0.01)],
          "did not finish its answer"),
    Fault("M22 endless line", twice(Reply(["data: " + "x" * 300_000])), "is longer than"),
    Fault("M37 no choices for ever", [Reply([{"choices": []}] * 2000, End.HANG, pause=0.005)],
          "did not respond within"),
]  # fmt: skip
GOES_ON = [
    reported_fault("M7 cut arguments with a reason", "not a JSON object", edit(EDIT[:40])),
    goes_on("M12 parallel calls", calling(edit(), edit(OTHER, index=1, id="c2")), WAITING, WAITING,
            n_hunks=2),
    Fault("M12 line ends, comments, split characters", [_odd_lines()], "", "completed", 0,
          ("completed",), "Grüße 😀"),
    Fault("M13 key revoked in the middle", [calling(edit()), error(401, "revoked")],
          "OPENAI_API_KEY", "failed", 1, (WAITING,)),
    Fault("M17 gzip", [_packed()], "", "completed", 0, ("completed",)),
    Fault("M18 trailers", [Reply([*DONE.events], trailer=b"X-Sum: 1\r\n")], "", "completed", 0,
          ("completed",)),
    goes_on("M19 connection given up between rounds",
            Reply([*calling(edit()).events], End.DONE, headers={"connection": "close"}), WAITING,
            n_hunks=1),
    reported_fault("M23 a piece twice", "not a JSON object", edit(EDIT[:40]), piece(0, arguments=EDIT[40:]),
         piece(0, arguments=EDIT[40:])),
    goes_on("M24 order of the index", calling(edit(OTHER, index=1, id="c2"), edit()), WAITING,
            WAITING, n_hunks=2),
    goes_on("M25 no ids", calling(edit(id=None), edit(OTHER, index=1, id=None)), WAITING, WAITING,
            n_hunks=2),
    goes_on("M25 one id twice", calling(edit(), edit(OTHER, index=1)), WAITING, WAITING,
            n_hunks=2),
    goes_on("M26 null arguments", calling(piece(id="c", name="list_files", arguments=None)),
            "completed"),
    goes_on("M27 arguments as an object",
            calling(piece(id="c", name="read_file", arguments={"file": "a.py"})), "completed"),
    goes_on("M28 empty arguments", calling(piece(id="c", name="list_files", arguments="")),
            "completed"),
    goes_on("M29 a name in pieces", calling(piece(id="c", name="list_"), piece(name="files"),
            piece(arguments="{}")), "completed"),
    reported_fault("M30 unknown tool", "There is no tool 'make_coffee'",
         piece(id="c", name="make_coffee", arguments="{}")),
    reported_fault("M31 an argument too many", "sugar: Extra inputs are not permitted",
         piece(id="c", name="read_file", arguments='{"file": "a.py", "sugar": 2}')),
    reported_fault("M32 wrong type", "file: Input should be a valid string",
         piece(id="c", name="read_file", arguments='{"file": 7}')),
    goes_on("M33 two reasons", calling(edit(), after=(CALLED, delta(finish="stop"))), WAITING,
            n_hunks=1),
    goes_on("M33 two reasons, one of them a cut",
            calling(edit(), after=(CALLED, delta(finish="length"))), "error", words="cut off"),
    goes_on("M34 usage in a last chunk", calling(edit(), after=(CALLED, usage(7, 3))), WAITING,
            n_hunks=1),
    goes_on("M35 reasoning", Reply([delta(reasoning_content="Hm."), delta(reasoning="Hm."),
            *calling(edit()).events]), WAITING, n_hunks=1),
    goes_on("M36 text behind a call", calling(edit(), after=(delta(content="So."), CALLED)),
            WAITING, n_hunks=1, spoken="So."),
    reported_fault("M38 NaN", "not a JSON object", edit('{"file": "a.py", "position": NaN}')),
    goes_on("M39 byte order mark", Reply([b"\xef\xbb\xbf", *calling(edit()).events]), WAITING,
            n_hunks=1),
]  # fmt: skip
FAULTS = [*PASSES, *FAILS, *GOES_ON]
ELSEWHERE = {"M40", "M41", "M42", "M43"}
"""Faults that no reply makes: names, certificates, clocks, and the user."""
