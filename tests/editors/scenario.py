"""The one scenario of all editors: the files, what the model says, the steps, the bytes at the end.

Nothing here knows an editor. A test of one carries out `STEPS` by its own keys and menus, in order
and one after the other: a step is done when what it says under "seen" is so. At the end it compares
the files on the disk with `END`. The editor is started with `write_workspace`'s folder as its
workspace, a file of `script(hold)` as `STET_SCRIPTED_MODEL`, and fresh homes that stay for the
restart.

The script is read by the server when the first question comes, and from its beginning by each server.
Behind the restart nothing is asked, so a second server never speaks. The last reply is held back until
there is a file at `hold`, which is never made: that turn ends because it is cancelled, and as it is the
last one, it doesn't matter whether the model was asked by then.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

CART = '''\
"""What a customer is about to buy: the café's cart → its price."""


def label(name):
    return "Item: " + name


def total(prices):
    amount = 0
    for price in prices:
        amount = amount + price
    return amount


def shown(amount):
    return str(amount)


def rounded(price):
    return price
'''
STOCK = '''\
"""What is in the store."""


def is_empty(stock):
    return len(stock) == 0


def names(stock):
    return [name for name in stock.keys()]


def add(stock, name):
    stock[name] = stock.get(name, 0) + 1


def count(stock):
    return sum([stock[name] for name in stock])
