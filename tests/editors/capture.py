"""Make `client-configs/neovim/screenshot.svg`: real Neovim in a real terminal, a scripted model.

Run by hand, with tmux on the PATH:

    python -m tests.editors.capture

It asks, goes to the hunks and captures the screen.
"""

import io
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from tests.editors.scripts import edit, script

CONFIG = Path(__file__).parents[2] / "client-configs" / "neovim"
COLUMNS, LINES = 100, 26
SECONDS = 120.0
SAMPLE = '''\
"""What a customer is about to buy."""

from dataclasses import dataclass


@dataclass
class Item:
    name: str
    price: float
    quantity: int = 1


def total(items: list[Item], discount: float = 0.0) -> float:
    amount = sum(item.price * item.quantity for item in items)
    return round(amount * (1 - discount), 2)


def cheapest(items: list[Item]) -> Item:
    return min(items, key=lambda item: item.price)
'''
_TOTAL = """\
    amount = sum(item.price * item.quantity for item in items)
    return round(amount * (1 - discount), 2)
"""
_CHECKED = f"""\
    if not 0 <= discount <= 1:
        raise ValueError(f"not a share: {{discount}}")
{_TOTAL.replace(", 2", ", ndigits=2")}"""
_CHEAPEST = """\
def cheapest(items: list[Item]) -> Item:
    return min(items, key=lambda item: item.price)
"""
_NONE = """\
def cheapest(items: list[Item]) -> Item | None:
    \"\"\"Return the item with the lowest price, if there is one.\"\"\"
    return min(items, key=lambda item: item.price, default=None)
"""
PROMPT = "Check the discount, and let the cart be empty"
EDITS = (
    edit("cart.py", _TOTAL, _CHECKED, "Check the discount"),
    edit("cart.py", _CHEAPEST, _NONE, "Let the cart be empty"),
)
SIGNALS = """
vim.o.termguicolors, vim.o.laststatus, vim.o.ruler, vim.o.showcmd = true, 0, false, false
vim.o.number, vim.o.signcolumn, vim.o.swapfile, vim.o.shortmess = true, 'yes', false, 'filnxtToOFI'
local function signal(name, milliseconds)
  vim.defer_fn(function() vim.fn.system({ 'tmux', 'wait-for', '-S', name }) end, milliseconds)
end
vim.api.nvim_create_autocmd('LspAttach', { callback = function() signal('attached', 500) end })
vim.api.nvim_create_autocmd('DiagnosticChanged', { callback = function()
  if #vim.diagnostic.get(0) > 0 then
    signal('proposed', 8000) -- the index is built and the turn has ended by then
    vim.api.nvim_create_autocmd('CursorMoved', { callback = function() signal('shown', 1500) end, once = true })
  end
end })
"""
# The colours of Neovim's dark scheme; the screen sets most of them itself.
THEME = TerminalTheme(
    (20, 22, 27),
    (224, 226, 234),
    [
        (7, 8, 13),
        (255, 192, 185),
        (179, 246, 192),
        (252, 224, 148),
        (166, 219, 255),
        (255, 202, 255),
        (140, 248, 247),
        (238, 241, 248),
    ],
)


def main() -> int:
    """Run the session and write the picture; return the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        screen = record(Path(folder))
    (CONFIG / "screenshot.svg").write_text(picture(screen))
    return 0


def record(folder: Path) -> str:
    """Return the screen with the proposal, as the terminal received it."""
    work, config = folder / "shop", folder / "home" / "config" / "nvim"
    (work / ".git").mkdir(parents=True)
    (work / "cart.py").write_text(SAMPLE)
    config.mkdir(parents=True)
    (config / "init.lua").write_text(f"vim.opt.rtp:append('{CONFIG}')\n{SIGNALS}")
    (folder / "script.json").write_text(json.dumps(script(*EDITS)))
    socket, bin_folder = str(folder / "tmux"), Path(sys.executable).parent
    environment = {
        **{name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")},
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
        "STET_SCRIPTED_MODEL": str(folder / "script.json"),
        "COLORTERM": "truecolor",
        "XDG_CONFIG_HOME": str(config.parent),
        "XDG_STATE_HOME": str(folder / "home" / "state"),
    }

    def tmux(*arguments: str) -> str:
        command = ["tmux", "-S", socket, *arguments]
        done = subprocess.run(
            command, check=True, env=environment, cwd=work, stdout=subprocess.PIPE, timeout=SECONDS
        )
        return done.stdout.decode()

    try:
        size = ("-x", str(COLUMNS), "-y", str(LINES))
        tmux("-f", os.devnull, "new-session", "-d", *size, str(bin_folder / "nvim"), "cart.py")
        tmux("wait-for", "attached")
        tmux("send-keys", f":Stet ask {PROMPT}", "Enter")
        tmux("wait-for", "proposed")
        tmux("send-keys", "gg", ":Stet next", "Enter")
        tmux("wait-for", "shown")
        return tmux("capture-pane", "-e", "-N", "-p")
    finally:
        tmux("kill-server")


def picture(screen: str, columns: int = COLUMNS, title: str = "Neovim") -> str:
    """Convert the screen to SVG without external fonts."""
    console = Console(record=True, width=columns, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(screen.rstrip("\n")), overflow="crop", no_wrap=True)
    form = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    form = form.replace("<!-- Generated with Rich https://www.textualize.io -->", "")
    form = form.replace("<svg ", '<svg xml:space="preserve" ', 1)  # else some renderers trim spaces
    return console.export_svg(title=title, theme=THEME, code_format=form, unique_id="stet")


if __name__ == "__main__":
    sys.exit(main())
