"""The extension's own parts in real VS Code: package, start, workspace trust, display."""

import json
import os
import re
import shutil
import signal
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Part
from tests.editors import scenario as given
from tests.editors.profiles import CLIENTS, KEYS
from tests.editors.scenario import AMOUNT, LABEL
from tests.editors.scripts import edit
from tests.editors.shown import Shown
from tests.editors.vscode import VSCode
from tests.editors.vscode_session import Starts
from tests.parts import vscode_extension
from tests.parts.code_server import VSCODE as VERSION
from tests.support.editor_profiles import PROFILES

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

STET = Path(sys.executable).with_name("stet")
LURE = "Look [here](command:workbench.action.toggleZenMode) and [there](https://example.org/x)."
NOTES = "# Notes\n\nRetries are counted in the scheduler.\n"


def test_the_package_is_small_and_holds_nothing_but_the_extension(part: Part) -> None:
    package = part(vscode_extension.ensure)
    assert package.stat().st_size < 500_000
    with zipfile.ZipFile(package) as opened:
        names = {name for name in opened.namelist() if name.startswith("extension/")}
        assert names == {
            f"extension/{name}"
            for name in ("package.json", "readme.md", "screenshot.png", "out/extension.js")
        }
        assert len(opened.read("extension/out/extension.js")) < 600_000


def test_what_is_shown_and_decided_by_the_editor_s_own_means(vscode: Starts) -> None:
    shown = Shown("vscode", f"VS Code {VERSION}")
    replies = [
        {"tool_calls": [edit("cart.py", one.old, one.new, one.summary) for one in (LABEL, AMOUNT)]},
        done("It is done."),
        {"tool_calls": [{"name": "ask_user", "arguments": {"question": "Which one?"}}]},
        done(LURE),
    ]
    editor = vscode({**given.FILES, "notes.md": NOTES}, script=json.dumps(replies))
    ask(editor, "Tidy up")
    editor.wait_for_status("Stet: 2 hunks")
    hover_and_diff(editor, shown)
    decide_and_go_back(editor)
    preview_and_review(editor, shown)
    selection_search_and_chat(editor, shown)
    links_of_a_model_lead_nowhere(editor)
    assert own_complaints(editor) == []
    # Processor time: wall time depends on other work of the machine.
    took = re.search(r"the extension used (\d+) ms of processor time", editor.logs())
    assert took is not None, editor.logs()
    assert int(took[1]) < 500
    shown.check()


def done(summary: str) -> dict[str, object]:
    return {"tool_calls": [{"name": "done", "arguments": {"summary": summary}}]}


def ask(editor: VSCode, prompt: str) -> None:
    editor.stet("a")
    editor.fill(prompt)


def hover_and_diff(editor: VSCode, shown: Shown) -> None:
    editor.click_line(LABEL.old)
    editor.keys("Control+k", "Control+i")
    hover = editor.see(".monaco-hover:not(.hidden) .monaco-tokenized-source").replace("\u00a0", " ")
    assert f"+{LABEL.new.rstrip()}" in hover
    shown.saw("hover", "popup")
    editor.shot("hover")
    editor.keys("Escape")
    editor.stet("d")
    editor.do(lambda page: page.wait_for_selector(".modified-in-monaco-diff-editor .char-insert"))
    editor.shot("diff")
    assert "line-insert" in str(editor.do(lambda page: page.content()))
    editor.click('.editor-actions [aria-label*="Accept All Hunks in File"]')
    editor.wait_for_status("Stet")
    editor.do(
        lambda page: page.wait_for_selector(".modified-in-monaco-diff-editor", state="detached")
    )
    editor.wait_for_text(AMOUNT.within(LABEL.within(given.CART)))


def decide_and_go_back(editor: VSCode) -> None:
    editor.click_line(LABEL.new)
    editor.stet("u")
    editor.wait_for_text(AMOUNT.within(given.CART))
    editor.click_line(LABEL.old)
    editor.stet("b")
    editor.wait_for_status("Stet: 1 hunk")
    editor.click_line(AMOUNT.new)
    editor.stet("u")
    editor.wait_for_text(given.CART)
    editor.click_line(AMOUNT.old)
    editor.stet("b")
    editor.wait_for_status("Stet: 2 hunks")


def preview_and_review(editor: VSCode, shown: Shown) -> None:
    editor.stet("p")
    boxes = ".part.panel .monaco-list-row .monaco-checkbox"
    editor.do(lambda page: page.wait_for_selector(boxes))
    shown.saw("preview", "Refactor Preview")
    editor.shot("preview")
    editor.click('.part.panel .monaco-button:has-text("Discard")')
    editor.do(lambda page: page.wait_for_selector(boxes, state="detached"))
    editor.wait_for_status("Stet: 2 hunks")
    editor.stet("Shift+d")
    editor.do(lambda page: page.wait_for_selector('.tab.active[data-resource-name^="review-"]'))
    editor.wait(SHOWS, f"+{LABEL.new.rstrip()}")
    shown.saw("review", "a file to edit")
    editor.keys("Control+F4")


