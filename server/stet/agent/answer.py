"""What a turn does between its start and its end: look, choose the model, work.

Everything heavy (tools, their schemas, the model's client) hangs on this module, so it is imported
after the server has answered `initialize`, in a thread.
"""

import asyncio
import dataclasses
import json
from collections.abc import Awaitable, Callable

from stet.agent import comments
from stet.agent.at_work import Line
from stet.agent.compaction import fitted
from stet.agent.crew import Crew
from stet.agent.errors import Declined
from stet.agent.fresh_look import look_from
from stet.agent.guard import guard_of, guarded
from stet.agent.history import Prompt, flat, recent
from stet.agent.limits import Limits
from stet.agent.loop import run_turn
from stet.agent.models import ModelSource
from stet.agent.plain_tokens import PlainTokensModel
from stet.agent.pricing import pricing_of
from stet.agent.prompts import Manner, system_prompt
from stet.agent.redacting import Origin, RedactingModel, told_parts
from stet.agent.rewrite import passage_of, plan_for, run_rewrite
from stet.agent.room import Room, room_for_history
from stet.agent.scope import linked_with, rules_for
from stet.agent.session import Opening, Session
from stet.agent.small.work import preview_small, run_small
from stet.agent.toolbox import Toolbox, tools_for
from stet.agent.turn import Ask, Mode, Turn
from stet.context.attachment_lookup import with_scope
from stet.context.context_builder import Context, build_context
from stet.context.context_values import ContextSection
from stet.context.natural_language import detect_workspace_language
from stet.context.project_instructions import NAME, project_instructions
from stet.context.sections.since_last_turn_section import cut_off, since_last_turn_section
from stet.index.link_scan import LinkCache, scan_links
from stet.index.search_query import Searcher
from stet.index.word_search import WordSearcher
from stet.llm.errors import ContextOverflow
from stet.llm.messages import Message
from stet.llm.model import Model
from stet.llm.model_endpoint import host_of
from stet.llm.prices import is_free
from stet.llm.tokens import estimate_prompt
from stet.review.feedback import FeedbackDelta, collect_feedback
from stet.review.ledger import ReviewLedger
from stet.review.shown_documents import ShownDocuments, as_shown
from stet.tools.editor_actions import NO_EDITOR, EditorActions
from stet.tools.question import DO_NOT_SEND, SEND, Question
from stet.tools.tool_context import ToolContext
from stet.web.web_access import open_web
from stet.workspace.attachments import Attachments
from stet.workspace.redactor import Redactor
from stet.workspace.roots import Root
from stet.workspace.snapshot import Snapshot
from stet.workspace.workspace import Workspace


@dataclasses.dataclass(frozen=True, slots=True)
class _Seen:
    """The world as a turn finds it.

    Attributes:
        context: What is sent of the editor.
        news: What is new since the model was last told.
        since: The same in words.
        linked: The files that the scope `linked` adds.
        manner: How the model is to be.
        active: The name of the active file; "" for none.
        guard: The rules of privacy (`stet.agent.guard`).
        written: When an ignore file was last written, in seconds since the epoch.
    """

    context: Context
    news: FeedbackDelta
    since: ContextSection | None
    linked: tuple[str, ...]
    manner: Manner
    active: str
    guard: str
    written: float


