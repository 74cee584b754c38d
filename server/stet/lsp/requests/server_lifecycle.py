"""Start and end of the session, settings, folders, file operations and saves."""

from collections.abc import Mapping

from lsprotocol import types as lsp

from stet.lsp.edits.apply_order import accept_in_order
from stet.lsp.state import ServerState


def initialized(state: ServerState, _params: lsp.InitializedParams) -> None:
    """Start to read settings, import the rest and index, after the answer to `initialize`."""
    state.server.tasks.start(state.startup.run(), "startup")
    state.server.tasks.start(state.background.index_feed.begin(), "the search index")


def did_change_configuration(state: ServerState, params: lsp.DidChangeConfigurationParams) -> None:
    """Handle changed settings. Null or an empty object means that the settings must be
    requested.
    """
    settings = params.settings
    editor_settings = settings if isinstance(settings, Mapping) else None
    begins = not state.startup.is_loaded
    change = state.startup.configuration_changed(editor_settings, begins=begins)
    state.server.tasks.start(change, "settings")


def did_change_folders(state: ServerState, params: lsp.DidChangeWorkspaceFoldersParams) -> None:
    """Add and remove roots."""
    for folder in params.event.removed:
        state.workspace.remove_root(folder.uri)
    for folder in params.event.added:
        state.workspace.add_root(folder.uri)
    state.background.folders_changed()


def did_rename_files(state: ServerState, params: lsp.RenameFilesParams) -> None:
    """Move the hunks and attachments of renamed files."""
    for file in params.files:
        state.documents.renames.rename(file.old_uri, file.new_uri)
    state.background.index_feed.changed(
        uri for file in params.files for uri in (file.old_uri, file.new_uri)
    )


def did_delete_files(state: ServerState, params: lsp.DeleteFilesParams) -> None:
    """Detach the deleted files, so that they are no longer sent with questions."""
    for file in params.files:
        state.documents.presets.deleted(file.uri)


def did_save(state: ServerState, params: lsp.DidSaveTextDocumentParams) -> None:
    """Handle a saved document: also run its comments, or the decisions of a diff document."""
    state.text_sync.save(params)
    state.agent_ui.comment_runner.saved(params.text_document.uri)
    if approved := state.review.diff_documents.saved(params.text_document.uri):
        work = accept_in_order(state.ledger, state.review.edit_applier, approved)
        state.server.tasks.start(work, f"accept {approved}")
    state.review.dead_links.saved()
    state.background.index_feed.changed([params.text_document.uri])


def shutdown(state: ServerState, _params: object = None) -> None:
    """Stop all turns; the framework stops the rest."""
    state.agent.cancel()
