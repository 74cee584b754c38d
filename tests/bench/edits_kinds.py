"""The kinds of difference between a model's edit and the user's file.

Every kind distorts a draft: the file has what the model does not write (tabs, trailing space,
typographic quotes), the model writes what the file does not have, or the user types.
"""

# ruff: noqa: RUF001 - typographic signs are what is tested here

import random
import re
from collections.abc import Callable

from tests.bench.edits_draft import MARK, Draft, Key


def as_it_is(draft: Draft, rng: random.Random) -> bool:
    """Leave the draft unchanged."""
    return True


def model_trails(draft: Draft, rng: random.Random) -> bool:
    """Have the model add white space at the ends of quoted lines."""
    head, tail = draft.top, len(draft.model_old) - draft.top - draft.n
    added = [rng.choice(("", " ", "  ", "\t")) if line.strip() else "" for line in draft.model_old]
    draft.model_old = [line + end for line, end in zip(draft.model_old, added, strict=True)]
    kept = draft.model_new[head : len(draft.model_new) - tail]
    draft.model_new = [*draft.model_old[:head], *kept, *draft.model_old[head + draft.n :]]
    return any(added)


def file_trails(draft: Draft, rng: random.Random) -> bool:
    """Put white space at the ends of the file's lines, which the model does not write."""
    draft.file = [line + rng.choice(("", "", " ", "   ", "\t")) for line in draft.file]
    draft.model_old = [line.rstrip() for line in draft.model_old]
    draft.model_new = [line.rstrip() for line in draft.model_new]
    draft.forgives = lambda line: line.rstrip()
    return True


def model_shifts(draft: Draft, rng: random.Random) -> bool:
    """Have the model remove the margin of the block, or add one."""
    if sum(map(bool, map(str.strip, draft.model_old))) < 2:
        return False  # one line without its indent occurs there exactly
    both = [*draft.model_old, *draft.model_new]
    margins = [line[: len(line) - len(line.lstrip(" \t"))] for line in both if line.strip()]
    margin = min(margins, key=len, default="")
    if margin and all(one.startswith(margin) for one in margins):
        cut = len(margin)
        draft.model_old = [line[cut:] if line.strip() else line for line in draft.model_old]
        draft.model_new = [line[cut:] if line.strip() else line for line in draft.model_new]
    else:
        draft.model_old = ["    " + line if line.strip() else line for line in draft.model_old]
        draft.model_new = ["    " + line if line.strip() else line for line in draft.model_new]
    return True


def model_strips(draft: Draft, rng: random.Random) -> bool:
    """Have the model lose the first line's indent in both texts, as a trimmed answer does."""
    if not draft.model_new or not draft.model_old[0].strip():
        return False
    first, new_first = draft.model_old[0], draft.model_new[0]
    if first == first.lstrip() or not new_first.strip():
        return False
    if first[: -len(first.lstrip())] != new_first[: -len(new_first.lstrip())]:
        return False
    draft.model_old = [first.lstrip(), *draft.model_old[1:]]
    draft.model_new = [new_first.lstrip(), *draft.model_new[1:]]
    return True


def _unit(lines: list[str]) -> int:
    """Return the number of spaces per indentation level."""
    widths = [len(line) - len(line.lstrip(" ")) for line in lines if line.strip()]
    return 2 if any(width % 4 == 2 for width in widths) and 2 in widths else 4


