"""The choice of the model, and its reason.

`select_model` inspects the machine and decides, `decide_model` is the decision as a pure function
of the settings, the environment and the facts found, and `open_model` makes a `Model` of the
choice. The order of `auto` is part of the contract: the model that the settings name;
OPENAI_API_KEY; another provider's key; a local server that identifies itself; the embedded model;
else `NoModel` with the way to get one. A key is sent to its own provider only, or where the user's
settings send it by name.

Local servers are asked over loopback. Ollama and LM Studio have known ports and answers.
Ports 8000 and 8080 are never asked: any program may answer there. No secret is sent.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from stet.llm.embedded import weights
from stet.llm.embedded.embedded_model import CONTEXT_TOKENS, EmbeddedModel
from stet.llm.model import Model, NoModel
from stet.llm.model_endpoint import ModelEndpoint, Sampling, hostname_of
from stet.llm.openai_model import OpenAIModel
from stet.llm.providers import COMPATIBLE, HOSTED, LOCAL_SERVERS, PROVIDERS, ProviderSpec
from stet.llm.scripted_model import ScriptedModel
from stet.llm.text_protocol import TextProtocolModel
from stet.settings.values import ModelSettings
from stet.system.system import System
from stet.text.bounded_input import parse_bounded

PROBE_SECONDS = 0.3
MAX_ANSWER_BYTES = 1_000_000
MAX_PARTS = 50_000
OLLAMA_PORT = 11434
LOCAL_TEMPERATURE = 0.2
"""The sampling temperature for a server on this machine, unless the user sets another."""
LOCAL_MAX_TOKENS = 4_096
"""The most tokens of an answer of such a server, unless the user sets another limit."""
LM_STUDIO_PORT = 1234
_HEADERS = "Accept-Encoding: identity\r\nConnection: close\r\n"


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server that runs on this machine.

    Attributes:
        provider: The name of the preset.
        base_url: The base URL of the server.
        models: The server's chat models, the preferred one first.
        context_tokens: The context window of the first model, or None if it is not known.
    """

    provider: Literal["ollama", "lmstudio"]
    base_url: str
    models: tuple[str, ...]
    context_tokens: int | None = None


async def find_local_servers(
    ollama_port: int = OLLAMA_PORT, lm_studio_port: int = LM_STUDIO_PORT
) -> tuple[LocalServer, ...]:
    """Return the servers that identify themselves within `PROBE_SECONDS`, Ollama first."""
    found = await asyncio.gather(_ollama(ollama_port), _lm_studio(lm_studio_port))
    return tuple(server for server in found if server is not None)


async def _ollama(port: int) -> LocalServer | None:
    """Find Ollama, which identifies itself at its root and lists its models at `/api/tags`."""
    root, tags = await asyncio.gather(_get_body(port, "/"), _get_body(port, "/api/tags"))
    if root is None or root.strip() != b"Ollama is running":
        return None
    names = [str(entry["name"]) for entry in _entries(tags, "models") if "name" in entry]
    chat = tuple(name for name in names if "embed" not in name)
    return LocalServer("ollama", f"http://127.0.0.1:{port}/v1", chat)


async def _lm_studio(port: int) -> LocalServer | None:
    """Find LM Studio: only it has `/api/v0/models`, where each model has a type and a state."""
    listed = await _get_body(port, "/api/v0/models")
    entries = [one for one in _entries(listed, "data") if "id" in one and "state" in one]
    if not entries:
        return None
    chat = [one for one in entries if one.get("type") in {"llm", "vlm"}]
    chat.sort(key=lambda one: one["state"] != "loaded")
    first = chat[0] if chat else {}
    limit = first.get("loaded_context_length") or first.get("max_context_length")
    names = tuple(str(one["id"]) for one in chat)
    context_tokens = limit if isinstance(limit, int) else None
    return LocalServer("lmstudio", f"http://127.0.0.1:{port}/v1", names, context_tokens)


