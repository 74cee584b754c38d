"""A long review in real Neovim: thirty hunks in one file, constant typing, a killed server."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from tests.editors.neovim import Neovim
from tests.editors.scripts import edit, script

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]
Begin = Callable[..., Neovim]
N_PARTS = 30
PART = """\
# part {n:02}
size_{n:02} = width * height + {n}
print("size {n:02}", size_{n:02})
keep(size_{n:02})

"""
TEXT = "".join(PART.format(n=n) for n in range(1, N_PARTS + 1))


def change_of(n: int) -> tuple[str, str]:
    """Return the model's change of a part: one line replaced, removed or added."""
    _, size, shown, kept, _ = PART.format(n=n).splitlines(keepends=True)
    if n % 3 == 1:
        return size, size.replace("+", "-")
    return (shown, "") if n % 3 == 2 else (shown + kept, f"{shown}check(size_{n:02})\n{kept}")


def proposing() -> list[dict[str, object]]:
    """Make a script of three answers with ten calls each, the last answer held."""
    calls = [edit("a.txt", *change_of(n), f"part {n:02}") for n in range(1, N_PARTS + 1)]
    first, second = (script(*calls[at : at + 10])[0] for at in (0, 10))
    return [first, second, *script(*calls[20:], held=True)]


@dataclass(slots=True)
class Page:
    """The expected lines of the file, and the editor that is typed into.

    Attributes:
        editor: The editor, in which every step is done by keys.
        lines: The expected lines.
        waiting: The parts with pending hunks, each with the line that its hunk is shown at.
    """

    editor: Neovim
    lines: list[str] = field(default_factory=TEXT.splitlines)
    waiting: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for n in range(1, N_PARTS + 1):
            # An added line is drawn above the line before which it goes.
            self.waiting[n] = PART.format(n=n).splitlines()[n % 3 or 3]

    def type_at(self, line: str, keys: str, lines: Sequence[str]) -> None:
        """Type at a line; `lines` are the expected result."""
        at = self.lines.index(line)
        self.editor.keys(f"{at + 1}G0{keys}")
        self.lines[at : at + 1] = lines

    def type_in_hunk(self, n: int, keys: str, line: str) -> None:
        """Type in the line that a pending hunk changes; `line` is the expected result."""
        self.type_at(self.waiting[n], keys, [line])
        self.waiting[n] = line

    def decide(self, n: int, keys: str) -> None:
        """Press keys on the line of a hunk, which is then no longer pending."""
        self.editor.keys(f"{self.lines.index(self.waiting.pop(n)) + 1}G{keys}")

    def accept(self, n: int, keys: str = "\\ky") -> None:
        """Accept a hunk with keys."""
        line = self.waiting[n]
        self.decide(n, keys)
        self.write(n, line)

    def write(self, n: int, line: str) -> None:
        """Update `lines` for an accepted hunk that is shown at `line`."""
        at = self.lines.index(line)
        if n % 3 == 1:
            self.lines[at] = line.replace("+", "-")
        elif n % 3 == 2:
            del self.lines[at]
        else:
            self.lines.insert(at, f"check(size_{n:02})")

    def check(self) -> None:
        """Wait until the editor shows exactly this text, with exactly these hunks."""
        self.editor.wait_for_lines(self.lines)
        self.editor.wait_for_hunks(*sorted(map(self.lines.index, self.waiting.values())))


def accept_from_the_menu(page: Page, n: int) -> None:
    """Accept a hunk with a code action."""
    page.accept(n, "")
    page.editor.lua(
        f"""
        local function wanted(action)
          return action.title:match('^Stet: Accept hunk .*: part {n:02}$')
        end
        vim.lsp.buf.code_action({{ filter = wanted, apply = true }})
        """
    )


def state_of(editor: Neovim, n: int) -> str:
    """Return the state of a part's hunk."""
    found = [h["state"] for h in editor.command("stet.proposals", text=f"part {n:02}")]
    assert len(found) == 1
    return str(found[0])


def wait_for_state(editor: Neovim, n: int, state: str) -> None:
    """Wait until a part's hunk has this state."""
    editor.wait(
        "vim.iter(T.poll('stet.proposals') or {}):any(function(hunk) "
        f"return hunk.summary == 'part {n:02}' and hunk.state == '{state}' end)",
        f"part {n} is {state}",
    )


