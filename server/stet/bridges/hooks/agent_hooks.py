"""The hooks of each agent as data: how its events and tools are named, and how it is answered.

Measured with the real programs in `tests/agents/test_*_program.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto


class ToolAction(Enum):
    """What a tool of an agent does with files."""

    READ = auto()
    WRITE = auto()
    PATCH = auto()
    """The tool applies a patch, which names its files."""
    SHELL = auto()
    """The tool runs a shell command; the agent itself applies a patch in such a command."""


@dataclass(frozen=True, slots=True)
class FileTool:
    """A tool that reads or changes files.

    Attributes:
        action: What it does.
        argument: The field of its input with the path, the patch or the command; "" if the input is
            the patch.
    """

    action: ToolAction
    argument: str


@dataclass(frozen=True, slots=True)
class AgentHooks:
    """The hooks of one agent. The field `hook_event_name` of an event has the name of the event.

    Attributes:
        name: The name of the agent on the command line, the author of its hunks.
        tools: The tools that are redirected, by name.
        session_key: The field of an event with the id of the session.
        parent_key: The field with the id of the session that has started this one as a subagent.
        tool_key: The field with the name of a tool.
        input_key: The field with the input of a tool.
        prompt: The event of a prompt of the user, with which a turn begins.
        before: The event before a tool runs.
        after: The event after a tool has run.
        failed: The event after a tool has failed; "" if there is none.
        turn_end: The event at the end of a turn.
        session_end: The event at the end of a session; "" if there is none.
        is_flat: Whether the fields of an answer are not in an object `hookSpecificOutput`.
        reads_by_shell: Whether the agent reads the saved files past its hooks.
    """

    name: str
    tools: Mapping[str, FileTool]
    session_key: str = "session_id"
    parent_key: str = "parent_id"
    tool_key: str = "tool_name"
    input_key: str = "tool_input"
    prompt: str = "UserPromptSubmit"
    before: str = "PreToolUse"
    after: str = "PostToolUse"
    failed: str = ""
    turn_end: str = "Stop"
    session_end: str = "SessionEnd"
    is_flat: bool = False
    reads_by_shell: bool = False

    @property
    def tool_events(self) -> tuple[str, ...]:
        """The events of tools."""
        return tuple(filter(None, (self.before, self.after, self.failed)))

    def tools_of(self, event: str) -> tuple[str, ...]:
        """Return the names of the tools for which the hook of a tool's event is installed."""
        is_before = event == self.before
        return tuple(
            name
            for name, tool in self.tools.items()
            if is_before or tool.action is not ToolAction.SHELL
        )

    @property
    def events(self) -> tuple[str, ...]:
        """All events, for which the hook is installed."""
        return tuple(
            filter(None, (self.prompt, *self.tool_events, self.turn_end, self.session_end))
        )


_CLAUDE = AgentHooks(
    "claude",
    {
        "Read": FileTool(ToolAction.READ, "file_path"),
        "Edit": FileTool(ToolAction.WRITE, "file_path"),
        "Write": FileTool(ToolAction.WRITE, "file_path"),
        "NotebookEdit": FileTool(ToolAction.WRITE, "notebook_path"),
    },
    failed="PostToolUseFailure",
)
_CODEX = AgentHooks(
    "codex",
    {
        "apply_patch": FileTool(ToolAction.PATCH, "command"),
        "Bash": FileTool(ToolAction.SHELL, "command"),
    },
    session_end="",
    reads_by_shell=True,
)
_COPILOT = AgentHooks(
    "copilot",
    {
        "view": FileTool(ToolAction.READ, "path"),
        "edit": FileTool(ToolAction.WRITE, "path"),
        "create": FileTool(ToolAction.WRITE, "path"),
        "apply_patch": FileTool(ToolAction.PATCH, ""),
    },
    session_key="sessionId",
    parent_key="parentAgentId",
    tool_key="toolName",
    input_key="toolArgs",
    prompt="userPromptSubmitted",
    before="preToolUse",
    after="postToolUse",
    failed="postToolUseFailure",
    turn_end="agentStop",
    session_end="sessionEnd",
    is_flat=True,
)
_OPENCODE = AgentHooks(  # Stet's plugin for OpenCode sends events in the form of Claude Code
    "opencode",
    {
        "read": FileTool(ToolAction.READ, "filePath"),
        "edit": FileTool(ToolAction.WRITE, "filePath"),
        "write": FileTool(ToolAction.WRITE, "filePath"),
        "apply_patch": FileTool(ToolAction.PATCH, "patchText"),
    },
)
AGENTS: Mapping[str, AgentHooks] = {one.name: one for one in (_CLAUDE, _CODEX, _COPILOT, _OPENCODE)}
"""The agents whose hooks are understood, by name."""