class Answerer:
    """Does the turns' work for one server.

    Args:
        workspace: The world.
        ledger: Where proposals go.
        models: Where the model comes from.
        hands: What tools may have the editor do at once.
        searcher: What searches are asked; by default one that reads the files.
    """

    def __init__(
        self,
        workspace: Workspace,
        ledger: ReviewLedger,
        models: ModelSource,
        hands: EditorActions = NO_EDITOR,
        searcher: Searcher | None = None,
    ) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self.models = models
        self.links = LinkCache()
        self._hands = hands
        self._searcher = WordSearcher() if searcher is None else searcher
        self._languages: dict[tuple[Root, ...], str | None] = {}
        self._unpriced: set[tuple[str, str]] = set()
        """Providers and models of which it has been said that no price is known."""

    async def warm(self) -> None:
        """Import and look for what the first turn would have to wait for."""
        await self.models.warm(self._workspace.settings.model)

    async def close(self) -> None:
        """Let go of the model."""
        await self.models.close()

    async def answer(self, turn: Turn, session: Session, limits: Limits, line: Line) -> Turn:
        """Run `turn` to its end.

        Raises:
            TurnStopped: If it ends before its time.
            ModelError: If there is no model or it can't be asked.
        """
        settings = self._workspace.settings
        async with self.models.use(settings.model) as opened:
            model = self._behind_marks(opened, turn)
            turn = dataclasses.replace(turn, model=model.name, ask=self._with_attached(turn.ask))
            turn = self._priced(turn, model.provider)
            limits = dataclasses.replace(limits, pricing=turn.pricing)
            taken = None
            if turn.ask.comment is not None:
                ask, taken = await comments.take(turn.ask, turn.ask.comment, self._workspace)
                turn = dataclasses.replace(turn, ask=ask)
            asked = dataclasses.replace(turn.ask, prompt=comments.told(turn.ask.prompt, taken))
            # It looks at the disk.
            looking = self._looking(asked, session)
            seen = await asyncio.to_thread(looking)
            turn = dataclasses.replace(turn, notes=(*turn.notes, *seen.context.problems))
            if taken is None and turn.ask.is_users:  # a stranger's words name no host for the user
                session.heed(turn.ask.prompt)
            ctx = self._tool_context(turn, session, seen)
            ctx.ask_question = line.inquire
            ctx.untrusted.add(f"the project's {NAME}", seen.manner.project)
            has_web = ctx.web is not None
            toolbox = Toolbox(tools_for(turn.ask, settings.agent, has_web=has_web), ctx)
            crew = Crew(
                model,
                toolbox,
                limits,
                line.emit,
                self._confirmation(line),
                steering=line.steering,
                left=line.left,
            )
            if turn.ask.mode is Mode.REWRITE:
                return await run_rewrite(turn, crew)
            if model.constrained:
                ended = await run_small(turn, crew)
            else:
                prompt = self._prompt(turn.ask, session, seen, toolbox, model.context_tokens)
                for message in (one for turn in prompt.history for one in turn.messages):
                    if message.role != "assistant":
                        ctx.untrusted.add("what was read earlier in this chat", message.content)
                ctx.untrusted.add(
                    "what has changed since your last question", told_first(seen.since)
                )
                ctx.untrusted.add("what was shown with your question", seen.context.text)
                session.opening = Opening(
                    told_first(seen.since),
                    seen.news.knowledge,
                    ctx.shown,
                    prompt,
                    len(session.history) if prompt.history else 0,
                    seen.active,
                    seen.guard,
                )
                room = Room(model, prompt, limits, ctx)
                crew = dataclasses.replace(crew, make_room=room.make, keep_room=room.keep)
                try:
                    ended = await run_turn(turn, prompt.messages, crew)
                except ContextOverflow:
                    session.opening = dataclasses.replace(session.opening, is_refused=True)
                    raise
            return ended if taken is None else await comments.propose_removal(ended, ctx, taken)

    def _priced(self, turn: Turn, provider: str) -> Turn:
        """The turn with what its model costs; where a limit needs that in vain, once with a note."""
        settings, model = self._workspace.settings, (provider, turn.model)
        turn = dataclasses.replace(turn, pricing=pricing_of(settings.model.price, *model))
        is_vain = settings.agent.max_cost is not None and not turn.pricing.source
        if not is_vain or is_free(provider) or model in self._unpriced:
            return turn
        self._unpriced.add(model)
        note = (
            f"agent.maxCost is not held: no price of the model {turn.model!r} ({provider}) is known. "
            "Set model.price.input and model.price.output, per million tokens."
        )
        return dataclasses.replace(turn, notes=(*turn.notes, note))

    def _prompt(
        self, ask: Ask, session: Session, seen: _Seen, toolbox: Toolbox, window: int | None
    ) -> Prompt:
        """What a turn sends first: what never changes first, the state of the editor last."""
        settings = self._workspace.settings
        system = Message("system", system_prompt(ask.mode, toolbox.ctx.rules, seen.manner))
        question = Message("user", told_first(seen.since) + seen.context.text)
        others = estimate_prompt((system, question), toolbox.definitions())
        history = recent(session.history, settings.agent.history_length)
        history = guarded(history, seen.guard, seen.written)
        return Prompt(system, fitted(history, room_for_history(settings, window, others)), question)

    async def preview(self, ask: Ask, session: Session) -> list[tuple[str, str]]:
        """Name and text of every part of what a turn would send first; nothing is sent.

        Raises:
            TurnFailed: If the question could not be asked: nothing is selected, say.
        """
        # It looks at the disk.
        looking = self._looking(ask, session)
        seen = await asyncio.to_thread(looking)
        if ask.mode is Mode.REWRITE:
            shown = next((d for d in seen.context.shown if ask.place.uri == d.uri), None)
            small, snapshot = self.models.is_small, self._workspace.snapshot()
            passage = await asyncio.to_thread(passage_of, ask, shown, snapshot, small=small)
            plan = plan_for(passage, small=small)
            parts = [
                (f"request {number} {message.role}", message.content)
                for number, request in enumerate(plan.requests, 1)
                for message in request.messages
            ]
            return await asyncio.to_thread(told_parts, parts, self._redactor())
        settings = self._workspace.settings.agent
        ctx = self._tool_context(Turn(id="", ask=ask), session, seen)
        if self.models.is_small:
            return told_parts(preview_small(ask, ctx), self._redactor())
        tools = Toolbox(tools_for(ask, settings, has_web=ctx.web is not None), ctx)
        prompt = self._prompt(ask, session, seen, tools, self.models.window)
        definitions = [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in tools.definitions()
        ]
        parts = [
            ("system", prompt.messages[0].content),
            ("tools", json.dumps(definitions, ensure_ascii=False)),
            *((message.role, _as_text(message)) for message in flat(prompt.history)),
            *(
                (section.name, section.text)
                for section in (seen.since, *seen.context.sections)
                if section
            ),
        ]
        return await asyncio.to_thread(told_parts, parts, self._redactor())

    def _redactor(self) -> Redactor | None:
        """What puts marks in the place of secrets; None where the user wants none."""
        wanted = self._workspace.settings.privacy.redact_secrets
        return self._workspace.redactor if wanted else None

    def _behind_marks(self, model: Model, turn: Turn) -> Model:
        """The model as a turn may ask it: it is told no secret and no control token, and what is sent is noted."""
        choice = self.models.choice
        host = host_of(choice.base_url) if choice is not None else ""
        origin = Origin(turn.id, turn.ask.chat, host)
        now = self._workspace.snapshot().system.now
        plain = PlainTokensModel(model)
        return RedactingModel(plain, self._redactor(), self._workspace.request_log, origin, now)

    def _looking(self, ask: Ask, session: Session) -> Callable[[], _Seen]:
        """A look at the world as it is now; it may be carried out in another thread."""
        attachments = self._with_attached(ask).attachments or Attachments()
        snapshot = with_scope(self._workspace.snapshot().asked_about(ask.place.uri), attachments)
        hunks, heard = self._ledger.hunks(chat=ask.chat), session.heard
        before = session.active
        uri = ask.place.uri or snapshot.activity.active
        waiting = [hunk for hunk in self._ledger.live(uri) if hunk.block] if uri else []

        settings = snapshot.settings

        def look() -> _Seen:
            guard = guard_of(snapshot)  # first: what is written from now on is later
            scopes = (snapshot.settings.context.scope, snapshot.settings.edit.scope)
            graph = scan_links(snapshot, self.links) if "linked" in scopes else None
            context = build_context(snapshot, ask.place, ask.prompt, graph, attachments)
            if settings.privacy.redact_secrets:
                for document in context.shown:  # whole, as a part of a key can't be told by itself
                    if not document.is_large:
                        snapshot.redactor.learn(document.text)
                for stretch in context.line_ranges:
                    snapshot.learn_around(*stretch)
            active = ask.place.uri or snapshot.activity.active
            news = collect_feedback(snapshot, hunks, heard)
            name = snapshot.name_of(active) if active else ""
            moved = (before, name) if before not in ("", name) else None
            redactor = snapshot.redactor if settings.privacy.redact_secrets else None
            return _Seen(
                context,
                news,
                since_last_turn_section(
                    news,
                    redactor.excerpt if redactor else cut_off,
                    moved,
                    [as_shown(hunk, snapshot) for hunk in waiting],
                ),
                linked_with(ask.place.uri, graph),
                self._manner(snapshot, active),
                name,
                guard,
                # What the conversation was shown has just been asked about, with its ignore files.
                snapshot.rules.last_modified(),
            )

        return look

    def _with_attached(self, ask: Ask) -> Ask:
        """A question with what the user has attached by now, if nothing was said of that before."""
        if ask.attachments is not None:
            return ask
        return dataclasses.replace(ask, attachments=self._workspace.attachments)

    def _manner(self, snapshot: Snapshot, uri: str | None) -> Manner:
        """How the model is to be, for a question about the document `uri`. Blocks on the disk."""
        roots = snapshot.roots
        if roots not in self._languages:  # looked for once: the prompt's beginning stays the same
            self._languages[roots] = detect_workspace_language(snapshot)
        return Manner(
            snapshot.settings.agent.character,
            self._languages[roots],
            project_instructions(snapshot, uri),
        )

    def _confirmation(self, line: Line) -> Callable[[Turn, int], Awaitable[None]]:
        """What holds a turn back that would send more than the user wants to without a word."""
        limit = self._workspace.settings.context.warn_tokens

        async def confirm(turn: Turn, tokens: int) -> None:
            if tokens <= limit:
                return
            text = (
                f"This question would send about {tokens} tokens to {turn.model} "
                f"(context.warnTokens is {limit}). Send it?"
            )
            question = Question(f"q-{turn.id}", "context", text, (SEND, DO_NOT_SEND))
            if await line.inquire(question) != SEND:
                raise Declined("Not sent: you did not want it to be.")

        return confirm

    def _tool_context(self, turn: Turn, session: Session, seen: _Seen) -> ToolContext:
        shown = ShownDocuments(seen.context.shown)
        rules = rules_for(turn.ask, self._workspace, shown, seen.linked)
        snapshot = self._workspace.snapshot()
        ctx = ToolContext(
            self._workspace,
            self._ledger,
            rules,
            turn.id,
            turn.model,
            chat=turn.ask.chat,
            question_uri=turn.ask.place.uri,
            shown=shown,
            links=self.links,
            searcher=self._searcher,
            editor=self._hands,
            user_words=session.words,
            untrusted=session.others,
            web=open_web(snapshot.settings.web, snapshot.system, session.named),
        )
        ctx.current_context = look_from(ctx, turn.ask.place, turn.ask.attachments)
        return ctx


def _as_text(message: Message) -> str:
    """A message as it is sent, with the calls it makes."""
    calls = (f"{call.name} {call.arguments}" for call in message.tool_calls)
    return "\n".join(part for part in (message.content, *calls) if part)


def told_first(section: ContextSection | None) -> str:
    """What stands before a question: what became of the answers to those before."""
    return f"{section.text}\n" if section else ""
