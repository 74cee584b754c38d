"""The grammar: valid and invalid messages of an editor, one at a time.

A word is a function of the editor and of dice. Its message depends on the editor's current state,
so a life remains valid when words are left out.
"""

import json
import random
from collections.abc import Callable
from typing import Any

from tests.fuzz import odd_values as nasty
from tests.fuzz.checks import check_hunks, check_texts
from tests.fuzz.commands import COMMANDS
from tests.fuzz.disk import disk
from tests.fuzz.editor import Editor
from tests.fuzz.reference import Document

Dice = random.Random
Word = Callable[[Editor, Dice], None]
NAMES = ("a.py", "b.md", "notes/c.md", "d.txt", "e\u0301.txt", "never.py")
MOST_TEXT = 2500
"""The length in characters after which a text is shortened."""
N_OPEN = 5


def a_document(editor: Editor, dice: Dice) -> Document:
    """Choose an open document; one is always open."""
    if not editor.documents:
        editor.open(editor.folder.uri_of("a.py"), nasty.lines(dice, 8))
    held = list(editor.documents.values())
    return held[dice.randrange(len(held))]


def _n_lines(document: Document) -> int:
    return document.text.count("\n") + 1


# --- texts ------------------------------------------------------------------------------------------


def type_word(editor: Editor, dice: Dice) -> None:
    """Type something short into an existing line."""
    document = a_document(editor, dice)
    if len(document.text) > MOST_TEXT:
        return whole_text(editor, dice)
    line = dice.randrange(_n_lines(document))
    column = dice.choice((0, 0, 1, 2, 3, 5, 9))
    here = {"line": line, "character": column}
    there = here if dice.random() < 0.6 else {"line": line, "character": column + dice.randrange(4)}
    new = dice.choice(("a", "b", " ", "\n", "", "", "(", "é", "😀", f"u{dice.randrange(1 << 40)}x"))
    editor.change(document, {"range": {"start": here, "end": there}, "text": new})
    return None


def change_oddly(editor: Editor, dice: Dice) -> None:
    """Change random ranges, several in one message, mixed with whole texts."""
    document = a_document(editor, dice)
    changes: list[dict[str, Any]] = []
    for _ in range(dice.choice((0, 1, 1, 1, 2, 3, 8))):
        new = nasty.text(dice, dice.choice((0, 0, 1, 2, 5)))
        if dice.random() < 0.05:
            changes.append({"text": new, "range": None, "rangeLength": 3})
        else:
            changes.append({"range": nasty.stretch(dice, _n_lines(document)), "text": new})
    editor.change(document, *changes)


def whole_text(editor: Editor, dice: Dice) -> None:
    """Replace the whole text of a document."""
    document = a_document(editor, dice)
    editor.change(document, {"text": nasty.lines(dice, dice.choice((0, 1, 3, 8)))})


def huge_text(editor: Editor, dice: Dice) -> None:
    """Send a huge text for one message: the next word shortens the text."""
    document = a_document(editor, dice)
    pieces = ("x" * 200_000, nasty.text(dice, 3000), "é\n" * 30_000, "\r" * 20_000)
    editor.change(document, {"text": dice.choice(pieces)})
    change_oddly_in(editor, dice, document)
    editor.change(document, {"text": nasty.lines(dice, 5)})


def change_oddly_in(editor: Editor, dice: Dice, document: Document) -> None:
    """Make one odd change of this document."""
    editor.change(document, {"range": nasty.stretch(dice, 9), "text": nasty.text(dice, 2)})


def odd_version(editor: Editor, dice: Dice) -> None:
    """Send versions that jump, repeat, go back or are missing."""
    document = a_document(editor, dice)
    version = dice.choice((None, 0, -4, 2**31, 2**53, document.version, document.version + 9))
    change = {"range": nasty.stretch(dice, _n_lines(document)), "text": "v"}
    identifier = {"uri": document.uri, "version": version}
    editor.report_change({"textDocument": identifier, "contentChanges": [change]})
    # A reopened document could not continue from a larger version.
    if version is None or version > 2**30:
        version = document.version
    editor.leap(document, version)


def malformed_change(editor: Editor, dice: Dice) -> None:
    """Send a malformed change."""
    document = a_document(editor, dice)
    change = {"range": nasty.stretch(dice, 5), "text": "n"}
    identifier = {"uri": document.uri, "version": document.version + 1}
    params = nasty.spoiled(dice, {"textDocument": identifier, "contentChanges": [change]})
    editor.report_change(params)


