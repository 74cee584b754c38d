"""What a turn does between its start and its end: look, choose the model, work.

Everything heavy (tools, their schemas, the model's client) hangs on this module, so it is imported
after the server has answered `initialize`, in a thread.
"""

import asyncio
import dataclasses
from collections.abc import Callable

from stet.agent.events import AgentEvent
from stet.agent.limits import Limits
from stet.agent.loop import Crew, run_turn
from stet.agent.models import ModelSource
from stet.agent.prompts import system_prompt
from stet.agent.rewrite import run_rewrite
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

    async def answer(
        self, turn: Turn, session: Session, limits: Limits, emit: Callable[[AgentEvent], None]
    ) -> Turn:
        """Run `turn` to its end.

        Raises:
            TurnStopped: If it ends before its time.
            ModelError: If there is no model or it can't be asked.
        """
        settings = self._workspace.settings
        model = await self.models.get(settings.model)
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
        crew = Crew(model, toolbox, limits, emit)
        if turn.ask.mode is Mode.REWRITE:
            return await run_rewrite(turn, crew)
        messages = opening(
            turn.ask, desk.rules, context, session.recent(settings.agent.history_length)
        )
        return await run_turn(turn, messages, crew)

    def preview(self, ask: Ask) -> list[tuple[str, str]]:
        """Name and text of every part of a turn's first request; nothing is sent.

        May block on the disk.
        """
        context = build_context(
            self._workspace.snapshot().asked_about(ask.place.uri), ask.place, ask.prompt
        )
        rules = rules_for(ask, self._workspace, {})
        tools = tools_for(ask, self._workspace.settings.agent)
        told = "\n\n".join(f"{tool.name}: {tool.description}" for tool in tools)
        return [
            ("system", system_prompt(ask.mode, rules)),
            ("tools", told),
            *((section.name, section.text) for section in context.sections),
        ]

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
