"""What the editor can do, found once, at `initialize`.

Mostly what the editor says. Where an editor is known to say less or more than it does, its name decides.
"""

from dataclasses import dataclass
from typing import Any

from lsprotocol import types as lsp

_WITH_PREVIEW = (
    "visual studio code", "vscodium", "code - oss", "code-server", "cursor", "windsurf",
)  # fmt: skip
"""How editors with a Refactor Preview call themselves."""
HEADLESS = "stet headless"
"""What our own client without a screen calls itself."""
_LEAVES_BUFFERS = frozenset({"kakoune-lsp", "kak-lsp"})
"""They create, move and delete files on the disk only and overwrite: Stet takes more care."""


@dataclass(frozen=True, slots=True)
class ClientCapabilities:
    """The capabilities of one editor.

    Attributes:
        name: The editor's name for itself, in lower case; empty if the editor gives none.
        version: The version that the editor gives.
        apply_edit: Answers `workspace/applyEdit`.
        document_changes: Accepts versioned document changes in an edit.
        resource_operations: The operations among `create`, `rename` and `delete` that the editor
            accepts in an edit and applies to its buffers too.
        progress: Shows progress that the server starts.
        show_document: Opens a document for the server.
        configuration: Answers `workspace/configuration`.
        configuration_dynamic: Lets the server register for changes of the configuration.
        watches_files: Reports files that change on the disk, if the server registers for them.
        workspace_folders: Works with several roots.
        message_requests: Shows a message with buttons.
        llm_tag: Knows the tag for code actions made by a language model.
        hover_markdown: Renders Markdown in a hover.
        lens_refresh: Requests code lenses again after a refresh request.
        previews_edits: Shows an edit that needs confirmation and lets the user select parts of it.
        saves_later: Writes to the disk only when its user saves, also for files that are created,
            moved or deleted, so the disk does not show its edits. Stet's own headless client.
        selects_cursor: Sends the character under the cursor as a range if nothing is selected.
        overtakes: Sends changes of a text out of order, each in its own task; its versions count by
            one and give the order.
    """

    name: str = ""
    version: str = ""
    apply_edit: bool = False
    document_changes: bool = False
    resource_operations: frozenset[str] = frozenset()
    progress: bool = False
    show_document: bool = False
    configuration: bool = False
    configuration_dynamic: bool = False
    watches_files: bool = False
    workspace_folders: bool = False
    message_requests: bool = False
    llm_tag: bool = False
    hover_markdown: bool = False
    lens_refresh: bool = False
    previews_edits: bool = False
    saves_later: bool = False
    selects_cursor: bool = False
    overtakes: bool = False


def resolve_capabilities(params: lsp.InitializeParams) -> ClientCapabilities:
    """Read the capabilities out of the `initialize` request."""
    capabilities = params.capabilities
    name = (params.client_info.name if params.client_info else "").lower()
    version = (params.client_info.version if params.client_info else None) or ""
    return ClientCapabilities(
        name=name,
        version=version,
        # Kate accepts them right after a command; it reports neither this nor its name. Another
        # editor that does not know them answers so.
        apply_edit=_flag(capabilities, "workspace.apply_edit")
        or (not name and _has_editor(capabilities)),
        # Neovim takes them and never says so.
        document_changes=_flag(capabilities, "workspace.workspace_edit.document_changes")
        or name == "neovim",
        resource_operations=_operations(capabilities)
        if name not in _LEAVES_BUFFERS
        else frozenset(),
        progress=_flag(capabilities, "window.work_done_progress"),
        # Helix opened documents for servers long before it said so.
        show_document=_flag(capabilities, "window.show_document.support") or name == "helix",
        configuration=_flag(capabilities, "workspace.configuration"),
        configuration_dynamic=_flag(
            capabilities, "workspace.did_change_configuration.dynamic_registration"
        ),
        watches_files=_flag(
            capabilities, "workspace.did_change_watched_files.dynamic_registration"
        ),
        workspace_folders=_flag(capabilities, "workspace.workspace_folders"),
        message_requests=_value(capabilities, "window.show_message") is not None,
        llm_tag=lsp.CodeActionTag.LlmGenerated
        in (_value(capabilities, "text_document.code_action.tag_support.value_set") or ()),
        hover_markdown=lsp.MarkupKind.Markdown
        in (_value(capabilities, "text_document.hover.content_format") or ()),
        lens_refresh=_flag(capabilities, "workspace.code_lens.refresh_support"),
        # Other editors say that they know annotations, but apply the edit at once.
        previews_edits=_value(capabilities, "workspace.workspace_edit.change_annotation_support")
        is not None
        and _flag(capabilities, "workspace.workspace_edit.document_changes")
        and name.startswith(_WITH_PREVIEW),
        saves_later=name == HEADLESS,
        selects_cursor=name in {"helix", *_LEAVES_BUFFERS},
        # Later ones send them at once.
        overtakes=name == "helix" and version < "25.07",
    )


def _operations(capabilities: lsp.ClientCapabilities) -> frozenset[str]:
    kinds = _value(capabilities, "workspace.workspace_edit.resource_operations") or ()
    return frozenset(str(getattr(kind, "value", kind)) for kind in kinds)


def _has_editor(capabilities: lsp.ClientCapabilities) -> bool:
    """Whether there is an editor at all: one that has documents and a window."""
    return capabilities.text_document is not None and capabilities.window is not None


def _flag(capabilities: lsp.ClientCapabilities, path: str) -> bool:
    return _value(capabilities, path) is True


def _value(capabilities: lsp.ClientCapabilities, path: str) -> Any:
    """Return the value at the dotted path, or None if any part of the path is missing."""
    value: Any = capabilities
    for name in path.split("."):
        value = getattr(value, name, None)
    return value
