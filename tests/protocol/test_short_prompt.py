"""A small model on a server of the user's own: a short prompt, and tools that join when needed."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from stet.llm.model import Message, ToolDefinition, estimate_prompt
from tests.support import openai_server as api
from tests.support.editor import FakeEditor
from tests.support.live_turns import run
from tests.support.openai_server import OpenAIServer
from tests.support.prompt_cache import cached_share
from tests.support.restarts import ready

MODELS = {
    "data": [{"id": "/models/coder.gguf", "meta": {"n_ctx": 8192, "n_params": 7_600_000_000}}]
}
FIRST = ["read_file", "edit_file", "search_workspace", "list_files", "done"]
EDIT = api.call("edit_file", file="a.txt", old_text="two", new_text="2")
DONE = api.call("done", summary="Done.")
ENV = {"no_proxy": "*"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of one file and the project's instructions."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\n")
    return folder


def served(*replies: api.Scripted) -> OpenAIServer:
    """Make a llama.cpp server that reports a model of 7.6 billion parameters."""
    return OpenAIServer(replies, pages={"/v1/models": MODELS})


def settings_of(server: OpenAIServer, **model: Any) -> dict[str, Any]:
    """Return the settings for a server."""
    return {"model": {"provider": "llamacpp", "baseUrl": server.base_url, **model}}


def tool_names(body: dict[str, Any]) -> list[str]:
    """Return the names of the tools that a request describes, in order."""
    return [tool["function"]["name"] for tool in body["tools"]]


async def test_first_request_is_short(root: Path) -> None:
    async with (
        served(EDIT, DONE) as server,
        FakeEditor.start(root, env=ENV, settings=settings_of(server)) as editor,
    ):
        turn = await run(editor, "Make it a digit", uri=editor.open("a.txt"))
        assert (turn["state"], len(turn["hunks"])) == ("completed", 1)
        status = await editor.command("stet.status")
        assert (status["model"], status["why"]) == (
            "/models/coder.gguf",
            "model.provider is 'llamacpp'. The prompt is short: the model has 7.6 billion parameters.",
        )
        body = server.requests[0].body
        assert (body["temperature"], body["max_tokens"]) == (0.2, 2048)
        assert tool_names(body) == FIRST
        assert (
            body["tools"][1]["function"]["parameters"]["required"],
            body["tools"][0]["function"]["parameters"]["required"],
        ) == (["file", "old_text", "new_text"], ["file"])
        system = str(body["messages"][0]["content"])
        assert "since_last_turn" not in system
        tools = [ToolDefinition(**tool["function"]) for tool in body["tools"]]
        assert estimate_prompt([Message("system", system)], tools) < 800
        shown = await editor.command("stet.showContext", {"prompt": "More", "file": "a.txt"})
        assert shown["sections"][0]["text"] == system


@pytest.mark.parametrize(
    ("question", "joined"),
    [
        ("Rename the file a.txt to b.txt", ["move_file"]),
        ("Create a module util.py with a helper", ["create_file"]),
        ("Add the tag #draft to this note", ["list_tags", "add_tags"]),
        ("Read https://example.org/spec and follow it", []),  # no web access is configured
        ("Delete the file a.txt", []),  # disabled by default
        ("Rename the variable two", []),
    ],
)
async def test_words_of_the_question_call_for_tools(
    root: Path, question: str, joined: list[str]
) -> None:
    async with (
        served(DONE, DONE) as server,
        FakeEditor.start(root, env=ENV, settings=settings_of(server)) as editor,
    ):
        uri = editor.open("a.txt")
        await run(editor, question, uri=uri)
        await run(editor, "Go on", uri=uri)
        assert [tool_names(asked.body) for asked in server.requests] == [[*FIRST, *joined]] * 2


@pytest.mark.parametrize(
    "answer",
    [
        api.call("create_file", file="new.txt", content="new\n"),
        api.say(
            '<tools>\n{"name": "create_file", "arguments": '
            '{"file": "new.txt", "content": "new\\n"}}\n</tools>'
        ),
    ],
    ids=["native", "written"],
)
async def test_tool_that_the_model_calls_by_name_is_run_and_joins(
    root: Path, answer: api.Reply
) -> None:
    async with (
        served(answer, EDIT, DONE) as server,
        FakeEditor.start(root, env=ENV, settings=settings_of(server)) as editor,
    ):
        turn = await run(editor, "Split it", uri=editor.open("a.txt"))
        uris = [hunk["uri"] for hunk in await editor.command("stet.proposals")]
        assert {uri.rpartition("/")[2] for uri in uris} == {"new.txt", "a.txt"}
        assert [run["tool"] for run in turn["toolCalls"]] == ["create_file", "edit_file", "done"]
        names = [tool_names(asked.body) for asked in server.requests]
        assert names == [FIRST, [*FIRST, "create_file"], [*FIRST, "create_file"]]


async def test_beginning_of_requests_stays_the_same_also_after_a_restart(root: Path) -> None:
    replies = [EDIT, api.call("create_file", file="new.txt", content="n\n"), DONE]
    async with served(*replies, DONE, DONE) as server:
        env = {**ENV, "XDG_STATE_HOME": str(root.parent / "state")}
        for questions in (("Split it", "Go on"), ("Go on",)):
            settings = settings_of(server)
            async with FakeEditor.start(root, env=env, settings=settings) as editor:
                await ready(editor)
                uri = editor.open("a.txt")
                for question in questions:
                    await run(editor, question, uri=uri)
        bodies = [asked.body for asked in server.requests]
    assert tool_names(bodies[-1]) == [*FIRST, "create_file"]
    shares = [cached_share(before, after) for before, after in pairwise(bodies)]
    # Only where a tool has joined, the messages are read again.
    assert [share == 1.0 for share in shares] == [True, False, True, True]


async def test_prompt_is_full_if_the_settings_say_so(root: Path) -> None:
    async with (
        served(DONE) as server,
        FakeEditor.start(root, env=ENV, settings=settings_of(server, prompt="full")) as editor,
    ):
        await run(editor, "Make it a digit", uri=editor.open("a.txt"))
        assert len(tool_names(server.requests[0].body)) > len(FIRST) + 10
        why = (await editor.command("stet.status"))["why"]
        assert why.endswith('The prompt is full: model.prompt is "full".')


async def test_server_that_starts_later_is_asked_again(root: Path) -> None:
    async with OpenAIServer([DONE, DONE]) as server:
        settings = settings_of(server, name="tuned")
        async with FakeEditor.start(root, env=ENV, settings=settings) as editor:
            uri = editor.open("a.txt")
            await run(editor, "Look", uri=uri)
            server.add_page("/v1/models", MODELS)
            await run(editor, "Look again", uri=uri)
            assert [len(asked.body["tools"]) > 5 for asked in server.requests] == [True, False]


async def test_restrictions_of_the_user_are_described(root: Path) -> None:
    async with (
        served(DONE) as server,
        FakeEditor.start(
            root, env=ENV, settings={**settings_of(server), "edit": {"canDelete": False}}
        ) as editor,
    ):
        await run(editor, "Look", uri=editor.open("a.txt"))
        system = server.requests[0].body["messages"][0]["content"]
        assert str(system).endswith(
            "## What you may change\n\n- Forbidden: replacing or deleting text, and deleting files "
            "(`edit.canDelete` is off).\n"
        )


BLOCK = "Use the digit:\n```txt\none\n2\n```"


@pytest.mark.parametrize(
    ("replies", "note"),
    [
        (
            [DONE],
            "Nothing was proposed. Select the function and use rewrite, which small models do best, "
            "or choose a larger model.",
        ),
        (
            [api.say(BLOCK)],
            "The model wrote the change as text and called no tool, so nothing was proposed. If it "
            'never calls one, its server ignores tools: set model.toolCalls to "text", or use '
            "rewrite on the selected lines.",
        ),
        ([api.say("It has two lines.")], ""),
        ([EDIT, DONE], ""),
    ],
    ids=["done", "server ignores tools", "answer", "edit"],
)
async def test_turn_without_a_proposal_says_what_to_do(
    root: Path, replies: list[api.Reply], note: str
) -> None:
    async with (
        served(*replies) as server,
        FakeEditor.start(root, env=ENV, settings=settings_of(server)) as editor,
    ):
        turn = await run(editor, "Make it a digit", uri=editor.open("a.txt"))
        assert (turn["state"], turn["notes"]) == ("completed", [note] if note else [])
        if note:
            assert note in await editor.wait_for_message(note[:30])