def change_unknown(editor: Editor, dice: Dice) -> None:
    """Change a document that is not open."""
    uri = dice.choice(
        (*nasty.URIS, editor.folder.uri_of("never.py"), editor.folder.uri_of("no/such"))
    )
    identifier = {"uri": uri, "version": dice.choice(nasty.NUMBERS)}
    change = {"range": nasty.stretch(dice, 5), "text": nasty.text(dice, 2)}
    editor.report_change({"textDocument": identifier, "contentChanges": [change]})


def open_document(editor: Editor, dice: Dice) -> None:
    """Open a document, or open it again."""
    if len(editor.documents) > N_OPEN:
        return close_document(editor, dice)
    name = dice.choice(NAMES)
    uri = editor.folder.uri_of(name)
    if dice.random() < 0.15:
        uri = uri[:-1] + "%" + format(ord(uri[-1]), dice.choice(("02x", "02X")))
    if dice.random() < 0.1:
        uri = dice.choice(("untitled:U1", "untitled:U2", "git:/a.py", "jdt://x/y"))
    version = dice.choice((0, 1, 7)) if dice.random() < 0.03 else None
    editor.open(uri, nasty.lines(dice, dice.choice((0, 1, 5, 10))), version)
    return None


def close_document(editor: Editor, dice: Dice) -> None:
    """Close a document."""
    editor.close(a_document(editor, dice))


def close_unknown(editor: Editor, dice: Dice) -> None:
    """Close or save a document that is not open."""
    uri = dice.choice((editor.folder.uri_of("never2.py"), "git:/never", "untitled:never", ""))
    method = dice.choice(("textDocument/didClose", "textDocument/didSave"))
    editor.notify(method, {"textDocument": {"uri": uri}})


def save(editor: Editor, dice: Dice) -> None:
    """Save a document, maybe with its text."""
    document = a_document(editor, dice)
    if editor.is_own(document):
        # Saving a page may decide about any hunk.
        editor.command("stet.proposals", {"state": "pending"}, then=editor.allowed.take_all)
        editor.command("stet.proposals", {"state": "conflict"}, then=editor.allowed.take_all)
    editor.save(document, with_text=dice.random() < 0.3)


# --- the user's position, and events on the disk ----------------------------------------------------


def select(editor: Editor, dice: Dice) -> None:
    """Report a selection."""
    document = a_document(editor, dice)
    stretch = nasty.stretch(dice, _n_lines(document))
    selection = {"anchor": stretch["start"], "active": stretch["end"]}
    params: Any = {"textDocument": {"uri": document.uri}, "selections": [selection]}
    if dice.random() < 0.2:
        params = nasty.spoiled(dice, params)
    editor.notify("$/stet/didChangeSelection", params)


def focus(editor: Editor, dice: Dice) -> None:
    """Focus a document, or none."""
    uri = a_document(editor, dice).uri
    choices: tuple[Any, ...] = (
        {"textDocument": {"uri": uri}},
        {},
        None,
        {"textDocument": {"uri": 3}},
        nasty.odd(dice),
    )
    editor.notify(dice.choice(("$/stet/didFocus", "textDocument/didFocus")), dice.choice(choices))


def watched(editor: Editor, dice: Dice) -> None:
    """Report changed files on the disk."""
    uris = [editor.folder.uri_of(dice.choice(NAMES)), dice.choice(nasty.URIS)]
    changes: Any = [{"uri": uri, "type": dice.choice((1, 2, 3, 9, None))} for uri in uris]
    params = {"changes": changes}
    if dice.random() < 0.2:
        params = nasty.spoiled(dice, params)
    editor.notify("workspace/didChangeWatchedFiles", params)


def notify_files(editor: Editor, dice: Dice) -> None:
    """Report renamed or deleted files."""
    files = [
        {
            "oldUri": editor.folder.uri_of(dice.choice(NAMES)),
            "newUri": editor.folder.uri_of("x9.py"),
        }
    ]
    if dice.random() < 0.5:
        params: Any = {"files": [{"uri": one["oldUri"]} for one in files]}
        method = "workspace/didDeleteFiles"
    else:
        params, method = {"files": files}, "workspace/didRenameFiles"
        editor.allowed.renamed(files[0]["oldUri"], files[0]["newUri"])
    if dice.random() < 0.3:
        params = nasty.spoiled(dice, params)
    editor.notify(method, params)


