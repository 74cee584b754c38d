"""Every setting, with its default: frozen values that any layer may read.

The names are those of the protocol (`baseUrl`) in snake case (`base_url`). The bounds in the
annotations are enforced when the values are read (`stet.settings.parse`). This module imports
nothing heavy, so that it does not delay the answer to `initialize`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal


@dataclass(frozen=True, slots=True)
class Bounds:
    """Inclusive bounds of a number in an annotation, as pydantic reads them; None for no bound."""

    least: float
    most: float | None = None

    @property
    def __is_annotated_types_grouped_metadata__(self) -> Literal[True]:
        return True

    def __iter__(self) -> Iterator[object]:
        # Only pydantic iterates; it has imported this module already, so the start is not slower.
        from annotated_types import Ge, Le

        yield Ge(self.least)
        if self.most is not None:
            yield Le(self.most)


Provider = Literal[
    "auto", "openai", "anthropic", "gemini", "openrouter", "groq", "mistral", "deepseek", "xai",
    "together", "fireworks", "azure", "ollama", "lmstudio", "llamacpp", "vllm", "local",
]  # fmt: skip
Count = Annotated[int, Bounds(0)]
Amount = Annotated[float, Bounds(0)]
Scope = Literal["current", "linked", "folder", "open"]
Depth = Annotated[int, Bounds(0, 3)]


@dataclass(frozen=True, slots=True)
class Price:
    """Prices of a million tokens, in US dollars if `agent.maxCost` is set; None if unknown."""

    input: Amount | None = None
    cached_input: Amount | None = None
    output: Amount | None = None


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """The choice of the model, and the parameters of its requests."""

    provider: Provider = "auto"
    name: str = ""
    base_url: str = ""
    api_key_env: str = ""
    api_version: str = ""
    temperature: Annotated[float, Bounds(0, 2)] | None = None
    max_output_tokens: Annotated[int, Bounds(1)] | None = None
    tool_calls: Literal["auto", "native", "text"] = "auto"
    prompt: Literal["auto", "short", "full"] = "auto"
    context_tokens: Annotated[int, Bounds(1_000)] | None = None
    price: Price = field(default_factory=Price)


@dataclass(frozen=True, slots=True)
class PresetSettings:
    """The attachments of a question that names the preset.

    Attributes:
        name: The user's name for the preset; the key of its object.
        files: The paths of files, relative to a root.
        folders: The paths of folders, relative to a root.
        scope: The scope that replaces `context.scope`; None for no replacement.
        link_depth: The depth that replaces `context.linkDepth`; None for no replacement.
        project: Whether the preset is from a project file, and so untrusted. No source sets this.
    """

    name: str = field(metadata={"key": True})
    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    scope: Scope | None = None
    link_depth: Depth | None = None
    project: bool = field(default=False, metadata={"ours": True})


@dataclass(frozen=True, slots=True)
class ContextSettings:
    """The files and texts of the editor that the model is sent."""

    scope: Scope = "open"
    link_depth: Depth = 1
    max_files: Count = 15
    head_lines: Count = 20
    selection_limit: Count = 2000
    current_file_lines: Annotated[int, Bounds(1)] = 2000
    warn_tokens: Annotated[int, Bounds(1)] = 30_000
    excluded_folders: tuple[str, ...] = ()
    presets: tuple[PresetSettings, ...] = ()


@dataclass(frozen=True, slots=True)
class EditSettings:
    """The edits that the model may propose, and their presentation."""

    scope: Literal["current", "linked", "context"] = "context"
    can_add: bool = True
    can_delete: bool = True
    can_create: bool = True
    can_navigate: bool = True
    review_style: Literal["margin", "inline"] = "margin"


@dataclass(frozen=True, slots=True)
class CommandSettings:
    """A program that the agent may run.

    Attributes:
        name: The name by which the model calls the program.
        description: A description of the program for the model.
        argv: The program and its arguments; `{name}` is replaced by an argument of the model.
        safe: Whether the program runs without an approval each time.
    """

    name: str
    argv: tuple[str, ...]
    description: str = ""
    safe: bool = False


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """The limits, tools and instructions of the agent."""

    max_iterations: Annotated[int, Bounds(5, 20)] = 10
    max_tokens: Annotated[int, Bounds(1)] = 100_000
    max_seconds: Annotated[int, Bounds(1)] = 600
    history_length: Annotated[int, Bounds(0, 100)] = 10
    disabled_tools: tuple[str, ...] = ("delete_file", "execute_command")
    disabled_groups: tuple[str, ...] = ()
    character: str = ""
    commands: tuple[CommandSettings, ...] = ()
    max_cost: Amount | None = None


@dataclass(frozen=True, slots=True)
class WebSettings:
    """The web search service, and the private hosts that may be read nevertheless."""

    provider: Literal["none", "openai", "serper", "brave", "tavily"] = "none"
    api_key_env: str = ""
    base_url: str = ""
    allow_hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """The content of the search index; without an endpoint no text leaves the machine."""

    embeddings: Literal["local", "endpoint", "off"] = "local"
    model: str = ""
    base_url: str = ""
    api_key_env: str = ""
    max_file_bytes: Annotated[int, Bounds(1, 1_000_000)] = 1_000_000


@dataclass(frozen=True, slots=True)
class PromptSettings:
    """A prompt of the user's, offered as a code action.

    Attributes:
        title: The title in the menu.
        prompt: The prompt that is sent.
        kind: The kind of the code action.
        languages: The ids of the languages with the code action; empty for all languages.
        mode: The mode of the turn.
        project: Whether the prompt is from a project file, and so untrusted. No source sets this.
    """

    title: str
    prompt: str
    kind: str = "refactor.rewrite.stet"
    languages: tuple[str, ...] = ()
    mode: Literal["agent", "ask", "rewrite"] = "agent"
    project: bool = field(default=False, metadata={"ours": True})


@dataclass(frozen=True, slots=True)
class InstructionSettings:
    """The conditions under which comments that instruct the agent are executed."""

    on_save: bool = False


@dataclass(frozen=True, slots=True)
class PrivacySettings:
    """Texts that are never sent to any model.

    Attributes:
        deny: Patterns of files, as in a `.gitignore`.
        redact_secrets: Whether keys and passwords are replaced by a mark in text that is sent.
    """

    deny: tuple[str, ...] = ()
    redact_secrets: bool = True


@dataclass(frozen=True, slots=True)
class OpenCodeSettings:
    """An OpenCode server whose session is sent the open files and the selection.

    Attributes:
        enabled: Whether the context is sent; without a `url` nothing is sent.
        url: The address of `opencode serve`: http on this machine, https on others.
        session: The id of the session; "" for the most recently updated session of the folder.
        username: The name for Basic authentication.
        password_env: The environment variable with the password; "" for OpenCode's own variable.
        debounce_seconds: The seconds without a change after which the context is sent.
    """

    enabled: bool = True
    url: str = ""
    session: str = ""
    username: str = "opencode"
    password_env: str = ""
    debounce_seconds: Annotated[float, Bounds(0, 60)] = 2


@dataclass(frozen=True, slots=True)
class CompletionSettings:
    """Inline completion: the text after the cursor that the editor shows while the user types.

    Attributes:
        enabled: Whether completions are offered; without a `base_url` nothing is sent.
        base_url: The address of the model's server.
        name: The provider's name for the model; "" for the first that the server lists.
        api_key_env: The environment variable with the key; "" for no key.
        endpoint: How the server is asked: `/infill` of llama.cpp, `/completions` with the control
            tokens of the model's family, or `/completions` with a `suffix`.
        max_tokens: The most tokens of a completion.
        context_tokens: The most tokens around the cursor that are sent, about.
    """

    enabled: bool = False
    base_url: str = ""
    name: str = ""
    api_key_env: str = ""
    endpoint: Literal["auto", "infill", "completions", "suffix"] = "auto"
    max_tokens: Annotated[int, Bounds(1, 1000)] = 128
    context_tokens: Annotated[int, Bounds(64, 32_000)] = 2000


@dataclass(frozen=True, slots=True)
class BridgeSettings:
    """The other agents that are sent the editor's context."""

    opencode: OpenCodeSettings = field(default_factory=OpenCodeSettings)


