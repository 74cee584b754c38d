"""The embedded model as a `Model`: a child process, or a daemon, used from the first request on."""

import asyncio
import json
import logging
import secrets
import signal
from asyncio.subprocess import Process
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from typing import Any

from stet.llm.embedded import daemon_client
from stet.llm.embedded.daemon_client import DaemonConnection, DaemonFailed
from stet.llm.embedded.model_daemons import ModelDaemons
from stet.llm.model import (
    Completion,
    ModelError,
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
from stet.llm.weights import model_folder
from stet.llm.weights.local_model import (
    LocalModel,
    UnusableModel,
    check_file,
    how_to_load,
    memory_warning,
)
from stet.system.helper_process import kill_and_wait, module_command
from stet.system.memory import free_memory
from stet.system.system import System

log = logging.getLogger(__name__)

MAX_TINY_ANSWER = 512
"""The most tokens of an answer of a model that may repeat itself without end."""
ENDLESS = ("\\n" * 10, "\n<user_query>", "\n<additional_data>")
"""What a small model writes without end in an answer with tools: nothing but line ends within the
arguments of a call, or the question again and again. At the limit of an answer it would have taken
minutes. In arguments a line end is escaped, so the tags cut no call."""
START_SECONDS = 60.0
END_SECONDS = 2.0
"""The time in which a child process must end after its stdin is closed."""
CHILD = "stet.llm.embedded.llama_server"
TIMEOUTS = Timeouts(connect=5.0, first=600.0, idle=60.0, total=1200.0)
"""A larger model reads 30 tokens a second, on a busy machine 8, and a question may have thousands."""
SIGNAL_OF_MEMORY = -int(getattr(signal, "SIGKILL", 9))
"""The exit code of a process that the system has killed, usually because memory ran out."""


class EmbeddedModel:
    """A model that runs on this machine, at a random port with a key; one request at a time.

    Args:
        system: Starts the process.
        local: The weights, and how they are run.
        max_tokens: The most tokens of an answer; None for the limit of a tiny model, which always
            has it.
        cache_prompt: Keep the prompt's state between rounds: far faster if rounds have the same
            beginning, but the same request may be answered differently.
        daemons: The daemons that keep models loaded. None, or if no daemon can be started: the
            model runs in a child process, which ends with this one.
    """

    provider = "local"
    obeys_grammar = True

    def __init__(
        self,
        system: System,
        local: LocalModel,
        *,
        max_tokens: int | None = None,
        cache_prompt: bool = True,
        daemons: ModelDaemons | None = None,
    ) -> None:
        self.name = local.name
        self.is_tiny = local.is_tiny
        self.context_tokens: int | None = local.context_tokens
        self._local = local
        self._max_tokens = MAX_TINY_ANSWER if local.is_tiny or not max_tokens else max_tokens
        self._system = system
        self._cache_prompt = cache_prompt
        self._one_at_a_time = asyncio.Lock()
        self._daemons = daemons
        self._daemon: DaemonConnection | None = None
        self._process: Process | None = None
        self._model: OpenAIModel | None = None
        self._exit_code: int | None = None

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
                self._model = self._model or await self._start(on_wait)
                try:
                    completion = await self._model.complete(request, on_text, on_wait)
                except (ModelUnavailable, StreamInterrupted) as exc:
                    if not await self._has_died():
                        raise
                    if has_crashed:
                        raise self._crash_error(
                            "The embedded model crashed twice: choose another with model.provider."
                        ) from exc
                    has_crashed = True
                    on_wait("The embedded model crashed; restarting it.")
                else:
                    return replace(completion, model=self.name)  # the server reports a path

    async def close(self) -> None:
        """End the child, or the use of the daemon."""
        model, self._model = self._model, None
        if model is not None:
            await model.close()
        daemon, self._daemon = self._daemon, None
        if daemon is not None:
            await daemon.close()
        process, self._process = self._process, None
        if process is not None:
            await end_child(process)

    async def _has_died(self) -> bool:
        """Return whether the child or the daemon has ended. If it has, clean up after it."""
        if self._daemon is not None:
            if not await self._daemon.has_ended(END_SECONDS):
                return False
            await self.close()
            return True
        if self._process is None:
            return True
        try:
            self._exit_code = await asyncio.wait_for(self._process.wait(), END_SECONDS)
        except TimeoutError:
            return False
        await self.close()
        return True

    def _crash_error(self, otherwise: str) -> ModelUnavailable:
        """Return the error of a child that has ended by itself."""
        if self._exit_code != SIGNAL_OF_MEMORY:
            return ModelUnavailable(otherwise)
        needed = f"{self._local.memory / 1e9:.1f} GB"
        return ModelUnavailable(
            f"The system ended the embedded model, probably because memory ran out: {self.name} "
            f"needs about {needed}. Close other programs, or choose a smaller model with "
            "model.name."
        )

    async def _start(self, on_wait: Sink) -> OpenAIModel:
        """Connect to the daemon, or start the child; say so if it needs much of the free memory.

        Raises:
            NoModel: If the weights or the program that runs them are missing or broken.
            ModelUnavailable: If the child does not start.
        """
        if reason := model_folder.why_no_runtime():
            raise NoModel(reason)
        try:
            await asyncio.to_thread(check_file, self._local)
        except UnusableModel as error:
            raise NoModel(str(error)) from error
        order: dict[str, object] = {
            "model": str(self._local.path),
            "context": self._local.context_tokens,
            "threads": self._local.max_threads,
            "lookup": not self._local.is_tiny,
        }
        found = await self._use_daemon(order, on_wait)
        if found is None:
            await self._warn_of_memory(on_wait)
            key = secrets.token_urlsafe(32)
            found = await self._start_child({**order, "key": key}), key
        port, key = found
        endpoint = ModelEndpoint(
            self.provider,
            f"http://127.0.0.1:{port}/v1",
            self.name,
            api_key=key,
            hint="Stet starts it: see the log.",
            context_tokens=self._local.context_tokens,
            obeys_grammar=True,
            keep_alive=False,
        )
        sampling = Sampling(
            temperature=0.0,
            max_tokens=self._max_tokens,
            cache_prompt=self._cache_prompt,
            call_stop=() if self.is_tiny else ENDLESS,
        )
        once = RetryPolicy(tries=1)
        return OpenAIModel(endpoint, self._system, sampling=sampling, timeouts=TIMEOUTS, retry=once)

    async def _warn_of_memory(self, on_wait: Sink) -> None:
        """Say so if the model needs much of the free memory."""
        if warning := memory_warning(self._local, await asyncio.to_thread(free_memory)):
            log.warning("%s", warning)
            on_wait(warning)

    async def _use_daemon(
        self, order: Mapping[str, object], on_wait: Sink
    ) -> tuple[int, str] | None:
        """Connect to the daemon of the model, which is started if there is none.

        Returns:
            The port and the key of its server; None if there can be no daemon.

        Raises:
            NoModel: If the package that runs the model is missing or broken.
            ModelUnavailable: If the model can't be loaded.
        """
        if self._daemons is None:
            return None
        try:
            started = await asyncio.to_thread(self._daemons.order, order)
            if started is None:
                return None
            daemon = await daemon_client.connect(started)
            if daemon is None:
                await self._warn_of_memory(on_wait)
                daemon = await daemon_client.start(self._system, started)
        except (DaemonFailed, OSError) as error:
            log.info("no model daemon is used: %s", error)
            return None
        try:
            port = self._port_of(daemon.reply)
        except ModelError:
            await daemon.close()
            raise
        if daemon.reply["users"]:
            on_wait("Another `stet ask` uses the embedded model; this one may wait for it.")
        self._daemon = daemon
        return port, str(daemon.reply["key"])

    def _port_of(self, reply: Mapping[str, Any]) -> int:
        """Return the port in the answer of a process that has tried to load the model.

        Raises:
            NoModel: If the package that runs the model is missing or broken.
            ModelUnavailable: If the model can't be loaded.
        """
        if reply.get("kind") == "import":
            raise NoModel(
                f"llama.cpp can't be loaded ({reply['error']}). {model_folder.HOW_TO_GET_RUNTIME}"
            )
        if "port" not in reply:
            raise ModelUnavailable(
                f"The embedded model could not be started: {reply.get('error')}. "
                f"{how_to_load(self._local)}"
            )
        return int(reply["port"])

    async def _start_child(self, order: dict[str, object]) -> int:
        """Start the child, send the options and return its port.

        Raises:
            NoModel: If the package that runs the model is missing or broken.
            ModelUnavailable: If the child does not start.
        """
        try:
            # -I: a folder called `stet` where the editor was started must not be run.
            process = await self._system.start_process(module_command(CHILD))
        except OSError as exc:
            raise ModelUnavailable(f"The embedded model could not be started: {exc}.") from exc
        try:
            port = await self._handshake(process, order)
        except BaseException:
            await end_child(process)
            raise
        self._process = process
        return port

    async def _handshake(self, process: Process, order: dict[str, object]) -> int:
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
            await end_child(process)
            self._exit_code = process.returncode
            raise self._crash_error(
                "The embedded model exited during startup: choose another with model.provider."
            ) from exc
        return self._port_of(reply)


async def end_child(process: Process) -> None:
    """Close a child's stdin, which should end the child; kill the child if it still runs."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), END_SECONDS)
    finally:
        await kill_and_wait(process)
