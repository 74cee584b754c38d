"""The choice of the model, and its reason.

`select_model` inspects the machine and decides, `decide_model` is the decision as a pure function
of the settings, the environment and the facts found, `with_profile` adds how the model is asked,
and `open_model` makes a `Model` of the choice. The order of `auto` is part of the contract: the model that the settings name;
OPENAI_API_KEY; another provider's key; a local server that identifies itself; the embedded model;
else `NoModel` with the way to get one. A key is sent to its own provider only, or where the user's
settings send it by name.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from stet.llm.embedded.embedded_model import EmbeddedModel
from stet.llm.embedded.model_daemons import ModelDaemons
from stet.llm.local_servers import LocalServer, ServedModel, find_local_servers, find_served_model
from stet.llm.model import Model, NoModel
from stet.llm.model_endpoint import ModelEndpoint, Sampling, hostname_of
from stet.llm.model_profiles import FULL_PROFILE, ModelFacts, ModelProfile, choose_profile
from stet.llm.openai_model import OpenAIModel
from stet.llm.providers import COMPATIBLE, HOSTED, LOCAL_SERVERS, PROVIDERS, ProviderSpec
from stet.llm.scripted_model import ScriptedModel
from stet.llm.text_protocol import TextProtocolModel
from stet.llm.weights import model_folder
from stet.llm.weights.local_model import (
    GB,
    LocalModel,
    UnusableModel,
    find_local_model,
    installed_models,
    is_local_name,
)
from stet.settings.values import ModelSettings
from stet.system.memory import free_memory
from stet.system.system import System

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
        profile: How the model is asked.
        awaits_server: Whether a server on this machine has not reported its model yet, perhaps
            because it is not running: it is asked again before the next turn.
        local: The weights of the embedded model; None for another model.
    """

    why: str = ""
    tools: Literal["native", "text", "auto"] = "native"
    profile: ModelProfile = FULL_PROFILE
    awaits_server: bool = False
    local: LocalModel | None = None


@dataclass(frozen=True, slots=True)
class LocalModels:
    """The local models that could be run.

    Attributes:
        installed: The installed models of the catalog, the smallest first.
        named: The model that `model.name` means; None if it means none of them.
        missing: Why none can be used, or why the named one can't; "" if it can.
        free_memory: The free memory in bytes; None if it is not known.
        loaded: The files of the models that a daemon has loaded, so that they need no more memory.
    """

    installed: tuple[LocalModel, ...] = ()
    named: LocalModel | None = None
    missing: str = ""
    free_memory: int | None = None
    loaded: frozenset[Path] = frozenset()


@dataclass(frozen=True, slots=True)
class ModelEnvironment:
    """The facts about this machine that the selection needs.

    Attributes:
        environ: The environment of the process.
        servers: The local servers that run.
        local: The local models.
    """

    environ: Mapping[str, str]
    servers: tuple[LocalServer, ...] = ()
    local: LocalModels = LocalModels()


async def select_model(
    settings: ModelSettings, system: System, daemons: ModelDaemons | None = None
) -> ModelChoice:
    """Inspect the environment and the machine, and decide.

    Args:
        settings: The settings.
        system: The access to the machine.
        daemons: The model daemons that may be used, or None.

    Raises:
        NoModel: With a sentence that says how to get one.
    """
    choice = _decide(settings, await inspect_environment(settings, system, daemons))
    if not (_is_local(choice) and choice.is_loopback):
        return with_profile(choice, settings)
    served = await find_served_model(choice.base_url, choice.model, choice.api_key)
    return replace(with_profile(choice, settings, served), awaits_server=served is None)


