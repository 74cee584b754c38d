"""Make `client-configs/neovim/chat.svg`: a conversation in real Neovim with a scripted model.

Run by hand, with tmux on the PATH: `python -m tests.editors.capture_chat`.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic

from tests.editors.capture import CONFIG, LINES, SAMPLE, picture

COLUMNS = 124
"""Wide enough for a chat beside the code."""
SECONDS = 30.0
LOOKS = """
vim.o.termguicolors, vim.o.laststatus, vim.o.ruler, vim.o.showcmd = true, 0, false, false
vim.o.number, vim.o.signcolumn, vim.o.swapfile = true, 'yes', false
"""
QUESTION = "Should a discount outside 0 to 1 be an error, or be cut to that range?"
SCRIPT = [
    {
        "text": "`total` takes any discount, so 2 gives a negative price.",
        "tool_calls": [{"name": "read_file", "arguments": {"file": "cart.py"}}],
    },
    {
        "tool_calls": [
            {
                "name": "ask_user",
                "arguments": {"question": QUESTION, "choices": ["Raise a ValueError", "Cut it"]},
            }
        ]
    },
]


def main() -> int:
    """Run the session and write the picture; return the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        screen = record(Path(folder))
    (CONFIG / "chat.svg").write_text(picture(screen, COLUMNS))
    return 0


def record(folder: Path) -> str:
    """Return the screen while the turn asks and the user writes the answer."""
    work, config = folder / "shop", folder / "home" / ".config" / "nvim"
    (work / ".git").mkdir(parents=True)
    (work / "cart.py").write_text(SAMPLE)
    config.mkdir(parents=True)
    (config / "init.lua").write_text(f"vim.opt.rtp:append('{CONFIG}')\n{LOOKS}")
    script = folder / "script.json"
    script.write_text(json.dumps(SCRIPT))
    bin_folder = Path(sys.executable).parent
    environment = {
        "HOME": str(folder / "home"),
        "LANG": "C.UTF-8",
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
        "STET_SCRIPTED_MODEL": str(script),
    }

    def tmux(*arguments: str) -> str:
        command = ["tmux", "-S", str(folder / "tmux"), *arguments]
        done = subprocess.run(
            command, check=True, env=environment, cwd=work, stdout=subprocess.PIPE, timeout=SECONDS
        )
        return done.stdout.decode()

    def pause() -> None:
        tmux("run-shell", "-d", "1.5", ":")

    def until(text: str, *keys: str) -> None:
        """Press keys until the screen has a text; keys may be ignored when pressed too early."""
        end = monotonic() + SECONDS
        while text not in tmux("capture-pane", "-p"):
            if monotonic() > end:
                raise TimeoutError(f"{text!r} is not on the screen")
            if keys:
                tmux("send-keys", *keys)
            pause()

    try:
        size = ("-x", str(COLUMNS), "-y", str(LINES))
        tmux("-f", os.devnull, "new-session", "-d", *size, str(bin_folder / "nvim"), "cart.py")
        until("## You", "\\kt", "Space")  # pressed too early this is a motion to the next space
        tmux("send-keys", "Go", "What happens with a discount of 2 in `total`? Mend it.", "Escape")
        pause()
        tmux("send-keys", "\\ks")
        until("2. Cut it")
        tmux("send-keys", "Go", "An error, please", "Escape")
        until("An error, please")
        return tmux("capture-pane", "-e", "-N", "-p")
    finally:
        tmux("kill-server")


if __name__ == "__main__":
    sys.exit(main())
