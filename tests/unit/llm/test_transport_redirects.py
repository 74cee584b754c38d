"""Whoever answers a request for a model names nobody else who is sent the user's text."""

import pytest

from stet.llm.model import ModelRefused
from tests.support.model_requests import ModelOutput, model_at
from tests.support.openai_server import OpenAIServer, Reply


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirect_is_not_followed_and_is_reported_with_a_remedy(status: int) -> None:
    async with OpenAIServer() as other, OpenAIServer() as server:
        to = {"location": f"{other.base_url}/chat/completions"}
        server.add(Reply(status=status, headers=to, body="moved"))
        model = model_at(server)
        with pytest.raises(ModelRefused, match=r"redirects .* set model\.baseUrl"):
            await ModelOutput().ask(model)
        await model.close()
        assert (other.n_connections, len(server.requests)) == (0, 1)
