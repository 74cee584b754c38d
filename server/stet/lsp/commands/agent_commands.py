"""`stet.agents` and `stet.chooseAgent`: which agent answers, its mode, its model, its other options.

The choice is for this run of the server. Without a name, `stet.chooseAgent` shows the choices as a
message with buttons.
"""

from collections.abc import Awaitable
from dataclasses import dataclass

from stet.agent.turn import STET, ChoiceRefused, Mode
from stet.lsp.arguments import CommandArguments
from stet.lsp.chat.chat_controller import DEFAULT_CHAT
from stet.lsp.lsp_errors import InvalidParams, RequestFailed, report_as
from stet.lsp.state import ServerState

MAX_BUTTONS = 40
"""The most values of an option that are shown as buttons."""
STET_TITLE = "stet (Stet's own agent)"


@dataclass(frozen=True, slots=True)
class _Place:
    """The chat that a choice is for, and the agent that would answer there."""

    chat: str
    agent: str


def list_agents(
    state: ServerState, values: tuple[object, ...]
) -> Awaitable[list[dict[str, object]]]:
    """Return the agents that can be chosen. The disk is read in a worker thread."""
    with CommandArguments("stet.agents", values) as arguments:
        place = _place(state, arguments)
    return _list_agents(state, place)


def choose_agent(state: ServerState, values: tuple[object, ...]) -> dict[str, object]:
    """Choose the agent that answers, or the value of one of its options; without either, show the
    user the choices.
    """
    with CommandArguments("stet.chooseAgent", values, main="agent") as arguments:
        agent, option = arguments.text("agent"), arguments.text("option")
        value = arguments.text("value")
        place = _place(state, arguments)
    if (option is None) != (value is None):
        raise InvalidParams("stet.chooseAgent needs 'option' and 'value', or neither")
    if agent is None and option is None:
        if not state.client.has_buttons:
            raise RequestFailed("name the agent: this editor shows no buttons for a choice")
        state.client.start(_show_agents(state, place), "choose an agent")
    elif option is not None and value is not None:
        _choose_option(state, _Place(place.chat, agent or place.agent), option, value)
    elif agent is not None:
        _choose(state, place, agent)
    return {"agent": agent or place.agent, "chat": place.chat}


def _choose(state: ServerState, place: _Place, agent: str) -> None:
    with report_as(InvalidParams, ChoiceRefused):
        state.agent.choose_agent(agent, place.chat)
    state.client.show_message(f"Stet: {agent} answers from now on.")


def _choose_option(state: ServerState, place: _Place, option: str, value: str) -> None:
    with report_as(InvalidParams, ChoiceRefused):
        agents = state.background.external_agents
        chosen = agents.choose(place.chat, place.agent, option, value)
    state.client.show_message(f"Stet: {place.agent}, {chosen}")


def _place(state: ServerState, arguments: CommandArguments) -> _Place:
    """Return the place of a choice: the chat that is named, or else the one asked last."""
    chat, uri = arguments.text("chat"), arguments.text("uri")
    if chat is None and uri is not None:
        chat = state.agent_ui.chats.chat_of(uri)
    agent, default = state.agent, state.workspace.settings.agents.default
    if chat is not None:
        return _Place(chat, agent.agent_of_message(chat) or default)
    latest = agent.chats()[-1:]
    chat = latest[0] if latest else DEFAULT_CHAT
    return _Place(chat, agent.agent_of_question(Mode.AGENT) or default)


async def _list_agents(state: ServerState, place: _Place) -> list[dict[str, object]]:
    agents = state.background.external_agents
    titles = {STET: STET_TITLE} | {one.name: one.title for one in await agents.known()}
    titles.setdefault(place.agent, place.agent)
    return [
        {
            "name": name,
            "title": title,
            "state": "ready" if name == STET else agents.state_of(name),
            "current": name == place.agent,
            "options": [one.to_json() for one in agents.options(place.chat, name)],
        }
        for name, title in titles.items()
    ]


async def _show_agents(state: ServerState, place: _Place) -> None:
    """Show the agents, and the options of the one that answers, as buttons."""
    agents = state.background.external_agents
    listed = await _list_agents(state, place)
    titles = {f"{one['title']}": f"{one['name']}" for one in listed}
    options = {
        f"{one.name}: {one.name_of(one.current) or '?'} …": one
        for one in agents.options(place.chat, place.agent)
    }
    text = f"Stet: {place.agent} answers. Choose another agent, or its options:"
    chosen = await state.client.choose(text, [*titles, *options])
    if chosen in titles:
        _choose(state, place, titles[chosen])
    elif chosen in options:
        option = options[chosen]
        names = {name: value for value, name in option.values[:MAX_BUTTONS]}
        picked = await state.client.choose(f"Stet: {place.agent}, {option.name}:", list(names))
        if picked in names:
            _choose_option(state, place, option.id, names[picked])