def configuration(editor: Editor, dice: Dice) -> None:
    """Change the settings, to valid ones or to rubbish."""
    settings: Any = {"stet": {"context": {"scope": dice.choice(("open", "folder", "current"))}}}
    if dice.random() < 0.5:
        settings = nasty.spoiled(dice, {"stet": nasty.spoiled(dice, editor.settings)})
        if "inline" in str(settings):
            settings = None
    editor.notify("workspace/didChangeConfiguration", {"settings": settings})


def folders(editor: Editor, dice: Dice) -> None:
    """Add and remove a workspace folder."""
    folder = {"uri": editor.folder.uri_of("notes"), "name": "notes"}
    event: Any = {"added": [folder], "removed": []}
    editor.notify("workspace/didChangeWorkspaceFolders", {"event": event})
    gone: Any = {"event": {"added": [], "removed": [folder]}}
    if dice.random() < 0.2:
        editor.notify("workspace/didChangeWorkspaceFolders", nasty.spoiled(dice, gone))
    editor.notify("workspace/didChangeWorkspaceFolders", gone)


# --- requests ---------------------------------------------------------------------------------------


def params_of(method: str, editor: Editor, dice: Dice) -> Any:
    """Make the parameters of a request of this method."""
    if method == "workspace/symbol":
        return {"query": dice.choice(("", "a", "?u x", "?", "?def", "\ud800", "?\x00"))}
    if method == "workspace/executeCommand":
        return {"command": "stet.status", "arguments": []}
    document = a_document(editor, dice)
    uri = dice.choice(nasty.URIS) if dice.random() < 0.05 else document.uri
    identifier = {"textDocument": {"uri": uri}}
    if method == "textDocument/codeAction":
        only = dice.choice((None, None, ["quickfix"], ["refactor"], [""], ["source.stet"]))
        context: dict[str, Any] = {"diagnostics": [], "triggerKind": dice.choice((1, 2))} | (
            {"only": only} if only else {}
        )
        return {**identifier, "range": nasty.stretch(dice, _n_lines(document)), "context": context}
    if method == "textDocument/codeLens":
        return identifier
    return {**identifier, "position": nasty.place(dice, _n_lines(document))}


REQUESTS = (
    "textDocument/codeAction", "textDocument/codeAction", "textDocument/codeLens", "textDocument/hover",
    "textDocument/hover", "textDocument/documentHighlight", "workspace/symbol",
)  # fmt: skip
METHODS = (
    *REQUESTS, "workspace/executeCommand", "initialize", "initialized", "textDocument/didOpen",
    "textDocument/didClose", "textDocument/didSave", "workspace/didChangeWatchedFiles", "$/setTrace",
    "$/cancelRequest", "window/workDoneProgress/cancel", "textDocument/didChange", "textDocument/rename",
    "workspace/didRenameFiles", "$/progress", "textDocument/completion", "$/unknown", "no/such", "",
    "$/stet/didFocus", "$/stet/didChangeSelection", "workspace/didChangeConfiguration",
    "workspace/didChangeWorkspaceFolders", "workspace/didDeleteFiles", "notebookDocument/didOpen",
)  # fmt: skip


def ask(editor: Editor, dice: Dice) -> None:
    """Send a request as editors make it."""
    method = dice.choice(REQUESTS)
    editor.request(method, params_of(method, editor, dice))


def ask_oddly(editor: Editor, dice: Dice) -> None:
    """Send a request with invalid or unknown parameters."""
    method = dice.choice(METHODS)
    params = params_of(method if method in REQUESTS else dice.choice(REQUESTS), editor, dice)
    editor.request(method, nasty.spoiled(dice, params) if dice.random() < 0.8 else nasty.odd(dice))


def notify_oddly(editor: Editor, dice: Dice) -> None:
    """Send any notification except text changes, with any parameters."""
    reported = [m for m in METHODS if not m.startswith("textDocument/did") and m != "initialized"]
    method = dice.choice(reported)
    if "Folders" not in method and "Configuration" not in method:
        editor.notify(method, nasty.odd(dice))


def cancel(editor: Editor, dice: Dice) -> None:
    """Send a request and cancel it; or cancel another one, or none."""
    if dice.random() < 0.5:
        made = editor.request("workspace/symbol", {"query": "?u"})
        editor.notify("$/cancelRequest", {"id": made})
        return
    ids: tuple[Any, ...] = (editor.answers.n_sent, 1, -1, "x", 2**70, None, [], {})
    editor.notify(
        "$/cancelRequest", {"id": dice.choice(ids)} if dice.random() < 0.9 else nasty.odd(dice)
    )


