"""An editor that knows what it is owed and what it has allowed, and does what it is told, mostly.

It holds every text by the letter of the protocol, counts the answers it is owed, and looks at every
edit: of the user's text only what the user said yes to may become another.
"""

import json
import os
import random
import re
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote_to_bytes

from tests.fuzz.connection import Connection, Message
from tests.fuzz.reference import (
    Document,
    Violation,
    as_sent,
    checksum,
    is_held,
    is_malformed,
    key_of,
    replaced,
    slice_of,
    words_of,
)
from tests.support.editor_profiles import PROFILES, Profile, Stale

CODES = {-32700, -32600, -32601, -32602, -32803, -32801, -32800, -32002}
"""Errors that a server may answer with; an internal one (-32603) is a fault."""
MOST_ALLOWED = 200
"""Hunks; a yes to one further back has come about long ago."""
MOST_READ = 8
"""Texts of a file; an edit of a file that is not open may be for one that the server read just before
another was saved."""
_REMOVAL = re.compile(r"\bDelete (.+?)\?")
Hunk = dict[str, Any]
Then = Callable[[Any], None]


@dataclass
class Known:
    """What the editor has been told, to speak of it again.

    Attributes:
        hunks: Ids by what they were when last heard of.
        turns: Ids, the newest last.
        questions: Ids of what was asked.
        pages: URIs of the server's own documents.
        progress: Tokens of work that is shown.
    """

    hunks: dict[str, str] = field(default_factory=dict)
    turns: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)
    progress: list[Any] = field(default_factory=list)