def _entries(body: bytes | None, key: str) -> list[dict[str, Any]]:
    """Return the objects in the list at `key` of a JSON object. Return an empty list if the value
    has another form.
    """
    try:
        data = parse_bounded(body or b"", MAX_PARTS)
    except ValueError:
        return []
    entries = data.get(key) if isinstance(data, dict) else None
    return [one for one in entries if isinstance(one, dict)] if isinstance(entries, list) else []


async def _get_body(port: int, path: str) -> bytes | None:
    """Return the body of a successful GET on loopback, or None. Take at most `PROBE_SECONDS`."""
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                # HTTP/1.0, so that the answer ends with the connection and is not chunked.
                head = f"GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\n{_HEADERS}\r\n"
                writer.write(head.encode())
                answer = await _read_all(reader)
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return None
    first, _, body = answer.partition(b"\r\n\r\n")
    status = first.split(b"\r\n", 1)[0].split(b" ")
    return body if len(status) > 1 and status[1] == b"200" else None


async def _read_all(reader: asyncio.StreamReader) -> bytes:
    answer = b""
    while len(answer) < MAX_ANSWER_BYTES and (piece := await reader.read(65536)):
        answer += piece
    return answer


_AUTOMATIC = tuple(preset for preset in HOSTED if preset.base_url)
"""The hosted providers for which a key alone is enough."""
SCRIPT_ENV = "STET_SCRIPTED_MODEL"
HOW_TO_GET_ONE = (
    "Run `stet model install` for a small local one, start Ollama or LM Studio, or set "
    "OPENAI_API_KEY (or another provider's key) in the editor's environment."
)


@dataclass(frozen=True, slots=True)
class ModelChoice(ModelEndpoint):
    """The model that will be asked.

    The provider is a preset's name, `local` for the embedded model, or `scripted` for a script. The
    latter two have no address, and the model of a script is its path.

    Attributes:
        why: One sentence for the user.
        tools: How tools are called: by the API, as text, or as the first answer shows.
    """

    why: str = ""
    tools: Literal["native", "text", "auto"] = "native"


@dataclass(frozen=True, slots=True)
class ModelEnvironment:
    """The facts about this machine that the selection needs.

    Attributes:
        environ: The environment of the process.
        servers: The local servers that run.
        embedded_missing: Why the embedded model can't be used; "" if it can.
    """

    environ: Mapping[str, str]
    servers: tuple[LocalServer, ...] = ()
    embedded_missing: str = ""


async def select_model(settings: ModelSettings, system: System) -> ModelChoice:
    """Inspect the environment and the machine, and decide.

    Raises:
        NoModel: With a sentence that says how to get one.
    """
    return decide_model(settings, await inspect_environment(settings, system))


async def inspect_environment(settings: ModelSettings, system: System) -> ModelEnvironment:
    """Return the environment of the model selection. Local servers are asked only if the answer may
    matter.
    """
    environ = system.environ()
    servers = await find_local_servers() if _asks_servers(settings, environ) else ()
    missing = await weights.why_unavailable(weights.SMOLLM2, weights.default_folder(), system)
    return ModelEnvironment(environ, servers, missing)


def decide_model(settings: ModelSettings, environment: ModelEnvironment) -> ModelChoice:
    """Return the model to use.

    Raises:
        NoModel: With a sentence that says how to get one.
    """
    if script := environment.environ.get(SCRIPT_ENV):
        return ModelChoice("scripted", "", script, why=f"{SCRIPT_ENV} is set.")
    if settings.base_url and not hostname_of(settings.base_url):
        raise NoModel("model.baseUrl is not an http or https address: correct or remove it.")
    if settings.provider == "local":
        return _embedded(settings, environment, "model.provider is set to the embedded model.")
    if settings.provider != "auto":
        return _named_provider(PROVIDERS[settings.provider], settings, environment)
    return _automatic(settings, environment)


