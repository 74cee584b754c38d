"""What the editor can do, found out once, at `initialize`.

Mostly what it says; where editors are known to say less than they do, or more, their name decides.
"""

from dataclasses import dataclass
from typing import Any

from lsprotocol import types as lsp

HONOURS_ANNOTATIONS = ("visual studio code", "vscodium", "code - oss", "cursor", "windsurf")
"""Editors that show a preview for an edit that asks for confirmation. Others advertise annotations
and apply the edit at once, so this is decided by name (lower case, prefixes)."""


@dataclass(frozen=True, slots=True)
class ClientCapabilities:
    """One editor.

    Attributes:
        name: As it calls itself, in lower case; empty if it doesn't.
        version: As it calls itself.
        apply_edit: Answers `workspace/applyEdit`.
        document_changes: Takes versioned document changes in an edit.
        resource_operations: Of `create`, `rename`, `delete`, which it takes in an edit.
        annotations_honoured: Shows a preview where an edit asks for confirmation.
        progress: Shows progress that the server starts.
        show_document: Opens a document for the server.
        configuration: Answers `workspace/configuration`.
        configuration_dynamic: Lets the server register for changes of the configuration.
        workspace_folders: Works with several roots.
        watched_files_dynamic: Lets the server register for changes of files.
        code_lens_refresh: Asks for the lenses again when told to.
        inlay_hint_refresh: Asks for the hints again when told to.
        text_document_content: Opens virtual documents whose text the server gives.
        message_requests: Shows a message with buttons.
        llm_tag: Knows the tag for code actions made by a language model.
        diagnostic_data: Gives a diagnostic's `data` back in `textDocument/codeAction`.
        hover_markdown: Renders Markdown in a hover.
    """

    name: str = ""
    version: str = ""
    apply_edit: bool = False
    document_changes: bool = False
    resource_operations: frozenset[str] = frozenset()
    annotations_honoured: bool = False
    progress: bool = False
    show_document: bool = False
    configuration: bool = False
    configuration_dynamic: bool = False
    workspace_folders: bool = False
    watched_files_dynamic: bool = False
    code_lens_refresh: bool = False
    inlay_hint_refresh: bool = False
    text_document_content: bool = False
    message_requests: bool = False
    llm_tag: bool = False
    diagnostic_data: bool = False
    hover_markdown: bool = False


def resolve(params: lsp.InitializeParams) -> ClientCapabilities:
    """Read the capabilities out of the `initialize` request."""
    said = params.capabilities
    name = (params.client_info.name if params.client_info else "").lower()
    annotations = _value(said, "workspace.workspace_edit.change_annotation_support") is not None
    return ClientCapabilities(
        name=name,
        version=(params.client_info.version if params.client_info else None) or "",
        apply_edit=_flag(said, "workspace.apply_edit"),
        # Neovim takes them and never says so.
        document_changes=_flag(said, "workspace.workspace_edit.document_changes")
        or name == "neovim",
        resource_operations=frozenset(
            str(getattr(kind, "value", kind))
            for kind in _value(said, "workspace.workspace_edit.resource_operations") or ()
        ),
        annotations_honoured=annotations and name.startswith(HONOURS_ANNOTATIONS),
        progress=_flag(said, "window.work_done_progress"),
        # Helix opened documents for servers long before it said so.
        show_document=_flag(said, "window.show_document.support") or name == "helix",
        configuration=_flag(said, "workspace.configuration"),
        configuration_dynamic=_flag(
            said, "workspace.did_change_configuration.dynamic_registration"
        ),
        workspace_folders=_flag(said, "workspace.workspace_folders"),
        watched_files_dynamic=_flag(
            said, "workspace.did_change_watched_files.dynamic_registration"
        ),
        code_lens_refresh=_flag(said, "workspace.code_lens.refresh_support"),
        inlay_hint_refresh=_flag(said, "workspace.inlay_hint.refresh_support"),
        text_document_content=_value(said, "workspace.text_document_content") is not None,
        message_requests=_value(said, "window.show_message") is not None,
        llm_tag=lsp.CodeActionTag.LlmGenerated
        in (_value(said, "text_document.code_action.tag_support.value_set") or ()),
        # eglot gives back what it got, and does not say so.
        diagnostic_data=_flag(said, "text_document.publish_diagnostics.data_support")
        or name == "eglot",
        hover_markdown=lsp.MarkupKind.Markdown
        in (_value(said, "text_document.hover.content_format") or ()),
    )


def _flag(said: lsp.ClientCapabilities, path: str) -> bool:
    return _value(said, path) is True


def _value(said: lsp.ClientCapabilities, path: str) -> Any:
    """What stands at the dotted path; None where any part of it is missing."""
    value: Any = said
    for name in path.split("."):
        value = getattr(value, name, None)
    return value
