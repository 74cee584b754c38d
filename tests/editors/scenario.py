"""The common scenario of all editors: the files, the model script, the steps, the final bytes.

Nothing here depends on an editor. An editor's test performs `STEPS` with the editor's keys and
menus, one after the other: a step is done when its "seen" part is true. At the end the test
compares the files on the disk with `END`. The editor starts with `write_workspace`'s folder as its
workspace, a file of `script(hold)` as `STET_SCRIPTED_MODEL`, and new homes that are kept for the
restart.

Each server reads the script from its beginning at the first question. After the restart there are
no questions, so a second server never answers. The last reply is held until a file `hold` exists,
which is never made: that turn ends by its cancellation, and as it is the last one, the test does
not depend on whether the model was asked by then.
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
"""The workspace: relative path to text, UTF-8, with LF line ends."""


@dataclass(frozen=True, slots=True)
class Change:
    """One hunk: whole lines of one file that are replaced.

    Attributes:
        file: The path in the workspace.
        summary: The model's summary: in the diagnostic, in the titles of code actions (which
            shorten long ones, but none of these), in `stet.proposals`.
        old: The old lines, with their ends.
        new: The new lines.
    """

    file: str
    summary: str
    old: str
    new: str

    def within(self, text: str) -> str:
        """Return the text of the file with this change applied."""
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
"""A line typed at the top of `cart.py`, so that the hunks below it move."""
COMMENT = "  # Round it to cents. AI!"
"""The comment typed after `COMMENTED`, the last line of `cart.py`."""
COMMENTED = "    return price"
COMMENT_ACTION = "Stet: Run comment instruction"
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
"""The model's last text in each turn that ends by itself; an editor may show it."""

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
"""The steps of a test, in words. Hunks have the names of their constants in this module."""


def end() -> Mapping[str, bytes]:
    """Return the files on the disk at the end."""
    cart = TYPED_LINE + CART.replace(f"{COMMENTED}\n", f"{COMMENTED}{COMMENT}\n")
    for change in (LABEL, AMOUNT, SHOWN, ROUNDED):
        cart = change.within(cart)
    return MappingProxyType({"cart.py": cart.encode(), "stock.py": ADD.within(STOCK).encode()})


END = end()
"""The exact bytes of every file of the workspace at the end."""


def write_workspace(root: Path) -> None:
    """Make the workspace in an empty or missing folder; `.git` marks the project's root."""
    (root / ".git").mkdir(parents=True)
    for name, text in FILES.items():
        (root / name).write_bytes(text.encode())


def files_in(root: Path) -> dict[str, bytes]:
    """Return all files of the workspace on the disk, to be compared with `END`."""
    found = (path for path in root.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def script(hold: str = "$HOLD") -> str:
    """Return the model script as the text of a `STET_SCRIPTED_MODEL` file.

    Args:
        hold: A path that doesn't exist and is never created.
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