class Editor:
    """One life's editor.

    Attributes:
        root: The workspace folder.
        settings: What it answers `workspace/configuration` with.
        documents: The open ones, by `key_of`.
        known: What it may speak of.
        dice: For what it does with what the server asks of it.
        n_sent: How many messages it has sent.
        owed: How many answers it is owed, by the id as JSON.
        n_edits: How many edits it has applied for the server.
    """

    def __init__(self, root: Path, profile: str, seed: int) -> None:
        self.root = root
        self.profile: Profile = PROFILES[profile]
        self.settings: Any = {}
        self.encoding = "utf-16"
        self.documents: dict[str, Document] = {}
        self.known = Known()
        self.dice = random.Random(seed)
        self.connection: Connection
        self.n_sent = 0
        self.n_edits = 0
        self.owed: Counter[str] = Counter()
        self._then: dict[str, list[tuple[int, Then | None]]] = {}
        self._n_taken = 0
        self._allowed: dict[tuple[str, str], Hunk] = {}
        self._may_go: set[Path] = set()
        self._saved: dict[Path, bytes] = {}
        self._on_disk: dict[Path, deque[str]] = {}
        self._free: set[Path] = set()
        self._last_id = 0
        self._last_versions: dict[str, int] = {}

    # --- sending --------------------------------------------------------------------------------

    def send(self, message: object, then: Then | None = None) -> None:
        """Send anything; what the answer to it must be is worked out here."""
        self.n_sent += 1
        if isinstance(message, dict):
            self._note(message, then)
        else:
            self._owe(None, then)
        self.connection.send(message)

    def request(self, method: str, params: object, then: Then | None = None) -> int:
        """Send a request with an id of its own; gives that."""
        self._last_id += 1
        self.send({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}, then)
        return self._last_id

    def notify(self, method: str, params: object) -> None:
        """Send a notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def command(self, name: str, *arguments: object, then: Then | None = None) -> int:
        """Carry out a command."""
        params = {"command": name, "arguments": list(arguments)}
        return self.request("workspace/executeCommand", params, then)

    def write(self, data: bytes, *, owes_null: int = 0) -> None:
        """Send bytes; so many answers to nobody are owed for them."""
        self.n_sent += 1
        for _ in range(owes_null):
            self._owe(None, None)
        self.connection.write(data)

    def n_owed(self) -> int:
        """How many answers are still to come."""
        return self.owed.total()

    def _note(self, message: Message, then: Then | None) -> None:
        """What is owed for a message, by the letter of JSON-RPC."""
        has_method, has_id = "method" in message, "id" in message
        if not has_method and message.keys() & {"result", "error"} and _is_id(message.get("id")):
            if message.get("jsonrpc") != "2.0":
                self._owe(None, then)
            return
        if has_method and not has_id:
            return
        is_request = has_method and _is_id(message["id"])
        self._owe(message["id"] if is_request else None, then)

    def _owe(self, msg_id: object, then: Then | None) -> None:
        key = json.dumps(msg_id)
        self.owed[key] += 1
        self._then.setdefault(key, []).append((self.n_sent, then))

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
        self.documents[key].opened_at = self.n_sent

    def close(self, document: Document) -> None:
        """Close it; what is not saved is gone."""
        self._leave(self.documents.pop(key_of(document.uri)))
        self.notify("textDocument/didClose", {"textDocument": {"uri": document.uri}})

    def leap(self, document: Document, version: int) -> None:
        """A document has another version without another text, or one that it had before."""
        self._leave(document)
        document.version = version
        document.is_doubtful = True

    def _leave(self, document: Document | None) -> None:
        """What is opened there next begins with a version that has not been."""
        if document is not None:
            key = key_of(document.uri)
            self._last_versions[key] = max(self._last_versions.get(key, 0), document.version) + 1

    def change(self, document: Document, *changes: dict[str, Any]) -> None:
        """Change a document and tell it."""
        document.version += 1
        identifier = {"uri": document.uri, "version": document.version}
        self.tell_change({"textDocument": identifier, "contentChanges": list(changes)})

    def tell_change(self, params: Any) -> None:
        """Send `didChange` with anything; what it means is what the text becomes."""
        if not is_malformed(params):
            document = self.documents.get(key_of(params["textDocument"]["uri"]))
            if document is not None:
                for change in params["contentChanges"]:
                    document.text = replaced(document.text, change, self.encoding)
        self.notify("textDocument/didChange", params)

    def save(self, document: Document, *, with_text: bool) -> None:
        """Write a document to the disk, if it has a place there."""
        path = self.path_of(document.uri)
        if path is not None and path.parent.is_dir():
            self.write_file(path, document.text.encode("utf-8", "surrogatepass"))
        params: dict[str, Any] = {"textDocument": {"uri": document.uri}}
        if with_text:
            document.text = as_sent(document.text)
            params["text"] = document.text
        self.notify("textDocument/didSave", params)

    def path_of(self, uri: str) -> Path | None:
        """Where a document of the workspace lies."""
        path = _place(uri)
        return path if path is not None and self.root in path.parents else None

    def uri_of(self, name: str) -> str:
        """Of a name in the workspace."""
        return "file://" + quote(str(self.root / name), errors="surrogateescape")

    def write_file(self, path: Path, data: bytes) -> None:
        """Write a file that the server must leave as it is then."""
        path.write_bytes(data)
        self._saved[path] = data
        self._on_disk.setdefault(path, deque(maxlen=MOST_READ)).append(_decoded(data))

    def is_own(self, document: Document) -> bool:
        """Whether it is one of the server's own pages."""
        return not (document.uri.startswith("untitled:") or self.path_of(document.uri))

    # --- what is allowed ------------------------------------------------------------------------

    def allow(self, hunks: list[Hunk], answer: Any) -> None:
        """The user said yes to those of these hunks that the answer names."""
        if isinstance(answer, dict):
            named = set(answer.get("hunks", ()))
            self.allow_all([hunk for hunk in hunks if hunk["hunk"] in named])

    def allow_all(self, hunks: list[Hunk]) -> None:
        """The user may have said yes to any of these, as by saving a page.

        Each is kept as it was then: one that waits for its turn may be another by the next yes.
        """
        for hunk in hunks:
            key = hunk["hunk"], hunk["hash"]
            self._allowed = {k: h for k, h in self._allowed.items() if k != key} | {key: hunk}
        while len(self._allowed) > MOST_ALLOWED:
            del self._allowed[next(iter(self._allowed))]

    def agree(self, *questions: str) -> None:
        """The user said yes to these; one whether a file may go is a yes to its removal."""
        for asked in filter(None, map(_REMOVAL.search, questions)):
            self._may_go.add(self.root / asked[1])

    def _check_allowed(
        self, document: Document, edited: dict[str, Any], changes: list[dict[str, Any]]
    ) -> None:
        """Of the user's text, only what they said yes to becomes another.

        What says that it is for a file that is not open is for a text that this has had on the disk: no
        server can help it that the file is opened, or saved, while the edit is on its way.

        Args:
            document: Which is to change.
            edited: How the server names it.
            changes: What would be done to it.
        """
        if self.is_own(document) or document.is_doubtful:
            return
        is_for_disk = "version" in edited and edited["version"] is None
        if is_for_disk and document.opened_at <= self._n_taken:
            raise Violation(
                f"this edit of {document.uri} is for the disk, but it is open: {changes}"
            )
        if not self._allowed:
            raise Violation(f"nobody said yes to this edit of {document.uri}: {changes}")
        allowed = words_of(*(h[side] for h in self._allowed.values() for side in ("old", "new")))
        texts = self._texts_on_disk(document) if is_for_disk else [document.text]
        others = [self._words_changed(text, changes) - allowed for text in texts]
        if all(others):
            raise Violation(f"nobody said yes to {sorted(others[-1])} in {document.uri}: {changes}")

    def _texts_on_disk(self, document: Document) -> list[str]:
        """Those that its file has or had; where there is no file, the document's."""
        path = self.path_of(document.uri)
        if path is None:
            return [document.text]
        now = [_decoded(path.read_bytes())] if path.is_file() else []
        return [*self._on_disk.get(path, ()), *now] or [document.text]

    def _words_changed(self, text: str, changes: list[dict[str, Any]]) -> set[str]:
        """Those that go or come with `changes`."""
        had = words_of(text)
        for change in changes:
            text = replaced(text, change, self.encoding)
        return had ^ words_of(text)

    # --- receiving ------------------------------------------------------------------------------

    def take(self, message: Message) -> None:
        """A message from the server."""
        if message.get("jsonrpc") != "2.0":
            raise Violation(f"this is no message: {message}")
        if "method" not in message:
            self._take_answer(message)
        elif "id" in message:
            self._take_request(message)
        else:
            self._take_notification(message["method"], message.get("params"))

    def _take_answer(self, message: Message) -> None:
        key = json.dumps(message.get("id", "none"))
        if not self.owed[key]:
            raise Violation(f"nobody is owed this answer: {str(message)[:500]}")
        self.owed[key] -= 1
        thens = self._then[key]
        n_sent, then = thens.pop(0)
        self._n_taken = max(self._n_taken, n_sent)
        if not thens:
            del self._then[key], self.owed[key]
        if ("error" in message) == ("result" in message):
            raise Violation(f"an answer is a result or an error: {str(message)[:500]}")
        error = message.get("error")
        if error is not None and (error["code"] not in CODES or not error["message"]):
            raise Violation(f"the server answers with a fault of its own: {error}")
        if then is not None and error is None:
            then(message["result"])

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
            self._answer(message, result=self._apply(params))
        elif method == "workspace/configuration":
            self._answer(message, result=[self.settings for _ in params["items"]])
        elif method == "window/showMessageRequest":
            choices = [None, *(params.get("actions") or ())]
            if chance > 0.2:  # else its user leaves it standing
                self._choose(message, self.dice.choice(choices))
        elif method == "window/showDocument":
            self._show(params["uri"])
            self._answer(message, result={"success": True})
        else:
            self._answer(message, result=None)

    def _choose(self, message: Message, choice: Any) -> None:
        """One of the buttons of a message."""
        if choice == {"title": "Delete"}:
            self.agree(message["params"]["message"])
        self._answer(message, result=choice)

    def _answer(self, message: Message, **answer: object) -> None:
        self.send({"jsonrpc": "2.0", "id": message["id"], **answer})

    def _show(self, uri: str) -> None:
        path = _place(uri)
        if key_of(uri) not in self.documents and path is not None and path.is_file():
            self.open(uri, _decoded(path.read_bytes()))

    # --- edits ----------------------------------------------------------------------------------

    def _apply(self, params: Any) -> Mapping[str, object]:
        chance = self.dice.random()
        if chance < 0.08:
            return {"applied": False}
        if chance < 0.12:
            return {"applied": True}  # a lie
        edit = params["edit"]
        for uri, edits in (edit.get("changes") or {}).items():
            self._edit({"uri": uri}, edits)
        for change in edit.get("documentChanges") or ():
            if "kind" in change:
                if not self._operate(change):
                    return {"applied": False}
                continue
            wanted = change["textDocument"].get("version")
            held = self.documents.get(key_of(change["textDocument"]["uri"]))
            if wanted is not None and (held is None or wanted != held.version):
                return {"applied": self.profile.stale is Stale.LIES, "failureReason": "stale"}
            self._edit(change["textDocument"], change["edits"])
        return {"applied": True}

    def _edit(self, edited: dict[str, Any], edits: list[dict[str, Any]]) -> None:
        uri = edited["uri"]
        document = self.documents.get(key_of(uri))
        if document is None:
            path = _place(uri)
            self.open(uri, _decoded(path.read_bytes()) if path and path.is_file() else "")
            document = self.documents[key_of(uri)]
        ordered = sorted(
            enumerate(edits),
            key=lambda one: (*one[1]["range"]["start"].values(), one[0]),
            reverse=True,
        )
        changes = [{"range": one["range"], "text": one["newText"]} for _, one in ordered]
        self._check_allowed(document, edited, changes)
        self.n_edits += 1
        if self.profile.full_sync:
            for change in changes:
                document.text = replaced(document.text, change, self.encoding)
            changes = [{"text": document.text}]
        self.change(document, *changes)

    def _operate(self, change: dict[str, Any]) -> bool:
        """Create, rename or delete a file; whether it was done."""
        uri = change.get("oldUri") or change["uri"]
        uris = [uri, change.get("newUri") or uri]
        old, new = (self.path_of(one) for one in uris)
        named = {hunk[name] for hunk in self._allowed.values() for name in ("uri", "newUri")}
        is_named = {key_of(one) for one in named if one} & {key_of(one) for one in uris}
        if not is_named and not (change["kind"] == "delete" and old in self._may_go):
            raise Violation(f"nobody said yes to this: {change}")
        if old is None or new is None:
            return False
        self._free.update((old, new))
        if not _operated(change["kind"], old, new):
            return False
        if change["kind"] == "rename":
            self._on_disk[new] = self._on_disk.pop(old, deque(maxlen=MOST_READ))
        if change["kind"] != "create" and (held := self.documents.get(key_of(uri))) is not None:
            self.close(held)
            if change["kind"] == "rename":
                self.open(change["newUri"], held.text)
        return True

    # --- checks ---------------------------------------------------------------------------------

    def check_texts(self) -> None:
        """Ask for what the server holds: it must be what is held here now."""
        held = [one for one in self.documents.values() if not self.is_own(one)]
        uris = [*(one.uri for one in held), "git:/a", self.uri_of("never")]
        wanted = [checksum(one.text) if is_held(one.uri) else None for one in held]

        def then(answer: Any) -> None:
            if answer != [*wanted, None, None]:
                wrong = [
                    u for u, a, b in zip(uris, answer, [*wanted, None, None], strict=True) if a != b
                ]
                raise Violation(f"the server holds another text of {wrong}")

        self.command("test.checksums", *uris, then=then)

    def check_hunks(self) -> None:
        """Ask for what waits: it must stand where it says it does."""
        texts = {key: one.text for key, one in self.documents.items()}

        def then(answer: Any) -> None:
            for hunk in answer:
                self._check_hunk(hunk, texts.get(key_of(hunk["uri"])))

        self.command("stet.proposals", {"state": "pending"}, then=then)

    def _check_hunk(self, hunk: Hunk, text: str | None) -> None:
        if text is None or hunk["kind"] in ("create", "move", "remove") or hunk["inline"]:
            return
        stands = slice_of(text, hunk["range"], self.encoding)
        if as_sent(stands) != as_sent(hunk["old"]):
            raise Violation(
                f"{hunk['hunk']} says that {hunk['old']!r} stands there, not {stands!r}"
            )

    def check_disk(self) -> None:
        """No file is another than what was saved, or what the user said yes to."""
        for hunk in self._allowed.values():
            for uri in (hunk["uri"], hunk["newUri"]):
                if (
                    uri
                    and hunk["kind"] in ("create", "move", "remove")
                    and (p := self.path_of(uri))
                ):
                    self._free.add(p)
        self._free |= self._may_go
        there = {path: path.read_bytes() for path in self.root.rglob("*") if path.is_file()}
        for path in there.keys() | self._saved.keys():
            if path not in self._free and there.get(path) != self._saved.get(path):
                raise Violation(f"{path} has changed on the disk")


def _operated(kind: str, old: Path, new: Path) -> bool:
    """Create, rename or delete on the disk; never over another file."""
    if kind == "create" and not old.exists() and old.parent.is_dir():
        old.write_bytes(b"")
    elif kind == "rename" and old.exists() and not new.exists() and new.parent.is_dir():
        old.rename(new)
    elif kind == "delete" and old.exists():
        old.unlink()
    else:
        return False
    return True


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _place(uri: str) -> Path | None:
    """The path that a URI of a file stands for."""
    if not uri.startswith("file:///"):
        return None
    return Path(
        os.fsdecode(unquote_to_bytes(uri.removeprefix("file://").encode("utf-8", "replace")))
    )
