"""Every setting, with its default: frozen values that any layer may read.

Names are the contract's (`baseUrl`) in snake case (`base_url`). The limits in the annotations are
enforced where the values are read (`stet.settings.parse`); this module imports nothing heavy, so
that it costs nothing before the server has answered `initialize`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Literal


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of a number, as pydantic reads them from an annotation; inclusive, None for no bound."""

    least: float
    most: float | None = None

    @property
    def __is_annotated_types_grouped_metadata__(self) -> Literal[True]:
        return True

    def __iter__(self) -> Iterator[object]:
        # Only validation asks, and it has imported this already; the start of the server has not.
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
    """What a million tokens cost, in US dollars where a limit counts; None where it is not known."""

    input: Amount | None = None
    cached_input: Amount | None = None
    output: Amount | None = None


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Which model is asked, and how."""

    provider: Provider = "auto"
    name: str = ""
    base_url: str = ""
    api_key_env: str = ""
    api_version: str = ""
    temperature: Annotated[float, Bounds(0, 2)] | None = None
    max_output_tokens: Annotated[int, Bounds(1)] | None = None
    tool_calls: Literal["auto", "native", "text"] = "auto"
    price: Price = field(default_factory=Price)


@dataclass(frozen=True, slots=True)
class PresetSettings:
    """The attachments of a question that names the preset.

    Attributes:
        name: The user's name for the preset; the key of its object.
        files: Names of files, relative to a root.
        folders: Names of folders, relative to a root.
        scope: Instead of `context.scope`; None: `context.scope`.
        link_depth: Instead of `context.linkDepth`; None: `context.linkDepth`.
        project: Whether it comes with the project: a stranger's choice. No source sets this.
    """

    name: str = field(metadata={"key": True})
    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    scope: Scope | None = None
    link_depth: Depth | None = None
    project: bool = field(default=False, metadata={"ours": True})


@dataclass(frozen=True, slots=True)
class ContextSettings:
    """What the model is shown of the editor."""

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
    """What the model may propose, and how the user reviews it."""

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
        name: As the model calls it.
        description: What it does, for the model.
        argv: The program and its arguments; `{name}` is replaced by an argument of the model.
        safe: Whether it runs without a yes each time.
    """

    name: str
    argv: tuple[str, ...]
    description: str = ""
    safe: bool = False


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """How long and with what the agent works."""

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
    """The web search service, and the private hosts that may be read all the same."""

    provider: Literal["none", "openai", "serper", "brave", "tavily"] = "none"
    api_key_env: str = ""
    base_url: str = ""
    allow_hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """What the search index is made of; without an endpoint nothing of it leaves the machine."""

    embeddings: Literal["local", "endpoint", "off"] = "local"
    model: str = ""
    base_url: str = ""
    api_key_env: str = ""
    max_file_bytes: Annotated[int, Bounds(1, 1_000_000)] = 1_000_000


@dataclass(frozen=True, slots=True)
class PromptSettings:
    """A question of the user's own, offered as a code action.

    Attributes:
        title: In the menu.
        prompt: What is asked.
        kind: Of the code action.
        languages: Language ids it is offered in; none: in all.
        mode: How it is answered.
        project: Whether it comes with the project: a stranger's words. No source sets this.
    """

    title: str
    prompt: str
    kind: str = "refactor.rewrite.stet"
    languages: tuple[str, ...] = ()
    mode: Literal["agent", "ask", "rewrite"] = "agent"
    project: bool = field(default=False, metadata={"ours": True})


@dataclass(frozen=True, slots=True)
class InstructionSettings:
    """When comments that tell the agent what to do are carried out."""

    on_save: bool = False


@dataclass(frozen=True, slots=True)
class PrivacySettings:
    """What never leaves the machine, for every model.

    Attributes:
        deny: Patterns as in a `.gitignore`.
        redact_secrets: Whether keys and passwords in what is sent get a mark in their place.
    """

    deny: tuple[str, ...] = ()
    redact_secrets: bool = True


@dataclass(frozen=True, slots=True)
class OpenCodeSettings:
    """An OpenCode server whose session is sent which files are open and what is selected.

    Attributes:
        enabled: Whether it is sent the context; nothing is sent without a `url`.
        url: Where `opencode serve` listens; http on this machine, https elsewhere.
        session: The id of the session to tell; "": the most recently updated one of the folder.
        username: For its Basic authentication.
        password_env: The variable that holds the password; "": OpenCode's own, where it is set.
        debounce_seconds: How long the editor must have been quiet before the context is sent.
    """

    enabled: bool = True
    url: str = ""
    session: str = ""
    username: str = "opencode"
    password_env: str = ""
    debounce_seconds: Annotated[float, Bounds(0, 60)] = 2


@dataclass(frozen=True, slots=True)
class BridgeSettings:
    """Other agents that are sent the editor's context."""

    opencode: OpenCodeSettings = field(default_factory=OpenCodeSettings)


@dataclass(frozen=True, slots=True)
class LogSettings:
    """What is written to the log."""

    level: Literal["debug", "info", "warning", "error"] = "warning"
    trace_model: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """All of them."""

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
