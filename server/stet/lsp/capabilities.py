"""The capabilities of the editor, determined once, at `initialize`.

They are mostly those that the editor reports. If an editor is known to report too few or too many,
its name decides.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lsprotocol import types as lsp

_WITH_PREVIEW = (
    "visual studio code", "vscodium", "code - oss", "code-server", "cursor", "windsurf",
)  # fmt: skip
"""The beginnings of the names of editors with a Refactor Preview."""
HEADLESS = "stet headless"
"""The name of Stet's headless client."""
_LEAVES_BUFFERS = frozenset({"kakoune-lsp", "kak-lsp"})
"""Clients whose file operations change only the disk, and overwrite files; Stet's own are safer."""


@dataclass(frozen=True, slots=True)
class ClientCapabilities:
    """The capabilities of one editor.

    Attributes:
        name: The editor's name for itself, in lower case; empty if the editor gives none.
        version: The version that the editor reports; empty if it reports none.
        apply_edit: Whether it answers `workspace/applyEdit`.
        document_changes: Whether it accepts versioned document changes in an edit.
        resource_operations: The operations among `create`, `rename` and `delete` that the editor
            accepts in an edit and applies to its buffers too.
        progress: Whether it shows progress that the server starts.
        show_document: Whether it opens a document for the server.
        configuration: Whether it answers `workspace/configuration`.
        configuration_dynamic: Whether the server can register for changes of the configuration.
        watches_files: Whether the server can register for files that change on the disk.
        workspace_folders: Whether it supports several roots.
        message_requests: Whether it shows messages with buttons.
        llm_tag: Whether it supports the tag for code actions made by a language model.
        hover_markdown: Whether it renders Markdown in a hover.
        lens_refresh: Whether it requests code lenses again after a refresh request.
        previews_edits: Whether it shows an edit first and lets the user select changes.
        saves_later: Whether it writes to the disk only when its user saves, even for files that are
            created, moved or deleted; true for Stet's headless client.
        selects_cursor: Whether it sends the character under the cursor as a range if nothing is
            selected.
        draws_hunks: Whether it draws hunks itself, from `display` of `stet.proposals`.
        focuses_shown: Whether it moves the user to every document that it shows, also with
            `takeFocus: false`.
        covers_messages: Whether its progress takes the place of the last message.
        cuts_messages: Whether it shows a message on one line, and cuts what does not fit.
        opens_chat: Whether it opens chat documents itself, at `$/stet/showChat`.
        overtakes: Whether it sends changes out of order; its versions count by one.
        answers: Whether it wants the text of answers while the model writes them.
        model_daemon: Whether an embedded model stays loaded for some minutes after the session, for
            the next one.
        inline_completion: Whether it shows inline completions.
        inline_completion_dynamic: Whether the server can register for them later.
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
    draws_hunks: bool = False
    focuses_shown: bool = False
    covers_messages: bool = False
    cuts_messages: bool = False
    opens_chat: bool = False
    overtakes: bool = False
    answers: bool = False
    model_daemon: bool = False
    inline_completion: bool = False
    inline_completion_dynamic: bool = False

    @property
    def inline_completion_fixed(self) -> bool | None:
        """The capability to announce at `initialize`: True for an editor in which the server can't
        register later, when it knows whether the user wants completions; else None.
        """
        return True if self.inline_completion and not self.inline_completion_dynamic else None


def _experimental(params: lsp.InitializeParams, name: str) -> object:
    """Return the value of `capabilities.experimental.stet[name]`, or None."""
    found: object = params.capabilities.experimental
    for key in ("stet", name):
        found = found.get(key) if isinstance(found, Mapping) else getattr(found, key, None)
    return found


def resolve_capabilities(params: lsp.InitializeParams) -> ClientCapabilities:
    """Return the capabilities of the editor that sent this `initialize` request."""
    name = (params.client_info.name if params.client_info else "").lower()
    version = (params.client_info.version if params.client_info else None) or ""
    text_document, window = params.capabilities.text_document, params.capabilities.window

    def value(path: str) -> Any:
        """Return the value at the dotted path, or None if any part of the path is missing."""
        found: Any = params.capabilities
        for key in path.split("."):
            found = getattr(found, key, None)
        return found

    declared = _fields(_fields(params.capabilities.experimental).get("stet"))

    def flag(path: str) -> bool:
        return value(path) is True

    kinds = value("workspace.workspace_edit.resource_operations") or ()
    operations = frozenset(str(getattr(kind, "value", kind)) for kind in kinds)
    document_changes = flag("workspace.workspace_edit.document_changes")
    has_annotations = value("workspace.workspace_edit.change_annotation_support") is not None
    tags = value("text_document.code_action.tag_support.value_set") or ()
    return ClientCapabilities(
        name=name,
        version=version,
        # Kate, which has documents and a window, accepts edits right after a command; it reports
        # neither this nor its name. Another editor without edits answers with an error.
        apply_edit=flag("workspace.apply_edit")
        or (not name and None not in (text_document, window)),
        # Neovim accepts versioned changes and does not report so.
        document_changes=document_changes or name == "neovim",
        resource_operations=frozenset() if name in _LEAVES_BUFFERS else operations,
        progress=flag("window.work_done_progress"),
        # Older versions of Helix show documents and do not report so.
        show_document=flag("window.show_document.support") or name == "helix",
        configuration=flag("workspace.configuration"),
        configuration_dynamic=flag("workspace.did_change_configuration.dynamic_registration"),
        watches_files=flag("workspace.did_change_watched_files.dynamic_registration"),
        workspace_folders=flag("workspace.workspace_folders"),
        message_requests=value("window.show_message") is not None,
        llm_tag=lsp.CodeActionTag.LlmGenerated in tags,
        hover_markdown=lsp.MarkupKind.Markdown
        in (value("text_document.hover.content_format") or ()),
        lens_refresh=flag("workspace.code_lens.refresh_support"),
        # Other editors report support for annotations, but apply the edit at once.
        previews_edits=has_annotations and document_changes and name.startswith(_WITH_PREVIEW),
        saves_later=name == HEADLESS,
        selects_cursor=name in {"helix", *_LEAVES_BUFFERS},
        # It opens a split, which has the focus.
        focuses_shown=name == "helix",
        # It has one line for both.
        covers_messages=name == "helix",
        cuts_messages=name == "helix",
        draws_hunks=declared.get("drawsHunks") is True,
        opens_chat=declared.get("opensChat") is True,
        # Later versions of Helix send changes in order.
        overtakes=name == "helix" and version < "25.07",
        answers=_experimental(params, "answers") is True,
        model_daemon=_experimental(params, "modelDaemon") is True,
        inline_completion=value("text_document.inline_completion") is not None,
        inline_completion_dynamic=flag("text_document.inline_completion.dynamic_registration"),
    )


def _fields(value: object) -> Mapping[str, object]:
    """Return the fields of a JSON object, or {} for another value."""
    return value if isinstance(value, Mapping) else {}
