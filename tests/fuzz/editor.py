"""An editor that tracks outstanding answers and approvals, and mostly does what the server asks.

It keeps every text according to the protocol, counts outstanding answers, and checks every edit:
only approved changes may be made to the user's text.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fuzz.answers import Answers, Then
from tests.fuzz.connection import Connection, Message
from tests.fuzz.delayed_edits import DelayedEdits
from tests.fuzz.folder import Folder, decoded, place_of
from tests.fuzz.permissions import Allowed
from tests.fuzz.reference import (
    Document,
    Violation,
    as_sent,
    is_malformed,
    key_of,
    replaced,
    words_of,
)
from tests.support.editor_profiles import PROFILES, Profile, Stale


@dataclass
class Known:
    """Ids that the server has reported, for use in later messages.

    Attributes:
        hunks: Hunk ids with the last reported state.
        turns: Turn ids, the newest last.
        questions: Ids of the server's questions.
        pages: URIs of the server's own documents.
        progress: Tokens of reported progress.
    """

    hunks: dict[str, str] = field(default_factory=dict)
    turns: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)
    progress: list[Any] = field(default_factory=list)


class Editor:
    """The editor of one life.

    Attributes:
        folder: The workspace folder.
        settings: The answer to `workspace/configuration`.
        documents: The open documents, by `key_of`.
        known: The ids for use in later messages.
        dice: The dice for answers to the server's requests.
        answers: The outstanding answers.
        allowed: The changes that the user has approved.
        n_edits: The number of edits applied for the server.
        late: The edits that wait to be handled.
    """

    def __init__(self, root: Path, profile: str, seed: int) -> None:
        self.folder = Folder(root)
        self.answers = Answers()
        self.allowed = Allowed()
        self.profile: Profile = PROFILES[profile]
        self.settings: Any = {}
        self.encoding = "utf-16"
        self.documents: dict[str, Document] = {}
        self.known = Known()
        self.dice = random.Random(seed)
        self.connection: Connection
        self.n_edits = 0
        self.late = DelayedEdits(seed)
        self._last_id = 0
        self._last_versions: dict[str, int] = {}

    # --- sending --------------------------------------------------------------------------------

    def send(self, message: object, then: Then | None = None) -> None:
        """Send any message, and record the answer that it requires."""
        self.answers.sent(message, then)
        self.connection.send(message)

    def request(self, method: str, params: object, then: Then | None = None) -> int:
        """Send a request with a new id; return the id."""
        self._last_id += 1
        self.send({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}, then)
        return self._last_id

    def notify(self, method: str, params: object) -> None:
        """Send a notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def command(self, name: str, *arguments: object, then: Then | None = None) -> int:
        """Execute a command."""
        params = {"command": name, "arguments": list(arguments)}
        return self.request("workspace/executeCommand", params, then)

    def write(self, data: bytes, *, owes_null: int = 0) -> None:
        """Send bytes, for which the server owes `owes_null` answers with the id null."""
        self.answers.sent_bytes(owes_null)
        self.connection.write(data)

    # --- texts ----------------------------------------------------------------------------------

    def open(self, uri: str, text: str, version: int | None = None) -> None:
        """Open a document, or open it again."""
        key = key_of(uri)
        self._leave(self.documents.get(key))
        fresh = self._last_versions.get(key, self.profile.first_version)
        first = fresh if version is None else version
        self.documents[key] = Document(uri, first, as_sent(text), is_doubtful=version is not None)
        item = {"uri": uri, "languageId": "python", "version": first, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})
        self.documents[key].opened_at = self.answers.n_sent

    def close(self, document: Document) -> None:
        """Close a document; unsaved text is lost."""
        self._leave(self.documents.pop(key_of(document.uri)))
        self.notify("textDocument/didClose", {"textDocument": {"uri": document.uri}})

    def leap(self, document: Document, version: int) -> None:
        """Change a document's version without its text, to a new or an earlier one."""
        self._leave(document)
        document.version = version
        document.is_doubtful = True

    def _leave(self, document: Document | None) -> None:
        """Let the next document of that URI begin with an unused version."""
        if document is not None:
            key = key_of(document.uri)
            self._last_versions[key] = max(self._last_versions.get(key, 0), document.version) + 1

    def change(self, document: Document, *changes: dict[str, Any]) -> None:
        """Change a document and report the change."""
        document.version += 1
        identifier = {"uri": document.uri, "version": document.version}
        self.report_change({"textDocument": identifier, "contentChanges": list(changes)})

    def report_change(self, params: Any) -> None:
        """Send `didChange` with any parameters, and apply what they mean to the text."""
        if not is_malformed(params):
            document = self.documents.get(key_of(params["textDocument"]["uri"]))
            if document is not None:
                for change in params["contentChanges"]:
                    document.text = replaced(document.text, change, self.encoding)
        self.notify("textDocument/didChange", params)

    def save(self, document: Document, *, with_text: bool) -> None:
        """Write a document to the disk, if it has a path."""
        path = self.folder.path_of(document.uri)
        if path is not None and path.parent.is_dir():
            self.folder.write(path, document.text.encode("utf-8", "surrogatepass"))
        params: dict[str, Any] = {"textDocument": {"uri": document.uri}}
        if with_text:
            document.text = as_sent(document.text)
            params["text"] = document.text
        self.notify("textDocument/didSave", params)

    def is_own(self, document: Document) -> bool:
        """Tell whether a document is one of the server's own pages."""
        return not (document.uri.startswith("untitled:") or self.folder.path_of(document.uri))

    # --- permissions ----------------------------------------------------------------------------

    def _check_allowed(
        self,
        document: Document,
        edited: dict[str, Any],
        changes: list[dict[str, Any]],
        n_taken: int,
    ) -> None:
        """Check that an edit changes only approved parts of the user's text.

        An edit for a file that is not open may refer to any text that the file has had on the disk:
        the file may be opened or saved while the edit is in flight.

        Args:
            document: The document to change.
            edited: The server's identifier of the document.
            changes: The content changes.
            n_taken: The number of messages that the server had certainly read before the edit.
        """
        if self.is_own(document) or document.is_doubtful:
            return
        is_for_disk = "version" in edited and edited["version"] is None
        if is_for_disk and document.opened_at <= n_taken:
            raise Violation(
                f"this edit of {document.uri} is for the disk, but it is open: {changes}"
            )
        if not self.allowed.hunks():
            raise Violation(f"nobody said yes to this edit of {document.uri}: {changes}")
        allowed = self.allowed.words()
        texts = self._texts_on_disk(document) if is_for_disk else [document.text]
        others = [self._words_changed(text, changes) - allowed for text in texts]
        if all(others):
            raise Violation(f"nobody said yes to {sorted(others[-1])} in {document.uri}: {changes}")

    def _texts_on_disk(self, document: Document) -> list[str]:
        """Return the texts that the file has or had; without a file, the document's text."""
        path = self.folder.path_of(document.uri)
        return (self.folder.texts_of(path) if path is not None else []) or [document.text]

    def _words_changed(self, text: str, changes: list[dict[str, Any]]) -> set[str]:
        """Return the words that `changes` add or remove."""
        had = words_of(text)
        for change in changes:
            text = replaced(text, change, self.encoding)
        return had ^ words_of(text)

    # --- receiving ------------------------------------------------------------------------------

    def take(self, message: Message) -> None:
        """Handle a message from the server."""
        if message.get("jsonrpc") != "2.0":
            raise Violation(f"this is no message: {message}")
        if "method" not in message:
            self.answers.take(message)
        elif "id" in message:
            self._take_request(message)
        else:
            self._take_notification(message["method"], message.get("params"))

    def _take_notification(self, method: str, params: Any) -> None:
        if method == "$/progress" and params["value"].get("kind") == "begin":
            self.known.progress = [*self.known.progress[-5:], params["token"]]
        elif method == "textDocument/publishDiagnostics":
            for one in params["diagnostics"]:
                if one["range"]["start"]["line"] < 0 or not one["message"]:
                    raise Violation(f"this is no diagnostic: {one}")

    def _take_request(self, message: Message) -> None:
        method, params = message["method"], message.get("params") or {}
        chance = self.dice.random()
        if chance < 0.02:
            error = {"code": -32603, "message": "the editor is ill"}
            self._answer(message, error=error)
        elif chance < 0.04:
            self._answer(message, result=self.dice.choice((None, [], "x", 3, {"applied": 1})))
        elif method == "workspace/applyEdit":
            self.late.take(message, self.answers.n_sent, self.answers.n_taken)
            self.catch_up()
        elif method == "workspace/configuration":
            self._answer(message, result=[self.settings for _ in params["items"]])
        elif method == "window/showMessageRequest":
            choices = [None, *(params.get("actions") or ())]
            if chance > 0.2:  # else the user ignores the message
                self._choose(message, self.dice.choice(choices))
        elif method == "window/showDocument":
            self._show(params["uri"])
            self._answer(message, result={"success": True})
        else:
            self._answer(message, result=None)

    def catch_up(self, *, all_of_them: bool = False) -> None:
        """Apply and answer the waiting edits that are due."""
        for late in self.late.due(self.answers.n_sent, all_of_them=all_of_them):
            result = self._apply(late.message["params"], late.n_taken)
            self._answer(late.message, result=result)

    def _choose(self, message: Message, choice: Any) -> None:
        """Choose one of the buttons of a message."""
        if choice == {"title": "Delete"}:
            self.allowed.agree(message["params"]["message"])
        self._answer(message, result=choice)

    def _answer(self, message: Message, **answer: object) -> None:
        self.send({"jsonrpc": "2.0", "id": message["id"], **answer})

    def _show(self, uri: str) -> None:
        path = place_of(uri)
        if key_of(uri) not in self.documents and path is not None and path.is_file():
            self.open(uri, decoded(path.read_bytes()))

    # --- edits ----------------------------------------------------------------------------------

    def _apply(self, params: Any, n_taken: int) -> Mapping[str, object]:
        """Apply an edit, mostly; the server had read at least `n_taken` messages when it sent
        it.
        """
        chance = self.dice.random()
        if chance < 0.08:
            return {"applied": False}
        if chance < 0.12:
            return {"applied": True}  # false: nothing was applied
        edit = params["edit"]
        for uri, edits in (edit.get("changes") or {}).items():
            self._edit({"uri": uri}, edits, n_taken)
        for change in edit.get("documentChanges") or ():
            if "kind" in change:
                if not self._operate(change):
                    return {"applied": False}
                continue
            wanted = change["textDocument"].get("version")
            held = self.documents.get(key_of(change["textDocument"]["uri"]))
            if wanted is not None and (held is None or wanted != held.version):
                return {"applied": self.profile.stale is Stale.LIES, "failureReason": "stale"}
            self._edit(change["textDocument"], change["edits"], n_taken)
        return {"applied": True}

    def _edit(self, edited: dict[str, Any], edits: list[dict[str, Any]], n_taken: int) -> None:
        uri = edited["uri"]
        document = self.documents.get(key_of(uri))
        if document is None:
            path = place_of(uri)
            self.open(uri, decoded(path.read_bytes()) if path and path.is_file() else "")
            document = self.documents[key_of(uri)]
        ordered = sorted(
            enumerate(edits),
            key=lambda one: (*one[1]["range"]["start"].values(), one[0]),
            reverse=True,
        )
        changes = [{"range": one["range"], "text": one["newText"]} for _, one in ordered]
        self._check_allowed(document, edited, changes, n_taken)
        self.n_edits += 1
        if self.profile.full_sync:
            for change in changes:
                document.text = replaced(document.text, change, self.encoding)
            changes = [{"text": document.text}]
        self.change(document, *changes)

    def _operate(self, change: dict[str, Any]) -> bool:
        """Create, rename or delete a file; return whether this was done."""
        uri = change.get("oldUri") or change["uri"]
        uris = [uri, change.get("newUri") or uri]
        old, new = (self.folder.path_of(one) for one in uris)
        named = {hunk[name] for hunk in self.allowed.hunks() for name in ("uri", "newUri")}
        is_named = {key_of(one) for one in named if one} & {key_of(one) for one in uris}
        if not is_named and not (
            change["kind"] == "delete" and old in self.allowed.may_go(self.folder.root)
        ):
            raise Violation(f"nobody said yes to this: {change}")
        if old is None or new is None:
            return False
        if not self.folder.operate(change["kind"], old, new):
            return False
        if change["kind"] != "create" and (held := self.documents.get(key_of(uri))) is not None:
            self.close(held)
            if change["kind"] == "rename":
                self.open(change["newUri"], held.text)
        return True
