"""The embedded model as a `Model`: a child process that starts with the first request."""

import asyncio
import json
import secrets
from asyncio.subprocess import Process
from contextlib import suppress
from dataclasses import replace
from importlib import import_module

from stet.llm.embedded import weights
from stet.llm.model import (
    Completion,
    ModelUnavailable,
    NoModel,
    Request,
    Sink,
    StreamInterrupted,
    ignore,
)
from stet.llm.model_endpoint import ModelEndpoint, Sampling, Timeouts
from stet.llm.openai_model import OpenAIModel
from stet.llm.retry import RetryPolicy
from stet.system.helper_process import kill_and_wait, module_command
from stet.system.system import System

CONTEXT_TOKENS = 4096
MAX_ANSWER_TOKENS = 512
"""The most tokens of an answer: such a small model may repeat itself without end."""
START_SECONDS = 60.0
END_SECONDS = 2.0
"""The time in which a child process must end after its stdin is closed."""
CHILD = "stet.llm.embedded.llama_server"
TIMEOUTS = Timeouts(connect=5.0, first=120.0, idle=60.0, total=600.0)


class EmbeddedModel:
    """A small model on this machine, at a random port with a key; one request at a time.

    Args:
        system: Starts the process.
        cache_prompt: Keep the prompt's state between rounds: far faster if rounds have the same
            beginning, but the same request may be answered differently.
    """

    provider = "local"
    obeys_grammar = True
    is_tiny = True
    context_tokens: int | None = CONTEXT_TOKENS
    name = weights.SMOLLM2.name

    def __init__(self, system: System, *, cache_prompt: bool = True) -> None:
        self._system = system
        self._cache_prompt = cache_prompt
        self._one_at_a_time = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        self._model: OpenAIModel | None = None

    async def warm(self) -> None:
        """Import the SDK. The child starts with the first round, because it takes much memory."""
        await asyncio.to_thread(import_module, "stet.llm.transport")

    async def complete(self, request: Request, on_text: Sink, on_wait: Sink = ignore) -> Completion:
        """Complete a request; restart a crashed child once. See `Model.complete`.

        Raises:
            ModelError: If the model is not installed, does not start, crashes twice, or refuses.
        """
        async with self._one_at_a_time:
            has_crashed = False
            while True:
                self._model = self._model or await self._start()
                try:
                    completion = await self._model.complete(request, on_text, on_wait)
                except (ModelUnavailable, StreamInterrupted) as exc:
                    if not await self._has_died():
                        raise
                    if has_crashed:
                        raise ModelUnavailable(
                            "The embedded model crashed twice: choose another with model.provider."
                        ) from exc
                    has_crashed = True
                    on_wait("The embedded model crashed; restarting it.")
                else:
                    return replace(completion, model=self.name)  # the server reports a path

    async def close(self) -> None:
        """End the child."""
        model, self._model = self._model, None
        if model is not None:
            await model.close()
        process, self._process = self._process, None
        if process is not None:
            await end_child(process)

    async def _has_died(self) -> bool:
        """Return whether the child has ended. If it has, clean up after it."""
        if self._process is None:
            return True
        try:
            await asyncio.wait_for(self._process.wait(), END_SECONDS)
        except TimeoutError:
            return False
        await self.close()
        return True

    async def _start(self) -> OpenAIModel:
        folder = weights.default_folder()
        if reason := await weights.why_unavailable(weights.SMOLLM2, folder, self._system):
            raise NoModel(reason)
        key = secrets.token_urlsafe(32)
        order = {"model": str(weights.SMOLLM2.path(folder)), "key": key, "context": CONTEXT_TOKENS}
        try:
            # -I: a folder called `stet` where the editor was started must not be run.
            process = await self._system.start_process(module_command(CHILD))
        except OSError as exc:
            raise ModelUnavailable(f"The embedded model could not be started: {exc}.") from exc
        try:
            port = await _handshake(process, order)
        except BaseException:
            await end_child(process)
            raise
        self._process = process
        endpoint = ModelEndpoint(
            self.provider,
            f"http://127.0.0.1:{port}/v1",
            self.name,
            api_key=key,
            hint="Stet starts it: see the log.",
            context_tokens=CONTEXT_TOKENS,
            obeys_grammar=True,
            keep_alive=False,
        )
        sampling = Sampling(
            temperature=0.0, max_tokens=MAX_ANSWER_TOKENS, cache_prompt=self._cache_prompt
        )
        once = RetryPolicy(tries=1)
        return OpenAIModel(endpoint, self._system, sampling=sampling, timeouts=TIMEOUTS, retry=once)


async def _handshake(process: asyncio.subprocess.Process, order: dict[str, object]) -> int:
    """Send the options to the child and wait for its port.

    Raises:
        NoModel: If the package that runs the model is missing or broken.
        ModelUnavailable: If the child does not start.
    """
    assert process.stdin is not None  # all its streams are piped
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(order).encode() + b"\n")
        async with asyncio.timeout(START_SECONDS):
            reply = json.loads(await process.stdout.readline())
    except TimeoutError as exc:
        message = f"The embedded model did not start within {START_SECONDS:g} s."
        raise ModelUnavailable(message) from exc
    except (OSError, ValueError) as exc:
        raise ModelUnavailable(
            "The embedded model exited during startup: choose another with model.provider."
        ) from exc
    if reply.get("kind") == "import":
        raise NoModel(f"llama.cpp can't be loaded ({reply['error']}). {weights.HOW_TO_GET_RUNTIME}")
    if "port" not in reply:
        raise ModelUnavailable(f"The embedded model could not be started: {reply.get('error')}.")
    return int(reply["port"])


async def end_child(process: Process) -> None:
    """Close a child's stdin, which should end the child; kill the child if it still runs."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), END_SECONDS)
    finally:
        await kill_and_wait(process)
