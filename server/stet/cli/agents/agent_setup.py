"""What is known of an agent: its program, what is captured of its edits, and its settings."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum, auto
from pathlib import Path

from stet.cli.terminal import CliError


class HookState(IntEnum):
    """Whether a file has Stet's hooks."""

    CURRENT = auto()
    OUTDATED = auto()
    """Some hooks differ from those of this Stet, or the agent does not run them."""
    MISSING = auto()


@dataclass(frozen=True, slots=True)
class AgentSettingsFile:
    """A file of the user's settings of an agent.

    Attributes:
        path: The path of the file.
        with_hooks: Returns the text of the file with Stet's hooks, from its present text; raises
            `CliError` if the present text is not understood.
        without_hooks: Returns the text without them; "" if the whole file is Stet's.
        is_current: Returns whether a text with hooks has those that this Stet would write, and the
            agent runs them.
    """

    path: Path
    with_hooks: Callable[[str], str]
    without_hooks: Callable[[str], str]
    is_current: Callable[[str], bool]

    def read(self) -> str:
        """Return the text of the file, "" if there is no file.

        Raises:
            CliError: If the file can't be read.
        """
        try:
            return self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return ""
        except (OSError, ValueError) as error:
            raise CliError(
                f"{self.path} can't be read: {error}. Correct the file first."
            ) from error

    def removal(self) -> str | None:
        """Return the text without Stet's hooks, or None if it has no such hooks."""
        try:
            text = self.read()
            rest = self.without_hooks(text)
        except CliError:
            return None  # settings that can't be read have none that Stet has written
        return None if rest == text else rest

    @property
    def state(self) -> HookState:
        """Whether the file has Stet's hooks."""
        if self.removal() is None:
            return HookState.MISSING
        return HookState.CURRENT if self.is_current(self.read()) else HookState.OUTDATED


def file_of_stet(path: Path, text: str, mark: str) -> AgentSettingsFile:
    """Return a file that Stet writes and removes as a whole.

    Args:
        path: The path of the file.
        text: Its text.
        mark: A piece of the text by which a file of any version of Stet is recognised.
    """

    def with_hooks(present: str) -> str:
        if present and mark not in present:
            raise CliError(f"{path} exists and is not Stet's. Rename the file first.")
        return text

    def without_hooks(present: str) -> str:
        return "" if mark in present else present

    return AgentSettingsFile(path, with_hooks, without_hooks, lambda present: present == text)


@dataclass(frozen=True, slots=True)
class AgentSetup:
    """An agent that is known.

    Attributes:
        name: The name on the command line.
        title: The name for people.
        program: The program, as it is found on the PATH.
        tested: The version with which the tests run.
        files: The files with Stet's hooks; none for an agent without hooks.
        not_captured: What is not captured of this agent only, a line each.
    """

    name: str
    title: str
    program: str
    tested: str
    files: tuple[AgentSettingsFile, ...]
    not_captured: tuple[str, ...] = ()

    @property
    def state(self) -> HookState:
        """The worst state of the files."""
        return max((file.state for file in self.files), default=HookState.CURRENT)
