"""The tools that Claude Code calls in an editor, for one session.

Claude Code offers none of them to its model; it calls them itself. Tools that only some editors
have, such as `executeCode`, are not offered.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from stet.bridges.claude_ide.editor_view import EditorView, read_saved
from stet.bridges.claude_ide.open_diffs import OpenDiffs
from stet.bridges.claude_ide.tool_arguments import ToolRefused, name_in, text_in
from stet.workspace.names import PathRefused
from stet.workspace.snapshot import NotShown, Snapshot
from stet.workspace.workspace import Workspace

ShowDocument = Callable[[str], Awaitable[bool]]
Arguments = Mapping[str, object]


class IdeTools:
    """The tools of one session; used on the event loop only."""

    def __init__(
        self, workspace: Workspace, editor: EditorView, diffs: OpenDiffs, show: ShowDocument
    ) -> None:
        """Create the tools.

        Args:
            workspace: The open documents and the files.
            editor: What the session sees of the editor.
            diffs: The diffs of the session.
            show: Asks the editor to show a document; returns whether it does.
        """
        self._workspace = workspace
        self._editor = editor
        self._diffs = diffs
        self._show = show
        self._tools: Mapping[str, Callable[[Arguments], Awaitable[Sequence[str]]]] = {
            "openDiff": self._open_diff,
            "close_tab": self._close_tab,
            "closeAllDiffTabs": self._close_all_diff_tabs,
            "getDiagnostics": self._get_diagnostics,
            "getCurrentSelection": self._get_selection,
            "getLatestSelection": self._get_selection,
            "getOpenEditors": self._get_open_editors,
            "getWorkspaceFolders": self._get_workspace_folders,
            "checkDocumentDirty": self._check_document_dirty,
            "saveDocument": self._save_document,
            "openFile": self._open_file,
        }

    def listed(self) -> list[dict[str, object]]:
        """Return the tools as `tools/list` answers them."""
        return [
            {
                "name": name,
                "description": description,
                "inputSchema": {
                    "type": "object",
                    "properties": {one: {"type": "string"} for one in names},
                },
            }
            for name, (description, *names) in _DESCRIPTIONS.items()
        ]

    async def call(self, name: str, arguments: Arguments) -> list[dict[str, str]]:
        """Run a tool; return its result as `tools/call` answers it.

        Raises:
            ToolRefused: If there is no such tool, or it can't do what it is asked.
        """
        if (tool := self._tools.get(name)) is None:
            raise ToolRefused("There is no such tool.")
        return [{"type": "text", "text": text} for text in await tool(arguments)]

    async def _open_diff(self, arguments: Arguments) -> Sequence[str]:
        path, old = name_in(arguments, "new_file_path"), name_in(arguments, "old_file_path")
        if path != old:
            raise ToolRefused("A diff of two files can't be reviewed.")
        new = text_in(arguments, "new_file_contents")
        return await self._diffs.review(path, new, name_in(arguments, "tab_name"))

    async def _close_tab(self, arguments: Arguments) -> Sequence[str]:
        self._diffs.close(name_in(arguments, "tab_name"))
        return ["TAB_CLOSED"]

    async def _close_all_diff_tabs(self, _: Arguments) -> Sequence[str]:
        return [f"CLOSED_{self._diffs.close_all()}_DIFF_TABS"]

    async def _get_diagnostics(self, arguments: Arguments) -> Sequence[str]:
        """Return the user's decisions; with a `uri` nothing, as Claude asks so before an edit."""
        if arguments.get("uri"):
            return ["[]"]
        return [json.dumps(self._editor.decisions(self._diffs.take_decided()))]

    async def _get_selection(self, _: Arguments) -> Sequence[str]:
        selected = await self._editor.selection()
        if selected is None:
            return [json.dumps({"success": False, "message": "No active editor found"})]
        if selected.record is not None:
            self._workspace.request_log.add(selected.record)
        return [json.dumps({"success": True, **selected.wire})]

    async def _get_open_editors(self, _: Arguments) -> Sequence[str]:
        return [json.dumps({"tabs": await self._editor.open_editors()})]

    async def _get_workspace_folders(self, _: Arguments) -> Sequence[str]:
        return [json.dumps(self._editor.folders())]

    async def _check_document_dirty(self, arguments: Arguments) -> Sequence[str]:
        path = name_in(arguments, "filePath")
        snapshot = self._workspace.snapshot()
        return [json.dumps(await asyncio.to_thread(_dirty_state, snapshot, path))]

    async def _save_document(self, arguments: Arguments) -> Sequence[str]:
        name_in(arguments, "filePath")
        message = "Only the user can save files in this editor."
        return [json.dumps({"success": False, "saved": False, "message": message})]

    async def _open_file(self, arguments: Arguments) -> Sequence[str]:
        path = name_in(arguments, "filePath")
        if not self._workspace.settings.edit.can_navigate:
            raise ToolRefused("The user's settings do not let agents open files.")
        uri = await asyncio.to_thread(_shown_uri, self._workspace.snapshot(), path)
        if not await self._show(uri):
            raise ToolRefused("This editor does not open files for agents.")
        return [f"Opened file: {path}"]


def _shown_uri(snapshot: Snapshot, path: str) -> str:
    """Return the URI of a file of the workspace. For a worker thread.

    Raises:
        ToolRefused: If it is none, or may not be shown.
    """
    if not Path(path).is_absolute() or "\0" in path:
        raise ToolRefused("The path must be absolute.")
    try:
        uri = snapshot.locate(path).uri
        snapshot.show(uri)
    except (PathRefused, NotShown) as refused:
        raise ToolRefused(str(refused)) from refused
    return uri


def _dirty_state(snapshot: Snapshot, path: str) -> dict[str, Any]:
    """Return whether an open file differs from the disk. For a worker thread.

    Raises:
        ToolRefused: If it is no file that may be shown.
    """
    uri = _shown_uri(snapshot, path)
    opened = snapshot.document(uri)
    if opened is None:
        return {"success": False, "message": f"Document not open: {path}"}
    saved = read_saved(snapshot, uri)
    return {
        "success": True,
        "filePath": path,
        "isDirty": opened.text != saved,
        "isUntitled": saved is None,
    }


_DESCRIPTIONS = {
    "openDiff": (
        "Show a change of a file as hunks, and wait until the user has decided each",
        "old_file_path",
        "new_file_path",
        "new_file_contents",
        "tab_name",
    ),
    "close_tab": ("Withdraw the hunks of a diff", "tab_name"),
    "closeAllDiffTabs": ("Withdraw the hunks of all diffs",),
    "getDiagnostics": ("Return what the user has decided about the last changes", "uri"),
    "getCurrentSelection": ("Return the selection",),
    "getLatestSelection": ("Return the latest selection",),
    "getOpenEditors": ("Return the open files",),
    "getWorkspaceFolders": ("Return the folders of the workspace",),
    "checkDocumentDirty": ("Return whether a file has unsaved changes", "filePath"),
    "saveDocument": ("Say that only the user saves files", "filePath"),
    "openFile": ("Show a file in the editor", "filePath"),
}
