"""What a turn does between its start and its end: look, choose the model, work.

Everything heavy (tools, their schemas, the model's client) hangs on this module, so it is imported
after the server has answered `initialize`, in a thread.
"""

import asyncio
import dataclasses
import json
from collections.abc import Awaitable, Callable

from stet.agent.agent import Line
from stet.agent.errors import Declined
from stet.agent.limits import Limits
from stet.agent.loop import Crew, run_turn
from stet.agent.models import ModelSource
from stet.agent.prompts import system_prompt
from stet.agent.question import DO_NOT_SEND, SEND, Question
from stet.agent.rewrite import passage_of, plan_for, run_rewrite
from stet.agent.scope import linked_with, rules_for
from stet.agent.session import Opening, Session
from stet.agent.toolbox import Toolbox, tools_for
from stet.agent.turn import Ask, Mode, Turn
from stet.context.builder import Context, build_context
from stet.context.sections.since_last_turn import since_last_turn
from stet.index.scan import LinkCache, scan_links
from stet.llm.messages import Message
from stet.review.ledger import ReviewLedger
from stet.review.shown import Shown
from stet.review.verdicts import News, news_for
from stet.tools.desk import Desk
from stet.workspace.workspace import Workspace


class Answerer:
    """Does the turns' work for one server.

    Args:
        workspace: The world.
        ledger: Where proposals go.
        models: Where the model comes from.
    """

    def __init__(self, workspace: Workspace, ledger: ReviewLedger, models: ModelSource) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self.models = models
        self._links = LinkCache()

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
        async with self.models.use(settings.model) as model:
            turn = dataclasses.replace(turn, model=model.name)
            # It looks at the disk.
            context, news, linked = await asyncio.to_thread(self._looking(turn.ask, session))
            desk = self._desk(turn, context, linked)
            toolbox = Toolbox(tools_for(turn.ask, settings.agent), desk)
            crew = Crew(model, toolbox, limits, line.emit, self._confirmation(line))
            if turn.ask.mode is Mode.REWRITE:
                return await run_rewrite(turn, crew)
            history = session.recent(settings.agent.history_length)
            told = told_first(news)
            session.opening = Opening(told, news.heard, desk.shown)
            system = Message("system", system_prompt(turn.ask.mode, desk.rules))
            question = Message("user", told + context.text)
            # What never changes first, the state of the editor last.
            return await run_turn(turn, [system, *history, question], crew)

    def preview(self, ask: Ask, session: Session) -> list[tuple[str, str]]:
        """Name and text of every part of what a turn would send first; nothing is sent.

        May block on the disk.

        Raises:
            TurnFailed: If the question could not be asked: nothing is selected, say.
        """
        context, news, linked = self._looking(ask, session)()
        if ask.mode is Mode.REWRITE:
            shown = next((d for d in context.shown if ask.place.uri == d.uri), None)
            passage = passage_of(ask, shown, self._workspace.snapshot())
            plan = plan_for(passage, small=self.models.is_small)
            return [
                (f"request {number} {message.role}", message.content)
                for number, request in enumerate(plan.requests, 1)
                for message in request.messages
            ]
        settings = self._workspace.settings.agent
        tools = Toolbox(tools_for(ask, settings), self._desk(Turn(id="", ask=ask), context, linked))
        definitions = [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in tools.definitions(last_round=False)
        ]
        return [
            ("system", system_prompt(ask.mode, tools.desk.rules)),
            ("tools", json.dumps(definitions, ensure_ascii=False)),
            *(
                (message.role, message.content)
                for message in session.recent(settings.history_length)
            ),
            *(
                (section.name, section.text)
                for section in (since_last_turn(news), *context.sections)
                if section
            ),
        ]

    def _looking(
        self, ask: Ask, session: Session
    ) -> Callable[[], tuple[Context, News, tuple[str, ...]]]:
        """A look at the world as it is now; it may be carried out in another thread.

        It gives what is sent, what is new, and the files that the scope `linked` adds.
        """
        snapshot = self._workspace.snapshot().asked_about(ask.place.uri)
        hunks, heard = self._ledger.hunks(chat=ask.chat), session.heard

        def look() -> tuple[Context, News, tuple[str, ...]]:
            scopes = (snapshot.settings.context.scope, snapshot.settings.edit.scope)
            graph = scan_links(snapshot, self._links) if "linked" in scopes else None
            context = build_context(snapshot, ask.place, ask.prompt, graph)
            return context, news_for(snapshot, hunks, heard), linked_with(ask.place.uri, graph)

        return look

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
            if await line.inquire(turn, question) != SEND:
                raise Declined("Not sent: you did not want it to be.")

        return confirm

    def _desk(self, turn: Turn, context: Context, linked: tuple[str, ...]) -> Desk:
        shown = Shown(context.shown)
        rules = rules_for(turn.ask, self._workspace, shown, linked)
        return Desk(
            self._workspace,
            self._ledger,
            rules,
            turn.id,
            turn.model,
            chat=turn.ask.chat,
            asked=turn.ask.place.uri,
            shown=shown,
            links=self._links,
        )


def told_first(news: News) -> str:
    """What stands before a question: what became of the answers to those before."""
    section = since_last_turn(news)
    return f"{section.text}\n" if section else ""
