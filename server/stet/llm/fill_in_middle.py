"""Fill in the middle: ask a model for the text between a prefix and a suffix.

A server is asked in one of three forms (`completion.endpoint`):

- `infill`: llama.cpp's `/infill`, which knows the control tokens of its model;
- `completions`: `/completions` with the control tokens of the model's family, by the model's name
  (`fill_in_middle.toml`): vLLM, LM Studio and others;
- `suffix`: `/completions` with a field `suffix`: Ollama, DeepSeek, Mistral.

`auto` is `suffix` for the services in the table and for Ollama's port; any other server is asked
for `/infill` first, and in the form `completions` if it has no such path.
"""

import asyncio
import re
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from stet.llm import failure_mapping as faults
from stet.llm.model import ModelError, ModelRefused
from stet.llm.model_endpoint import LOOPBACK, ModelEndpoint, Timeouts, hostname_of
from stet.llm.retry import AttemptFailure
from stet.settings.values import CompletionSettings
from stet.system.system import System

if TYPE_CHECKING:
    from stet.llm.transport import Transport

OLLAMA_PORT = 11434
TIMEOUTS = Timeouts(connect=5.0, first=60.0, idle=15.0, total=90.0)
MAX_CHARACTERS = 20_000
"""The most characters of an answer; a thousand tokens have fewer."""

Form = Literal["infill", "completions", "suffix"]
IsComplete = Callable[[str], bool]
"""Returns whether a text needs no continuation: the request then ends, and its connection is
closed.
"""

_TABLES = tomllib.loads((files("stet.llm") / "fill_in_middle.toml").read_text(encoding="utf-8"))
_PLACEHOLDER = re.compile(r"(\{prefix\}|\{suffix\})")
_NO_PATH = re.compile(r"(?i)unexpected endpoint|not found|no such (?:path|route)")
_NO_MIDDLE = re.compile(
    # llama.cpp; Ollama; vLLM; others
    r"(?i)infill is not supported|does not support insert|suffix\W* is not (?:currently )?supported"
    r"|does not support \W*suffix|unsupported param\w*: suffix|(?:prefix|suffix) token is missing"
)


@dataclass(frozen=True, slots=True)
class FimFamily:
    """The control tokens of a family of models.

    Attributes:
        names: Parts of the names of its models, in lower case.
        template: The prompt, with `{prefix}` and `{suffix}`.
        stop: The texts that end an answer.
    """

    names: tuple[str, ...]
    template: str
    stop: tuple[str, ...]

    def prompt(self, prefix: str, suffix: str) -> str:
        """Return the prompt for a prefix and a suffix."""
        values = {"{prefix}": prefix, "{suffix}": suffix}
        # In one pass: the texts may contain the placeholders.
        return "".join(values.get(part, part) for part in _PLACEHOLDER.split(self.template))


FAMILIES = tuple(
    FimFamily(tuple(one["names"]), one["template"], tuple(one["stop"]))
    for one in _TABLES["families"].values()
)


def family_of(model: str) -> FimFamily | None:
    """Return the family of a model by its name, or None if the family is not known."""
    name = model.lower()
    return next((one for one in FAMILIES if any(part in name for part in one.names)), None)


@dataclass(frozen=True, slots=True)
class FillRequest:
    """One request for the text between a prefix and a suffix.

    Attributes:
        prefix: The text before.
        suffix: The text after.
        max_tokens: The most tokens of the answer.
        one_line: Whether the answer ends at its first line end.
    """

    prefix: str
    suffix: str
    max_tokens: int
    one_line: bool = False


class _Enough(Exception):
    """The text is complete, and the rest of the answer is not needed."""


