"""One real VS Code with Stet: code-server in a headless Chromium, driven by keys and clicks."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Self

from playwright.sync_api import BrowserContext, Locator, Page
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import TimeoutError as Late

from tests.editors.vscode_install import Start, command_line, environment, prepare
from tests.editors.vscode_screen import DEADLINE, Screen, T

STATUS = '[id="stet.stet.stet.status"]'
FOCUSED = ".editor-instance .monaco-editor.focused"
CANCEL = '[id="stet.stet.stet.cancel"]'


class VSCode:
    """One running VS Code.

    Attributes:
        root: The workspace folder.
        console: The console messages of its page: kind and text.
    """

    def __init__(self, screen: Screen, start: Start) -> None:
        self.root = start.root
        self.console: list[tuple[str, str]] = []
        self._screen = screen
        self._home = start.home
        prepare(start)
        self._process = subprocess.Popen(
            command_line(start.installed, start.home),
            env=environment(start),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # Node may be a script's child, and has children: kill all of them together.
            start_new_session=True,
        )
        self._address = self._listening()
        self._context, self._page = self._screen.run(self._window)

    def _listening(self) -> str:
        assert self._process.stdout is not None
        shown_text = ""
        for line in self._process.stdout:
            shown_text += line
            if found := re.search(r"listening on http://([\w.:]+)", line):
                return found[1]
        raise AssertionError(f"code-server does not start: {shown_text}")

    def _window(self) -> tuple[BrowserContext, Page]:
        context, page = self._screen.window()
        page.on("console", lambda message: self.console.append((message.type, message.text)))
        page.on("pageerror", lambda error: self.console.append(("pageerror", str(error))))
        return context, page

    def open(self, name: str, *, status: str = "Stet") -> Self:
        """Open the workspace with a file, and wait for Stet's item in the status bar."""
        file = f"vscode-remote://{self._address}{self.root}/{name}"
        payload = json.dumps([["openFile", file]])
        self.do(
            lambda page: page.goto(f"http://{self._address}/?folder={self.root}&payload={payload}")
        )
        self.do(lambda page: page.wait_for_selector(".monaco-editor .view-line"))
        self.do(lambda page: page.click(".editor-instance .view-lines"))
        self.do(lambda page: page.wait_for_selector(FOCUSED))
        self.wait_for_status(status)
        return self

    # Doing

    def do(self, work: Callable[[Page], T]) -> T:
        """Run `work` with the page; a failure includes the editor's state."""
        try:
            return self._screen.run(lambda: work(self._page))
        except PlaywrightError as error:
            if isinstance(error, Late) or "Timeout" in error.message:
                raise AssertionError(f"{error.message}\n{self.state()}") from error
            raise

    def keys(self, *keys: str) -> None:
        """Press keys one after the other, in Playwright's names: `Alt+a`, `ArrowDown`."""
        for key in keys:
            self.do(lambda page, key=key: page.keyboard.press(key))  # type: ignore[misc]

    def stet(self, key: str) -> None:
        """Press a key of ours after the prefix."""
        self.keys("Alt+a", key)

    def type(self, text: str) -> None:
        """Type text into the focused element."""
        self.do(lambda page: page.keyboard.type(text))

    def fill(self, text: str) -> None:
        """Answer the open input box, and wait until it closes."""
        self.do(lambda page: page.wait_for_selector(".quick-input-widget input:focus"))
        self.type(text)
        self.keys("Enter")
        self.do(lambda page: page.wait_for_selector(".quick-input-widget", state="hidden"))

    def pick(self, text: str) -> None:
        """Click a row of the open list."""
        row = f".quick-input-list .monaco-list-row:has-text({json.dumps(text)})"
        self.do(lambda page: page.click(row))

    def palette(self, title: str) -> None:
        """Run a command by its title, which is pasted: the list is searched once."""
        self.keys("F1")
        self.do(lambda page: page.wait_for_selector(".quick-input-widget input:focus"))
        self.do(lambda page: page.keyboard.insert_text(title))
        row = f".quick-input-list .monaco-list-row.focused:has-text({json.dumps(title)})"
        self.do(lambda page: page.wait_for_selector(row))
        self.keys("Enter")
        self.do(lambda page: page.wait_for_selector(".quick-input-widget", state="hidden"))

    def go_to(self, name: str) -> None:
        """Open a file from the explorer, permanently and with the focus in it."""
        row = f'.explorer-folders-view .monaco-list-row[aria-label^="{name}"]'
        self.do(lambda page: page.dblclick(row))
        self.do(lambda page: page.wait_for_selector(f'.tab.active[data-resource-name="{name}"]'))
        self.do(lambda page: page.wait_for_selector(FOCUSED))

    def click_line(self, text: str) -> None:
        """Put the cursor into the line with this text, with the mouse.

        Lenses above lines appear and disappear: a click on another line is repeated.
        """
        wanted = text.rstrip("\n")
        lines = [line for line in self.lines() if wanted.strip() in line]
        assert lines, f"{wanted!r} is not to be seen"

        def click(page: Page) -> bool:
            self._line(page, text).click(position={"x": 60, "y": 8})
            number = 1 + page.evaluate(f"({_LINES})()").index(lines[0])
            place = page.locator('[id="status.editor.selection"]')
            with suppress(Late):
                place.get_by_text(f"Ln {number},").wait_for(timeout=1000)
                return True
            return False

        assert any(self.do(click) for _ in range(int(DEADLINE))), f"no click meets {wanted!r}"

    def click(self, selector: str) -> None:
        """Click an element."""
        self.do(lambda page: page.click(selector))

    def action(self, title: str) -> None:
        """Choose from VS Code's menu of code actions at the cursor.

        An automatic request right after typing replaces that of the menu, which then never opens:
        the key is repeated.
        """
        row = f'.action-widget .monaco-list-row.action:has-text("{title}")'

        def choose(page: Page) -> bool:
            page.keyboard.press("Control+.")
            with suppress(Late):
                page.click(row, timeout=10_000)
                return True
            page.keyboard.press("Escape")
            return False

        assert any(self.do(choose) for _ in range(6)), f"no action {title!r}"

    def save_all(self) -> None:
        """Save every file."""
        self.palette("File: Save All")
        self.do(lambda page: page.wait_for_selector(".tab.dirty", state="detached"))

    # Seeing

    def _line(self, page: Page, text: str) -> Locator:
        wanted = text.rstrip("\n").strip()
        return page.locator(".editor-instance .view-line").filter(has_text=_spaced(wanted)).first

    def lines(self) -> list[str]:
        """Return the lines of the active editor, as drawn."""
        return list(self.do(lambda page: page.evaluate(f"({_LINES})()")))

    def wait(self, condition: str, argument: object = None) -> None:
        """Wait until a JavaScript function of the page is true."""
        self.do(lambda page: page.wait_for_function(condition, arg=argument))

    def wait_for_text(self, text: str) -> None:
        """Wait until the active editor has exactly this text."""
        lines = text.split("\n")
        self.wait(f"lines => JSON.stringify(({_LINES})()) === JSON.stringify(lines)", lines)

    def wait_for_status(self, text: str) -> None:
        """Wait until Stet's item in the status bar has this text, in one line."""
        condition = (
            "([at, text]) => "
            "document.querySelector(at)?.innerText.replace(/\\s+/g, ' ').trim() === text"
        )
        self.wait(condition, [STATUS, text])

    def wait_for_toast(self, text: str) -> None:
        """Wait until a notification with this text is visible."""
        self.do(
            lambda page: page.wait_for_selector(f".notification-toast:has-text({json.dumps(text)})")
        )

    def wait_for_preview(self, text: str) -> None:
        """Wait until the last line of the preview of a chat, before the next heading, has a text."""
        outer = "iframe.webview"
        last = f"main > p:has-text({json.dumps(text)}) + h2:last-child"
        self.do(
            lambda page: page.frame_locator(outer).frame_locator("iframe").locator(last).wait_for()
        )

    def see(self, selector: str) -> str:
        """Wait until an element is visible; return its text."""
        return str(self.do(lambda page: page.locator(selector).first.inner_text()))

    def text(self) -> str:
        """Return the whole text of the focused editor, copied as a user does."""
        self.keys("Control+a", "Control+c")
        return str(self.do(lambda page: page.evaluate("navigator.clipboard.readText()")))

    def shot(self, name: str) -> None:
        """Take a screenshot in `$STET_CAPTURES`, if that is set."""
        if folder := os.environ.get("STET_CAPTURES"):
            self.do(lambda page: page.screenshot(path=Path(folder, f"{name}.png")))

    def state(self) -> str:
        """Describe the editor's state for a failure message."""
        self.shot("failed")

        def look(page: Page) -> str:
            parts = (STATUS, ".notification-toast", ".quick-input-titlebar, .quick-input-message")
            seen = [text for at in parts for text in page.locator(at).all_inner_texts()[:20]]
            return "\n".join([*seen, *page.evaluate(f"({_LINES})()")])

        with suppress(PlaywrightError):
            return self._screen.run(lambda: look(self._page))
        return "the page is gone"

    def logs(self) -> str:
        """Return the logs of the editor and its extension host."""
        found = sorted((self._home / "user" / "logs").rglob("*.log"))
        return "\n".join(f"{path.name}: {line}" for path in found for line in _read(path))

    def on_disk(self, name: str) -> str:
        """Return a file's text on the disk."""
        return (self.root / name).read_bytes().decode()

    def close(self) -> None:
        """Close the editor, and Stet with it."""
        self._screen.run(self._context.close)
        os.killpg(self._process.pid, signal.SIGTERM)
        try:
            self._process.wait(DEADLINE)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            assert self._process.stdout is not None
            self._process.stdout.close()


_LINES = """() => {
  const views = [...document.querySelectorAll('.editor-instance .view-lines')];
  const shown = views.filter(view => view.getBoundingClientRect().width > 0).at(-1);
  const lines = [...(shown?.querySelectorAll('.view-line') ?? [])];
  return lines.sort((a, b) => parseFloat(a.style.top) - parseFloat(b.style.top))
    .map(line => line.textContent.replace(/\\u00a0/g, ' '));
}"""


def _spaced(text: str) -> re.Pattern[str]:
    """Make a pattern for a text as drawn: a space may be a no-break space."""
    return re.compile("[ \u00a0]".join(re.escape(part) for part in text.split(" ")))


def _read(path: Path) -> list[str]:
    return path.read_text(errors="replace").splitlines()
