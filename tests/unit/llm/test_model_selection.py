"""Which model is chosen, as a table: settings and machine in, choice or reason out."""

from pathlib import Path
from typing import Any

import pytest

from stet.llm.local_servers import LocalServer
from stet.llm.model import NoModel
from stet.llm.model_selection import (
    LocalModels,
    ModelChoice,
    ModelEnvironment,
    decide_model,
    open_model,
    with_profile,
)
from stet.llm.openai_model import OpenAIModel
from stet.llm.providers import PROVIDERS
from stet.llm.text_protocol import TextProtocolModel
from stet.llm.weights.catalog import MEDIUM, SMALL
from stet.llm.weights.local_model import LocalModel, catalog_model
from stet.llm.weights.model_folder import HOW_TO_GET_RUNTIME
from stet.settings.values import ModelSettings
from stet.system.system import System
from tests.support.model_requests import ModelOutput
from tests.support.openai_server import OpenAIServer, say

OLLAMA = LocalServer("ollama", "http://127.0.0.1:11434/v1", ("qwen3:8b", "gemma3:4b"))
LM_STUDIO = LocalServer("lmstudio", "http://127.0.0.1:1234/v1", ("phi-4",), 16_384)
EMPTY_OLLAMA = LocalServer("ollama", "http://127.0.0.1:11434/v1", ())
OPENAI, GROQ, CLAUDE = {"OPENAI_API_KEY": "k1"}, {"GROQ_API_KEY": "k2"}, {"ANTHROPIC_API_KEY": "k3"}
EMBEDDED = "SmolLM2-135M-Instruct"
FOLDER = Path("/data/stet/models")
SMALL_ONE, MEDIUM_ONE = catalog_model(SMALL, FOLDER), catalog_model(MEDIUM, FOLDER)


def chosen(
    environ: dict[str, str] | None = None,
    *servers: LocalServer,
    embedded: bool = True,
    **settings: Any,
) -> ModelChoice:
    """What `decide` chooses."""
    none = LocalModels(missing="No local model is installed: run `stet model install`.")
    named = SMALL_ONE if settings.get("name") in {"small", EMBEDDED} else None
    local = LocalModels((SMALL_ONE,), named) if embedded else none
    return decide_model(ModelSettings(**settings), ModelEnvironment(environ or {}, servers, local))


