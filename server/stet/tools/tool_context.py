"""What the tools of one turn share."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from stet.links.link_scan import LinkCache
from stet.privacy.taint import TaintTracker
from stet.review.ledger import ReviewLedger
from stet.search.word_search import Searcher, WordSearcher
from stet.tools.editor_actions import (
    MAX_QUESTION,
    AskQuestion,
    EditorActions,
    Question,
    QuestionKind,
)
from stet.tools.file_reader import FileReader, TurnIdentity
from stet.tools.proposer import Proposer
from stet.tools.tool_errors import ToolError
from stet.tools.turn_report import TurnReport
from stet.web.web_access import WebAccess
from stet.workspace.workspace import Workspace


async def no_user(question: Question) -> str:
    """Refuse a question, if there is no user.

    Raises:
        ToolError: Always.
    """
    raise ToolError(f"Nobody can be asked here: {question.text!r}. Go on without an answer.")


async def no_current_context() -> str:
    """Return what the user has attached if there is no editor: an empty text."""
    return ""


@dataclass(slots=True)
class ToolContext:
    """The ports that a tool may use. Each call of a tool has a context with its own `ask_question`.

    Attributes:
        reader: Reads files.
        proposer: Proposes edits.
        links: What files link to, as found before.
        searcher: Finds passages by words or by meaning.
        ask_question: Puts a question to the user.
        current_context: Returns what the editor shows now, in the form of the question's context.
        web: The way to search APIs and pages; None if no search API is configured.
        editor: What the editor can be made to do at once.
        is_last_round: Whether nothing can be sent to the model after the calls that are running.
    """

    reader: FileReader
    proposer: Proposer
    links: LinkCache = field(default_factory=LinkCache)
    searcher: Searcher = field(default_factory=WordSearcher)
    ask_question: AskQuestion = no_user
    current_context: Callable[[], Awaitable[str]] = no_current_context
    web: WebAccess | None = None
    editor: EditorActions = field(default_factory=EditorActions)
    is_last_round: bool = False

    @property
    def workspace(self) -> Workspace:
        """Return the open documents over the disk."""
        return self.reader.workspace

    @property
    def ledger(self) -> ReviewLedger:
        """Return the ledger that takes the proposals."""
        return self.reader.ledger

    @property
    def turn(self) -> TurnIdentity:
        """Return the turn that the tools work for."""
        return self.reader.turn

    @property
    def report(self) -> TurnReport:
        """Return the report of the turn."""
        return self.reader.report

    @property
    def user_words(self) -> list[str]:
        """Return what the user has said in the conversation, the chat's own list."""
        return self.proposer.user_words

    @property
    def untrusted(self) -> TaintTracker:
        """Return the text by others that the model of the chat was shown, the chat's own tracker."""
        return self.proposer.untrusted

    async def ask_user(self, kind: QuestionKind, text: str, choices: Sequence[str] = ()) -> str:
        """Put a question to the user and return the answer.

        Raises:
            ToolError: If no user can be asked, or the question is too long to be read.
        """
        self.report.n_questions += 1
        question_id = f"q-{self.turn.id}-{self.report.n_questions}"
        question = Question(question_id, kind, text, tuple(choices))
        if len(question.text) > MAX_QUESTION:
            raise ToolError(
                f"The user would have to be asked in {len(question.text)} characters; {MAX_QUESTION} is "
                "the most. Send less at once."
            )
        return await self.ask_question(question)