def with_profile(
    choice: ModelChoice, settings: ModelSettings, served: ServedModel | None = None
) -> ModelChoice:
    """Return a choice with the profile of its model.

    Args:
        choice: The choice.
        settings: The settings, which win over the profile.
        served: What the server reports of the model, or None.
    """
    served = served or ServedModel(choice.model)
    name = choice.model or served.name
    facts = ModelFacts(
        choice.local.full_name if choice.local else name,
        choice.provider if choice.provider != "scripted" else "",
        is_local=_is_local(choice),
        is_hosted=bool(PROVIDERS.get(choice.provider, COMPATIBLE).key_envs),
        is_tiny=choice.local is not None and choice.local.is_tiny,
        context_tokens=choice.context_tokens or served.context_tokens,
        parameters=served.parameters or (choice.local.billions if choice.local else None),
    )
    profile = choose_profile(facts, settings)
    tools = profile.tool_calls if choice.tools == "auto" else choice.tools
    return replace(
        choice,
        model=name,
        context_tokens=profile.window,
        why=" ".join(filter(None, (choice.why, profile.why))),
        tools=tools,
        profile=profile,
    )


def _is_local(choice: ModelChoice) -> bool:
    """Return whether a model runs on a server for models of the user's own, or is embedded."""
    if choice.provider == "local":
        return True
    preset = PROVIDERS.get(choice.provider, COMPATIBLE)
    return preset in LOCAL_SERVERS or (preset is COMPATIBLE and choice.is_loopback)


async def inspect_environment(
    settings: ModelSettings, system: System, daemons: ModelDaemons | None = None
) -> ModelEnvironment:
    """Return the environment of the model selection. Local servers are asked only if the answer may
    matter.

    Args:
        settings: The settings.
        system: The access to the machine.
        daemons: The model daemons that may be used, or None.
    """
    environ = system.environ()
    servers = await find_local_servers() if _asks_servers(settings, environ) else ()
    name = settings.name if settings.provider in {"auto", "local"} else ""
    return ModelEnvironment(environ, servers, await asyncio.to_thread(_find_local, name, daemons))


def _find_local(name: str, daemons: ModelDaemons | None) -> LocalModels:
    """Return the local models. It blocks.

    Args:
        name: The setting `model.name`, if it may mean a local model.
        daemons: The model daemons that may be used, or None.
    """
    folder = model_folder.default_folder()
    installed, free, named = installed_models(folder), free_memory(), None
    missing = model_folder.why_no_runtime()
    if not missing:
        try:
            named = find_local_model(name, folder) if name else None
        except UnusableModel as error:
            missing = str(error)
        if not missing and not installed and not name:
            missing = "No local model is installed: run `stet model install`."
    loaded = frozenset(one.model for one in daemons.running()) if daemons else frozenset[Path]()
    return LocalModels(installed, named, missing, free, loaded)


def decide_model(settings: ModelSettings, environment: ModelEnvironment) -> ModelChoice:
    """Return the model to use, with the profile that its name suggests.

    Raises:
        NoModel: With a sentence that says how to get one.
    """
    return with_profile(_decide(settings, environment), settings)


def _decide(settings: ModelSettings, environment: ModelEnvironment) -> ModelChoice:
    """Return the model to use, without its profile.

    Raises:
        NoModel: With a sentence that says how to get one.
    """
    if script := environment.environ.get(SCRIPT_ENV):
        return ModelChoice("scripted", "", script, why=f"{SCRIPT_ENV} is set.")
    if settings.base_url and not hostname_of(settings.base_url):
        raise NoModel("model.baseUrl is not an http or https address: correct or remove it.")
    if settings.provider == "local":
        return _local(settings, environment)
    if settings.provider != "auto":
        return _named_provider(PROVIDERS[settings.provider], settings, environment)
    return _automatic(settings, environment)


