"""How a model is asked, as tables: names, servers and settings in, a profile out."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.llm.model_profiles import (
    FAMILIES,
    ModelFacts,
    choose_profile,
    find_family,
    parse_size,
)
from stet.settings.values import ModelSettings

NAMES: list[tuple[str, str, float | None]] = [
    # name, family, billions of parameters
    ("qwen2.5-coder:1.5b", "qwen2-5-coder", 1.5),
    ("Qwen/Qwen2.5-Coder-7B-Instruct", "qwen2-5-coder", 7),
    ("C:\\models\\Qwen2.5-Coder-1.5B-Instruct.Q4_K_M.gguf", "qwen2-5-coder", 1.5),
    ("qwen3-coder:30b-a3b", "qwen3-coder", 30),
    ("Qwen3-4B-Instruct-2507", "qwen3-instruct", 4),
    ("qwen3:8b", "qwen3", 8),
    ("llama3.2", "llama3-2", None),
    ("Meta-Llama-3.1-70B-Instruct", "llama3-1", 70),
    ("gemma-3n-e4b-it", "gemma3", 4),
    ("gemma3:270m", "gemma3", 0.27),
    ("microsoft/Phi-4-mini-instruct", "phi4-mini", None),
    ("mixtral-8x7b", "", 56),
    ("mistral:7b-instruct-v0.3-q4_K_M", "mistral", 7),
    ("devstral", "devstral", None),
    ("granite4:3b", "granite", 3),
    ("gpt-oss:20b", "gpt-oss", 20),
    ("SmolLM2-135M-Instruct.Q4_1.gguf", "smollm", 0.135),
    ("my-finetune-8bit", "", None),
    ("claude-sonnet-4-5", "", None),
    ("", "", None),
]


@pytest.mark.parametrize(("name", "family", "size"), NAMES, ids=[row[0] for row in NAMES])
def test_name_states_family_and_size(name: str, family: str, size: float | None) -> None:
    found = find_family(name)
    assert (found.name if found else "", parse_size(name)) == (family, size)


def facts(
    name: str,
    provider: str = "llamacpp",
    *,
    window: int | None = None,
    parameters: float | None = None,
) -> ModelFacts:
    """Return the facts of a model on a server of the user's own, or of a provider with a key."""
    is_hosted = provider in ("openai", "groq")
    return ModelFacts(
        name,
        provider,
        is_local=not is_hosted,
        is_hosted=is_hosted,
        context_tokens=window,
        parameters=parameters,
    )


SHORT_BY_SIZE = "The prompt is short: the model has {} billion parameters."
SHORT_BY_WINDOW = "The prompt is short: the model's window is {} tokens."
PROMPTS: list[tuple[str, ModelFacts, ModelSettings, tuple[str, str]]] = [
    ("a small model", facts("llama3.1:8b"), ModelSettings(), ("short", SHORT_BY_SIZE.format(8))),
    ("a large model", facts("qwen3-coder:30b", window=65_536), ModelSettings(), ("full", "")),
    (
        "the server's number beats the name",
        facts("my-7b-vs-70b", parameters=70.5, window=65_536),
        ModelSettings(),
        ("full", ""),
    ),
    (
        "a large model in a small window",
        facts("qwen3-coder:30b", window=8_192),
        ModelSettings(),
        ("short", SHORT_BY_WINDOW.format("8,192")),
    ),
    (
        "an unknown one in a doubtful window",
        facts("tuned", window=16_384),
        ModelSettings(),
        ("short", SHORT_BY_WINDOW.format("16,384")),
    ),
    (
        "an unknown one in a large window",
        facts("tuned", window=32_768),
        ModelSettings(),
        ("full", ""),
    ),
    ("an unknown one", facts("tuned"), ModelSettings(), ("full", "")),
    (
        "an unknown one of Ollama",
        facts("tuned", "ollama"),
        ModelSettings(),
        (
            "short",
            "The prompt is short: the model's size is unknown, and Ollama may cut a long one. "
            'Set model.prompt to "full" for a large model.',
        ),
    ),
    ("a small one that is hosted", facts("llama-3.1-8b", "groq"), ModelSettings(), ("full", "")),
    (
        "the user wants it short",
        facts("gpt-5", "openai"),
        ModelSettings(prompt="short"),
        ("short", 'The prompt is short: model.prompt is "short".'),
    ),
    (
        "the user wants it full",
        facts("qwen3:0.6b"),
        ModelSettings(prompt="full"),
        ("full", 'The prompt is full: model.prompt is "full".'),
    ),
    (
        "the user's window beats the server's",
        facts("tuned", window=131_072),
        ModelSettings(context_tokens=8_000),
        ("short", SHORT_BY_WINDOW.format("8,000")),
    ),
]


