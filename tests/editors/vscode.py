"""One real VS Code with Stet in it: code-server in a headless Chromium, driven by keys and clicks.

Playwright's own event loop lives in a thread of its own, since pytest's would not start beside it.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeVar

from playwright.sync_api import Browser, BrowserContext, Locator, Page, Playwright
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import TimeoutError as Late

from tests.parts.chromium import FLAGS, Chromium

T = TypeVar("T")
DEADLINE = 60.0
"""Seconds until a condition counts as missed; a start on a busy machine takes the longest."""
STATUS = '[id="stet.stet.stet.status"]'
FOCUSED = ".editor-instance .monaco-editor.focused"
CANCEL = '[id="stet.stet.stet.cancel"]'
SETTINGS: Mapping[str, object] = {
    "security.workspace.trust.enabled": False,
    "workbench.startupEditor": "none",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.enableExperiments": False,
    "chat.disableAIFeatures": True,
    "extensions.webWorker": False,
    "telemetry.telemetryLevel": "off",
    # A page saves by itself a moment later, and shows nothing of it.
    "files.autoSave": "off",
    # What is typed is what is in the file.
    "editor.quickSuggestions": {"other": "off", "comments": "off", "strings": "off"},
    "editor.autoClosingBrackets": "never",
    "editor.autoClosingQuotes": "never",
    "editor.minimap.enabled": False,
    "editor.cursorBlinking": "solid",
    "editor.lightbulb.enabled": "off",
}
"""The user's settings in every test; a test's own come on top."""


@dataclass(frozen=True, slots=True)
class Installed:
    """What every test starts: made once a session.

    Attributes:
        node: The program.
        entry: The script that it runs as code-server.
        extensions: The folder our extension is installed in.
    """

    node: Path
    entry: Path
    extensions: Path


@dataclass(frozen=True, slots=True)
class Start:
    """What an editor starts with.

    Attributes:
        installed: The editor.
        home: A folder of the test's own; becomes home, XDG folders and the user's settings.
        root: The workspace.
        script: What the model says, as the text of a `STET_SCRIPTED_MODEL` file; None is the model that
            is found.
        settings: The user's, beside `SETTINGS`.
        path: The folders that programs are looked for in; Stet's own is one of them.
    """

    installed: Installed
    home: Path
    root: Path
    script: str | None = "[]"
    settings: Mapping[str, object] = field(default_factory=dict)
    path: str = ""


class Screen:
    """One Chromium for many editors, in a thread of its own."""

    def __init__(self, browser: Chromium) -> None:
        self._thread = ThreadPoolExecutor(1, "playwright")
        self._playwright, self._browser = self.run(lambda: _launch(browser))

    def run(self, work: Callable[[], T]) -> T:
        """Do something in the browser's thread."""
        return self._thread.submit(work).result()

    def window(self) -> tuple[BrowserContext, Page]:
        """A window that remembers nothing; to be used in the browser's thread."""
        context = self._browser.new_context(viewport={"width": 1200, "height": 900})
        context.set_default_timeout(DEADLINE * 1000)
        return context, context.new_page()

    def close(self) -> None:
        """End the browser."""
        self.run(self._browser.close)
        self.run(self._playwright.stop)
        self._thread.shutdown()


def _launch(browser: Chromium) -> tuple[Playwright, Browser]:
    from playwright.sync_api import sync_playwright

    playwright = sync_playwright().start()
    flags = [flag for flag in FLAGS if flag != "--headless"]
    launched = playwright.chromium.launch(
        executable_path=str(browser.program),
        args=flags,
        env={**os.environ, **browser.environment},
    )
    return playwright, launched


