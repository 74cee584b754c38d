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
from stet.agent.scope import rules_for
from stet.agent.session import Session
from stet.agent.toolbox import Toolbox, tools_for
from stet.agent.turn import Ask, Mode, Turn
from stet.context.builder import Context, build_context
from stet.llm.messages import Message
from stet.review.ledger import ReviewLedger
from stet.review.rules import EditRules
from stet.text.document import TextDocument
from stet.tools.base import Desk
from stet.workspace.uris import canonical
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
            context = await asyncio.to_thread(
                build_context,
                self._workspace.snapshot().asked_about(turn.ask.place.uri),
                turn.ask.place,
                turn.ask.prompt,
            )
            desk = self._desk(turn, context)
            toolbox = Toolbox(tools_for(turn.ask, settings.agent), desk)
            crew = Crew(model, toolbox, limits, line.emit, self._confirmation(line))
            if turn.ask.mode is Mode.REWRITE:
                return await run_rewrite(turn, crew)
            history = session.recent(settings.agent.history_length)
            return await run_turn(turn, opening(turn.ask, desk.rules, context, history), crew)

    def preview(self, ask: Ask, session: Session) -> list[tuple[str, str]]:
        """Name and text of every part of what a turn would send first; nothing is sent.

        May block on the disk.

        Raises:
            TurnFailed: If the question could not be asked: nothing is selected, say.
        """
        snapshot = self._workspace.snapshot().asked_about(ask.place.uri)
        context = build_context(snapshot, ask.place, ask.prompt)
        if ask.mode is Mode.REWRITE:
            shown = next((d for d in context.shown if ask.place.uri == d.uri), None)
            passage = passage_of(ask, shown, snapshot)
            plan = plan_for(passage, small=self.models.is_small)
            return [
                (f"request {number} {message.role}", message.content)
                for number, request in enumerate(plan.requests, 1)
                for message in request.messages
            ]
        settings = self._workspace.settings.agent
        tools = Toolbox(tools_for(ask, settings), self._desk(Turn(id="", ask=ask), context))
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
            *((section.name, section.text) for section in context.sections),
        ]

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

    def _desk(self, turn: Turn, context: Context) -> Desk:
        shown: dict[str, TextDocument] = {
            canonical(document.uri): document for document in context.shown
        }
        rules = rules_for(turn.ask, self._workspace, shown)
        return Desk(
            self._workspace,
            self._ledger,
            rules,
            turn.id,
            turn.model,
            asked=turn.ask.place.uri,
            shown=shown,
        )


def opening(
    ask: Ask, rules: EditRules, context: Context, history: tuple[Message, ...]
) -> list[Message]:
    """A turn's first messages: what never changes first, the state of the editor last."""
    return [
        Message("system", system_prompt(ask.mode, rules)),
        *history,
        Message("user", context.text),
    ]
