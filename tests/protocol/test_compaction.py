"""A model with a small context: the conversation is shortened, and the request repeated."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import openai_server as api
from tests.support.conversations import wire_problem
from tests.support.editor import FakeEditor
from tests.support.http_server import HttpRequest
from tests.support.live_turns import ask, provider, run
from tests.support.openai_server import OpenAIServer, Reply
from tests.support.prompt_cache import cached_bytes

N_FILES = 8
TEXT = "".join(f"line {n} of a file that is read and never needed again\n" for n in range(220))
DONE = api.call("done", summary="Done.")
EDIT = api.call("edit_file", file="f0.txt", old_text="line 3 of", new_text="LINE 3 of")
SETTINGS = {
    "agent": {"maxIterations": 20, "maxTokens": 10_000_000},
    "context": {"warnTokens": 1_000_000},
}
SUMMARY = "The user wants a capital line 3 in f0.txt."
REFUSALS = {
    "openai": (
        400,
        {
            "message": "This model's maximum context length is 16000 tokens. However, your messages "
            "resulted in 16321 tokens. Please reduce the length of the messages.",
            "type": "invalid_request_error",
            "param": "messages",
            "code": "context_length_exceeded",
        },
    ),
    "anthropic": (
        400,
        {"type": "invalid_request_error", "message": "prompt is too long: 16321 tokens > 16000"},
    ),
    "gemini": (
        400,
        {
            "code": 400,
            "message": "The input token count (16321) exceeds the maximum number of tokens allowed "
            "(16000).",
            "status": "INVALID_ARGUMENT",
        },
    ),
    "llama.cpp": (
        400,
        {
            "code": 400,
            "message": "request (16321 tokens) exceeds the available context size (16000 tokens), "
            "try increasing it",
            "type": "exceed_context_size_error",
        },
    ),
    "openrouter": (
        400,
        {
            "code": 400,
            "message": "This endpoint's maximum context length is 16000 tokens. However, you "
            "requested about 16321 tokens.",
        },
    ),
    "proxy": (413, {"message": "Request Entity Too Large"}),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of long files."""
    folder = tmp_path / "ws"
    folder.mkdir()
    for n in range(N_FILES):
        (folder / f"f{n}.txt").write_text(TEXT)
    return folder


class NarrowModel:
    """A model that replies in order, refuses more than `most` bytes, and summarizes when asked."""

    def __init__(self, most: int, refusal: Reply, *replies: Reply, summary: Reply | None) -> None:
        self.most = most
        self.refused: list[dict[str, Any]] = []
        self.taken: list[dict[str, Any]] = []
        self.summaries: list[dict[str, Any]] = []
        self._refusal = refusal
        self._replies = list(replies)
        self._summary = summary

    def __call__(self, asked: HttpRequest) -> Reply:
        """Answer one request."""
        body = asked.body
        if len(cached_bytes(body)) > self.most:
            self.refused.append(body)
            return self._refusal
        if "tools" not in body:
            self.summaries.append(body)
            return self._summary or self._refusal
        self.taken.append(body)
        return self._replies.pop(0)


def refusal(provider_name: str) -> Reply:
    """Return a provider's answer to a request that is too long."""
    status, error = REFUSALS[provider_name]
    return Reply(status=status, body={"error": error})


def reads(*numbers: int) -> list[Reply]:
    return [api.call("read_file", file=f"f{n}.txt") for n in numbers]


async def asked(root: Path, model: NarrowModel, *prompts: str) -> list[Any]:
    """Run turns of one chat with that model."""
    async with (
        OpenAIServer([model] * 60) as server,
        FakeEditor.start(root, env=provider(server), settings=SETTINGS) as editor,
    ):
        uri = editor.open("f0.txt")
        return [await run(editor, prompt, uri=uri) for prompt in prompts]


