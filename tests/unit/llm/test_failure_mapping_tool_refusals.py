"""That a server has no tool calls is recognised in its own words, and nothing else is taken for it.

The words are those that users have reported of each server, in its issue tracker or a client's.
"""

import json
from typing import Any

import pytest

from stet.llm.failure_mapping import ToolRefusal, status_failure, tool_refusal
from stet.llm.model import ContextOverflow, ToolsUnsupported
from stet.llm.model_endpoint import ModelEndpoint
from stet.llm.retry import RetryMode

HERE = ModelEndpoint("openai-compatible", "http://127.0.0.1:9/v1", "m")

CERTAIN: dict[str, tuple[int, Any]] = {
    "llama.cpp without jinja": (500, "tools param requires --jinja flag"),
    "llama.cpp with a choice": (500, "tool_choice param requires --jinja flag"),
    "llama.cpp of 2024": (500, "Unsupported param: tools"),
    "ik_llama.cpp": (500, "tools param is not fully supported yet"),
    "vllm": (
        400,
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    ),
    "vllm, a list of errors": (
        400,
        [
            {
                "type": "extra_forbidden",
                "loc": ["body", "tools"],
                "msg": "Extra inputs are not permitted",
            }
        ],
    ),
    "fastapi": (
        422,
        {"detail": [{"loc": ["body", "tools"], "msg": "extra fields not permitted"}]},
    ),
    "pydantic, a path in one string": (422, "body.tools: Extra inputs are not permitted"),
    "a schema's path": (400, "$.tools is an unrecognized key"),
    "pydantic 1": (
        400,
        "1 validation error for Request body -> tools extra fields not permitted (type=value_error.extra)",
    ),
    "python": (500, "create() got an unexpected keyword argument 'tools'"),
    "ollama": (400, "registry.ollama.ai/library/gemma2:2b does not support tools"),
    "ollama, its template": (
        500,
        'template: :6:10: executing "" at <.Tools>: can\'t evaluate field Tools in type api.Tools',
    ),
    "litellm": (
        400,
        "litellm.UnsupportedParamsError: nvidia_nim does not support parameters: {'tools': [{'type': "
        "'function'}]}",
    ),
    "litellm, a list": (
        400,
        "litellm.UnsupportedParamsError: ollama does not support parameters: ['tools', 'tool_choice'], "
        "for model=x. To drop these, set `litellm.drop_params=True`",
    ),
    "openrouter": (
        404,
        "No endpoints found that support tool use. To learn more about provider routing",
    ),
    "azure": (404, "Unrecognized request argument supplied: tools"),
    "azure, old versions": (400, "Unrecognized request argument supplied: functions"),
    "azure, a model": (
        400,
        "Functions are not supported for this API version or this model version.",
    ),
    "openai": (
        400,
        "tools is not supported in this model. For a list of supported models, refer to x.",
    ),
    "openai, reasoning": (
        400,
        "Function tools with reasoning_effort are not supported for gpt-5.6-terra in "
        "/v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
    ),
    "openai, a parameter": (400, "Unknown parameter: 'tools'."),
    "groq": (400, "`tools` is not supported with this model"),
    "groq, calling": (400, "`tool calling` is not supported with this model"),
    "text-generation-webui": (400, "functions is not supported."),
    "text-generation-webui, a call": (400, "function_call is not supported."),
    "gemini": (400, "Function calling is not enabled for models/gemma-3-27b-it"),
    "gemini, a field": (
        400,
        'Invalid JSON payload received. Unknown name "tools": Cannot find field.',
    ),
    "deepseek": (400, "deepseek-reasoner does not support Function Calling"),
    "nvidia": (400, "Tool use has not been enabled, because it is unsupported by the model."),
    "together": (400, "This model does not support tool calling."),
    "mistral": (400, "Function calling is not enabled for this model"),
    "huggingface": (422, "Template error: tools are not supported by this chat template"),
    "xinference": (400, "Only ['qwen-chat', 'glm4-chat'] support tool messages"),
    "zod": (400, "Unrecognized key(s) in object: 'tools'"),
    "perplexity": (400, "Tool calling is not supported for this model"),
    "cloudflare": (400, "This model doesn't support tools"),
    "a gateway": (501, "tool calls are not yet implemented"),
}
POSSIBLE: dict[str, tuple[int, Any]] = {
    "lm studio": (
        400,
        'Error rendering prompt with jinja template: "Cannot call something that is not a function: '
        'got UndefinedValue".',
    ),
    "lm studio, a test": (
        400,
        'Error rendering prompt with jinja template: "Unknown test: sequence".',
    ),
    "llama.cpp, its template": (
        500,
        "Jinja Exception: Only user and assistant roles are supported!",
    ),
    "a role": (400, "Only user, assistant and system roles are supported"),
    "whatever": (400, "bad tools"),
    "a schema": (
        400,
        "Invalid schema for function 'read_file': 'additionalProperties' is required",
    ),
}
OTHER: dict[str, tuple[int, Any]] = {
    "groq, what was written": (
        400,
        "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
    ),
    "groq, another tool": (
        400,
        "tool call validation failed: attempted to call tool 'x' which was not in request.tools",
    ),
    "ollama, what was written": (
        500,
        "error parsing tool call: raw='{' err=unexpected end of JSON input",
    ),
    "a key": (401, "Incorrect API key provided"),
    "a rate": (429, "Rate limit reached for tool calls; try again later"),
    "an overload": (503, "The model is overloaded; the tools are slow"),
    "a proxy": (502, "unknown error in function handler"),
    "a temperature": (
        400,
        "Unsupported parameter: 'temperature' is not supported with this model.",
    ),
    "an empty list": (400, "Invalid value for 'messages': empty array."),
}


