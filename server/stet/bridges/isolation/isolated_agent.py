"""An agent of the chat whose program runs in overlays of the workspace."""

import asyncio
import logging
import os
import secrets
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

from stet.bridges.isolation.isolated_session import INTRODUCTION, IsolatedSession
from stet.bridges.isolation.workspace_layers import layers_folder, make_layers, remove_layers
from stet.bridges.session_view import SessionView
from stet.system.isolated_program import IsolationLayers, isolated_command, layers_fault
from stet.system.namespace_writer import write_in_namespace
from stet.workspace.workspace import Workspace

log = logging.getLogger(__name__)


class IsolationFailed(Exception):
    """The program can't be isolated; the message says why, as a part of a sentence."""


class IsolatedAgent:
    """The isolation of one program; used on the event loop only."""

    def __init__(
        self, session: IsolatedSession, workspace: Workspace, layers: IsolationLayers, folder: Path
    ) -> None:
        """Take over a session whose layers are prepared.

        Args:
            session: What is proposed.
            workspace: The files.
            layers: What the program sees.
            folder: The folder of the layers, which is removed at the end.
        """
        self._session = session
        self._workspace = workspace
        self._layers = layers
        self._folder = folder
        self._roots = workspace.roots
        self._process = 0
        self._watching: asyncio.Task[None] | None = None
        self._reported: set[str] = set()

    @classmethod
    async def prepare(
        cls, view: SessionView, workspace: Workspace, *, can_write: bool
    ) -> "IsolatedAgent":
        """Make the layers of the workspace folders for a session, and check that they work.

        Raises:
            IsolationFailed: If they don't.
        """
        system = workspace.snapshot().system
        name = f"{view.agent}-chat-{secrets.token_hex(4)}"
        try:
            hidden = await asyncio.to_thread(layers_folder, system)
            folder = hidden / str(os.getpid()) / name
            made = await asyncio.to_thread(make_layers, folder, workspace.roots, system)
        except OSError as error:
            raise IsolationFailed(f"the layers can't be made: {error}") from error
        layers = IsolationLayers([one.overlay for one in made], hidden, name)
        session = IsolatedSession(view, workspace, made, can_write=can_write)
        isolated = cls(session, workspace, layers, folder)
        try:
            fault = await layers_fault(system, layers)
            if not fault:
                await session.prepare()
        except OSError as error:
            fault = f"the layers can't be written: {error}"
        except BaseException:
            await isolated._remove()
            raise
        if fault:
            await isolated._remove()
            raise IsolationFailed(fault)
        return isolated

    @property
    def introduction(self) -> str:
        """The first text for the agent."""
        return INTRODUCTION.format(folders=", ".join(str(root.path) for root in self._roots))

    @property
    def is_outdated(self) -> bool:
        """Whether the workspace has other folders now."""
        return self._roots != self._workspace.roots

    def command(self, argv: Sequence[str], cwd: Path) -> list[str]:
        """Return the command line that starts a program isolated."""
        return isolated_command(self._layers, argv, cwd)

    def started(self, process: int) -> None:
        """Take over the process id of the program."""
        self._process = process

    async def begin_turn(self, turn: str, *, can_write: bool) -> str:
        """Begin a turn of the running program, and show the program the present texts.

        Returns:
            What the user has decided and changed, and what was not proposed, or "".
        """
        view = self._session.view
        feedback, files = await self._session.begin_turn(view, turn, can_write=can_write)
        await self._show(files)
        return feedback

    def watch(self, spawn: Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]]) -> None:
        """Propose what the program changes from now on, until the end of the turn."""
        if self._watching is None:
            self._watching = spawn(
                self._session.watch(lambda: True), f"changes of {self._layers.session}"
            )

    async def end_turn(self) -> tuple[str, ...]:
        """Propose what the program has changed; return what was not proposed, in new sentences."""
        self._stop_watching()
        await self._session.collect(is_end=True)
        sentences = [*self._session.warnings, *self._session.describe_dropped("Not proposed")]
        found = tuple(one for one in sentences if one not in self._reported)
        self._reported.update(found)
        return found

    async def collect(self) -> None:
        """Propose what the program has changed, before a request of the program is answered."""
        await self._session.collect(is_end=True)

    async def show(self, uri: str) -> None:
        """Write the present text of a file, as the session sees it, where the program sees it."""
        await self._show(await self._session.text_to_show(uri))

    async def close(self) -> None:
        """Propose what the program, which has ended, has changed; remove the layers."""
        self._stop_watching()
        await self._session.finish()
        await self._remove()

    async def _show(self, files: Mapping[Path, str | None]) -> None:
        """Write files, by real path, in the namespaces of the program.

        A file that can't be written stays: what the program changes there later is merged.
        """
        if not files or not self._process:
            return
        system, session = self._workspace.snapshot().system, self._layers.session
        try:
            failed = await write_in_namespace(system, self._process, session, files)
        except (OSError, TimeoutError) as error:
            log.warning("files of %s were not refreshed: %s", session, error)
            return
        if failed:
            log.warning("%s files of %s were not refreshed", len(failed), session)

    def _stop_watching(self) -> None:
        watching, self._watching = self._watching, None
        if watching is not None:
            watching.cancel()

    async def _remove(self) -> None:
        await asyncio.to_thread(remove_layers, self._folder)


async def prepare_isolation(
    view: SessionView, workspace: Workspace, environment: Mapping[str, str], *, can_write: bool
) -> IsolatedAgent | None:
    """Return the isolation of a program that is about to start; None for no isolation.

    Args:
        view: What the agent's session may read and propose.
        workspace: The files and the settings.
        environment: The environment of the program.
        can_write: Whether changes are proposed until another turn begins.

    Raises:
        IsolationFailed: If the settings require isolation, and it fails.
    """
    wanted = workspace.settings.agents.isolation
    roots = [root.path for root in workspace.roots]
    # The program's logins and conversations would be lost with the layers.
    if wanted == "none" or (wanted == "auto" and _has_home_in(environment, roots)):
        return None
    try:
        return await IsolatedAgent.prepare(view, workspace, can_write=can_write)
    except IsolationFailed as failure:
        if wanted == "overlay":
            raise
        log.info("the agent %s is not isolated: %s", view.agent, failure)
        return None


def _has_home_in(environment: Mapping[str, str], folders: Sequence[Path]) -> bool:
    """Return whether a folder in which a program stores its own files is in one of the folders."""
    stored = [
        Path(value)
        for name, value in environment.items()
        if name == "HOME" or name.endswith(("_HOME", "_DIR"))
    ]
    return any(one.is_relative_to(folder) for one in stored for folder in folders)
