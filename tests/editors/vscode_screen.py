"""One Chromium for many editors.

Playwright's event loop runs in a separate thread, since pytest's would not start beside it.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from playwright.sync_api import Browser, BrowserContext, Page, Playwright

from tests.parts.chromium import FLAGS, Chromium

T = TypeVar("T")
DEADLINE = 60.0
"""Seconds until a condition counts as failed; a start on a busy machine takes the longest."""


class Screen:
    """One Chromium for many editors, in a separate thread."""

    def __init__(self, browser: Chromium) -> None:
        self._thread = ThreadPoolExecutor(1, "playwright")
        self._playwright, self._browser = self.run(lambda: _launch(browser))

    def run(self, work: Callable[[], T]) -> T:
        """Run `work` in the browser's thread."""
        return self._thread.submit(work).result()

    def window(self) -> tuple[BrowserContext, Page]:
        """Open a window without stored state; call this in the browser's thread."""
        context = self._browser.new_context(viewport={"width": 1200, "height": 900})
        context.set_default_timeout(DEADLINE * 1000)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        return context, context.new_page()

    def close(self) -> None:
        """Close the browser."""
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
