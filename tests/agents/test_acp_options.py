"""The mode and the model of the real Gemini CLI and OpenCode are chosen between two prompts."""

from typing import Any, ClassVar

import pytest

from tests.agents.agent_variables import gemini_variables, opencode_chat_variables
from tests.agents.isolated_model import IsolatedModel, isolated_model
from tests.agents.review_scenario import runtime
from tests.agents.scene import Scene
from tests.conftest import Part
from tests.parts.gemini_cli import gemini_cli
from tests.parts.opencode import opencode
from tests.support.agent_models.chat_completions import ChatCompletions
from tests.support.agent_models.gemini_contents import GeminiContents
from tests.support.agent_models.script import Script, say
from tests.support.agent_models.script_server import Sent
from tests.support.chat_documents import ended, opened, until
from tests.support.editor import FakeEditor
from tests.support.http_server import HttpRequest
from tests.support.live_turns import run

pytestmark = pytest.mark.slow


class GeminiModels(GeminiContents):
    """A model that records by which name each request of the script asks for it."""

    names: ClassVar[list[str]] = []

    def _answer(self, asked: HttpRequest) -> Sent:
        if self._is_of_script(asked.path.partition("?")[0]):
            self.names.append(asked.path.split("/models/")[1].split(":")[0])
        return super()._answer(asked)


class NamedModels(ChatCompletions):
    """A model that records by which name each request of the script asks for it."""

    names: ClassVar[list[str]] = []

    def _answer(self, asked: HttpRequest) -> Sent:
        if isinstance(asked.body, dict):
            self.names.append(asked.body["model"])
        return super()._answer(asked)


async def options_of(editor: FakeEditor, name: str) -> dict[str, Any]:
    """Return the options of an agent by their ids."""
    agents = await editor.command("stet.agents")
    [agent] = [one for one in agents if one["name"] == name]
    assert agent["current"]
    return {one["id"]: one for one in agent["options"]}


async def asked(editor: FakeEditor, model: IsolatedModel, answer: str) -> str:
    """Ask a question that the model answers so; return the id of the turn."""
    model.play(Script([say(answer)]))
    turn = await run(editor, f"For {answer}")
    assert turn["error"] is None
    assert turn["answer"].endswith(answer)  # Gemini CLI names its mode before
    return str(turn["turn"])


async def check_options(
    scene: Scene,
    name: str,
    model: IsolatedModel,
    server: dict[str, object],
    before: dict[str, str],
    after: dict[str, str],
) -> None:
    """Ask, choose each value of `after` in place of that of `before`, and ask again."""
    servers = {name: {"profile": name, **server}}
    settings = {"agents": {"servers": servers, "isolation": "none"}}
    async with FakeEditor.start(scene.workspace, settings=settings, env=runtime(scene)) as editor:
        uri = await opened(editor)
        await editor.command("stet.chooseAgent", name)
        await asked(editor, model, "Answer 1.")
        offered = await options_of(editor, name)
        assert {key: offered[key]["current"] for key in before} == before
        for option, value in after.items():
            chosen = {"agent": name, "option": option, "value": value}
            await editor.command("stet.chooseAgent", chosen)
        turn = await asked(editor, model, "Answer 2.")
        offered = await options_of(editor, name)
        assert {key: offered[key]["current"] for key in after} == after
        text = await until(editor, uri, ended(turn))
        second = text.partition("For Answer 2.")[2]
        for option, value in after.items():
            names = {one["value"]: one["name"] for one in offered[option]["values"]}
            assert f"- {offered[option]['name']}: {names[value]}" in second


async def test_gemini_changes_its_mode_and_its_model(part: Part, scene: Scene) -> None:
    node, program = part(gemini_cli)
    async with isolated_model(GeminiModels) as model:
        variables = gemini_variables(scene.home, model.url)
        server = model.agent([node, program, "--acp"], variables, model="gemini-2.5-pro")
        before = {"mode": "default", "model": "gemini-2.5-pro"}
        after = {"mode": "plan", "model": "gemini-3-flash-preview"}
        await check_options(scene, "gemini", model, server, before, after)
    assert GeminiModels.names[0] == "gemini-2.5-pro"
    assert GeminiModels.names[-1] == "gemini-3-flash-preview"


async def test_opencode_changes_its_mode_and_its_model(part: Part, scene: Scene) -> None:
    program = part(opencode)
    async with isolated_model(NamedModels) as model:
        variables = opencode_chat_variables(scene.home, model.url, ("m", "other"))
        server = model.agent([program, "acp"], {**runtime(scene), **variables})
        before = {"mode": "build", "model": "here/m"}
        after = {"mode": "plan", "model": "here/other"}
        await check_options(scene, "opencode", model, server, before, after)
    assert (NamedModels.names[0], NamedModels.names[-1]) == ("m", "other")