'''
FILES: Mapping[str, str] = MappingProxyType({"cart.py": CART, "stock.py": STOCK})
"""The workspace: relative path to text, UTF-8, lines end at LF."""


@dataclass(frozen=True, slots=True)
class Change:
    """One hunk: whole lines of one file that become others.

    Attributes:
        file: Its path in the workspace.
        summary: What the model says of it: in the diagnostic, in the titles of code actions (which cut
            what is long, but none of these), in `stet.proposals`.
        old: The lines as they stand, with their ends.
        new: What becomes of them.
    """

    file: str
    summary: str
    old: str
    new: str

    def within(self, text: str) -> str:
        """The text of the file with this change made."""
        assert text.count(self.old) == 1, f"{self.old!r} is not in {text!r} once"
        return text.replace(self.old, self.new)


LABEL = Change(
    "cart.py",
    "Use an f-string",
    '    return "Item: " + name\n',
    '    return f"Item: {name}"\n',
)
AMOUNT = Change(
    "cart.py",
    "Add in place",
    "        amount = amount + price\n",
    "        amount += price\n",
)
EMPTY = Change(
    "stock.py",
    "Ask the dictionary itself",
    "    return len(stock) == 0\n",
    "    return not stock\n",
)
NAMES = Change(
    "stock.py",
    "List the names plainly",
    "    return [name for name in stock.keys()]\n",
    "    return list(stock)\n",
)
SHOWN = Change(
    "cart.py",
    "Show the euro sign",
    "    return str(amount)\n",
    '    return f"{amount:.2f} €"\n',
)
ROUNDED = Change(
    "cart.py",
    "Round to cents",
    "    return price  # Round it to cents. AI!\n",
    "    return round(price, 2)\n",
)
ADD = Change(
    "stock.py",
    "Let the amount be chosen",
    "def add(stock, name):\n",
    "def add(stock, name, amount=1):\n",
)
COUNT = Change(
    "stock.py",
    "Sum the values",
    "    return sum([stock[name] for name in stock])\n",
    "    return sum(stock.values())\n",
)

TYPED_LINE = "import math\n"
"""Typed above everything in `cart.py`, so that the hunks below it move."""
COMMENT = "  # Round it to cents. AI!"
"""Typed after `COMMENTED`, the last line of `cart.py`."""
COMMENTED = "    return price"
COMMENT_ACTION = "Stet: Do what the comment says"
"""The title of the code action on the line of the comment."""

TIDY = "Tidy up both files"
SIGN = "Show amounts with their sign"
LONG = "Explain it all"
MORE = "Tidy up the store"
QUESTION = "Which currency?"
CHOICES = ("Euro", "Dollar")
ANSWER = "Euro"
ENDS = (
    "Both files are tidied up.",
    "Amounts have a sign.",
    "It rounds to cents.",
    "The store is tidied up.",
)
"""What the model says last, for each turn that ends by itself; an editor may show it."""

STEPS = (
    "open cart.py; wait until Stet is ready there",
    f"ask {TIDY!r} (mode agent); seen: LABEL and AMOUNT wait in cart.py, EMPTY and NAMES in stock.py",
    "accept LABEL; seen: its new text in cart.py",
    "type TYPED_LINE above the first line of cart.py; seen: AMOUNT still waits, one line further down",
    "accept AMOUNT; seen: its new text in cart.py",
    "open stock.py; reject EMPTY; seen: only NAMES still waits, the text is as it was",
    "accept NAMES; seen: its new text in stock.py",
    "undo in stock.py by the editor's own undo; seen: the text is STOCK again, NAMES is not accepted any more",
    "go to cart.py; ask SIGN; seen: QUESTION with its CHOICES, by whatever way the editor shows it",
    "answer ANSWER; seen: SHOWN waits in cart.py",
    "accept SHOWN; seen: its new text in cart.py",
    "type COMMENT behind the last line of cart.py; take COMMENT_ACTION there; seen: ROUNDED waits, comment and all",
    "accept ROUNDED; seen: its new text in cart.py",
    "go to stock.py; ask MORE; seen: ADD and COUNT wait",
    "ask LONG; seen: the turn runs (progress, or `stet.status` has one turn)",
    "cancel it by the editor's own way; seen: no turn runs, nothing has come of it",
    "save both files; end the editor; start it again in the same workspace and home; open stock.py; "
    "seen: ADD and COUNT are back",
    "accept ADD; seen: its new text in stock.py; COUNT still waits",
    "save stock.py, end the editor, compare all files with END byte for byte",
)
"""What a test does, in words. A hunk is named as its constant in this module is."""


def end() -> Mapping[str, bytes]:
    """The files on the disk when all is done."""
    cart = TYPED_LINE + CART.replace(f"{COMMENTED}\n", f"{COMMENTED}{COMMENT}\n")
    for change in (LABEL, AMOUNT, SHOWN, ROUNDED):
        cart = change.within(cart)
    return MappingProxyType({"cart.py": cart.encode(), "stock.py": ADD.within(STOCK).encode()})


END = end()
"""The exact bytes of every file of the workspace at the end."""


def write_workspace(root: Path) -> None:
    """Make the workspace in an empty or missing folder; `.git` makes it a project's root."""
    (root / ".git").mkdir(parents=True)
    for name, text in FILES.items():
        (root / name).write_bytes(text.encode())


def files_in(root: Path) -> dict[str, bytes]:
    """All files of the workspace as they are on the disk, to be compared with `END`."""
    found = (path for path in root.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def script(hold: str = "$HOLD") -> str:
    """What the model says, as the text of a `STET_SCRIPTED_MODEL` file.

    Args:
        hold: A path that doesn't exist and never will.
    """
    asked = {"question": QUESTION, "choices": list(CHOICES)}
    replies = [
        _calls(*(("read_file", {"file": name}) for name in FILES)),
        _edits(LABEL, AMOUNT, EMPTY, NAMES),
        _done(ENDS[0]),
        _calls(("ask_user", asked)),
        _edits(SHOWN),
        _done(ENDS[1]),
        _edits(ROUNDED),
        _done(ENDS[2]),
        _calls(("read_file", {"file": "stock.py"})),
        _edits(ADD, COUNT),
        _done(ENDS[3]),
        {**_done("Never said."), "hold": hold},
    ]
    return json.dumps(replies, ensure_ascii=False, indent=1)


def _calls(*calls: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {"tool_calls": [{"name": name, "arguments": arguments} for name, arguments in calls]}


def _edits(*changes: Change) -> dict[str, Any]:
    return _calls(*(("edit_file", _arguments(change)) for change in changes))


def _arguments(change: Change) -> dict[str, str]:
    named = {"file": change.file, "summary": change.summary}
    return {**named, "old_text": change.old, "new_text": change.new}


def _done(summary: str) -> dict[str, Any]:
    return _calls(("done", {"summary": summary}))
