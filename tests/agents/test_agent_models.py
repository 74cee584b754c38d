"""The scripted models in the forms that no program of the tests asks for."""

import httpx2
import pytest

from tests.support.agent_models.anthropic_messages import AnthropicMessages
from tests.support.agent_models.script import Script, call, say

ASKED = {"model": "m", "messages": [{"role": "user", "content": "Hello."}], "max_tokens": 9}


async def test_anthropic_messages_answers_without_a_stream_until_the_script_is_over() -> None:
    script = Script([call("Read", file_path="a"), say("Done.")])
    async with AnthropicMessages(script) as model, httpx2.AsyncClient(trust_env=False) as client:
        answers = [await client.post(model.url("/v1/messages"), json=ASKED) for _ in range(3)]
    bodies = [one.json() for one in answers]
    assert [(one["stop_reason"], one["content"]) for one in bodies[:2]] == [
        (
            "tool_use",
            [{"type": "tool_use", "id": "toolu_1_0", "name": "Read", "input": {"file_path": "a"}}],
        ),
        ("end_turn", [{"type": "text", "text": "Done."}]),
    ]
    assert answers[2].status_code == 400
    assert bodies[2]["error"]["message"] == "the script is over after 2 answers"
    assert [one.texts for one in script.requests] == [("Hello.",), ("Hello.",)]
    with pytest.raises(AssertionError, match="asked after the end"):
        script.check_played()


async def test_anthropic_messages_takes_what_is_asked_beside_turns() -> None:
    script = Script([])
    async with AnthropicMessages(script) as model, httpx2.AsyncClient(trust_env=False) as client:
        head = await client.head(model.url("/"))
        counted = await client.post(model.url("/v1/messages/count_tokens?beta=true"), json=ASKED)
    assert (head.status_code, head.content) == (200, b"")
    assert counted.json() == {"input_tokens": 10}
    assert script.side_requests == ["HEAD /", "POST /v1/messages/count_tokens"]