def install(node: Path, entry: Path, vsix: Path, home: Path) -> Installed:
    """Have code-server install our extension, as a person would."""
    installed = Installed(node, entry, home / "extensions")
    command = _command(installed, home)
    done = subprocess.run(
        [*command, "--install-extension", str(vsix)],
        env={"HOME": str(home), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "successfully installed" in done.stdout, f"{done.stdout}\n{done.stderr}"
    return installed


def _command(installed: Installed, home: Path) -> list[str]:
    return [
        str(installed.node), str(installed.entry),
        "--user-data-dir", str(home / "user"), "--extensions-dir", str(installed.extensions),
        "--config", str(home / "config.yaml"), "--auth", "none", "--bind-addr", "127.0.0.1:0",
        "--disable-telemetry", "--disable-update-check",
    ]  # fmt: skip


class VSCode:
    """One running editor.

    Attributes:
        root: Its workspace.
        console: What its page wrote to the console: kind and text.
    """

    def __init__(self, screen: Screen, start: Start) -> None:
        self.root = start.root
        self.console: list[tuple[str, str]] = []
        self._screen = screen
        self._home = start.home
        _prepare(start)
        self._process = subprocess.Popen(
            _command(start.installed, start.home),
            env=_environment(start),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # Node may be a script's child, and has children: they end together.
            start_new_session=True,
        )
        self._address = self._listening()
        self._context, self._page = self._screen.run(self._window)

    def _listening(self) -> str:
        assert self._process.stdout is not None
        said = ""
        for line in self._process.stdout:
            said += line
            if found := re.search(r"listening on http://([\w.:]+)", line):
                return found[1]
        raise AssertionError(f"code-server does not start: {said}")

    def _window(self) -> tuple[BrowserContext, Page]:
        context, page = self._screen.window()
        page.on("console", lambda message: self.console.append((message.type, message.text)))
        page.on("pageerror", lambda error: self.console.append(("pageerror", str(error))))
        return context, page

    def open(self, name: str, *, status: str = "Stet") -> Self:
        """Show the workspace with a file, and wait for Stet's item in the status bar."""
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
        """Do something with the page; a failure comes with what there was to see."""
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
        """Press a key of ours behind the prefix."""
        self.keys("Alt+a", key)

    def type(self, text: str) -> None:
        """Type text where the focus is."""
        self.do(lambda page: page.keyboard.type(text))

    def fill(self, text: str) -> None:
        """Answer the input box that is open, and wait until it is gone."""
        self.do(lambda page: page.wait_for_selector(".quick-input-widget input:focus"))
        self.type(text)
        self.keys("Enter")
        self.do(lambda page: page.wait_for_selector(".quick-input-widget", state="hidden"))

    def pick(self, text: str) -> None:
        """Click a row of the list that is open."""
        row = f".quick-input-list .monaco-list-row:has-text({json.dumps(text)})"
        self.do(lambda page: page.click(row))

    def palette(self, title: str) -> None:
        """Run a command by its title."""
        self.keys("F1")
        self.fill(title)

    def go_to(self, name: str) -> None:
        """Open a file from the explorer, for good and with the focus in it."""
        row = f'.explorer-folders-view .monaco-list-row[aria-label^="{name}"]'
        self.do(lambda page: page.dblclick(row))
        self.do(lambda page: page.wait_for_selector(f'.tab.active[data-resource-name="{name}"]'))
        self.do(lambda page: page.wait_for_selector(FOCUSED))

    def click_line(self, text: str) -> None:
        """Put the cursor into the line with this text, by the mouse.

        Lenses come and go above lines: a click that met another line is done again.
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
        """Click something."""
        self.do(lambda page: page.click(selector))

    def action(self, title: str) -> None:
        """Choose from VS Code's own menu of code actions where the cursor is."""
        self.keys("Control+.")
        self.click(f'.action-widget .monaco-list-row.action:has-text("{title}")')

    def save_all(self) -> None:
        """Save every file."""
        self.palette("File: Save All")
        self.do(lambda page: page.wait_for_selector(".tab.dirty", state="detached"))

    # Seeing

    def _line(self, page: Page, text: str) -> Locator:
        wanted = text.rstrip("\n").strip()
        return page.locator(".editor-instance .view-line").filter(has_text=_spaced(wanted)).first

    def lines(self) -> list[str]:
        """The lines of the editor in front, as drawn."""
        return list(self.do(lambda page: page.evaluate(f"({_LINES})()")))

    def wait(self, condition: str, argument: object = None) -> None:
        """Wait until a JavaScript function of the page is true."""
        self.do(lambda page: page.wait_for_function(condition, arg=argument))

    def wait_for_text(self, text: str) -> None:
        """Wait until the editor in front holds exactly this text."""
        lines = text.split("\n")
        self.wait(f"lines => JSON.stringify(({_LINES})()) === JSON.stringify(lines)", lines)

    def wait_for_status(self, text: str) -> None:
        """Wait until Stet's item in the status bar says exactly this."""
        condition = "([at, text]) => document.querySelector(at)?.innerText.trim() === text"
        self.wait(condition, [STATUS, text])

    def wait_for_toast(self, text: str) -> None:
        """Wait until a notification with this text is to be seen."""
        self.do(
            lambda page: page.wait_for_selector(f".notification-toast:has-text({json.dumps(text)})")
        )

    def see(self, selector: str) -> str:
        """Wait until something is to be seen; gives its text."""
        return str(self.do(lambda page: page.locator(selector).first.inner_text()))

    def shot(self, name: str) -> None:
        """Take a picture, into `$STET_CAPTURES` if that is set."""
        if folder := os.environ.get("STET_CAPTURES"):
            self.do(lambda page: page.screenshot(path=Path(folder, f"{name}.png")))

    def state(self) -> str:
        """What to look at when something went wrong."""
        self.shot("failed")

        def look(page: Page) -> str:
            parts = (STATUS, ".notification-toast", ".quick-input-titlebar, .quick-input-message")
            seen = [text for at in parts for text in page.locator(at).all_inner_texts()[:20]]
            return "\n".join([*seen, *page.evaluate(f"({_LINES})()")])

        with suppress(PlaywrightError):
            return self._screen.run(lambda: look(self._page))
        return "the page is gone"

    def logs(self) -> str:
        """What the editor and its extension host have written to their logs."""
        found = sorted((self._home / "user" / "logs").rglob("*.log"))
        return "\n".join(f"{path.name}: {line}" for path in found for line in _read(path))

    def on_disk(self, name: str) -> str:
        """A file as it is on the disk."""
        return (self.root / name).read_bytes().decode()

    def close(self) -> None:
        """End the editor, and Stet with it."""
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
    """The text as it is drawn: a space may be one that does not break."""
    return re.compile("[ \u00a0]".join(re.escape(part) for part in text.split(" ")))


def _read(path: Path) -> list[str]:
    return path.read_text(errors="replace").splitlines()


def _prepare(start: Start) -> None:
    # Stet's settings are a machine's: where VS Code serves a browser, as here, it takes them from the
    # machine's own file, and drops them from the user's once it knows what they are.
    stets = {key: value for key, value in start.settings.items() if key.startswith("stet.")}
    others = {key: value for key, value in start.settings.items() if key not in stets}
    for name, settings in {"User": {**SETTINGS, **others}, "Machine": stets}.items():
        folder = start.home / "user" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "settings.json").write_text(json.dumps(settings))
    if start.script is not None:
        (start.home / "script.json").write_text(start.script)


def _environment(start: Start) -> dict[str, Any]:
    home = start.home / "home"
    home.mkdir(exist_ok=True)
    kinds = ("CONFIG", "DATA", "STATE", "CACHE")
    script = str(start.home / "script.json")
    return {
        "HOME": str(home),
        "PATH": start.path
        or os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "LANG": "C.UTF-8",
        "SHELL": shutil.which("sh") or "/bin/sh",
        # As when it is started from a terminal: the login shell is not asked for another PATH.
        "VSCODE_CLI": "1",
        **({} if start.script is None else {"STET_SCRIPTED_MODEL": script}),
        **{f"XDG_{kind}_HOME": str(home / kind.lower()) for kind in kinds},
    }
