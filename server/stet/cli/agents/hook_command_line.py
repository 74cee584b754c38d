"""The command by which an agent calls `stet hook`, and how such a command is recognised."""

import shlex
import sys
from pathlib import Path


def hook_command(agent: str, event: str = "") -> str:
    """Return the shell command of a hook: this `stet`, wherever the agent is started.

    Args:
        agent: The name of the agent.
        event: The name of the event, for an agent that does not send it.
    """
    return shlex.join(filter(None, (str(stet_program()), "hook", agent, event)))


def stet_program() -> Path:
    """Return the path of this `stet`."""
    return Path(sys.executable).with_name("stet")


def is_hook_command(text: object, agent: str) -> bool:
    """Return whether a value is a command of Stet's hook for an agent."""
    try:
        program, *arguments = shlex.split(text) if isinstance(text, str) else [""]
    except ValueError:  # no command of a shell, or an empty one
        return False
    return Path(program).name == "stet" and arguments == ["hook", agent]