TABLE: list[tuple[str, ModelChoice, tuple[str, str, str]]] = [
    ("the embedded model comes last", chosen(), ("local", EMBEDDED, "")),
    ("a key beats it", chosen(GROQ), ("groq", PROVIDERS["groq"].model, "k2")),
    ("a server beats it", chosen({}, OLLAMA), ("ollama", "qwen3:8b", "")),
    ("a key beats a server", chosen(GROQ, OLLAMA), ("groq", PROVIDERS["groq"].model, "k2")),
    ("OpenAI beats other keys", chosen(GROQ | CLAUDE | OPENAI), ("openai", "gpt-5-mini", "k1")),
    ("Ollama beats LM Studio", chosen({}, OLLAMA, LM_STUDIO), ("ollama", "qwen3:8b", "")),
    ("an empty server is none", chosen({}, EMPTY_OLLAMA, LM_STUDIO), ("lmstudio", "phi-4", "")),
    ("a blank key is none", chosen({"OPENAI_API_KEY": " "}), ("local", EMBEDDED, "")),
    (
        "a second name of a key",
        chosen({"GOOGLE_API_KEY": "k"}),
        ("gemini", "gemini-flash-latest", "k"),
    ),
    (
        "a name picks its provider",
        chosen(OPENAI | CLAUDE, name="claude-x"),
        ("anthropic", "claude-x", "k3"),
    ),
    ("a name picks its server", chosen({}, OLLAMA, name="gemma3:4b"), ("ollama", "gemma3:4b", "")),
    ("a name nobody owns", chosen(OPENAI, name="my-finetune"), ("openai", "my-finetune", "k1")),
    ("the embedded model's size", chosen({}, OLLAMA, name="small"), ("local", EMBEDDED, "")),
    ("the embedded model's name", chosen({}, OLLAMA, name=EMBEDDED), ("local", EMBEDDED, "")),
    (
        "a provider beats keys",
        chosen(OPENAI | GROQ, provider="groq"),
        ("groq", PROVIDERS["groq"].model, "k2"),
    ),
    ("the embedded one on request", chosen(OPENAI, provider="local"), ("local", EMBEDDED, "")),
    (
        "a server on request",
        chosen(OPENAI, LM_STUDIO, provider="lmstudio"),
        ("lmstudio", "phi-4", ""),
    ),
    ("a silent server on request", chosen(OPENAI, provider="llamacpp"), ("llamacpp", "", "")),
    (
        "an address beats a key",
        chosen(OPENAI, base_url="http://x/v1"),
        ("openai-compatible", "", ""),
    ),
    (
        "an address with a key of its own",
        chosen({"MINE": "k", **OPENAI}, base_url="http://x/v1", api_key_env="MINE"),
        ("openai-compatible", "", "k"),
    ),
    (
        "a known address is its provider's",
        chosen(GROQ | OPENAI, base_url="https://api.groq.com/openai/v1", name="m"),
        ("groq", "m", "k2"),
    ),
    (
        "a provider at another address",
        chosen(OPENAI, provider="openai", base_url="http://proxy/v1"),
        ("openai", "gpt-5-mini", "k1"),
    ),
    (
        "another variable",
        chosen({"WORK_KEY": "k4", **OPENAI}, provider="openai", api_key_env="WORK_KEY"),
        ("openai", "gpt-5-mini", "k4"),
    ),
    (
        "a script comes first",
        chosen({"STET_SCRIPTED_MODEL": "/tmp/s.json", **OPENAI}, provider="groq"),
        ("scripted", "/tmp/s.json", ""),
    ),
]


