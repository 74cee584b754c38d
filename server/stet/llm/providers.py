"""The providers we know by name: where they are, what their key is called, what to ask by default.

A default model is the provider's own name for a mid-priced model that calls tools; names change,
so that a 404 says to set `model.name`.
"""

from dataclasses import dataclass
from typing import Literal

OPENAI_CAP = "max_completion_tokens"
"""What OpenAI calls the cap on an answer today; the others kept its first name."""


@dataclass(frozen=True, slots=True)
class ProviderSpec:
    """One provider.

    Attributes:
        name: As in the setting `model.provider`.
        base_url: Of its OpenAI-compatible API; "" where the user must give it.
        key_envs: The variables its key is read from, first found first; empty: no key is needed.
        model: What is asked where the settings name none; "": the first the server lists.
        tools: Whether its models call tools: all of them, or as it turns out when asked.
        base_url_envs: Variables its own SDK reads the address from.
        families: How the names of its own models begin.
        max_tokens_field: What it calls the cap on an answer.
        hint: What to do where nothing answers.
    """

    name: str
    base_url: str
    key_envs: tuple[str, ...] = ()
    model: str = ""
    tools: Literal["native", "auto"] = "native"
    base_url_envs: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    max_tokens_field: str = "max_tokens"
    hint: str = ""


_ALL = (
    ProviderSpec(
        "openai",
        "https://api.openai.com/v1",
        ("OPENAI_API_KEY",),
        "gpt-5-mini",
        base_url_envs=("OPENAI_BASE_URL",),
        families=("gpt-", "chatgpt-", "o1", "o3", "o4", "codex-"),
        max_tokens_field=OPENAI_CAP,
    ),
    ProviderSpec(
        "anthropic",
        "https://api.anthropic.com/v1",
        ("ANTHROPIC_API_KEY",),
        "claude-sonnet-4-5",
        families=("claude-",),
    ),
    ProviderSpec(
        "gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "gemini-flash-latest",
        families=("gemini-",),
    ),
    ProviderSpec(
        "openrouter",
        "https://openrouter.ai/api/v1",
        ("OPENROUTER_API_KEY",),
        "openrouter/auto",
        tools="auto",
    ),
    ProviderSpec(
        "groq",
        "https://api.groq.com/openai/v1",
        ("GROQ_API_KEY",),
        "openai/gpt-oss-120b",
        tools="auto",
    ),
    ProviderSpec(
        "mistral",
        "https://api.mistral.ai/v1",
        ("MISTRAL_API_KEY",),
        "mistral-medium-latest",
        families=("mistral-", "codestral-", "devstral-", "magistral-", "ministral-"),
    ),
    ProviderSpec(
        "deepseek",
        "https://api.deepseek.com/v1",
        ("DEEPSEEK_API_KEY",),
        "deepseek-chat",
        families=("deepseek-",),
    ),
    ProviderSpec("xai", "https://api.x.ai/v1", ("XAI_API_KEY",), "grok-4", families=("grok-",)),
    ProviderSpec(
        "together",
        "https://api.together.xyz/v1",
        ("TOGETHER_API_KEY",),
        "openai/gpt-oss-120b",
        tools="auto",
    ),
    ProviderSpec(
        "fireworks",
        "https://api.fireworks.ai/inference/v1",
        ("FIREWORKS_API_KEY",),
        "accounts/fireworks/models/gpt-oss-120b",
        tools="auto",
    ),
    ProviderSpec(
        "azure",
        "",
        ("AZURE_OPENAI_API_KEY",),
        base_url_envs=("AZURE_OPENAI_ENDPOINT",),
        max_tokens_field=OPENAI_CAP,
    ),
    ProviderSpec(
        "ollama",
        "http://127.0.0.1:11434/v1",
        tools="auto",
        hint="Start it with `ollama serve`.",
    ),
    ProviderSpec(
        "lmstudio",
        "http://127.0.0.1:1234/v1",
        tools="auto",
        hint="Start it in LM Studio (Developer) or with `lms server start`.",
    ),
    ProviderSpec(
        "llamacpp",
        "http://127.0.0.1:8080/v1",
        tools="auto",
        hint="Start it with `llama-server --jinja -m MODEL.gguf`.",
    ),
    ProviderSpec(
        "vllm",
        "http://127.0.0.1:8000/v1",
        tools="auto",
        hint="Start it with `vllm serve MODEL`.",
    ),
)

COMPATIBLE = ProviderSpec("openai-compatible", "", tools="auto")
"""A server at an address of the user's that is none of the providers above."""

PROVIDERS = {preset.name: preset for preset in _ALL}
"""By name, in the order in which `auto` looks for keys and servers."""

HOSTED = tuple(preset for preset in _ALL if preset.key_envs)
LOCAL_SERVERS = tuple(preset for preset in _ALL if not preset.key_envs)
