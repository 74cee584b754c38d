"""The work of a turn: open the model, collect the context, build the prompt, run the loop.

This module imports everything heavy (tools, their schemas, the model's client), so it is imported
in a thread after the server has answered `initialize`.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from stet.agent.comment_turns import propose_removal, start_comment_turn
from stet.agent.context_refresh import current_context
from stet.agent.context_window import ContextWindow, fit_history, history_budget
from stet.agent.limits import Limits, pricing_of
from stet.agent.loop import TurnServices, run_turn
from stet.agent.model_source import ModelSource
from stet.agent.prompts import PromptOptions, system_prompt
from stet.agent.redacting_model import (
    RedactingModel,
    RequestOrigin,
    TokenEscapingModel,
    redact_parts,
)
from stet.agent.rewrite_turn import create_rewrite_plan, run_rewrite, select_passage
from stet.agent.session import Session, TurnStart
from stet.agent.small.advice import with_advice
from stet.agent.small.block_turn import plan_blocks, run_blocks
from stet.agent.small.small_turn import preview_small, run_small
from stet.agent.tool_offer import ToolOffer, tools_called_for
from stet.agent.toolbox import Toolbox, tools_for
from stet.agent.turn import Ask, Mode, SendingDeclined, Turn
from stet.agent.turn_history import (
    Prompt,
    drop_stale_history,
    flatten,
    privacy_fingerprint,
    recent_exchanges,
)
from stet.agent.turn_rules import create_turn_rules, linked_files
from stet.agent.turn_runner import TurnChannel
from stet.context.attachment_collector import with_scope
from stet.context.context_builder import Context, build_context
from stet.context.context_limits import MAX_INSTRUCTIONS, limit_context
from stet.context.context_values import ContextSection
from stet.context.natural_language import detect_workspace_language
from stet.context.project_instructions import MAX_ALL, NAME, project_instructions
from stet.context.since_last_turn import cut_off, since_last_turn_section
from stet.links.link_scan import LinkCache, scan_links
from stet.llm.model import ContextOverflow, Message, Model, estimate_prompt
from stet.llm.model_endpoint import host_of
from stet.llm.model_profiles import ModelProfile
from stet.llm.providers import is_free
from stet.privacy.redactor import Redactor
from stet.review.feedback import FeedbackDelta, collect_feedback
from stet.review.ledger import ReviewLedger
from stet.review.proposal import STET
from stet.review.resolve.pending_view import ShownDocuments, as_shown
from stet.search.word_search import Searcher, WordSearcher
from stet.tools.editor_actions import (
    DO_NOT_SEND,
    NO_EDITOR,
    SEND,
    AskQuestion,
    EditorActions,
    Question,
)
from stet.tools.file_reader import FileReader, TurnIdentity, TurnReport
from stet.tools.proposer import Proposer
from stet.tools.tool import ToolContext, no_user
from stet.web.web_access import open_web
from stet.workspace.attachments import Attachments
from stet.workspace.paths import Root
from stet.workspace.safe_excerpt import redactor_of
from stet.workspace.snapshot import Snapshot
from stet.workspace.workspace import Workspace

if TYPE_CHECKING:
    from stet.agent.mcp_offer import McpOffer
    from stet.tools.mcp_tool import McpServerTool


@dataclass(frozen=True, slots=True)
class TurnInputs:
    """The state of the workspace when a turn begins.

    Attributes:
        context: The context of the question.
        feedback: The decisions since the last feedback to the model.
        section: The feedback as text.
        linked: The files that the scope `linked` adds.
        options: The options of the system prompt.
        active: The name of the active file; "" if there is none.
        epoch: The fingerprint of the privacy rules (`stet.agent.turn_history`).
        written_at: When an ignore file was last written, in seconds since the epoch.
    """

    context: Context
    feedback: FeedbackDelta
    section: ContextSection | None
    linked: tuple[str, ...]
    options: PromptOptions
    active: str
    epoch: str
    written_at: float

    @property
    def feedback_text(self) -> str:
        """The text before the question: the feedback about earlier proposals."""
        return f"{self.section.text}\n" if self.section else ""


class TurnPipeline:
    """The executor of the turns of one server.

    Args:
        workspace: The workspace.
        ledger: Receives the proposals.
        models: Opens the model.
        editor: The actions of the editor that tools may run at once.
        searcher: Answers searches; by default by reading the files.

    Attributes:
        models: The models.
        links: The cache of the links in files.
        create_mcp: Creates the source of the tools of MCP servers, in a thread at first use, as its
            modules take long to import; None for no such tools.
        mcp: The source of the tools of MCP servers, once it is created.
    """

    def __init__(
        self,
        workspace: Workspace,
        ledger: ReviewLedger,
        models: ModelSource,
        editor: EditorActions = NO_EDITOR,
        searcher: Searcher | None = None,
    ) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self.models = models
        self.links = LinkCache()
        self._editor = editor
        self._searcher = WordSearcher() if searcher is None else searcher
        self.create_mcp: Callable[[], McpOffer] | None = None
        self.mcp: McpOffer | None = None
        self._languages: dict[tuple[Root, ...], str | None] = {}
        self._unpriced: set[tuple[str, str]] = set()
        """Providers and models for which the unknown price has been reported."""

    async def run(self, turn: Turn, session: Session, limits: Limits, channel: TurnChannel) -> Turn:
        """Run `turn` to its end.

        Raises:
            TurnStopped: If the turn ends early.
            ModelError: If there is no model or a request fails.
        """
        async with self.models.use(self._workspace.settings.model) as opened:
            model = self._wrap_model(opened, turn)
            turn = replace(turn, model=model.name, ask=self._with_attachments(turn.ask))
            turn = self._with_pricing(turn, model.provider)
            limits = replace(limits, pricing=turn.pricing)
            task, model_ask = None, turn.ask
            if turn.ask.comment is not None:
                ask, task = await start_comment_turn(turn.ask, turn.ask.comment, self._workspace)
                turn = replace(turn, ask=ask)
                model_ask = replace(ask, prompt=ask.prompt + task.note)
            profile = self.models.profile
            inputs = await asyncio.to_thread(self._input_collector(model_ask, session, profile))
            turn = replace(turn, notes=(*turn.notes, *inputs.context.problems))
            if task is None and turn.ask.is_users:  # text by others must not approve a host
                session.record_user_message(turn.ask.prompt)
            ctx = self._tool_context(turn, session, inputs, channel.ask_question)
            ctx.proposer.untrusted.add(f"the project's {NAME}", inputs.options.project)
            session.offer = _next_offer(session, turn.ask, profile)
            takes_tools = not model.is_tiny and profile.edits != "blocks"
            turn, more = await self._with_mcp_tools(turn, session) if takes_tools else (turn, ())
            toolbox = self._toolbox(turn.ask, ctx, session.offer, more)
            services = TurnServices(
                model,
                toolbox,
                limits,
                channel.emit,
                self._token_confirmation(channel),
                pending_steering=channel.steering,
                seconds_left=channel.seconds_left,
            )
            if turn.ask.mode is Mode.REWRITE:
                return await run_rewrite(turn, services, self.models.rewrite_form)
            if model.is_tiny:
                ended = await run_small(turn, services)
            elif profile.edits == "blocks":
                ended = await run_blocks(turn, services)
            else:
                window = model.context_tokens
                prompt = self._build_prompt(turn.ask, session, inputs, toolbox, window)
                _taint(ctx, prompt, inputs)
                session.turn_start = TurnStart(
                    inputs.feedback_text,
                    inputs.feedback.knowledge,
                    ctx.reader.shown,
                    prompt,
                    len(session.history) if prompt.history else 0,
                    inputs.active,
                    inputs.epoch,
                )
                services = replace(services, window=ContextWindow(model, prompt, limits, ctx))
                try:
                    ended = await run_turn(turn, prompt.messages, services)
                except ContextOverflow:
                    session.turn_start = replace(session.turn_start, is_overflow=True)
                    raise
            ended = await with_advice(ended, ctx, profile)
            return ended if task is None else await propose_removal(ended, ctx, task)

    async def close(self) -> None:
        """End the processes of models and of MCP servers."""
        if self.mcp is not None:
            await self.mcp.servers.close()
        await self.models.close()

    def _toolbox(
        self,
        ask: Ask,
        ctx: ToolContext,
        offer: ToolOffer | None,
        more: "tuple[McpServerTool, ...]" = (),
    ) -> Toolbox:
        settings, has_web = self._workspace.settings.agent, ctx.web is not None
        return Toolbox(tools_for(ask, settings, has_web=has_web, more=more), ctx, offer)

    async def _with_mcp_tools(
        self, turn: Turn, session: Session
    ) -> "tuple[Turn, tuple[McpServerTool, ...]]":
        """Return the turn with notes about MCP servers, and their tools; starts the servers."""
        if not self._workspace.settings.mcp_servers or turn.ask.mode is not Mode.AGENT:
            return turn, ()
        if self.mcp is None and self.create_mcp is not None:
            created = await asyncio.to_thread(self.create_mcp)
            if self.mcp is None:  # another turn may have been faster
                self.mcp = created
        if self.mcp is None:
            return turn, ()
        found = await self.mcp.prepare(turn.ask, session.offer, session.untrusted)
        return replace(turn, notes=(*turn.notes, *found.notes)), found.tools

    def _with_pricing(self, turn: Turn, provider: str) -> Turn:
        """Return the turn with its model's pricing.

        If `agent.maxCost` is set and the price is unknown, add a note, once for each model.
        """
        settings, model = self._workspace.settings, (provider, turn.model)
        turn = replace(turn, pricing=pricing_of(settings.model.price, *model))
        is_vain = settings.agent.max_cost is not None and not turn.pricing.source
        if not is_vain or is_free(provider) or model in self._unpriced:
            return turn
        self._unpriced.add(model)
        note = (
            f"agent.maxCost is not enforced: the price of {turn.model!r} ({provider}) is "
            "unknown. Set model.price.input and model.price.output, per million tokens."
        )
        return replace(turn, notes=(*turn.notes, note))

    def _build_prompt(
        self, ask: Ask, session: Session, inputs: TurnInputs, toolbox: Toolbox, window: int | None
    ) -> Prompt:
        """Build the messages of a turn's first request: constant parts first, the question last."""
        settings = self._workspace.settings
        rules = toolbox.ctx.proposer.rules
        is_short = toolbox.offer is not None
        text = system_prompt(ask.mode, rules, inputs.options, is_short=is_short)
        system = Message("system", text)
        question = Message("user", inputs.feedback_text + inputs.context.text)
        others = estimate_prompt((system, question), toolbox.definitions())
        history = recent_exchanges(session.history, settings.agent.history_length)
        history = drop_stale_history(history, inputs.epoch, inputs.written_at)
        budget = history_budget(settings, window, others)
        return Prompt(system, fit_history(history, budget), question)

    async def preview(self, ask: Ask, session: Session) -> list[tuple[str, str]]:
        """Return the name and the text of every part of a turn's first request; nothing is sent.

        Raises:
            TurnFailed: If the question could not be asked, for example because nothing is selected.
        """
        profile = self.models.profile
        inputs = await asyncio.to_thread(self._input_collector(ask, session, profile))
        if ask.mode is Mode.REWRITE:
            document = next((d for d in inputs.context.shown if ask.place.uri == d.uri), None)
            models, snapshot = self.models, self._workspace.snapshot()
            passage = await asyncio.to_thread(
                select_passage, ask, document, snapshot, obeys_grammar=models.obeys_grammar
            )
            plan = create_rewrite_plan(
                passage, models.rewrite_form, obeys_grammar=models.obeys_grammar
            )
            parts = [
                (f"request {number} {message.role}", message.content)
                for number, request in enumerate(plan.requests, 1)
                for message in request.messages
            ]
            return await asyncio.to_thread(redact_parts, parts, self._redactor())
        ctx = self._tool_context(Turn(id="", ask=ask), session, inputs)
        if self.models.is_tiny:
            return redact_parts(preview_small(ask, ctx), self._redactor())
        if profile.edits == "blocks":
            block_plan = await plan_blocks(ask, ctx, self.models.window)
            parts = [(one.role, one.content) for one in block_plan.messages]
            return await asyncio.to_thread(redact_parts, parts, self._redactor())
        offer = _next_offer(session, ask, profile)
        more = await self.mcp.known(ask, offer) if self.mcp is not None else ()
        tools = self._toolbox(ask, ctx, offer, more)
        prompt = self._build_prompt(ask, session, inputs, tools, self.models.window)
        definitions = [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in tools.definitions()
        ]
        parts = [
            ("system", prompt.messages[0].content),
            ("tools", json.dumps(definitions, ensure_ascii=False)),
            *((message.role, _message_text(message)) for message in flatten(prompt.history)),
            *(
                (section.name, section.text)
                for section in (inputs.section, *inputs.context.sections)
                if section
            ),
        ]
        return await asyncio.to_thread(redact_parts, parts, self._redactor())

    def _redactor(self) -> Redactor | None:
        """Return the redactor that replaces secrets with marks, or None if the user wants none."""
        is_enabled = self._workspace.settings.privacy.redact_secrets
        return self._workspace.redactor if is_enabled else None

    def _wrap_model(self, model: Model, turn: Turn) -> Model:
        """Wrap the model for a turn: it receives no secret and no control token, and is logged."""
        choice = self.models.choice
        host = host_of(choice.base_url) if choice is not None else ""
        origin = RequestOrigin(turn.id, turn.ask.chat, host)
        now = self._workspace.snapshot().system.now
        escaping = TokenEscapingModel(model)
        return RedactingModel(escaping, self._redactor(), self._workspace.request_log, origin, now)

    def _input_collector(
        self, ask: Ask, session: Session, profile: ModelProfile
    ) -> Callable[[], TurnInputs]:
        """Return a function that collects the inputs; it blocks on the disk."""
        attachments = self._with_attachments(ask).attachments or Attachments()
        snapshot = with_scope(self._workspace.snapshot().asked_about(ask.place.uri), attachments)
        snapshot = replace(snapshot, settings=limit_context(snapshot.settings, profile))
        max_instructions = MAX_INSTRUCTIONS if profile.is_short else MAX_ALL
        hunks, knowledge = self._ledger.hunks(chat=ask.chat), session.knowledge
        before = session.active
        uri = ask.place.uri or snapshot.activity.active
        imported = [hunk for hunk in self._ledger.live(uri) if hunk.block] if uri else []

        settings = snapshot.settings

        def collect() -> TurnInputs:
            epoch = privacy_fingerprint(snapshot)  # first: its time must precede later writes
            scopes = (snapshot.settings.context.scope, snapshot.settings.edit.scope)
            graph = scan_links(snapshot, self.links) if "linked" in scopes else None
            context = build_context(snapshot, ask.place, ask.prompt, graph, attachments)
            if settings.privacy.redact_secrets:
                for document in context.shown:  # whole, as a part of a key is not recognised
                    if not document.is_large:
                        snapshot.redactor.learn(document.text)
                for line_range in context.line_ranges:
                    snapshot.learn_around(*line_range)
            feedback = collect_feedback(snapshot, hunks, knowledge)
            name = snapshot.name_of(uri) if uri else ""
            moved = (before, name) if before not in ("", name) else None
            redactor = redactor_of(snapshot)
            return TurnInputs(
                context,
                feedback,
                since_last_turn_section(
                    feedback,
                    redactor.excerpt if redactor else cut_off,
                    moved,
                    [as_shown(hunk, snapshot) for hunk in imported],
                ),
                linked_files(ask.place.uri, graph),
                self._prompt_options(snapshot, uri, max_instructions),
                name,
                epoch,
                # Collecting the feedback has checked the ignore files of all shown files.
                snapshot.rules.last_modified(),
            )

        return collect

    def _with_attachments(self, ask: Ask) -> Ask:
        """Return a question with the user's current attachments, if the question specifies none."""
        if ask.attachments is not None:
            return ask
        return replace(ask, attachments=self._workspace.attachments)

    def _prompt_options(
        self, snapshot: Snapshot, uri: str | None, max_instructions: int
    ) -> PromptOptions:
        """Return the options of the system prompt for a document. Blocks on the disk."""
        roots = snapshot.roots
        if roots not in self._languages:  # detected once: the prompt starts the same
            self._languages[roots] = detect_workspace_language(snapshot)
        return PromptOptions(
            snapshot.settings.agent.character,
            self._languages[roots],
            project_instructions(snapshot, uri, max_instructions),
        )

    def _token_confirmation(self, channel: TurnChannel) -> Callable[[Turn, int], Awaitable[None]]:
        """Return a function that asks the user before more than `context.warnTokens` are sent."""
        limit = self._workspace.settings.context.warn_tokens

        async def confirm(turn: Turn, tokens: int) -> None:
            if tokens <= limit:
                return
            text = (
                f"This request sends about {tokens} tokens to {turn.model} (context.warnTokens "
                f"is {limit}). Send it?"
            )
            question = Question(f"q-{turn.id}", "context", text, (SEND, DO_NOT_SEND))
            if await channel.ask_question(question) != SEND:
                raise SendingDeclined("Not sent: you declined.")

        return confirm

    def _tool_context(
        self, turn: Turn, session: Session, inputs: TurnInputs, ask_question: AskQuestion = no_user
    ) -> ToolContext:
        """Return the ports that the tools of a turn share."""
        shown = ShownDocuments(inputs.context.shown)
        rules = create_turn_rules(turn.ask, self._workspace, shown, inputs.linked)
        snapshot = self._workspace.snapshot()
        reader = FileReader(
            self._workspace,
            self._ledger,
            TurnIdentity(turn.id, STET, turn.ask.chat),
            TurnReport(),
            question_uri=turn.ask.place.uri,
            shown=shown,
        )
        return ToolContext(
            reader,
            Proposer(reader, rules, session.untrusted, session.user_messages),
            links=self.links,
            searcher=self._searcher,
            ask_question=ask_question,
            current_context=partial(
                current_context, reader, self.links, turn.ask.place, turn.ask.attachments
            ),
            web=open_web(snapshot.settings.web, snapshot.system, session.approved_hosts),
            editor=self._editor,
        )


def _next_offer(session: Session, ask: Ask, profile: ModelProfile) -> ToolOffer | None:
    """Return the tools that a question offers in a chat; None for all of them."""
    if not profile.is_short:
        return None
    offer = session.offer.copy() if session.offer else ToolOffer.of_history(session.history)
    offer.add(tools_called_for(ask.prompt))
    return offer


def _taint(ctx: ToolContext, prompt: Prompt, inputs: TurnInputs) -> None:
    """Record the texts of a prompt that others may have written."""
    for message in (exchange for turn in prompt.history for exchange in turn.messages):
        if message.role != "assistant":
            ctx.proposer.untrusted.add("files read earlier in this chat", message.content)
    ctx.proposer.untrusted.add("changes since your last question", inputs.feedback_text)
    ctx.proposer.untrusted.add("the context of your question", inputs.context.text)


def _message_text(message: Message) -> str:
    """Return a message in the form that is sent, with its calls."""
    calls = (f"{call.name} {call.arguments}" for call in message.tool_calls)
    return "\n".join(part for part in (message.content, *calls) if part)