@pytest.mark.parametrize(
    ("choice", "expected"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_the_choice(choice: ModelChoice, expected: tuple[str, str, str]) -> None:
    assert (choice.provider, choice.model, choice.api_key) == expected
    assert choice.why.endswith(".")


def test_choice_has_a_reason_and_hides_its_key() -> None:
    choice = chosen(OPENAI | {"OPENAI_BASE_URL": "https://proxy.example/v1"})
    assert choice == ModelChoice(
        "openai",
        "https://proxy.example/v1",
        "gpt-5-mini",
        api_key="k1",
        key_env="OPENAI_API_KEY",
        why="OPENAI_API_KEY is set.",
        tools="auto",
    )
    assert "k1" not in repr(choice)


@pytest.mark.parametrize(
    ("value", "url"),
    [
        (" https://proxy.example/v1 ", "https://proxy.example/v1"),
        ("  ", "https://api.openai.com/v1"),
    ],
)
def test_the_address_of_the_environment_is_read_without_blanks(value: str, url: str) -> None:
    assert chosen(OPENAI | {"OPENAI_BASE_URL": value}).base_url == url


@pytest.mark.parametrize("provider", [name for name in PROVIDERS if PROVIDERS[name].key_envs])
def test_a_providers_key_is_never_sent_elsewhere(provider: str) -> None:
    environ = dict.fromkeys(PROVIDERS[provider].key_envs, "secret")
    assert chosen(environ, base_url="https://evil.example/v1").api_key == ""


@pytest.mark.parametrize(
    ("environ", "settings", "words"),
    [
        ({}, {}, "Run `stet model install`"),
        ({}, {"provider": "local"}, "run `stet model install`"),
        ({}, {"provider": "anthropic"}, "set ANTHROPIC_API_KEY"),
        (OPENAI, {"provider": "openai", "api_key_env": "WORK_KEY"}, "set WORK_KEY"),
        (OPENAI | {"AZURE_OPENAI_API_KEY": "k"}, {"provider": "azure"}, "model.apiVersion"),
        ({}, {"name": "gpt-5"}, "No provider for model.name 'gpt-5'"),
        (OPENAI, {"base_url": "localhost:8000"}, "not an http or https address"),
    ],
)
def test_missing_model_is_reported_with_a_remedy(
    environ: dict[str, str], settings: dict[str, str], words: str
) -> None:
    with pytest.raises(NoModel, match=words.replace("(", r"\(").replace(".", r"\.")):
        chosen(environ, embedded=False, **settings)


def test_azure_gets_its_deployment_and_version() -> None:
    environ = {"AZURE_OPENAI_API_KEY": "k", "AZURE_OPENAI_ENDPOINT": "https://r.azure.example"}
    choice = chosen(environ, provider="azure", name="my-deployment", api_version="2024-10-21")
    assert (choice.base_url, choice.api_version) == ("https://r.azure.example", "2024-10-21")


@pytest.mark.parametrize(
    ("choice", "tools"),
    [
        (chosen(OPENAI), "native"),
        (chosen(OPENAI, base_url="http://127.0.0.1:9/v1", provider="openai"), "auto"),
        (chosen({"GROQ_API_KEY": "k"}, base_url="http://127.0.0.1:9/v1", provider="groq"), "auto"),
        (chosen(OPENAI, tool_calls="text"), "text"),
        (chosen({}, OLLAMA), "auto"),
        (chosen({}, OLLAMA, tool_calls="native"), "native"),
        (chosen(), "text"),
    ],
)
async def test_tool_calls_use_the_protocol_of_the_model(choice: ModelChoice, tools: str) -> None:
    assert choice.tools == tools
    model = await open_model(choice, System())
    assert isinstance(model, OpenAIModel if tools == "native" else TextProtocolModel)
    assert (model.provider, model.name) == (choice.provider, choice.model)
    await model.close()


@pytest.mark.parametrize(
    ("provider", "settings", "sent"),
    [
        ("llamacpp", ModelSettings(), (0.2, 4096)),
        ("openai-compatible", ModelSettings(), (0.2, 4096)),
        ("llamacpp", ModelSettings(temperature=0.0, max_output_tokens=9), (0.0, 9)),
        ("openai", ModelSettings(), (None, None)),
        ("openai", ModelSettings(temperature=1.0), (1.0, None)),
    ],
)
async def test_server_on_this_machine_gets_a_low_temperature_and_a_limit(
    provider: str, settings: ModelSettings, sent: tuple[float | None, int | None]
) -> None:
    async with OpenAIServer([say("Hello.")]) as server:
        choice = ModelChoice(provider, server.base_url, "m", api_key="k")
        model = await open_model(with_profile(choice, settings), System())
        await ModelOutput().ask(model)
        await model.close()
    body = server.requests[0].body
    assert (
        body.get("temperature"),
        body.get("max_tokens", body.get("max_completion_tokens")),
    ) == sent


def test_without_the_runtime_the_weights_are_the_second_step() -> None:
    with pytest.raises(NoModel) as raised:
        decide_model(
            ModelSettings(), ModelEnvironment({}, (), LocalModels(missing=HOW_TO_GET_RUNTIME))
        )
    assert str(raised.value).startswith(
        f"No model is available. {HOW_TO_GET_RUNTIME} Then run `stet model install`"
    )


MEDIUM_NAME = "Qwen2.5-Coder-1.5B-Instruct"


@pytest.mark.parametrize(
    ("free", "settings", "name", "why"),
    [
        (
            20e9,
            {},
            MEDIUM_NAME,
            "No provider's key is set and no local server is running. It is the largest installed "
            "one that fits into the free memory (20.0 GB).",
        ),
        (
            1e9,
            {},
            EMBEDDED,
            "No provider's key is set and no local server is running. The larger "
            "Qwen2.5-Coder-1.5B-Instruct needs 2.2 GB of memory, and 1.0 GB are free.",
        ),
        (
            1e8,
            {"provider": "local"},
            EMBEDDED,
            "model.provider is set to the embedded model. The larger "
            "Qwen2.5-Coder-1.5B-Instruct needs 2.2 GB of memory, and 0.1 GB are free.",
        ),
        (
            None,
            {"provider": "local"},
            MEDIUM_NAME,
            "model.provider is set to the embedded model.",
        ),
        (1e9, {"provider": "local", "name": "medium"}, MEDIUM_NAME, "model.name is 'medium'."),
        (1e9, {"name": "medium"}, MEDIUM_NAME, "model.name is the embedded model's."),
    ],
)
def test_larger_of_two_local_models_is_chosen_if_it_fits(
    free: float | None, settings: dict[str, Any], name: str, why: str
) -> None:
    named = MEDIUM_ONE if "name" in settings else None
    memory = None if free is None else int(free)
    local = LocalModels((SMALL_ONE, MEDIUM_ONE), named, free_memory=memory)
    choice = decide_model(ModelSettings(**settings), ModelEnvironment({}, (), local))
    assert (choice.model, choice.why.partition(" The prompt is short")[0]) == (name, why)
    assert (choice.tools, choice.context_tokens) == (
        ("auto", 8192) if name == MEDIUM_NAME else ("text", 4096)
    )


def test_larger_local_model_that_is_loaded_needs_no_more_memory() -> None:
    loaded = frozenset({MEDIUM_ONE.path})
    local = LocalModels((SMALL_ONE, MEDIUM_ONE), free_memory=10**9, loaded=loaded)
    settings = ModelSettings(provider="local")
    choice = decide_model(settings, ModelEnvironment({}, (), local))
    assert choice.model == MEDIUM_NAME
    assert "It is loaded already." in choice.why


@pytest.mark.parametrize(
    ("name", "missing", "sentence"),
    [
        ("hf:x", "'hf:x' is not the address of a file", "'hf:x' is not the address of a file"),
        ("/m/a.gguf", "'/m/a.gguf' can't be read", "'/m/a.gguf' can't be read"),
        ("gpt-5", "", "'gpt-5' is not a local model: write a size that `stet model list` shows"),
    ],
)
def test_unusable_local_name_is_reported_with_a_remedy(
    name: str, missing: str, sentence: str
) -> None:
    local = LocalModels((SMALL_ONE,), None, missing)
    with pytest.raises(NoModel, match=sentence):
        decide_model(ModelSettings(provider="local", name=name), ModelEnvironment({}, (), local))


def test_path_is_not_sent_to_a_provider_as_a_name() -> None:
    local = LocalModels((), None, "'/m/a.gguf' can't be read: No such file.")
    with pytest.raises(NoModel, match="can't be read"):
        decide_model(ModelSettings(name="/m/a.gguf"), ModelEnvironment(OPENAI, (), local))


@pytest.mark.parametrize(
    ("title", "calls_tools", "settings", "tools", "family", "max_tokens"),
    [
        ("Qwen2.5 Coder 3B Instruct", True, {}, "auto", "qwen2-5-coder", 1536),
        ("DeepSeek R1 Distill", True, {}, "auto", "deepseek-r1", 4096),
        ("", False, {}, "text", "", 1536),
        ("", False, {"tool_calls": "native"}, "native", "", 1536),
        ("", True, {"max_output_tokens": 99}, "auto", "", 99),
    ],
)
def test_profile_of_any_file_follows_from_its_header(
    title: str,
    calls_tools: bool,
    settings: dict[str, Any],
    tools: str,
    family: str,
    max_tokens: int,
) -> None:
    local = LocalModel(
        "mine", Path("/m/mine.gguf"), 9, 9, 3 * 10**9, 8192, "", "x", title, calls_tools
    )
    given = ModelSettings(provider="local", name="/m/mine.gguf", **settings)
    choice = decide_model(given, ModelEnvironment({}, (), LocalModels((), local)))
    assert (choice.model, choice.tools) == ("mine", tools)
    assert (choice.profile.family, choice.profile.max_tokens) == (family, max_tokens)
    assert choice.profile.is_short


def test_file_name_may_be_a_servers_name_of_its_model() -> None:
    local = LocalModels((), None, "model.name 'a.gguf' is a relative path: write the full path.")
    environment = ModelEnvironment(OPENAI, (), local)
    assert decide_model(ModelSettings(name="a.gguf"), environment).provider == "openai"
