"""A scripted model for an agent that Stet starts, in a network with the model only.

Where the system lets this user make a network namespace, the agent runs in one. Elsewhere its proxy
variables point at a closed port.
"""

import asyncio
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.agents.loopback_process import has_namespaces, network_variables
from tests.support.agent_models.script import Script
from tests.support.agent_models.script_server import ScriptServer

_REPOSITORY = Path(__file__).parents[2]


@dataclass
class IsolatedModel:
    """The model of one agent.

    Attributes:
        url: Its address, without a path.
        servers: The servers that the agent has reached, one for each of its processes.
    """

    url: str
    servers: list[ScriptServer]
    script: Script
    _entry: Sequence[str]

    def agent(
        self,
        program: Sequence[Path | str],
        variables: Mapping[str, str],
        *,
        in_overlay: bool = False,
        **more: str,
    ) -> dict[str, object]:
        """Return the setting (one of `agents.servers`) of an agent in the network of the model.

        Args:
            program: The program and its arguments.
            variables: Its environment, beside what leads to no other network.
            in_overlay: Whether Stet starts it in an overlay.
            more: Its other values.
        """
        command = [*self._entry, *map(str, program)]
        if has_namespaces():
            # In an overlay, root may not map its id: the program has no name.
            user = ["-U", "--keep-caps"] if in_overlay else ["-r"]
            command = ["unshare", "-n", *user, *self._entry, "--raise", *map(str, program)]
        env = {**network_variables(), "PYTHONPATH": str(_REPOSITORY), **variables}
        return {"command": command, "env": env, **more}

    def play(self, script: Script) -> None:
        """Answer from another script."""
        self.script = script
        for server in self.servers:
            server.script = script


@asynccontextmanager
async def isolated_model(form: type[ScriptServer]) -> AsyncIterator[IsolatedModel]:
    """Serve a model until the end of the block."""
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as waiting:
        path = str(Path(folder, "model"))
        waiting.bind(path)
        waiting.listen()
        waiting.setblocking(False)
        port = _free_port()
        entry = [sys.executable, "-m", "tests.agents.isolated_entry", path, str(port)]
        model = IsolatedModel(f"http://127.0.0.1:{port}", [], Script([]), entry)
        async with asyncio.TaskGroup() as tasks:
            serving = tasks.create_task(_serve(form, waiting, model))
            try:
                yield model
            finally:
                serving.cancel()


async def _serve(form: type[ScriptServer], waiting: socket.socket, model: IsolatedModel) -> None:
    """Serve each process that sends a listening socket."""
    loop = asyncio.get_running_loop()
    try:
        while True:
            channel, _ = await loop.sock_accept(waiting)
            with channel:
                channel.setblocking(True)
                _, [number], _, _ = await asyncio.to_thread(socket.recv_fds, channel, 1, 1)
            server = form(model.script, socket.socket(fileno=number))
            model.servers.append(await server.__aenter__())
    finally:
        for server in model.servers:
            await server.__aexit__(None, None, None)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port