def test_thirty_hunks_with_typing_between_and_a_death_in_the_middle_end_exactly(
    neovim: Begin,
) -> None:
    editor = neovim({"a.txt": TEXT}, proposing())
    page = Page(editor)
    editor.keys("\\kaplease<CR>")
    page.type_at("# part 01", "O# above<Esc>", ["# above", "# part 01"])
    page.type_at("# part 25", "o# in part 25<Esc>", ["# part 25", "# in part 25"])
    editor.release()
    page.check()

    accept_and_type(page)
    merge_and_conflict(page)
    die_and_come_back(page)
    go_on_and_go_back(page)

    page.check()
    assert editor.on_disk("a.txt") == TEXT
    editor.keys(":write<CR>")
    editor.wait("not vim.bo.modified", "the file is written")
    assert editor.on_disk("a.txt") == "\n".join(page.lines) + "\n"


def accept_and_type(page: Page) -> None:
    """Accept some hunks; between them insert, cut, paste and restore lines."""
    page.accept(1)
    page.type_at("# part 05", "o# in part 05<Esc>", ["# part 05", "# in part 05"])
    page.check()
    page.accept(2)
    page.check()
    page.type_at("# part 10", "dd", [])
    page.type_at("# part 12", "p", ["# part 12", "# part 10"])
    page.check()
    accept_from_the_menu(page, 3)
    page.check()
    page.type_at("# part 28", "O# one<CR># two<Esc>", ["# one", "# two", "# part 28"])
    page.check()
    page.editor.keys("u")
    without = [line for line in page.lines if line not in {"# one", "# two"}]
    page.editor.wait_for_lines(without)
    page.editor.keys("<C-r>")
    page.check()
    accept_from_the_menu(page, 4)
    page.check()
    page.editor.keys("u")
    wait_for_state(page.editor, 4, "pending")
    page.editor.keys("<C-r>")
    wait_for_state(page.editor, 4, "accepted")
    page.check()


def merge_and_conflict(page: Page) -> None:
    """Type within hunks: beside the model's changes, and over them."""
    page.type_in_hunk(7, "A  # mine<Esc>", "size_07 = width * height + 7  # mine")
    page.type_in_hunk(10, "0cwtotal_10<Esc>", "total_10 = width * height + 10")
    page.check()
    page.accept(7)
    page.check()

    before = page.waiting[13]
    page.type_in_hunk(13, "f+r/", before.replace("+", "/"))
    page.editor.wait_for_lines(page.lines)
    page.editor.wait("vim.tbl_contains(T.proposed(), -1)", "it is a conflict")
    page.editor.keys("u")
    page.type_in_hunk(13, "", before)
    page.check()

    page.type_in_hunk(16, "f*r/", "size_16 = width / height + 16")
    page.type_in_hunk(19, "f+r/", "size_19 = width * height / 19")
    page.editor.wait("vim.tbl_contains(T.proposed(), -1)", "it is a conflict")
    page.decide(19, "\\kc1<CR>")
    wait_for_state(page.editor, 19, "rejected")
    page.check()


def die_and_come_back(page: Page) -> None:
    """Kill the server while the user types; nothing has been saved."""
    page.editor.keys("ggO# while it ")
    page.editor.wait_for_lines(["# while it ", *page.lines])
    page.editor.kill_server()
    page.editor.keys("was away<Esc>")
    page.lines.insert(0, "# while it was away")
    page.type_at("# part 15", "O# more<Esc>", ["# more", "# part 15"])
    page.type_in_hunk(22, "A  # later<Esc>", "size_22 = width * height + 22  # later")
    page.check()
    for n, state in ((1, "accepted"), (4, "accepted"), (19, "rejected"), (10, "pending")):
        assert (n, state_of(page.editor, n)) == (n, state)


def go_on_and_go_back(page: Page) -> None:
    """Reject some hunks, undo accepted ones, restore rejected ones, accept the rest."""
    for n in (8, 15, 20):
        page.decide(n, "\\knnot this<CR>")
        wait_for_state(page.editor, n, "rejected")
    page.accept(10)
    page.accept(22)
    page.check()
    page.type_at("# part 01", "o# typed later<Esc>", ["# part 01", "# typed later"])
    page.type_at("keep(size_03)", "O# and here<Esc>", ["# and here", "keep(size_03)"])
    page.check()
    page.type_at("size_01 = width * height - 1", "\\ku", ["size_01 = width * height + 1"])
    wait_for_state(page.editor, 1, "undone")
    page.check()
    third = page.editor.command("stet.proposals", text="part 03")[0]["hunk"]
    page.editor.command("stet.undo", hunk=third)
    page.lines.remove("check(size_03)")
    page.check()

    page.waiting[20] = 'print("size 20", size_20)'
    page.editor.keys(f"{page.lines.index(page.waiting[20]) + 1}G\\kb")
    page.check()
    page.editor.keys("\\kY")
    while page.waiting:
        page.write(*page.waiting.popitem())
    page.check()