@pytest.mark.parametrize("name", REFUSALS)
async def test_old_results_go_first_and_the_turn_goes_on(root: Path, name: str) -> None:
    model = NarrowModel(
        120_000, refusal(name), *reads(1, 2, 3, 4), EDIT, *reads(5, 6, 7), DONE, summary=None
    )
    [turn] = await asked(root, model, "Make line 3 of f0.txt capital")
    assert (turn["state"], len(turn["hunks"])) == ("completed", 1)
    assert len(model.refused) == 1
    assert not model.summaries
    assert [wire_problem(body["messages"]) for body in model.taken] == [""] * len(model.taken)
    first = next(body for body in model.taken if "(Compacted: " in json.dumps(body))
    results = [one["content"] for one in first["messages"] if one["role"] == "tool"]
    assert results[0].startswith("(Compacted: ")
    assert "read_file" in results[0]
    assert not results[-1].startswith("(Compacted: ")
    assert first["tools"] == model.refused[0]["tools"]
    # A file being edited is included unchanged, with its pending hunks.
    fresh = first["messages"][-1]
    assert fresh["role"] == "user"
    assert "f0.txt:" in fresh["content"]
    assert "LINE 3 of" in fresh["content"]


@pytest.mark.parametrize("is_willing", [True, False], ids=["its own", "a digest"])
async def test_then_the_oldest_part_becomes_a_summary(root: Path, is_willing: bool) -> None:
    message = "I have thought about every line of it. " * 200
    talks = [api.call("list_files", folder=f".{'/.' * n}") for n in range(3)]
    model = NarrowModel(
        76_000,
        refusal("openai"),
        *[
            Reply([api.delta(content=message), *one.events])
            for _ in range(3)
            for one in [*talks, DONE]
        ],
        summary=api.say(SUMMARY) if is_willing else None,
    )
    turns = await asked(root, model, "First wish", "Second wish", "Third wish")
    assert [turn["state"] for turn in turns] == ["completed"] * 3
    assert model.refused
    assert all(len(cached_bytes(body)) <= model.most for body in model.summaries)
    assert model.summaries
    assert [wire_problem(body["messages"]) for body in model.taken] == [""] * len(model.taken)
    last = json.dumps(model.taken[-1]["messages"])
    assert (SUMMARY in last) == is_willing
    assert ("The user asked: " in last) != is_willing
    assert "Third wish" in last
    # The tokens of a summary are counted in addition to the rounds.
    beside = [
        turn["usage"]["totalTokens"] - sum(one["totalTokens"] for one in turn["usage"]["perRound"])
        for turn in turns
    ]
    assert sum(beside) == (15 * len(model.summaries) if is_willing else 0)


async def test_a_question_that_never_fits_fails_with_a_sentence(root: Path) -> None:
    model = NarrowModel(1000, refusal("openai"), DONE, summary=None)
    [turn] = await asked(root, model, "Hello?")
    assert turn["state"] == "failed"
    assert "context window" in turn["error"]


@pytest.mark.parametrize("name", ["openai", "llama.cpp", "proxy"])
async def test_a_question_that_is_too_long_does_not_spoil_the_next(root: Path, name: str) -> None:
    (root / "f0.txt").write_text("short\n")
    model = NarrowModel(48_000, refusal(name), DONE, DONE, summary=None)
    async with (
        OpenAIServer([model] * 60) as server,
        FakeEditor.start(root, env=provider(server), settings=SETTINGS) as editor,
    ):
        uri = editor.open("f0.txt")
        long = await ask(editor, "Look: " + "word " * 11_000, uri=uri)
        await editor.wait_for_message("context window")
        assert (await editor.command("stet.turn", {"turn": long}))["state"] == "failed"
        plain, again = [await run(editor, prompt, uri=uri) for prompt in ("What now?", "And?")]
    assert [one["state"] for one in (plain, again)] == ["completed"] * 2, plain["error"]
    assert [wire_problem(body["messages"]) for body in model.taken] == ["", ""]
    # The earlier prompt is kept, and the text that was too long is not sent again.
    reported = json.dumps(model.taken[0]["messages"])
    assert "Look: word word" in reported
    assert "context window" in reported
    assert len(reported) < 30_000
