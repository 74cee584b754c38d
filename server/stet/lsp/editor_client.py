"""The requests to the editor, checked against its capabilities and with a time limit.

No failure of the editor is raised: a refused edit, an error, null or no answer is an
`ApplyOutcome`. `applied` is only what the editor claims; the text that it sends afterwards decides.

The editor shows `Progress`, and the user can cancel it there. Its token is used once (clients of a
multiplexer share a name space), and the editor must accept it first. The work does not wait for
this: the last report is stored and sent later, or never if the editor can't show progress.
"""

import asyncio
import logging
import uuid
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from stet.lsp.capabilities import HEADLESS, ClientCapabilities
from stet.lsp.connection.protocol import SessionPhase, StetLanguageServer
from stet.text.escape import disable_links, escape_line

log = logging.getLogger(__name__)

CREATE_SECONDS = 5.0


class Progress:
    """The progress of one piece of work, shown by the editor. Reports after `end` are ignored."""

    def __init__(
        self,
        server: StetLanguageServer,
        title: str,
        message: str = "",
        on_cancel: Callable[[], object] | None = None,
    ) -> None:
        """Ask the editor to show the progress.

        Args:
            server: The server whose editor shows the progress.
            title: The name of the work; it does not change.
            message: The first message.
            on_cancel: A function that is called, at most once, when the user cancels the work;
                None if the work can't be cancelled.
        """
        self.token = str(uuid.uuid4())
        self._server = server
        self._on_cancel = on_cancel
        self._begin = lsp.WorkDoneProgressBegin(
            title=title, cancellable=on_cancel is not None, message=message or None
        )
        self._report: lsp.WorkDoneProgressReport | None = None
        self._end: lsp.WorkDoneProgressEnd | None = None
        self._is_asked = self._is_shown = False
        if server.editor.progress:
            server.tasks.start(self._create(), f"progress of {title!r}")

    def report(self, message: str, percentage: int | None = None) -> None:
        """Update the message and the percentage (0 to 100)."""
        self._report = lsp.WorkDoneProgressReport(message=message, percentage=percentage)
        if self._is_shown and self._end is None:
            self._server.work_done_progress.report(self.token, self._report)

    def end(self, message: str = "") -> None:
        """End the progress, with a last message."""
        if self._end is not None:
            return
        self._end = lsp.WorkDoneProgressEnd(message=message or None)
        # Helix shows a spinner from the request on, until the end.
        has_spinner = self._is_asked and self._server.editor.covers_messages
        if self._is_shown or has_spinner:
            self._send_end(self._end)

    async def _create(self) -> None:
        if self._has_ended():
            return
        params = lsp.WorkDoneProgressCreateParams(token=self.token)
        self._is_asked = True
        try:
            await self._server.protocol.ask(
                lsp.WINDOW_WORK_DONE_PROGRESS_CREATE, params, CREATE_SECONDS
            )
        except (TimeoutError, JsonRpcException) as error:
            log.info("the editor shows no progress: %s", error)
            return
        if self._has_ended():  # its line would cover the message about the end
            return
        self._is_shown = True
        # pygls cancels this future when the user cancels the work.
        cancelled: Future[object] = Future()
        cancelled.add_done_callback(self._cancelled)
        progress = self._server.work_done_progress
        progress.tokens[self.token] = cancelled
        progress.begin(self.token, self._begin)
        if self._report is not None:
            progress.report(self.token, self._report)

    def _has_ended(self) -> bool:
        return self._end is not None

    def _send_end(self, end: lsp.WorkDoneProgressEnd) -> None:
        progress = self._server.work_done_progress
        progress.end(self.token, end)
        progress.tokens.pop(self.token, None)  # pygls never removes tokens

    def _cancelled(self, future: Future[object]) -> None:
        if future.cancelled() and self._end is None and self._on_cancel is not None:
            asyncio.get_running_loop().call_soon(self._on_cancel)


APPLY_SECONDS = 10.0
ANSWER_SECONDS = 5.0
PREVIEW_SECONDS = 3600.0
CHOICE_SECONDS = 24 * 3600.0

