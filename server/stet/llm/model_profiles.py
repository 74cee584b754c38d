"""The profile of a model: how much it is sent, how it calls tools, how long its answers may be.

A profile follows from what the server reports, the name of the model, and the user's settings, which
win. What is known of families of models is data (`model_profiles.toml`). Prices are those of the
provider (`stet.llm.providers`).

A small model answers a long prompt with the prompt's own words, and a small window has no room for
one: it gets a short prompt with few tools.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

from stet.settings.values import ModelSettings

SMALL_MODEL = 8.5
"""The most billions of parameters of a small model."""
TINY_ANSWER_MODEL = 4.0
"""The most billions of parameters of a model whose answers are limited to `SHORTEST_ANSWER`."""
SMALL_WINDOW = 8_192
"""The largest window, in tokens, that has no room for the full prompt."""
DOUBTFUL_WINDOW = 16_384
"""The largest window, in tokens, of a local model of unknown size that gets the short prompt."""
LOCAL_TEMPERATURE = 0.2
"""The sampling temperature for a server on this machine, unless the model's maker gives another.

Such a server samples at its own default, llama.cpp at 0.8, at which small models miss edits.
"""
LOCAL_MAX_TOKENS = 4_096
SHORT_ANSWER = 2_048
SHORTEST_ANSWER = 1_536
"""The most tokens of an answer of a local model, a small one, and one of `TINY_ANSWER_MODEL`: a
model that repeats itself would write for minutes."""

PromptForm = Literal["short", "full"]
ToolCalls = Literal["native", "text", "auto"]


@dataclass(frozen=True, slots=True)
class ModelFamily:
    """The models of one family.

    Attributes:
        name: The name of the family.
        pattern: A regular expression that is found in the names of its models.
        window: The context window as trained, in tokens.
        size: The billions of parameters of a model whose name has no number; None if unknown.
        tool_calls: How the family calls tools; `text` if its chat template has no tools.
        calls_well: Whether also its models of at most `TINY_ANSWER_MODEL` call tools dependably.
        temperature: The temperature that the maker recommends; None for no recommendation.
        thinks: Whether an answer begins with reasoning that counts as output.
    """

    name: str
    pattern: str
    window: int
    size: float | None = None
    tool_calls: ToolCalls = "auto"
    calls_well: bool = False
    temperature: float | None = None
    thinks: bool = False


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """The facts from which a profile is derived.

    Attributes:
        name: The name of the model; "" if it is not known yet.
        provider: The name of the provider.
        is_local: Whether the model runs on a server for models of the user's own.
        is_hosted: Whether the provider requires a key of its own.
        is_tiny: Whether it is an embedded model that gets a grammar of calls; see `Model`.
        context_tokens: The window that the server reports, in tokens, or None.
        parameters: The billions of parameters that the server reports, or None.
    """

    name: str
    provider: str
    is_local: bool = False
    is_hosted: bool = False
    is_tiny: bool = False
    context_tokens: int | None = None
    parameters: float | None = None


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """How a model is asked.

    Attributes:
        family: The name of the model's family; "" if it is unknown.
        prompt: `short`: a few sentences and a few tools; `full`: all of them.
        window: The tokens that the model can read, or None if the number is not known.
        tool_calls: How tools are called.
        edits: How edits are written: `calls` of a tool, or `blocks` of code for a very small model,
            whose calls are rarely right.
        max_tokens: The most tokens of an answer, or None for the model's own limit.
        temperature: The sampling temperature, or None for the provider's default.
        why: One sentence about the choice of the prompt; "" if nothing was to be chosen.
    """

    family: str = ""
    prompt: PromptForm = "full"
    window: int | None = None
    tool_calls: ToolCalls = "auto"
    edits: Literal["calls", "blocks"] = "calls"
    max_tokens: int | None = None
    temperature: float | None = None
    why: str = ""

    @property
    def is_short(self) -> bool:
        """Whether the model is sent the short prompt."""
        return self.prompt == "short"


FULL_PROFILE = ModelProfile()
"""The profile of a model of which nothing is known."""

_TABLES: Mapping[str, Mapping[str, object]] = tomllib.loads(
    (files("stet.llm") / "model_profiles.toml").read_text(encoding="utf-8")
)
FAMILIES = tuple(ModelFamily(name, **fields) for name, fields in _TABLES.items())  # type: ignore[arg-type]
"""The families in the order in which their patterns are tried."""

_MAX_NAME = 300
_SIZE = re.compile(
    r"(?:(?P<experts>\d{1,3})x)?(?P<number>\d{1,4}(?:\.\d{1,3})?)[ ]?(?P<unit>[bm])(?![a-z0-9])"
)
_UNITS = {"b": 1.0, "m": 0.001}


def parse_size(name: str) -> float | None:
    """Return the billions of parameters that a model's name states, or None.

    Of several numbers the first counts (`30b-a3b`: 3 of 30 billions are active); experts are
    multiplied (`8x7b`); `e4b` has the weight of 4 billions.
    """
    found = _SIZE.search(_last_part(name))
    if found is None:
        return None
    size = float(found["number"]) * _UNITS[found["unit"]] * int(found["experts"] or 1)
    return size or None


def find_family(name: str) -> ModelFamily | None:
    """Return the family of a model by its name, or None if it is unknown."""
    last = _last_part(name)
    return next((one for one in FAMILIES if re.search(one.pattern, last)), None)


def choose_profile(facts: ModelFacts, settings: ModelSettings) -> ModelProfile:
    """Return the profile of a model; what the settings say wins, then what the server reports."""
    family = find_family(facts.name)
    size = facts.parameters or parse_size(facts.name) or (family.size if family else None)
    trained = family.window if family and facts.is_local and facts.provider != "ollama" else None
    known = settings.context_tokens or facts.context_tokens
    prompt, why = _choose_prompt(facts, settings, size, known)
    max_tokens = settings.max_output_tokens
    temperature = settings.temperature
    if facts.is_local:
        max_tokens = max_tokens or _answer_limit(
            size, prompt, thinks=bool(family and family.thinks)
        )
        if temperature is None:
            given = family.temperature if family else None
            temperature = LOCAL_TEMPERATURE if given is None else given
    return ModelProfile(
        family.name if family else "",
        prompt,
        known or trained,
        family.tool_calls if family and facts.is_local else "auto",
        _choose_edits(facts, settings, family, size, prompt),
        max_tokens,
        temperature,
        why,
    )


def _choose_prompt(
    facts: ModelFacts, settings: ModelSettings, size: float | None, window: int | None
) -> tuple[PromptForm, str]:
    """Return the form of the prompt, and a sentence about it; "" for the usual full one."""
    if settings.prompt != "auto":
        return (
            settings.prompt,
            f'The prompt is {settings.prompt}: model.prompt is "{settings.prompt}".',
        )
    if facts.is_hosted or not facts.provider:
        return "full", ""
    if size is not None and size <= SMALL_MODEL:
        return "short", f"The prompt is short: the model has {size:g} billion parameters."
    is_doubtful = size is None and facts.is_local
    if window is not None and window <= (DOUBTFUL_WINDOW if is_doubtful else SMALL_WINDOW):
        return "short", f"The prompt is short: the model's window is {window:,} tokens."
    if is_doubtful and window is None and facts.provider == "ollama":
        return "short", _UNKNOWN_OLLAMA
    return "full", ""


def _choose_edits(
    facts: ModelFacts,
    settings: ModelSettings,
    family: ModelFamily | None,
    size: float | None,
    prompt: PromptForm,
) -> Literal["calls", "blocks"]:
    """Return how a model writes edits; the settings choose calls by a form of calls."""
    if prompt == "full" or settings.tool_calls != "auto" or facts.is_tiny:
        return "calls"
    is_very_small = size is not None and size <= TINY_ANSWER_MODEL
    return "blocks" if is_very_small and not (family and family.calls_well) else "calls"


_UNKNOWN_OLLAMA = (
    "The prompt is short: the model's size is unknown, and Ollama may cut a long one. "
    'Set model.prompt to "full" for a large model.'
)


def _answer_limit(size: float | None, prompt: PromptForm, *, thinks: bool) -> int:
    """Return the most tokens of an answer of a local model."""
    if thinks or prompt == "full":
        return LOCAL_MAX_TOKENS
    is_very_small = size is not None and size <= TINY_ANSWER_MODEL
    return SHORTEST_ANSWER if is_very_small else SHORT_ANSWER


def _last_part(name: str) -> str:
    """Return the last part of a name or path, in lower case and without a repository or folder."""
    return re.split(r"[/\\]", name[-_MAX_NAME:])[-1].lower()