def error_of(status: int, response: Any) -> Any:
    body = (
        response if isinstance(response, dict) else {"error": {"message": response, "code": status}}
    )
    return status_failure(HERE, status, body)


@pytest.mark.parametrize("case", CERTAIN.values(), ids=CERTAIN.keys())
def test_a_server_without_tool_calls_is_recognised(case: tuple[int, Any]) -> None:
    failure = error_of(*case)
    assert isinstance(failure.error, ToolsUnsupported)
    assert (failure.error.is_certain, failure.retry_mode) == (True, RetryMode.NEVER)


@pytest.mark.parametrize("case", POSSIBLE.values(), ids=POSSIBLE.keys())
def test_error_about_tools_may_be_a_tool_refusal(case: tuple[int, Any]) -> None:
    failure = error_of(*case)
    assert isinstance(failure.error, ToolsUnsupported)
    assert (failure.error.is_certain, failure.retry_mode) == (False, RetryMode.NEVER)


@pytest.mark.parametrize("case", OTHER.values(), ids=OTHER.keys())
def test_other_errors_are_no_tool_refusal(case: tuple[int, Any]) -> None:
    assert not isinstance(error_of(*case).error, ToolsUnsupported)


@pytest.mark.parametrize(
    "words",
    [
        "Invalid 'messages[2].tool_calls[0].function.name': string does not match pattern.",
        "An assistant message with 'tool_calls' must be followed by tool messages.",
        "Invalid 'tools[0].function.name': unsupported characters",
        "Extra inputs are not permitted, field: 'tools[0].strict'",
    ],
)
def test_error_about_one_message_or_tool_is_an_uncertain_refusal(words: str) -> None:
    assert tool_refusal(words, 400) is not ToolRefusal.CERTAIN


def test_overflow_has_priority_over_a_tool_refusal() -> None:
    words = "This model's maximum context length is 16000 tokens; tools are not supported beyond."
    assert isinstance(error_of(400, words).error, ContextOverflow)


def test_message_of_a_gateway_is_found_in_nested_errors() -> None:
    raw = json.dumps({"error": {"message": "m does not support tools"}})
    inner = {"message": "Provider returned error", "code": 400, "metadata": {"raw": raw}}
    assert isinstance(status_failure(HERE, 400, {"error": inner}).error, ToolsUnsupported)


def test_long_messages_are_matched_fast() -> None:
    for words in ("tools " * 200_000, "not supported " * 100_000, "tool" + " " * 500_000):
        assert tool_refusal(words, 400) in set(ToolRefusal)
