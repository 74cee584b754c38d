"""Make `client-configs/vscode/screenshot.png`: real VS Code with hunks in the text.

python -m tests.editors.capture_vscode
"""

import json
import sys
import tempfile
from pathlib import Path

from tests.editors.scripts import edit
from tests.editors.vscode import VSCode
from tests.editors.vscode_install import Start, install
from tests.editors.vscode_screen import Screen
from tests.parts import chromium, code_server, npm, vscode_extension

PICTURE = Path(__file__).parents[2] / "client-configs" / "vscode" / "screenshot.png"
SAMPLE = '''\
"""What a customer is about to buy."""


class Item:
    name: str
    price: float
    quantity: int = 1


def total(items, discount=0.0):
    amount = sum(item.price * item.quantity for item in items)
    return round(amount * (1 - discount), 2)


def cheapest(items):
    best = None
    for item in items:
        if best is None or item.price < best.price:
            best = item
    return best
'''
CHANGES = (
    ("    price: float\n", "    price: Decimal\n", "Use exact prices"),
    (
        "    amount = sum(item.price * item.quantity for item in items)\n",
        "    if not 0 <= discount <= 1:\n"
        '        raise ValueError(f"no discount: {discount}")\n'
        "    amount = sum(item.price * item.quantity for item in items)\n",
        "Check the discount",
    ),
    (
        SAMPLE[SAMPLE.index("    best = None") :],
        "    return min(items, key=lambda item: item.price)\n",
        "Use min",
    ),
)


def main() -> int:
    """Draw the picture; return the exit code."""
    calls = [edit("cart.py", *change) for change in CHANGES]
    done = {"name": "done", "arguments": {"summary": "3 edits."}}
    with tempfile.TemporaryDirectory() as folder:
        home, root = Path(folder), Path(folder, "shop")
        (root / ".git").mkdir(parents=True)
        (root / "cart.py").write_text(SAMPLE)
        script = json.dumps([{"tool_calls": calls}, {"tool_calls": [done]}])
        settings = {"workbench.colorTheme": "Default Dark Modern"}
        screen = Screen(chromium.ensure())
        try:
            installed = install(npm.node(), code_server.ensure(), vscode_extension.ensure(), home)
            editor = VSCode(screen, Start(installed, home, root, script, settings))
            try:
                draw(editor.open("cart.py"))
            finally:
                editor.close()
        finally:
            screen.close()
    return 0


def draw(editor: VSCode) -> None:
    """Ask for the changes and take the picture."""
    editor.stet("a")
    editor.fill("Make the prices exact, check the discount, and simplify")
    editor.wait_for_status("Stet: 3 hunks")
    editor.wait("() => document.querySelectorAll('.glyph-margin-widgets .cgmr').length === 3")
    editor.wait_for_toast("3 edits.")
    editor.see('.codelens-decoration:has-text("Accept: Use min")')
    editor.palette("Notifications: Clear All Notifications")
    editor.click_line("price: float")
    editor.keys("Control+k", "Control+i")
    editor.see(".monaco-hover:not(.hidden)")
    editor.do(
        lambda page: page.screenshot(
            path=PICTURE, clip={"x": 0, "y": 0, "width": 1200, "height": 700}
        )
    )


if __name__ == "__main__":
    sys.exit(main())