def _tabbed(line: str, unit: int) -> str:
    width = len(line) - len(line.lstrip(" "))
    return "\t" * (width // unit) + " " * (width % unit) + line[width:]


def _spaced(line: str, unit: int) -> str:
    lead = line[: len(line) - len(line.lstrip(" \t"))]
    return lead.replace("\t", " " * unit) + line[len(lead) :]


def model_tabs(draft: Draft, rng: random.Random) -> bool:
    """Have the model write tabs where the file has spaces, or spaces where it has tabs."""
    unit = _unit(draft.file)
    has_tabs = any(line.startswith("\t") for line in draft.model_old)
    bend = _spaced if has_tabs else _tabbed
    bent = [bend(line, unit) for line in draft.model_old]
    if bent == draft.model_old:
        return False  # the meaning of a tab in the new text would be ambiguous
    draft.model_old, draft.model_new = bent, [bend(line, unit) for line in draft.model_new]
    return True


def file_tabs(draft: Draft, rng: random.Random) -> bool:
    """Indent the file by tabs, while the model writes spaces."""
    unit = _unit(draft.file)
    if any(line.startswith("\t") for line in draft.file):
        return False
    if not any(line.startswith(" ") and line.strip() for line in draft.model_old):
        return False  # the meaning of spaces in the new text would be ambiguous
    draft.file = [_tabbed(line, unit) for line in draft.file]
    draft.new = [_tabbed(line, unit) for line in draft.new]
    return True


def file_crlf(draft: Draft, rng: random.Random) -> bool:
    """Give the file CRLF (LF if it had CRLF), while the model writes LF."""
    draft.end = "\n" if draft.end == "\r\n" else "\r\n"
    return True


def model_crlf(draft: Draft, rng: random.Random) -> bool:
    """Have the model write CRLF."""
    draft.model_end = "\r\n"
    return True


_ODD = (('"', "“"), ("'", "’"), (" - ", " – "), ("...", "…"))


def _typographic(line: str) -> str:
    line = re.sub(r'"([^"]*)"', "“\\1”", line)
    for plain, odd in _ODD[1:]:
        line = line.replace(plain, odd)
    return line


def plain_signs(line: str) -> str:
    """Replace typographic signs of the line by plain ones, for the comparison."""
    for odd, plain in zip("“”’–…", ('"', '"', "'", "-", "..."), strict=True):
        line = line.replace(odd, plain)
    return line


def file_quotes(draft: Draft, rng: random.Random) -> bool:
    """Put typographic signs into the file, while the model writes plain ones."""
    draft.file = [_typographic(line) for line in draft.file]
    draft.forgives = plain_signs
    quoted = draft.file[draft.start : draft.start + len(draft.model_old)]
    return quoted != draft.model_old


def model_quotes(draft: Draft, rng: random.Random) -> bool:
    """Have the model write typographic signs for the plain ones of the file."""
    old = draft.model_old
    if any(_typographic(line) == line != plain_signs(line) for line in (*old, *draft.model_new)):
        return False
    bent = [_typographic(line) for line in old]
    if bent == old:
        return False
    draft.model_old, draft.model_new = bent, [_typographic(line) for line in draft.model_new]
    return True


def model_numbers(draft: Draft, rng: random.Random) -> bool:
    """Have the model copy the line numbers that it was shown."""
    draft.numbers = (True, rng.random() < 0.7)
    return True


def model_ends(draft: Draft, rng: random.Random) -> bool:
    """Have the model omit the last line end: of both texts, or of the new text."""
    if not draft.model_new or not draft.model_new[-1]:
        return False  # a blank last line without its end is no line
    draft.ends = rng.choice(((False, False), (True, False)))
    return True


def types_elsewhere(draft: Draft, rng: random.Random) -> bool:
    """Have the user type outside the quoted lines, and paste a copy of these lines."""
    end = draft.start + len(draft.model_old)
    outside = [*range(draft.start - 1), *range(end + 1, len(draft.file))]
    if not outside:
        return False
    for _ in range(rng.randrange(1, 5)):
        line = rng.choice(outside)
        copied = draft.end.join([*draft.file[draft.start : end], ""])
        text, column = rng.choice(
            (
                ("typed", rng.randrange(len(draft.file[line]) + 1)),
                ("typed" + draft.end, 0),
                (draft.end, rng.randrange(len(draft.file[line]) + 1)),
                ((draft.file[rng.choice(outside)] + draft.end) * 3, 0),
                (copied if rng.random() < 0.3 else " ", 0),
            )
        )
        (draft.before if rng.random() < 0.6 else draft.after).append(Key(line, column, text))
    return True


def types_in_context(draft: Draft, rng: random.Random) -> bool:
    """Have the user type into a quoted line that does not change."""
    end = draft.start + len(draft.model_old)
    inside = [*range(draft.start, draft.first), *range(draft.first + draft.n, end)]
    return _type_in(draft, [line for line in inside if draft.file[line].strip()], rng)


def types_in_changed(draft: Draft, rng: random.Random) -> bool:
    """Have the user type into a line that the edit changes."""
    changed = range(draft.first, draft.first + draft.n)
    return _type_in(draft, [line for line in changed if draft.file[line].strip()], rng)


def _type_in(draft: Draft, lines: list[int], rng: random.Random) -> bool:
    if not lines:
        return False
    line = rng.choice(lines)
    key = Key(line, rng.randrange(len(draft.file[line]) + 1), MARK)
    (draft.before if rng.random() < 0.5 else draft.after).append(key)
    return True


_GROUPS = (
    (model_trails, file_trails),
    (model_shifts, model_strips, model_tabs, file_tabs),
    (file_crlf, model_crlf),
    (file_quotes, model_quotes),
    (model_ends,),
    (model_numbers,),
    (types_elsewhere,),
)


def several(draft: Draft, rng: random.Random) -> bool:
    """Apply two to four kinds at once."""
    forgiven = []
    n_bent = 0
    for group in sorted(rng.sample(range(len(_GROUPS)), rng.randrange(2, 5)), key=_late):
        n_bent += rng.choice(_GROUPS[group])(draft, rng)
        forgiven.append(draft.forgives)
    draft.forgives = lambda line: _each(forgiven, line)
    return n_bent > 1


def _late(group: int) -> tuple[bool, int]:
    """Sort trailing space last: the other kinds expect lines without trailing space."""
    return group == 0, group


def _each(functions: list[Callable[[str], str]], line: str) -> str:
    for function in functions:
        line = function(line)
    return line


KINDS: dict[str, Callable[[Draft, random.Random], bool]] = {
    "as it is": as_it_is,
    "trailing space, model": model_trails,
    "trailing space, file": file_trails,
    "indent shifted": model_shifts,
    "first indent lost": model_strips,
    "tabs or spaces, model": model_tabs,
    "tabs, file": file_tabs,
    "other line end, file": file_crlf,
    "CRLF, model": model_crlf,
    "typographic, file": file_quotes,
    "typographic, model": model_quotes,
    "last line end left out": model_ends,
    "line numbers copied": model_numbers,
    "typing elsewhere": types_elsewhere,
    "typing in the context": types_in_context,
    "typing in what changes": types_in_changed,
    "several at once": several,
}
"""Every kind by its name, in the order of the table."""
