"""The six real agents answer in the chat: the same review as in a terminal."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.agents.agent_variables import (
    claude_variables,
    copilot_variables,
    gemini_variables,
    opencode_chat_variables,
    qwen_variables,
)
from tests.agents.isolated_model import IsolatedModel, isolated_model
from tests.agents.review_scenario import (
    SAVED,
    AgentTools,
    install_in_thread,
    play_review,
    runtime,
)
from tests.agents.scene import Scene
from tests.conftest import Part
from tests.parts.agent_adapters import claude_adapter, codex_adapter
from tests.parts.claude_code import claude_code
from tests.parts.codex import codex
from tests.parts.copilot_cli import copilot_cache, copilot_cli
from tests.parts.gemini_cli import gemini_cli
from tests.parts.isolation import isolation as overlays
from tests.parts.opencode import opencode
from tests.parts.qwen_code import qwen_code
from tests.support.agent_models.anthropic_messages import AnthropicMessages
from tests.support.agent_models.chat_completions import ChatCompletions
from tests.support.agent_models.gemini_contents import GeminiContents
from tests.support.agent_models.responses import Responses
from tests.support.agent_models.script import Script, call, say
from tests.support.agent_models.script_server import Sent
from tests.support.editor import FakeEditor
from tests.support.http_server import HttpRequest
from tests.support.live_turns import run

pytestmark = pytest.mark.slow

IN_PROMPT = "a.txt:\n```\none, unsaved\n"
GEMINI = AgentTools(
    read=lambda path: call("read_file", file_path=str(path)),
    edit=lambda path, old, new: call(
        "replace", file_path=str(path), old_string=old, new_string=new, instruction="Change it."
    ),
    create=lambda path, line: call("write_file", file_path=str(path), content=f"{line}\n"),
)
QWEN = AgentTools(
    read=GEMINI.read,
    edit=lambda path, old, new: call("edit", file_path=str(path), old_string=old, new_string=new),
    create=GEMINI.create,
)

OPENCODE = AgentTools(
    read=lambda path: call("read", filePath=str(path)),
    edit=lambda path, old, new: call("edit", filePath=str(path), oldString=old, newString=new),
    create=lambda path, line: call("write", filePath=str(path), content=f"{line}\n"),
)
COPILOT = AgentTools(
    read=lambda path: call("view", path=str(path)),
    edit=lambda path, old, new: call("edit", path=str(path), old_str=old, new_str=new),
    create=lambda path, line: call("create", path=str(path), file_text=f"{line}\n"),
)
CLAUDE = AgentTools(
    read=lambda path: call("Read", file_path=str(path)),
    edit=lambda path, old, new: call("Edit", file_path=str(path), old_string=old, new_string=new),
    create=lambda path, line: call("Write", file_path=str(path), content=f"{line}\n"),
)
CODEX = AgentTools(
    read=lambda path: call("exec_command", cmd=f"cat {path.name}"),
    edit=lambda path, old, new: call(
        "apply_patch",
        input=f"*** Begin Patch\n*** Update File: {path.name}\n@@\n-{old}\n+{new}\n*** End Patch\n",
    ),
    create=lambda path, line: call(
        "apply_patch",
        input=f"*** Begin Patch\n*** Add File: {path.name}\n+{line}\n*** End Patch\n",
    ),
)


@pytest.fixture(params=["none", "overlay"])
def isolation(request: pytest.FixtureRequest, part: Part) -> str:
    """Return how edits are caught: by requests or hooks, or without hooks in an overlay."""
    wanted = str(request.param)
    if wanted == "overlay":
        part(overlays)
    return wanted


class MessagesBesideNames(AnthropicMessages):
    """A model that names sessions and suggests what the user could type, beside its script."""

    def _answer(self, asked: HttpRequest) -> Sent:
        text = str(asked.body)
        if "You are naming a coding session" in text or "[SUGGESTION MODE" in text:
            return self._sent(say('{"title": "A test"}'), asked.body)
        return super()._answer(asked)


class ResponsesOfOneModel(Responses):
    """A model with a script; what another model is asked beside it has one answer."""

    def _answer(self, asked: HttpRequest) -> Sent:
        if isinstance(asked.body, dict) and asked.body.get("model") not in (None, "gpt-5.5"):
            return self._sent(say("A test"), asked.body)
        return super()._answer(asked)


async def check_chat(
    scene: Scene,
    name: str,
    tools: AgentTools,
    model: IsolatedModel,
    program: Sequence[Path | str],
    variables: Mapping[str, str],
    *,
    isolation: str,
    sees_unsaved: str = "",
    capture: str = "client-fs",
    more: Mapping[str, str] | None = None,
) -> None:
    """Play the review with an agent of the settings, in the default chat.

    An isolated agent reads the unsaved text, and what it writes by any means is caught.

    Args:
        scene: The folders.
        name: The name of the agent.
        tools: Its tools.
        model: Its model.
        program: The program and its arguments.
        variables: Its environment.
        isolation: The setting `agents.isolation`.
        sees_unsaved: What its prompt has, if it does not read the unsaved text.
        capture: How its edits are caught without isolation.
        more: Other values of its setting.
    """
    is_isolated = isolation == "overlay"
    (scene.workspace / "b.txt").write_text(SAVED["b.txt"])
    variables = {**runtime(scene), **variables}
    server = model.agent(program, variables, in_overlay=is_isolated, **(more or {}))
    servers = {name: {"profile": name, **server}}
    settings = {"agents": {"default": name, "servers": servers, "isolation": isolation}}
    env = runtime(scene)
    sees_unsaved = "" if is_isolated else sees_unsaved
    way = "isolated" if is_isolated else "chat"
    async with FakeEditor.start(scene.workspace, settings=settings, env=env) as editor:
        n_turns = 0
        editor.answer_message = lambda params: (params.actions or [])[0].title

        async def prompt(script: Script, _goes_on: bool) -> None:
            nonlocal n_turns
            n_turns += 1
            model.play(script)
            turn = await run(editor, f"Go, {n_turns}.")
            assert (turn["state"], turn["agent"], turn["error"]) == ("completed", name, None)
            script.check_played()

        await play_review(editor, scene, name, tools, prompt, sees_unsaved=sees_unsaved, way=way)
        listed = await editor.command("stet.proposals")
        assert {one["turn"] for one in listed} == {"t1"}
        [status] = (await editor.command("stet.status"))["agents"]
        capture = "overlay" if is_isolated else capture
        shown = {"name": name, "state": "ready", "capture": capture, "isolation": isolation}
        assert status == shown
        assert len(model.servers) == 1, "one process has answered both prompts"


async def test_gemini_is_reviewed_in_the_chat(part: Part, scene: Scene, isolation: str) -> None:
    node, program = part(gemini_cli)
    async with isolated_model(GeminiContents) as model:
        variables = gemini_variables(scene.home, model.url)
        # It reads the disk, and edits what Stet answers.
        await check_chat(
            scene, "gemini", GEMINI, model, [node, program, "--acp"], variables,
            isolation=isolation, sees_unsaved=IN_PROMPT, more={"model": "gemini-2.5-pro"},
        )  # fmt: skip


async def test_qwen_is_reviewed_in_the_chat(part: Part, scene: Scene, isolation: str) -> None:
    node, program = part(qwen_code)
    settings = scene.home / ".qwen" / "settings.json"
    settings.parent.mkdir()
    off = ("enableManagedAutoMemory", "enableManagedAutoDream", "enableAutoSkill")
    asks_nothing_beside = {
        "memory": dict.fromkeys(off, False),
        "ui": {"enableFollowupSuggestions": False},
    }
    settings.write_text(json.dumps(asks_nothing_beside))
    async with isolated_model(ChatCompletions) as model:
        variables = qwen_variables(scene.home, model.url)
        await check_chat(
            scene, "qwen", QWEN, model, [node, program, "--acp"], variables, isolation=isolation
        )


async def test_opencode_is_reviewed_in_the_chat(part: Part, scene: Scene, isolation: str) -> None:
    program = part(opencode)
    if isolation == "none":
        await install_in_thread(scene, "opencode", program)
    async with isolated_model(ChatCompletions) as model:
        variables = opencode_chat_variables(scene.home, model.url)
        await check_chat(
            scene, "opencode", OPENCODE, model, [program, "acp"], variables,
            isolation=isolation, capture="hook-redirect",
        )  # fmt: skip


async def test_copilot_is_reviewed_in_the_chat(part: Part, scene: Scene, isolation: str) -> None:
    program, cache = part(copilot_cli), part(copilot_cache)
    if isolation == "none":
        await install_in_thread(scene, "copilot")
    async with isolated_model(AnthropicMessages) as model:
        variables = copilot_variables(scene.home, model.url, "claude-sonnet-4.5", cache)
        await check_chat(
            scene, "copilot", COPILOT, model, [program, "--acp"], variables,
            isolation=isolation, capture="hook-redirect",
        )  # fmt: skip


async def test_claude_is_reviewed_in_the_chat(part: Part, scene: Scene, isolation: str) -> None:
    (node, adapter), program = part(claude_adapter), part(claude_code)
    if isolation == "none":
        await install_in_thread(scene, "claude")
    async with isolated_model(MessagesBesideNames) as model:
        variables = {
            **claude_variables(scene.home, model.url),
            "CLAUDE_CODE_EXECUTABLE": str(program),
        }
        await check_chat(
            scene, "claude", CLAUDE, model, [node, adapter], variables,
            isolation=isolation, capture="hook-redirect",
        )  # fmt: skip


async def test_codex_is_reviewed_in_the_chat(part: Part, scene: Scene, isolation: str) -> None:
    (node, adapter), program = part(codex_adapter), part(codex)
    (scene.home / ".codex").mkdir()
    if isolation == "none":
        await install_in_thread(scene, "codex", program)
    async with isolated_model(ResponsesOfOneModel) as model:
        provider = {
            "name": "here",
            "base_url": f"{model.url}/v1",
            "wire_api": "responses",
            "env_key": "THE_KEY",
            "request_max_retries": 0,
            "stream_max_retries": 0,
        }
        config = {"model": "gpt-5.5", "model_providers": {"here": provider}}
        variables = {
            "HOME": str(scene.home),
            "CODEX_HOME": str(scene.home / ".codex"),
            "CODEX_PATH": str(program),
            "CODEX_CONFIG": json.dumps(config),
            "MODEL_PROVIDER": "here",
            "THE_KEY": "none",
        }
        await check_chat(
            scene, "codex", CODEX, model, [node, adapter], variables,
            isolation=isolation, sees_unsaved=IN_PROMPT, capture="hook-redirect",
            more={"mode": "agent-full-access"},
        )  # fmt: skip
