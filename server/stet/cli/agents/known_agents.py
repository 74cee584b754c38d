"""The agents whose edits are reviewed, with the hooks of those that have hooks."""

import json
import os
import shlex
from importlib import resources
from pathlib import Path

from stet.bridges.acp.profiles import NAMES, read_profile
from stet.bridges.hooks.agent_hooks import AGENTS, AgentHooks
from stet.cli.agents.agent_setup import AgentSetup, file_of_stet
from stet.cli.agents.claude_settings import HOOK_SECONDS, claude_settings
from stet.cli.agents.codex_config import codex_config
from stet.cli.agents.hook_command_line import hook_command, stet_program

_READS_DISK = "reads the saved files: its prompts name the unsaved text of the editor"


def agents_with_hooks() -> tuple[AgentSetup, ...]:
    """Return the agents whose hooks can be installed."""
    return (_claude(), _codex(), _copilot(), _opencode())


def agents_of_chat() -> tuple[AgentSetup, ...]:
    """Return the agents that write files through the client, in the chat. Blocks on the disk."""
    profiles = {name: read_profile(name) for name in NAMES}
    return tuple(
        AgentSetup(
            name=name,
            title=one.title,
            program=one.command[0],
            tested=one.tested,
            files=(),
            not_captured=(_READS_DISK,) if one.reads_disk else (),
        )
        for name, one in profiles.items()
        if one.capture == "client-fs"
    )


def known_agents() -> tuple[AgentSetup, ...]:
    """Return all agents that Stet knows. Blocks on the disk."""
    return (*agents_with_hooks(), *agents_of_chat())


def _folder(variable: str, *default: str) -> Path:
    """Return the folder that a variable names, or one in the home folder."""
    return Path(os.environ.get(variable) or Path.home().joinpath(*default))


def _claude() -> AgentSetup:
    path = _folder("CLAUDE_CONFIG_DIR", ".claude") / "settings.json"
    file = claude_settings(path, AGENTS["claude"])
    return AgentSetup("claude", "Claude Code", "claude", "2.1.332", (file,))


def _codex() -> AgentSetup:
    home = _folder("CODEX_HOME", ".codex")
    if os.environ.get("CODEX_HOME"):
        home = home.resolve()  # as Codex does, which trusts a hook by the path of its file
    file = codex_config(home / "config.toml", AGENTS["codex"])
    return AgentSetup("codex", "Codex", "codex", "0.171.0", (file,), (_READS_DISK,))


def _copilot() -> AgentSetup:
    path = _folder("COPILOT_HOME", ".copilot") / "hooks" / "stet.json"
    file = file_of_stet(path, _copilot_hooks(AGENTS["copilot"]), " hook copilot ")
    return AgentSetup("copilot", "Copilot CLI", "copilot", "1.0.102", (file,))


def _copilot_hooks(agent: AgentHooks) -> str:
    """Return the file with the hooks: the program does not send the name of an event.

    It denies each tool whose hook can't be started; so the hook does nothing without its program.
    """
    program = shlex.quote(str(stet_program()))
    hooks = {
        event: [
            {
                "type": "command",
                "bash": f"[ ! -x {program} ] || {hook_command(agent.name, event)}",
                "timeoutSec": HOOK_SECONDS,
                **({"matcher": "|".join(agent.tools)} if event in agent.tool_events else {}),
            }
        ]
        for event in agent.events
    }
    return json.dumps({"version": 1, "hooks": hooks}, indent=2) + "\n"


def _opencode() -> AgentSetup:
    folder = _folder("XDG_CONFIG_HOME", ".config") / "opencode"
    source = resources.files("stet.cli.agents") / "opencode_plugin.js"
    text = source.read_text(encoding="utf-8").replace('"STET"', json.dumps(str(stet_program())))
    file = file_of_stet(folder / "plugin" / "stet.js", text, "Stet's plugin for OpenCode")
    return AgentSetup("opencode", "OpenCode", "opencode", "1.18.33", (file,))