class FillInMiddleModel:
    """A model that fills in the middle, at the address of `completion.baseUrl`."""

    def __init__(self, settings: CompletionSettings, system: System) -> None:
        """Create the model; nothing is sent or imported yet."""
        key = system.environ().get(settings.api_key_env, "").strip()
        base_url = settings.base_url.rstrip("/")
        self._endpoint = ModelEndpoint(
            "The completion model",
            base_url,
            settings.name,
            key,
            settings.api_key_env,
            section="completion",
            # llama.cpp closes a connection after an answer without saying so.
            keep_alive=hostname_of(base_url) not in LOOPBACK,
        )
        service = _TABLES["services"].get(hostname_of(base_url), {})
        self._suffix_path: str = service.get("path", "/completions")
        is_auto = settings.endpoint == "auto"
        takes_suffix = bool(service) or _is_ollama(self._endpoint)
        self._form: Form | None = None if is_auto else settings.endpoint  # type: ignore[assignment]
        if is_auto and takes_suffix:
            self._form = "suffix"
        self._now = system.now
        self._opening = asyncio.Lock()
        self._transport: Transport | None = None

    @property
    def name(self) -> str:
        """The provider's name for the model; "" while it is not known."""
        return self._endpoint.model

    @property
    def host(self) -> str:
        """The host and port of the server."""
        return self._endpoint.host

    async def fill(self, request: FillRequest, is_complete: IsComplete) -> str:
        """Return the text between the prefix and the suffix.

        If the call is cancelled, the connection is closed, and the server stops.

        Raises:
            ModelError: With a sentence for the user.
        """
        if not self._endpoint.host:
            raise faults.bad_url_failure(self._endpoint).error
        transport = await self._open()
        try:
            if self._form is not None:
                return await self._ask(transport, self._form, request, is_complete)
            return await self._ask_first(transport, request, is_complete)
        except AttemptFailure as failure:
            raise _explained(failure) from failure

    async def close(self) -> None:
        """Close the connections."""
        transport, self._transport = self._transport, None
        if transport is not None:
            await transport.close()

    async def _ask_first(
        self, transport: "Transport", request: FillRequest, is_complete: IsComplete
    ) -> str:
        """Find the form of the server with the first request.

        Raises:
            AttemptFailure: If the request failed.
        """
        try:
            text = await self._ask(transport, "infill", request, is_complete)
        except AttemptFailure as failure:
            is_missing = failure.status in {404, 405} or _NO_PATH.search(failure.detail)
            if not is_missing:
                raise
            text = await self._ask(transport, "completions", request, is_complete)
            self._form = "completions"
            return text
        self._form = "infill"
        return text

    async def _ask(
        self, transport: "Transport", form: Form, request: FillRequest, is_complete: IsComplete
    ) -> str:
        """Send one request and return its answer.

        Raises:
            AttemptFailure: If the request failed.
        """
        if form != "infill" and not self._endpoint.model:
            await self._find_name(transport)
        path, body = self._request(form, request)
        pieces: list[str] = []

        def take(chunk: Mapping[str, Any]) -> bool:
            piece = _text_of(chunk)
            pieces.append(piece)
            if piece:
                text = "".join(pieces)
                if len(text) > MAX_CHARACTERS or is_complete(text):
                    raise _Enough
            return bool(piece)

        with suppress(_Enough):
            await transport.stream(body, take, path=path)
        return "".join(pieces)[:MAX_CHARACTERS]

    def _request(self, form: Form, request: FillRequest) -> tuple[str, dict[str, Any]]:
        """Return the path and the body of a request.

        Raises:
            AttemptFailure: If the control tokens of the model are not known.
        """
        stop = ["\n"] if request.one_line else []
        body: dict[str, Any] = {"temperature": 0, "stream": True}
        if self._endpoint.model:
            body["model"] = self._endpoint.model
        if form == "infill":
            body |= {"input_prefix": request.prefix, "input_suffix": request.suffix, "stop": stop}
            body |= {"n_predict": request.max_tokens, "cache_prompt": True}
            return f"{self._endpoint.base_url.removesuffix('/v1')}/infill", body
        body["max_tokens"] = request.max_tokens
        if form == "suffix":
            body |= {"prompt": request.prefix, "suffix": request.suffix}
            return self._suffix_path, body | ({"stop": stop} if stop else {})
        family = family_of(self._endpoint.model)
        if family is None:
            raise AttemptFailure(
                ModelRefused(
                    f"{self._endpoint.label}: the control tokens by which the model "
                    f"{self._endpoint.model!r} fills in the middle are not known. Set "
                    'completion.endpoint to "infill" (llama.cpp) or "suffix" (Ollama), or choose '
                    "another model, such as Qwen2.5-Coder, in completion.name."
                )
            )
        body["prompt"] = family.prompt(request.prefix, request.suffix)
        return "/completions", body | {"stop": [*stop, *family.stop]}

    async def _find_name(self, transport: "Transport") -> None:
        """Use the server's first model.

        Raises:
            AttemptFailure: If the server lists none.
        """
        name = await transport.first_model()
        if not name:
            raise AttemptFailure(
                ModelRefused(f"{self._endpoint.label} lists no model: set completion.name.")
            )
        self._endpoint = replace(self._endpoint, model=name)

    async def _open(self) -> "Transport":
        async with self._opening:
            if self._transport is None:
                self._transport = await asyncio.to_thread(self._built)
            return self._transport

    def _built(self) -> "Transport":
        # Late: the import takes 0.3 s and more.
        from stet.llm.transport import Transport

        return Transport(self._endpoint, TIMEOUTS, self._now)


def _is_ollama(endpoint: ModelEndpoint) -> bool:
    return endpoint.is_loopback and urlsplit(endpoint.base_url).port == OLLAMA_PORT


def _explained(failure: AttemptFailure) -> ModelError:
    """Return the error for the user, with the remedy if the model can't fill in the middle."""
    if not _NO_MIDDLE.search(failure.detail):
        return failure.error
    return ModelRefused(
        f"{failure.error} This model can't fill in the middle: choose one that can, such as "
        "Qwen2.5-Coder, in completion.name or on the server."
    )


def _text_of(chunk: Mapping[str, Any]) -> str:
    """Return the text of a chunk: llama.cpp's `content`, or the first of the `choices`."""
    text = chunk.get("content")
    choices = chunk.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
        choice = choices[0]
        inner = choice.get("delta") or choice.get("message")  # Mistral's
        text = inner.get("content") if isinstance(inner, Mapping) else choice.get("text")
    return text if isinstance(text, str) else ""
