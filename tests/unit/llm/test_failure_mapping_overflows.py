"""A conversation that is too long is recognised in every provider's words, and nothing else is."""

import pytest

from stet.llm.failure_mapping import status_failure, stream_failure
from stet.llm.model import ContextOverflow
from stet.llm.model_endpoint import ModelEndpoint
from stet.llm.retry import RetryMode

HERE = ModelEndpoint("openai", "http://127.0.0.1:9/v1", "m")

OVERFLOWS = {
    "openai": "This model's maximum context length is 128000 tokens. However, your messages "
    "resulted in 130021 tokens. Please reduce the length of the messages.",
    "openai responses": "Your input exceeds the context window of this model. Please adjust your "
    "input and try again.",
    "anthropic": "prompt is too long: 201234 tokens > 200000 maximum",
    "anthropic with output": "input length and `max_tokens` exceed context limit: 199000 + 8000 > "
    "200000, decrease input length or `max_tokens`: it exceeds the model's context limit",
    "gemini": "The input token count (1200000) exceeds the maximum number of tokens allowed "
    "(1048576).",
    "groq": "Please reduce the length of the messages or completion.",
    "mistral": "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 "
    "maximum context length",
    "deepseek": "This model's maximum context length is 65536 tokens. However, you requested "
    "70000 tokens (62000 in the messages, 8000 in the completion).",
    "xai": "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    "together": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193.",
    "fireworks": "The prompt is too long: 140000, model maximum context length: 131071",
    "openrouter": "This endpoint's maximum context length is 32768 tokens. However, you requested "
    "about 40000 tokens.",
    "azure": "context_length_exceeded",
    "bedrock": "Input is too long for requested model.",
    "llama.cpp": "the request exceeds the available context size. try increasing the context size "
    "or enable context shift",
    "lm studio": "The number of tokens to keep from the initial prompt is greater than the context "
    "length.",
    "vllm": "This model's maximum context length is 4096 tokens. However, you requested 5000 "
    "tokens in the messages, Please reduce the length of the messages.",
    "ollama": "the input length exceeds the context length",
}


@pytest.mark.parametrize("words", OVERFLOWS.values(), ids=OVERFLOWS.keys())
def test_overflow_is_recognised_as_a_status_and_in_the_stream(words: str) -> None:
    for failure in (
        status_failure(HERE, 400, {"error": {"message": words}}),
        stream_failure(HERE, {"error": {"message": words}}),
    ):
        assert type(failure.error) is ContextOverflow
        assert failure.retry_mode is RetryMode.NEVER


@pytest.mark.parametrize(
    "words",
    [
        "max_tokens is too large: 90000. This model supports at most 16384 completion tokens.",
        "Rate limit reached: 30000 tokens per minute.",
        "Invalid value for 'messages': empty array.",
        "The context of the request is missing.",
    ],
)
def test_other_token_errors_are_no_overflow(words: str) -> None:
    failure = status_failure(HERE, 400, {"error": {"message": words}})
    assert not isinstance(failure.error, ContextOverflow)