def selection_search_and_chat(editor: VSCode, shown: Shown) -> None:
    editor.go_to("notes.md")
    editor.click_line("Retries are counted in the scheduler.")
    editor.keys("Home", "Shift+End")
    editor.stet("v")
    page = '.tab.active[data-resource-name="Context of a question"]'
    editor.do(lambda window: window.wait_for_selector(page))
    editor.wait(SHOWS, '<manually_added_selection path="notes.md"')
    shown.saw("selection", "at once")
    editor.keys("Control+F4")
    editor.stet("f")
    editor.do(lambda window: window.wait_for_selector(".quick-input-widget input:focus"))
    editor.type("where are retries counted")
    editor.see('.quick-input-list .monaco-list-row:has-text("notes.md:")')
    shown.saw("search", "list, as you type")
    editor.keys("Escape")
    editor.stet("t")
    editor.do(lambda window: window.wait_for_selector('.tab.active[data-resource-name^="chat-"]'))
    editor.wait(SHOWS, "## You")
    editor.do(lambda window: window.wait_for_selector(".editor-instance .monaco-editor.focused"))
    editor.keys("Control+End")
    editor.type("What is there to see?")
    editor.keys("Control+Enter")
    editor.wait_for_status("Stet: a question for you, 2 hunks")
    editor.click('.notification-toast .monaco-button:has-text("Answer…")')
    editor.fill("The second")
    editor.wait_for_status("Stet: 2 hunks")
    # Lines below the cursor may be out of sight, especially with long paths.
    editor.click('.editor-instance .view-line:has-text("see?")')
    editor.keys("Control+End")
    editor.wait(SHOWS, "Your answer: The second")
    editor.wait(SHOWS, "Look [here]")
    shown.saw("chat", "a Markdown file")
    editor.shot("chat")


def links_of_a_model_lead_nowhere(editor: VSCode) -> None:
    editor.palette("Notifications: Show Notifications")
    editor.see('.notifications-center .notification-list-item-message:has-text("here")')
    links = ".notifications-center .notification-list-item-message a"
    assert editor.do(lambda page: page.locator(links).all_inner_texts()) == []


SHOWS = """text => [...document.querySelectorAll('.editor-instance .view-lines')].some(view =>
  [...view.querySelectorAll('.view-line')]
    .sort((a, b) => parseFloat(a.style.top) - parseFloat(b.style.top))
    .map(line => line.textContent.replace(/\\u00a0/g, ' ')).join('').includes(text))"""
"""A function of the page that finds a text, also in a wrapped line."""


def own_complaints(editor: VSCode) -> list[str]:
    """Return console and host messages about the extension, and its own errors."""
    message = [text for kind, text in editor.console if kind in {"error", "warning", "pageerror"}]
    message += [line for line in editor.logs().splitlines() if "[error]" in line or "[warn" in line]
    return [text for text in message if re.search(r"stet", text, re.IGNORECASE)]


def test_a_program_that_is_missing_or_another_is_reported_with_a_way_out_and_none_of_the_workspace_runs(
    vscode: Starts, tmp_path: Path
) -> None:
    bin_folder, inside = tmp_path / "bin", tmp_path / "work" / "bin"
    bin_folder.mkdir()
    trap = str(inside / "stet")
    settings = {
        "stet.path": trap,
        "stet": {"path": trap, "agent": {"commands": [{"argv": [trap]}]}},
    }
    files = {
        "cart.py": given.CART,
        "bin/stet": f"#!/bin/sh\ntouch {tmp_path}/sprung\n",
        ".vscode/settings.json": json.dumps(settings),
    }
    search = os.pathsep.join(["bin", str(inside), str(bin_folder), "/usr/bin", "/bin"])
    editor = vscode(files, status="Stet is off", path=search)
    editor.wait_for_toast("is not on the PATH")
    editor.shot("missing")
    write_program(bin_folder / "stet", "exit 2")
    try_again(editor)
    editor.wait_for_toast("answer as a language server")
    toasts = editor.do(lambda page: page.locator(".notification-toast").all_inner_texts())
    assert [text for text in toasts if "is restarting" in text] == []
    write_program(bin_folder / "stet", f'echo $$ > {tmp_path}/pid\nexec {STET} "$@"')
    try_again(editor)
    editor.wait_for_status("Stet")
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    editor.wait_for_toast("is restarting")
    editor.wait_for_status("Stet")
    assert not (tmp_path / "sprung").exists()


def write_program(file: Path, body: str) -> None:
    """Write a program atomically."""
    made = file.with_suffix(".new")
    made.write_text(f"#!/bin/sh\n{body}\n")
    made.chmod(0o755)
    made.rename(file)


def try_again(editor: VSCode) -> None:
    editor.click('.notification-toast .monaco-button:has-text("Try Again")')


def test_in_a_folder_that_is_not_trusted_nothing_runs_and_nothing_is_fetched(
    vscode: Starts, tmp_path: Path
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    tee = shutil.which("tee")
    write_program(folder / "stet", f"exec sh -c '{tee} {tmp_path}/sent | {STET} serve'")
    restricted = {
        "security.workspace.trust.enabled": True,
        "security.workspace.trust.startupPrompt": "never",
        "security.workspace.trust.banner": "never",
        "stet.agent.disabledGroups": ["web"],
        "stet.model.temperature": 0.5,
        "stet.instructions.onSave": True,
    }
    files = {
        "cart.py": given.CART,
        ".vscode/settings.json": '{"stet": {"web": {"provider": "brave"}}}',
    }
    path = os.pathsep.join([str(folder), os.environ["PATH"]])
    editor = vscode(files, settings=restricted, path=path)
    assert editor.see('[id="status.workspaceTrust"]').strip() == "Restricted Mode"
    message = first_message((tmp_path / "sent").read_bytes())["params"]
    assert message["initializationOptions"]["stet"] == {
        "model": {"temperature": 0.5},
        "edit": {"canNavigate": False},
        "agent": {"disabledGroups": ["web", "advanced"], "commands": []},
        "web": {"provider": "none"},
        "instructions": {"onSave": False},
    }
    written = json.loads((CLIENTS / f"{PROFILES['vscode'].file}.json").read_text())
    assert {key: message[key] for key in KEYS} == written, "python -m tests.editors.profiles vscode"


def first_message(sent: bytes) -> Any:
    """Return the first message of a stream of the protocol."""
    head, _, rest = sent.partition(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
    return json.loads(rest[:length])
