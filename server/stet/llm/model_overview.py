"""Every model Stet could use, and the state of each: for `stet model list` and `stet doctor`."""

from dataclasses import dataclass

from stet.llm.embedded import weights
from stet.llm.model import NoModel
from stet.llm.model_selection import (
    LocalServer,
    ModelChoice,
    ModelEnvironment,
    decide_model,
    find_local_servers,
)
from stet.llm.providers import HOSTED, LOCAL_SERVERS, ProviderSpec
from stet.settings.values import ModelSettings
from stet.system.system import System


@dataclass(frozen=True, slots=True)
class ModelOption:
    """One model or provider.

    Attributes:
        provider: As in the setting `model.provider`; `scripted` for a script.
        name: The model that would be asked; "" where the settings or the server decide.
        reason: Why it can be used, or what is missing and how to get it.
        is_ready: Whether it can be used now. A key is not tried out: that would cost money.
        is_chosen: Whether it is the one that would be used.
    """

    provider: str
    name: str
    reason: str
    is_ready: bool = False
    is_chosen: bool = False


@dataclass(frozen=True, slots=True)
class ModelOverview:
    """All options, and the one that would be used.

    Attributes:
        options: In the order in which `auto` examines them.
        choice: The option that would be used, or None.
        problem: Why there is no choice: a sentence with a remedy; "" if there is a choice.
    """

    options: tuple[ModelOption, ...]
    choice: ModelChoice | None
    problem: str


async def inspect_models(settings: ModelSettings, system: System) -> ModelOverview:
    """Look at the settings, the environment and the machine; nothing leaves it."""
    servers = await find_local_servers()
    embedded = await weights.why_unavailable(weights.SMOLLM2, weights.default_folder(), system)
    return build_overview(settings, ModelEnvironment(system.environ(), servers, embedded))


def build_overview(settings: ModelSettings, environment: ModelEnvironment) -> ModelOverview:
    """Return the overview of `inspect_models` for an environment that has already been inspected."""
    choice, problem = None, ""
    try:
        choice = decide_model(settings, environment)
    except NoModel as exc:
        problem = str(exc)
    options = [_hosted(preset, environment) for preset in HOSTED]
    options += [_local_server(preset, environment.servers) for preset in LOCAL_SERVERS]
    options.append(_embedded(environment))
    if choice is None:
        return ModelOverview(tuple(options), None, problem)
    chosen = ModelOption(choice.provider, choice.name, choice.why, is_ready=True, is_chosen=True)
    others = [option for option in options if option.provider != choice.provider]
    place = next((n for n, one in enumerate(options) if one.provider == choice.provider), 0)
    return ModelOverview((*others[:place], chosen, *others[place:]), choice, "")


def _hosted(preset: ProviderSpec, environment: ModelEnvironment) -> ModelOption:
    names = [name for name in preset.key_envs if environment.environ.get(name, "").strip()]
    if names:
        return ModelOption(preset.name, preset.model, f"{names[0]} is set.", is_ready=True)
    return ModelOption(preset.name, preset.model, f"{' or '.join(preset.key_envs)} is not set.")


def _local_server(preset: ProviderSpec, servers: tuple[LocalServer, ...]) -> ModelOption:
    server = next((one for one in servers if one.provider == preset.name), None)
    if preset.name not in {"ollama", "lmstudio"}:
        reason = f'Used where model.provider is "{preset.name}": its port may be anybody\'s.'
        return ModelOption(preset.name, "", reason)
    if server is None:
        return ModelOption(preset.name, "", f"Does not run. {preset.hint}")
    if not server.models:
        return ModelOption(preset.name, "", "Runs, but has no model: fetch one there.")
    return ModelOption(
        preset.name, server.models[0], f"Runs; {len(server.models)} models.", is_ready=True
    )


def _embedded(environment: ModelEnvironment) -> ModelOption:
    reason = environment.embedded_missing
    return ModelOption("local", weights.SMOLLM2.name, reason or "Installed.", is_ready=not reason)