@dataclass(frozen=True, slots=True)
class AgentServerSettings:
    """An agent that answers over the Agent Client Protocol.

    Attributes:
        name: The user's name for the agent, the author of its hunks; the key of its object.
        profile: The program that it is, for its defaults.
        command: The program and its arguments; empty for those of the profile.
        env: Variables that are set for the program.
        pass_env: Variables of this process that the program gets, beside those of the profile.
        model: The model that the agent uses; "" for its own choice.
        mode: The agent's own mode; "" for that of the profile.
    """

    name: str = field(metadata={"key": True})
    profile: Literal["generic", "claude", "codex", "gemini", "qwen", "opencode", "copilot"] = (
        "generic"
    )
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    pass_env: tuple[str, ...] = ()
    model: str = ""
    mode: str = ""


@dataclass(frozen=True, slots=True)
class AgentsSettings:
    """Other programs of the user that take part in the review.

    Attributes:
        default: The agent that answers questions; `stet` is Stet's own.
        servers: Agents that answer over the Agent Client Protocol.
        isolation: Whether agents of the chat run in an overlay of the workspace.
        socket: Whether `stet review` and other programs of the user can reach this server.
        claude_ide: Whether `claude --ide` finds this server.
    """

    default: str = "stet"
    servers: tuple[AgentServerSettings, ...] = ()
    isolation: Literal["auto", "overlay", "none"] = "auto"
    socket: bool = True
    claude_ide: bool = False


@dataclass(frozen=True, slots=True)
class McpServerSettings:
    """An MCP server whose tools Stet's own agent may use.

    Attributes:
        name: The user's name for the server, the beginning of its tools' names; the key of its
            object.
        command: The program and its arguments.
        env: Variables that are set for the program.
        tools: The tools that are offered; `*` stands for any characters.
    """

    name: str = field(metadata={"key": True})
    command: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    tools: tuple[str, ...] = ("*",)


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """The chat documents.

    Attributes:
        open_answers: Which answers open the chat document beside the code: those longer than a
            message, all or none.
    """

    open_answers: Literal["long", "always", "never"] = "long"


@dataclass(frozen=True, slots=True)
class LogSettings:
    """The level of the log, and whether requests to the model are traced."""

    level: Literal["debug", "info", "warning", "error"] = "warning"
    trace_model: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, by section."""

    model: ModelSettings = field(default_factory=ModelSettings)
    context: ContextSettings = field(default_factory=ContextSettings)
    edit: EditSettings = field(default_factory=EditSettings)
    agent: AgentSettings = field(default_factory=AgentSettings)
    web: WebSettings = field(default_factory=WebSettings)
    privacy: PrivacySettings = field(default_factory=PrivacySettings)
    prompts: tuple[PromptSettings, ...] = ()
    instructions: InstructionSettings = field(default_factory=InstructionSettings)
    log: LogSettings = field(default_factory=LogSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    bridges: BridgeSettings = field(default_factory=BridgeSettings)
    chat: ChatSettings = field(default_factory=ChatSettings)
    completion: CompletionSettings = field(default_factory=CompletionSettings)
    agents: AgentsSettings = field(default_factory=AgentsSettings)
    mcp_servers: tuple[McpServerSettings, ...] = ()