@pytest.mark.parametrize(
    ("model", "settings", "prompt"), [row[1:] for row in PROMPTS], ids=[row[0] for row in PROMPTS]
)
def test_prompt_is_short_for_small_models_and_windows(
    model: ModelFacts, settings: ModelSettings, prompt: tuple[str, str]
) -> None:
    profile = choose_profile(model, settings)
    assert (profile.prompt, profile.why) == prompt


@pytest.mark.parametrize(
    ("model", "settings", "sampling"),
    [
        (facts("qwen2.5-coder:1.5b"), ModelSettings(), (0.2, 1536)),
        (facts("qwen2.5-coder:7b"), ModelSettings(), (0.2, 2048)),
        (facts("qwen2.5-coder:32b"), ModelSettings(), (0.2, 4096)),
        (facts("qwen3:8b"), ModelSettings(), (0.6, 4096)),
        (facts("granite4:3b"), ModelSettings(), (0.0, 1536)),
        (facts("gpt-oss:20b"), ModelSettings(temperature=0, max_output_tokens=9), (0, 9)),
        (facts("gpt-oss-20b", "groq"), ModelSettings(), (None, None)),
    ],
)
def test_answers_of_local_models_are_limited(
    model: ModelFacts, settings: ModelSettings, sampling: tuple[float | None, int | None]
) -> None:
    profile = choose_profile(model, settings)
    assert (profile.temperature, profile.max_tokens) == sampling


@pytest.mark.parametrize(
    ("model", "settings", "window"),
    [
        (facts("qwen2.5-coder:1.5b"), ModelSettings(), 32_768),
        (facts("qwen2.5-coder:1.5b", window=4096), ModelSettings(), 4096),
        (facts("qwen2.5-coder:1.5b", window=4096), ModelSettings(context_tokens=2000), 2000),
        (facts("qwen2.5-coder:1.5b", "ollama"), ModelSettings(), None),
        (facts("gpt-5", "openai"), ModelSettings(), None),
    ],
)
def test_window_is_that_of_the_settings_the_server_or_the_family(
    model: ModelFacts, settings: ModelSettings, window: int | None
) -> None:
    assert choose_profile(model, settings).window == window


@pytest.mark.parametrize(
    ("model", "settings", "edits"),
    [
        (facts("qwen2.5-coder:1.5b"), ModelSettings(), "blocks"),
        (facts("qwen2.5-coder-1.5b", "local"), ModelSettings(), "blocks"),
        (replace(facts("smollm2-135m", "local"), is_tiny=True), ModelSettings(), "calls"),
        (facts("smollm2:135m", "ollama"), ModelSettings(), "blocks"),
        (facts("qwen2.5-coder:1.5b"), ModelSettings(tool_calls="text"), "calls"),
        (facts("qwen2.5-coder:7b"), ModelSettings(), "calls"),
    ],
)
def test_edits_of_very_small_models_are_blocks(
    model: ModelFacts, settings: ModelSettings, edits: str
) -> None:
    assert choose_profile(model, settings).edits == edits


def test_patterns_of_families_are_tried_from_the_special_to_the_general() -> None:
    for n, family in enumerate(FAMILIES):
        plain = re.sub(r"\\?\.\?|[?\\]", "", family.pattern.split("|")[0]).replace(".*", "-")
        earlier = [one.name for one in FAMILIES[:n] if re.search(one.pattern, plain)]
        assert (family.name, earlier) == (family.name, [])


@given(st.text(max_size=400))
def test_any_name_has_a_profile(name: str) -> None:
    profile = choose_profile(facts(name), ModelSettings())
    assert profile.prompt in ("short", "full")
    assert profile.window is None or profile.window > 0
