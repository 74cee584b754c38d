"""A tool: a name, arguments, and a function that runs a call in the context of a turn.

The context has the ports that the tools of one turn share.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

from stet.links.link_scan import LinkCache
from stet.privacy.request_log import Recipient, RequestRecord
from stet.search.word_search import Searcher, WordSearcher
from stet.settings.values import AgentSettings
from stet.tools.editor_actions import MAX_ASKED, AskQuestion, EditorActions, Question, QuestionKind
from stet.tools.file_reader import FileReader
from stet.tools.proposer import Proposer
from stet.tools.tool_errors import ToolError as ToolError  # noqa: PLC0414 - for the tools
from stet.tools.tool_state import ToolKind as ToolKind  # noqa: PLC0414 - for the tools
from stet.web.web_access import WebAccess


class ToolGroup(StrEnum):
    """A group of tools that is enabled or disabled as a whole."""

    WORKSPACE = "workspace"
    WEB = "web"
    ACTION = "action"
    ADVANCED = "advanced"


class Params(BaseModel):
    """The arguments of a tool, as a model wrote them: unknown names and wrong types are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


async def no_user(question: Question) -> str:
    """Refuse a question, as there is no user.

    Raises:
        ToolError: Always.
    """
    raise ToolError(f"Nobody can be asked here: {question.text!r}. Go on without an answer.")


async def no_current_context() -> str:
    """Return the context if there is no editor: an empty text."""
    return ""


@dataclass(slots=True)
class ToolContext:
    """The ports that a tool may use. `ask_question` differs for each call of a tool.

    Attributes:
        reader: Reads files.
        proposer: Proposes edits.
        links: The cache of the links in files.
        searcher: Finds passages by words or by meaning.
        ask_question: Puts a question to the user.
        current_context: Returns the current state of the editor, in the form of the question's
            context.
        web: Access to the search API and to pages; None if no search API is configured.
        editor: The actions of the editor that run at once.
        is_last_round: Whether the running calls are the last, so that the model sees no result.
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

    def holds_secret(self, text: str) -> bool:
        """Return whether a text for the web holds a secret and the user wants secrets redacted."""
        is_redacted = self.reader.workspace.settings.privacy.redact_secrets
        return is_redacted and bool(self.reader.workspace.redactor.redact(text).kinds)

    def record_request(self, recipient: Recipient, host: str, what: str, text: str) -> None:
        """Record in the request log that a text is sent to a host; `what` describes the text."""
        workspace, turn = self.reader.workspace, self.reader.turn
        record = RequestRecord(
            workspace.snapshot().system.now(),
            recipient,
            host,
            turn=turn.id,
            chat=turn.chat,
            parts=(f"{what} of {len(text)} characters",),
            characters=len(text),
            is_open=not workspace.settings.privacy.redact_secrets,
        )
        workspace.request_log.add(record)

    async def ask_user(self, kind: QuestionKind, text: str, choices: Sequence[str] = ()) -> str:
        """Put a question to the user and return the answer.

        Raises:
            ToolError: If no user can be asked, or the question is too long to be read.
        """
        turn, report = self.reader.turn, self.reader.report
        report.n_questions += 1
        question_id = f"q-{turn.id}-{report.n_questions}"
        question = Question(question_id, kind, text, tuple(choices))
        if len(question.text) > MAX_ASKED:
            raise ToolError(
                f"The question for the user has {len(question.text)} characters; the "
                f"maximum is {MAX_ASKED}. Send less at once."
            )
        return await self.ask_question(question)


@dataclass(frozen=True, slots=True)
class BatchHandler:
    """The execution of several related calls of one answer: all or none.

    Attributes:
        file: Returns the file that a call edits, from the arguments as the model wrote them; calls
            for one file are run together. None for a call that is run alone.
        run: Runs the calls; an invalid call is given as its error. Returns the text for the model
            or the error of each call, in order.
    """

    file: Callable[[Mapping[str, object]], str | None]
    run: Callable[[Sequence[Any], ToolContext], Awaitable[Sequence[str | ToolError]]]


@dataclass(frozen=True, slots=True)
class ShortForm:
    """The description of a tool for a model with the short prompt.

    Attributes:
        description: One or two sentences.
        required: The arguments that the model must give.
        optional: Other arguments that are described.
    """

    description: str
    required: tuple[str, ...]
    optional: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool.

    Attributes:
        name: The name that the model uses.
        group: The group by which the tool is enabled or disabled.
        kind: Whether the tool reads, writes or controls the turn.
        params: The arguments; the docstring is the description for the model.
        run: Runs the tool and returns the text for the model. A proposal is its last step: a call
            that is stopped earlier has proposed nothing.
        batch_handler: Runs several calls as one, if the tool supports this.
        listing: Returns the settings' addition to the description; if it is empty, the tool is not
            offered.
        has_sections: Whether the result consists of sections of the context, in which untrusted
            text is already escaped. The result of any other tool is escaped for the model.
        short: The description for a model with the short prompt; None for the usual one.
        has_plain_arguments: Whether absolute paths in the arguments stay as the model wrote them.
    """

    name: str
    group: ToolGroup
    kind: ToolKind
    params: type[Params]
    run: Callable[[Any, ToolContext], Awaitable[str]]
    batch_handler: BatchHandler | None = None
    listing: Callable[[AgentSettings], str] | None = None
    has_sections: bool = False
    short: ShortForm | None = None
    has_plain_arguments: bool = False

    @property
    def description(self) -> str:
        """The description for the model."""
        lines = (self.params.__doc__ or "").strip().splitlines()
        return "\n".join(line.strip() for line in lines)

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON schema of the arguments, without the parts that a model does not need."""
        schema = self.params.model_json_schema()
        schema.pop("title", None)
        schema.pop("description", None)
        for prop in schema.get("properties", {}).values():
            _simplify_property(prop)
        return schema

    @property
    def short_schema(self) -> Mapping[str, Any]:
        """The JSON schema of the arguments that the short form describes."""
        schema = self.schema
        if self.short is None:
            return schema
        names = (*self.short.required, *self.short.optional)
        # Very small models copy examples from descriptions, and the names say enough.
        properties = {name: {"type": schema["properties"][name]["type"]} for name in names}
        return {"properties": properties, "required": list(self.short.required), "type": "object"}


def _simplify_property(prop: dict[str, Any]) -> None:
    """Remove the title of a property, and the alternative null of an optional property."""
    prop.pop("title", None)
    if "default" in prop and prop["default"] is None:
        del prop["default"]
        (kind,) = (each for each in prop.pop("anyOf") if each != {"type": "null"})
        prop.update(kind)
