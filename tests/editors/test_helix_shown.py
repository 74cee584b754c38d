"""What real Helix shows of Stet besides the scenario, together with a language's own server."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import Part
from tests.editors import scenario as given
from tests.editors.helix import HelixEditor, Start
from tests.editors.scenario import AMOUNT, EMPTY, LABEL
from tests.editors.shown import NO, Shown
from tests.parts import helix

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
CONFIGS = {"25.01": "config-25.01.toml", "25.07": "config.toml"}
RUFF_ONLY = """# mine
[[language]]
name = "python"
language-servers = ["ruff"]
"""
UNUSED = "`math` imported but unused"


@pytest.fixture(params=CONFIGS)
def series(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def begin(series: str, part: Part, tmp_path: Path) -> Start:
    """Start Helix with only `ruff` for Python, configured in the user's `languages.toml`."""
    return Start(part(lambda: helix.ensure(series)), tmp_path, CONFIGS[series])


@contextmanager
def running(begin: Start, *servers: str) -> Iterator[HelixEditor]:
    given.write_workspace(begin.root)
    begin.prepare(given.script(str(begin.home / "never")), RUFF_ONLY, servers)
    editor = begin.open("cart.py")
    try:
        editor.wait_until_ready()
        yield editor
    finally:
        editor.close()


def test_helix_shows_what_the_table_lists(series: str, begin: Start) -> None:
    shown = Shown(f"helix-{series}", f"Helix {series}")
    with running(begin, "stet") as editor:
        look_at_all(series, editor, shown)
    shown.check()


def look_at_all(series: str, editor: HelixEditor, shown: Shown) -> None:
    terminal = editor.terminal
    asked_in_the_chat(editor)
    shown.saw("chat", "document")
    editor.wait_for_marks(LABEL.old.rstrip(), AMOUNT.old.rstrip())
    assert not any("Accept" in line for line in terminal.screen())
    shown.saw("lens", NO)
    editor.go(5)
    terminal.keys("Space")
    terminal.wait_for("Perform code action")
    terminal.keys("k")
    terminal.wait_for(f"h1 {LABEL.summary}")
    terminal.keys("C-c")
    terminal.wait_until_gone(f"h1 {LABEL.summary}")
    shown.saw("hover", "popup by key")
    # The requests of Helix have the cursor's position: the hover is that of the cursor's line.
    shown.saw("selection", "by what is asked for")
    assert not any("hunk" in line or "Stet" in line for line in terminal.screen()[-2:])
    shown.saw("status", NO)
    terminal.keys("Space")
    terminal.wait_for("Perform code action")
    terminal.keys("a")
    terminal.wait_for("Accept")
    assert not any("review" in line for line in terminal.screen() if "Stet" in line)
    terminal.keys("Escape")
    terminal.wait_until_gone("Accept")
    shown.saw("preview", NO)
    editor.key("f")
    terminal.wait_for("│ ?")
    terminal.paste("names in the store")
    terminal.wait_for("> function")
    terminal.keys("C-c")
    terminal.wait_until_gone("names in the store")
    shown.saw("search", "list")
    shown.saw("next", through_what_waits(series, editor))
    editor.key("d")
    terminal.wait_for("# Stet review")
    shown.saw("review", "document")


def test_another_server_of_the_language_goes_on_beside_stet(begin: Start) -> None:
    with running(begin, "stet", "ruff") as editor:
        # On an empty line, so that this is one change: 25.01 sends two in arbitrary order.
        editor.go(2)
        editor.insert("i", given.TYPED_LINE.rstrip())
        wait_for_ruff(begin, editor)
        asked_in_the_chat(editor)
        editor.wait_for_marks(given.TYPED_LINE.rstrip(), LABEL.old.rstrip(), AMOUNT.old.rstrip())


def wait_for_ruff(begin: Start, editor: HelixEditor, known: int = 0) -> None:
    """Wait for Ruff's diagnostics, and restart Ruff if Helix has sent it the file before
    `initialize`: Ruff then exits, in one of ten starts of 25.07.
    """

    def n_ended() -> int:
        return (begin.home / "cache" / "helix" / "helix.log").read_text().count("ruff failed")

    editor.terminal.wait(
        lambda shown: any(UNUSED in line for line in shown) or n_ended() > known,
        "Ruff tells of the import, or has ended",
    )
    if (ended := n_ended()) > known:
        editor.command("lsp-restart ruff")
        wait_for_ruff(begin, editor, ended)


def through_what_waits(series: str, editor: HelixEditor) -> str:
    """Go to a hunk in the other file; return how this was done."""
    if series == "25.01":
        editor.key("l")
        editor.terminal.wait_for(EMPTY.summary)
        editor.terminal.paste("dictionary")
        editor.terminal.wait_until_gone(LABEL.summary)
        editor.terminal.keys("Enter")
    else:
        for summary in (AMOUNT.summary, EMPTY.summary):
            editor.terminal.keys("]")
            editor.terminal.wait_for("stet.next")
            editor.terminal.keys("h")
            editor.terminal.wait_for(f"└─{summary}")
    editor.terminal.wait(lambda screen: " stock.py" in screen[-2], "the other file is shown")
    return "list" if series == "25.01" else "key"


def asked_in_the_chat(editor: HelixEditor) -> None:
    editor.key("t")
    editor.wait_for_line("# Stet: main")
    editor.terminal.keys("g", "e")
    editor.insert("A", given.TIDY)
    editor.key("s")
    editor.terminal.wait_for(given.ENDS[0])
    editor.command("buffer-close!")
    editor.terminal.wait(lambda screen: "cart.py" in screen[-2], "the file is shown")