async def open_model(choice: ModelChoice, settings: ModelSettings, system: System) -> Model:
    """Return a `Model` for the choice. Nothing is sent, started or imported yet; only a script's
    file is read.

    Raises:
        NoModel: If a script can't be read.
    """
    if choice.provider == "scripted":
        return await ScriptedModel.from_file(Path(choice.model), system)
    if choice.provider == "local":
        return TextProtocolModel(EmbeddedModel(system), always=True)
    preset = PROVIDERS.get(choice.provider, COMPATIBLE)
    endpoint = replace(choice, max_tokens_field=preset.max_tokens_field, hint=preset.hint)
    sampling = _sampling(settings, preset, is_loopback=endpoint.is_loopback)
    model = OpenAIModel(endpoint, system, sampling=sampling)
    if choice.tools == "native":
        return model
    return TextProtocolModel(model, always=choice.tools == "text")


def _sampling(settings: ModelSettings, preset: ProviderSpec, *, is_loopback: bool) -> Sampling:
    """Return the parameters of requests: the user's, and defaults for a server on this machine.

    Such a server samples at its own default, llama.cpp at 0.8, at which small models miss edits;
    and a small model that repeats itself would write for minutes.
    """
    given = Sampling(settings.temperature, settings.max_output_tokens)
    if preset not in LOCAL_SERVERS and not (preset is COMPATIBLE and is_loopback):
        return given
    return Sampling(
        LOCAL_TEMPERATURE if given.temperature is None else given.temperature,
        LOCAL_MAX_TOKENS if given.max_tokens is None else given.max_tokens,
    )


def _asks_servers(settings: ModelSettings, environ: Mapping[str, str]) -> bool:
    """Return whether a local server could be chosen; otherwise no server is asked."""
    if SCRIPT_ENV in environ or settings.base_url:
        return False
    if settings.provider != "auto":
        return settings.provider in {"ollama", "lmstudio"}
    return bool(settings.name) or not any(find_key(preset, environ)[1] for preset in _AUTOMATIC)


def _automatic(settings: ModelSettings, environment: ModelEnvironment) -> ModelChoice:
    if settings.base_url:
        return _explicit_url(settings, environment)
    if settings.name and (choice := _by_name(settings, environment)):
        return choice
    for preset in _AUTOMATIC:
        key_env, key = find_key(preset, environment.environ)
        if key:
            return _hosted(preset, settings, environment, f"{key_env} is set.")
    if settings.name:
        raise NoModel(
            f"No provider for model.name {settings.name!r}: set model.provider or model.baseUrl, "
            "or its provider's key."
        )
    for server in environment.servers:
        if server.models:
            return _server(server, settings, server.models[0], f"{server.provider} is running.")
    return _embedded(
        settings, environment, ("No provider's key is set and no local server is running.")
    )


def _by_name(settings: ModelSettings, environment: ModelEnvironment) -> ModelChoice | None:
    """Return the choice by the model's name alone, or None if its provider can't be used."""
    for preset in _AUTOMATIC:
        if settings.name.startswith(preset.families) and find_key(preset, environment.environ)[1]:
            why = f"model.name {settings.name!r} is one of {preset.name}'s, whose key is set."
            return _hosted(preset, settings, environment, why)
    for server in environment.servers:
        if settings.name in server.models:
            why = f"{server.provider} is running and has {settings.name!r}."
            return _server(server, settings, settings.name, why)
    if settings.name == weights.SMOLLM2.name:
        return _embedded(settings, environment, "model.name is the embedded model's.")
    return None


def _named_provider(
    preset: ProviderSpec, settings: ModelSettings, environment: ModelEnvironment
) -> ModelChoice:
    """Return the choice of the provider that the settings name."""
    why = f"model.provider is {preset.name!r}."
    if preset.key_envs:
        return _hosted(preset, settings, environment, why)
    server = next((one for one in environment.servers if one.provider == preset.name), None)
    if server is not None and server.models:
        return _server(server, settings, settings.name or server.models[0], why)
    return _keyless(preset, settings, environment, why)


