"""The notification `$/stet/answer`: the text of an answer while the model writes it.

It is sent only to clients that declare `experimental.stet.answers`.
"""

from stet.agent.agent_events import AgentEvent, CodeWritten, TextDelta
from stet.lsp.editor_client import Client

ANSWER = "$/stet/answer"


class AnswerStream:
    """The sender of answers; used on the event loop only."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._sent: dict[str, int] = {}

    def handle_event(self, event: AgentEvent) -> None:
        """Send the next piece of an answer, if the client wants answers.

        A piece `{turn, start, text}` follows the first `start` code points of the answer; what the
        client has beyond them is no longer valid, since a request to the model was repeated.
        """
        turn = event.turn
        match event:
            case TextDelta(text=text) if self._client.capabilities.answers:
                is_first = turn.id not in self._sent
                # A round's text is added to the answer without the white space around it.
                piece = text.lstrip() if is_first else text
                if not piece:
                    return
                if is_first:
                    self._sent[turn.id] = len(turn.answer)
                    piece = f"\n\n{piece}" if turn.answer else piece
                start = self._sent[turn.id]
                self._sent[turn.id] += len(piece)
                self._client.notify(ANSWER, {"turn": turn.id, "start": start, "text": piece})
            case TextDelta() | CodeWritten():
                pass
            case _:  # the next piece begins a round, or begins it again
                self._sent.pop(turn.id, None)