def odd_id(editor: Editor, dice: Dice) -> None:
    """Use ids of every type, and ids that are in use."""
    method = dice.choice(REQUESTS)
    params = params_of(method, editor, dice)
    for msg_id in dice.choice(
        ((dice.choice(nasty.IDS),), ("x", "x"), (7, 7, "7"), ("",), (2**70,), (-1, -1), ("\ud800",))
    ):
        editor.send({"jsonrpc": "2.0", "id": msg_id, "method": method, "params": params})


def no_message(editor: Editor, dice: Dice) -> None:
    """Send JSON that is no message, and answers without a request."""
    choices: tuple[Any, ...] = (
        [], [{"jsonrpc": "2.0", "id": 1, "method": "shutdown"}], 3, None, "x", {}, {"jsonrpc": "2.0"},
        {"jsonrpc": "1.0", "id": 5, "method": "shutdown"}, {"id": 6, "method": "shutdown"},
        {"jsonrpc": "2.0", "id": 1, "result": None}, {"jsonrpc": "2.0", "id": "x", "error": {}},
        {"jsonrpc": "2.0", "id": None, "result": 1}, {"jsonrpc": "2.0", "id": 8, "method": 3},
        {"jsonrpc": "2.0", "method": None, "id": 9}, {"jsonrpc": "2.0", "method": 4},
        {"jsonrpc": 2.0, "id": "y", "method": "shutdown"}, {"method": "exit"},
    )  # fmt: skip
    editor.send(dice.choice(choices))


def odd_bytes(editor: Editor, dice: Dice) -> None:
    """Send invalid or unusual frames."""
    body = json.dumps({"jsonrpc": "2.0", "method": "$/nothing", "params": {}}).encode()
    n = b"%d" % len(body)
    choices = (
        (b"Content-Length: 2\r\n\r\n{]", 1), (b"Content-Length: 0\r\n\r\n", 1),
        (b"Content-Length: 3\r\n\r\n\xff\xfe\xfd", 1), (b"X: y\r\n\r\n", 0), (b"\r\n\r\n", 0),
        (b"content-length:" + n + b"\n\n" + body, 0),
        (b"Content-Type: x; charset=utf-8\r\nContent-Length: " + n + b"\r\n\r\n" + body, 0),
        (b"Content-Length: " + n + b"\r\nContent-Length: " + n + b"\r\n\r\n" + body, 0),
        (b"Content-Length: -5\r\n\r\n", 0), (b"Content-Length: 99999999999999999\r\n\r\n", 0),
        (b"Content-Length: 100003\r\n\r\n" + b"[" * 100003, 1), (b"Content-Length: x\r\n\r\n", 0),
    )  # fmt: skip
    data, n_owed = dice.choice(choices)
    editor.write(data, owes_null=n_owed)


def stop_progress(editor: Editor, dice: Dice) -> None:
    """Cancel work by its progress token."""
    token = dice.choice((*editor.known.progress, "no such", 3))
    editor.notify("window/workDoneProgress/cancel", {"token": token})


def check(editor: Editor, dice: Dice) -> None:
    """Check the server's state in the middle of a life."""
    check_texts(editor)
    check_hunks(editor)


WORDS: dict[str, tuple[int, Word]] = {
    "type": (500, type_word), "change": (150, change_oddly), "whole": (6, whole_text),
    "huge": (1, huge_text), "version": (3, odd_version), "malformed": (20, malformed_change),
    "unknown": (10, change_unknown), "open": (25, open_document), "close": (15, close_document),
    "close unknown": (5, close_unknown), "save": (15, save), "select": (40, select),
    "focus": (20, focus), "watched": (8, watched), "files": (4, notify_files),
    "configuration": (1, configuration), "folders": (1, folders), "ask": (120, ask),
    "ask oddly": (40, ask_oddly), "tell oddly": (20, notify_oddly), "cancel": (15, cancel),
    "odd id": (10, odd_id), "no message": (10, no_message), "bytes": (10, odd_bytes),
    "stop": (2, stop_progress), "check": (4, check), **COMMANDS,
    "disk": (0, disk),  # inserted by `with_disk`
}  # fmt: skip