def _explicit_url(settings: ModelSettings, environment: ModelEnvironment) -> ModelChoice:
    """Return the choice for an address without a provider. The preset of its host is used, or else
    any OpenAI-compatible server.
    """
    host = hostname_of(settings.base_url)
    for preset in _AUTOMATIC:
        if host == hostname_of(preset.base_url):
            return _hosted(preset, settings, environment, "model.baseUrl is set.")
    return _keyless(COMPATIBLE, settings, environment, "model.baseUrl is set.")


def _keyless(
    preset: ProviderSpec, settings: ModelSettings, environment: ModelEnvironment, why: str
) -> ModelChoice:
    """Return the choice of a server that requires no key but that of `model.apiKeyEnv`, if any."""
    base_url, key_env = settings.base_url or preset.base_url, settings.api_key_env
    key = environment.environ.get(key_env, "").strip()
    tools = _tools(preset, settings, is_users=bool(settings.base_url))
    return ModelChoice(preset.name, base_url, settings.name, key, key_env, why=why, tools=tools)


def _hosted(
    preset: ProviderSpec, settings: ModelSettings, environment: ModelEnvironment, why: str
) -> ModelChoice:
    """Return the choice of a provider that requires a key.

    Raises:
        NoModel: If the key, or the address of an azure resource, is missing.
    """
    environ = environment.environ
    key_env, key = find_key(preset, environ)
    if settings.api_key_env:
        key_env, key = settings.api_key_env, environ.get(settings.api_key_env, "").strip()
    if not key:
        raise NoModel(
            f"{preset.name} requires an API key: set {key_env} in the editor's environment, or "
            "use another variable in model.apiKeyEnv."
        )
    users_url = settings.base_url or environ.get(preset.base_url_env, "").strip()
    base_url = users_url or preset.base_url
    api_version = settings.api_version or environ.get("OPENAI_API_VERSION", "").strip()
    name = settings.name or preset.model
    if preset.name == "azure" and not (base_url and name and api_version):
        raise NoModel(
            "azure needs three more settings: model.baseUrl (the resource's address, or "
            "AZURE_OPENAI_ENDPOINT), model.name (the deployment) and model.apiVersion."
        )
    tools = _tools(preset, settings, is_users=bool(users_url))
    version = api_version if preset.name == "azure" else ""
    return ModelChoice(preset.name, base_url, name, key, key_env, version, why=why, tools=tools)


def _server(server: LocalServer, settings: ModelSettings, name: str, why: str) -> ModelChoice:
    tools = _tools(PROVIDERS[server.provider], settings, is_users=False)
    size = server.context_tokens if name == server.models[0] else None
    provider, url = server.provider, server.base_url
    return ModelChoice(provider, url, name, context_tokens=size, why=why, tools=tools)


def _embedded(settings: ModelSettings, environment: ModelEnvironment, why: str) -> ModelChoice:
    if not environment.embedded_missing:
        name, size = weights.SMOLLM2.name, CONTEXT_TOKENS
        return ModelChoice("local", "", name, context_tokens=size, why=why, tools="text")
    if settings.provider == "local":
        raise NoModel(environment.embedded_missing)
    how = HOW_TO_GET_ONE
    if environment.embedded_missing == weights.HOW_TO_GET_RUNTIME:
        # The weights alone would lead back to this very message.
        how = f"{weights.HOW_TO_GET_RUNTIME} {HOW_TO_GET_ONE.replace('Run', 'Then run', 1)}"
    raise NoModel(f"No model is available. {how}")


def _tools(
    preset: ProviderSpec, settings: ModelSettings, *, is_users: bool
) -> Literal["native", "text", "auto"]:
    """Return how tools are called; any server may be at an address of the user's (`is_users`)."""
    if settings.tool_calls != "auto":
        return settings.tool_calls
    return "auto" if is_users else preset.tools


def find_key(preset: ProviderSpec, environ: Mapping[str, str]) -> tuple[str, str]:
    """Return the first variable of a preset that is set and its value. Otherwise return the first
    variable and "".
    """
    for name in preset.key_envs:
        if key := environ.get(name, "").strip():
            return name, key
    return preset.key_envs[0], ""