_Change = lsp.TextDocumentEdit | lsp.CreateFile | lsp.RenameFile | lsp.DeleteFile


@dataclass(frozen=True, slots=True)
class ApplyOutcome:
    """The editor's answer to an edit.

    Attributes:
        applied: Whether the editor claims to have applied the edit.
        reason: Why the edit was not applied, as a sentence; empty if it was.
        is_answered: Whether the editor has answered; if not, it may still apply the edit.
    """

    applied: bool = False
    reason: str = ""
    is_answered: bool = True


class Client:
    """The editor that is connected to one server."""

    def __init__(self, server: StetLanguageServer, apply_seconds: float = APPLY_SECONDS) -> None:
        """Make the client of a server.

        Args:
            server: The server, which is connected to the editor.
            apply_seconds: Seconds within which the editor must answer an edit.
        """
        self._server = server
        self._apply_seconds = apply_seconds

    @property
    def capabilities(self) -> ClientCapabilities:
        """The capabilities of the editor; the defaults before `initialize`."""
        return self._server.editor

    # Edits

    async def apply_edit(
        self, label: str | None, uri: str, version: int | None, edits: Sequence[lsp.TextEdit]
    ) -> ApplyOutcome:
        """Ask the editor to change one document.

        Args:
            label: The name of the edit in the editor's undo list, or None.
            uri: The URI of the document, in the editor's spelling.
            version: The version that the ranges belong to; None if the document is not open.
            edits: The edits, which do not overlap; ranges in the negotiated encoding.
        """
        if not self._server.editor.document_changes:
            return await self._apply(label, lsp.WorkspaceEdit(changes={uri: list(edits)}))
        change = document_edit(uri, version, edits)
        return await self._apply(label, lsp.WorkspaceEdit(document_changes=[change]))

    async def preview(self, label: str, edit: lsp.WorkspaceEdit) -> ApplyOutcome:
        """Ask an editor with a preview to show an edit, of which the user chooses changes.

        The editor answers when the user has chosen, which may take up to `PREVIEW_SECONDS`.
        """
        return await self._apply(label, edit, PREVIEW_SECONDS)

    async def create_file(self, label: str, uri: str, text: str) -> ApplyOutcome:
        """Ask the editor to create a file with a text.

        The caller checks that there is no such file or buffer: without options some editors
        truncate an existing file, and with the options that should prevent this Neovim creates no
        file.
        """
        start = lsp.Position(0, 0)
        fill = document_edit(uri, None, [lsp.TextEdit(lsp.Range(start, start), text)])
        return await self._operate("create", label, lsp.CreateFile(uri=uri), fill)

    async def rename_file(self, label: str, uri: str, new_uri: str) -> ApplyOutcome:
        """Ask the editor to rename a file, but never to the name of an existing file.

        Without options, some editors overwrite a file that has the new name.
        """
        options = lsp.RenameFileOptions(overwrite=False, ignore_if_exists=True)
        rename = lsp.RenameFile(old_uri=uri, new_uri=new_uri, options=options)
        return await self._operate("rename", label, rename)

    async def delete_file(self, label: str, uri: str) -> ApplyOutcome:
        """Ask the editor to delete a file; most editors discard unsaved text."""
        return await self._operate("delete", label, lsp.DeleteFile(uri=uri))

    def can(self, operation: str) -> bool:
        """Return whether the editor can `create`, `rename` or `delete` files for a server."""
        return self._server.editor.apply_edit and (
            operation in self._server.editor.resource_operations
        )

    async def _operate(self, operation: str, label: str, *changes: _Change) -> ApplyOutcome:
        if not self.can(operation):
            return ApplyOutcome(
                reason=(f"This editor can't {operation} files for a language server.")
            )
        return await self._apply(label, lsp.WorkspaceEdit(document_changes=list(changes)))

    async def _apply(
        self, label: str | None, edit: lsp.WorkspaceEdit, seconds: float | None = None
    ) -> ApplyOutcome:
        seconds = self._apply_seconds if seconds is None else seconds
        if not self._server.editor.apply_edit:
            return ApplyOutcome(reason="This editor does not accept edits from a language server.")
        # Neovim has no name for an undo step: it prints the label at every edit.
        named = escape_line(label) if label and self._server.editor.name != "neovim" else None
        params = lsp.ApplyWorkspaceEditParams(edit=edit, label=named)
        try:
            result = await self._server.protocol.ask(lsp.WORKSPACE_APPLY_EDIT, params, seconds)
        except TimeoutError as error:
            return ApplyOutcome(reason=str(error), is_answered=False)
        except JsonRpcException as error:
            return ApplyOutcome(reason=f"The editor returned an error: {error.message}")
        if result.applied:
            return ApplyOutcome(applied=True)
        no_reason = "The editor rejected the edit without a reason."
        return ApplyOutcome(reason=result.failure_reason or no_reason)

    # Messages and documents for the user

    @property
    def has_buttons(self) -> bool:
        """Whether the editor can show a message with buttons."""
        return self._server.editor.message_requests

    @property
    def accepts_text_answers(self) -> bool:
        """Whether `choose` can return any text, and None means that no user is present."""
        return self._server.editor.name == HEADLESS

    def spawn(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """Start a task and return it, so that it can be cancelled."""
        return self._server.tasks.spawn(work, name)

    def start(self, work: Coroutine[Any, Any, object], name: str) -> None:
        """Start a task that waits for the editor, in parallel to all other work."""
        self._server.tasks.start(work, name)

    def publish_diagnostics(self, uri: str, diagnostics: Sequence[lsp.Diagnostic]) -> None:
        """Replace the diagnostics of a document.

        No version is sent: some editors drop diagnostics unless the version is their current one.
        """
        params = lsp.PublishDiagnosticsParams(uri=uri, diagnostics=list(diagnostics))
        self._server.text_document_publish_diagnostics(params)

    def refresh_lenses(self) -> None:
        """Ask the editor to request code lenses again, if it supports this."""
        if self._server.editor.lens_refresh:
            method = lsp.WORKSPACE_CODE_LENS_REFRESH
            self.start(self._ask(method, None), method)

    def show_message(self, text: str, kind: lsp.MessageType = lsp.MessageType.Info) -> None:
        """Show a message to the user, with its links disabled."""
        params = lsp.ShowMessageParams(type=kind, message=disable_links(text))
        self._server.window_show_message(params)

    def notify(self, method: str, params: object) -> None:
        """Send a notification of Stet's own."""
        self._server.protocol.notify(method, params)

    def warn(self, text: str) -> None:
        """Show a message as a warning."""
        self.show_message(text, lsp.MessageType.Warning)

    async def choose(self, text: str, choices: Sequence[str]) -> str | None:
        """Show the user a message with buttons, and return the chosen one.

        Return None if the editor has no buttons, or the user chose none; so there must be another
        way to answer. If the wait is cancelled, the editor is notified that the message is
        obsolete.
        """
        if not self._server.editor.message_requests:
            return None
        actions = [lsp.MessageActionItem(title=choice) for choice in choices]
        params = lsp.ShowMessageRequestParams(lsp.MessageType.Info, disable_links(text), actions)
        protocol, msg_id = self._server.protocol, str(uuid.uuid4())
        try:
            method = lsp.WINDOW_SHOW_MESSAGE_REQUEST
            chosen = await self._ask(method, params, CHOICE_SECONDS, msg_id)
        except asyncio.CancelledError:
            if protocol.phase is not SessionPhase.SHUT_DOWN:
                protocol.notify(lsp.CANCEL_REQUEST, lsp.CancelParams(msg_id))
            raise
        return None if chosen is None else str(chosen.title)

    async def show_document(
        self, uri: str, selection: lsp.Range | None = None, *, take_focus: bool = True
    ) -> bool:
        """Ask the editor to show a document; return whether the editor says that it does."""
        if not self._server.editor.show_document:
            return False
        params = lsp.ShowDocumentParams(uri=uri, take_focus=take_focus, selection=selection)
        result = await self._ask(lsp.WINDOW_SHOW_DOCUMENT, params)
        return result is not None and bool(result.success)

    @property
    def can_show_chat(self) -> bool:
        """Whether the user can read a chat document in the editor; not in Stet's headless
        client.
        """
        editor = self._server.editor
        return (editor.show_document or editor.opens_chat) and editor.name != HEADLESS

    async def show_chat(self, uri: str, chat: str) -> bool:
        """Ask the editor to show a chat document beside the code, without the focus.

        Return whether the editor says that it does; True for an editor that only takes notice. An
        editor that would move the user to the document is not asked.
        """
        if self._server.editor.focuses_shown:
            return False
        if not self._server.editor.opens_chat:
            return await self.show_document(uri, take_focus=False)
        params = {"uri": uri, "chat": chat, "takeFocus": False}
        self._server.protocol.notify("$/stet/showChat", params)
        return True

    def progress(
        self, title: str, message: str = "", on_cancel: Callable[[], object] | None = None
    ) -> Progress:
        """Show progress of work; an editor without progress shows nothing."""
        return Progress(self._server, title, message, on_cancel)

    # Settings

    async def fetch_configuration(self, section: str) -> tuple[object, ...]:
        """Ask the editor for the settings of one section.

        The request has exactly one item: some editors answer null to dotted or empty sections.

        Returns:
            A tuple with one JSON value, which is None if nothing is set; an empty tuple if the
            editor does not support the request or does not answer.
        """
        if not self._server.editor.configuration:
            return ()
        params = lsp.ConfigurationParams(items=[lsp.ConfigurationItem(section=section)])
        values = await self._ask(lsp.WORKSPACE_CONFIGURATION, params, level=logging.WARNING)
        return tuple(values[:1]) if values else ()

    def watch_configuration(self, section: str) -> None:
        """Register for changes of the settings of a section, if the editor supports this."""
        if self._server.editor.configuration_dynamic:
            options = lsp.DidChangeConfigurationRegistrationOptions(section=section)
            self._register(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION, options)

    def watch_files(self) -> None:
        """Register for changes of files on the disk, if the editor supports this."""
        if self._server.editor.watches_files:
            files = [lsp.FileSystemWatcher("**/*")]
            options = lsp.DidChangeWatchedFilesRegistrationOptions(files)
            self._register(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)

    def register_inline_completion(self) -> None:
        """Register for requests of inline completions; the editor must support this."""
        options = lsp.InlineCompletionRegistrationOptions()
        self._register(lsp.TEXT_DOCUMENT_INLINE_COMPLETION, options)

    def unregister_inline_completion(self) -> None:
        """End the registration for inline completions."""
        method = lsp.TEXT_DOCUMENT_INLINE_COMPLETION
        params = lsp.UnregistrationParams([lsp.Unregistration(f"stet-{method}", method)])
        self.start(self._ask(lsp.CLIENT_UNREGISTER_CAPABILITY, params), method)

    def _register(self, method: str, options: object) -> None:
        """Register for a notification or a request of the editor."""
        registration = lsp.Registration(f"stet-{method}", method, register_options=options)
        params = lsp.RegistrationParams([registration])
        self.start(self._ask(lsp.CLIENT_REGISTER_CAPABILITY, params), method)

    async def _ask(
        self,
        method: str,
        params: object,
        seconds: float = ANSWER_SECONDS,
        msg_id: str = "",
        level: int = logging.INFO,
    ) -> Any:
        """Return the editor's answer; if there is none or it is an error, log this and return
        None.
        """
        try:
            return await self._server.protocol.ask(method, params, seconds, msg_id)
        except (TimeoutError, JsonRpcException) as error:
            log.log(level, "no answer to %s: %s", method, error)
            return None


def document_edit(
    uri: str, version: int | None, edits: Sequence[lsp.TextEdit | lsp.AnnotatedTextEdit]
) -> lsp.TextDocumentEdit:
    """Return the edits of one document with the version that they were made for."""
    document = lsp.OptionalVersionedTextDocumentIdentifier(uri=uri, version=version)
    return lsp.TextDocumentEdit(text_document=document, edits=list(edits))