async def open_model(
    choice: ModelChoice, system: System, daemons: ModelDaemons | None = None
) -> Model:
    """Return a `Model` for the choice. Nothing is sent, started or imported yet; only a script's
    file is read.

    Args:
        choice: The choice.
        system: Starts the process of an embedded model, and reads a script.
        daemons: The model daemons that an embedded model may use, or None.

    Raises:
        NoModel: If a script can't be read.
    """
    if choice.provider == "scripted":
        return await ScriptedModel.from_file(Path(choice.model), system)
    if choice.provider == "local":
        assert choice.local is not None  # `_embedded_choice` sets it
        embedded = EmbeddedModel(
            system, choice.local, max_tokens=choice.profile.max_tokens, daemons=daemons
        )
        if choice.tools == "native":
            return embedded
        return TextProtocolModel(embedded, always=choice.tools == "text")
    preset = PROVIDERS.get(choice.provider, COMPATIBLE)
    endpoint = replace(choice, max_tokens_field=preset.max_tokens_field, hint=preset.hint)
    sampling = Sampling(
        choice.profile.temperature,
        choice.profile.max_tokens,
        cache_prompt=True if choice.provider == "llamacpp" else None,
    )
    model = OpenAIModel(endpoint, system, sampling=sampling)
    if choice.tools == "native":
        return model
    return TextProtocolModel(model, always=choice.tools == "text")


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
        settings, environment, "No provider's key is set and no local server is running."
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
    local = environment.local
    if local.named is not None:
        return _embedded_choice(local.named, settings, "model.name is the embedded model's.")
    if is_local_name(settings.name):
        raise NoModel(local.missing)
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


def _local(settings: ModelSettings, environment: ModelEnvironment) -> ModelChoice:
    """Return the choice for `model.provider` "local".

    Raises:
        NoModel: If the named model, or any, is not installed or can't be run.
    """
    local = environment.local
    if not settings.name:
        why = "model.provider is set to the embedded model."
        return _embedded(settings, environment, why)
    if local.named is None:
        raise NoModel(
            local.missing
            or f"model.name {settings.name!r} is not a local model: write a size that `stet model "
            "list` shows, the full path of a GGUF file, or hf:OWNER/REPOSITORY/FILE.gguf@REVISION."
        )
    return _embedded_choice(local.named, settings, f"model.name is {settings.name!r}.")


def _embedded(settings: ModelSettings, environment: ModelEnvironment, why: str) -> ModelChoice:
    """Return the choice of the largest installed model that fits into the free memory, or else of
    the smallest.

    Raises:
        NoModel: If none is installed; the message says how to get one.
    """
    local = environment.local
    if local.installed and not local.missing:
        free = local.free_memory
        fitting = [
            one for one in local.installed
            if free is None or one.memory <= free or one.path in local.loaded
        ]  # fmt: skip
        best = fitting[-1] if fitting else local.installed[0]
        return _embedded_choice(best, settings, f"{why} {_why_this(best, local)}".strip())
    if settings.provider == "local":
        raise NoModel(local.missing)
    how = HOW_TO_GET_ONE
    if local.missing == model_folder.HOW_TO_GET_RUNTIME:
        # The weights alone would lead back to this very message.
        how = f"{model_folder.HOW_TO_GET_RUNTIME} {HOW_TO_GET_ONE.replace('Run', 'Then run', 1)}"
    raise NoModel(f"No model is available. {how}")


def _why_this(best: LocalModel, local: LocalModels) -> str:
    """Return a sentence that says why one of several installed models is chosen, or ""."""
    largest = local.installed[-1]
    if len(local.installed) < 2 or local.free_memory is None:
        return ""
    free = f"{local.free_memory / GB:.1f} GB"
    if best.path in local.loaded:
        return "It is loaded already."
    if best is largest:
        return f"It is the largest installed one that fits into the free memory ({free})."
    needed = f"{largest.memory / GB:.1f} GB"
    return f"The larger {largest.name} needs {needed} of memory, and {free} are free."


def _embedded_choice(local: LocalModel, settings: ModelSettings, why: str) -> ModelChoice:
    tools = settings.tool_calls
    if settings.context_tokens:
        local = replace(local, context_tokens=settings.context_tokens)
    return ModelChoice(
        "local",
        "",
        local.name,
        context_tokens=local.context_tokens,
        why=why,
        tools="text" if local.is_tiny or (tools == "auto" and not local.calls_tools) else tools,
        local=local,
    )


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
