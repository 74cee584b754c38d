"""Give new lines the indentation of the file, and keep the file's bytes where nothing changed.

`IndentRule` is the one rule that turns a model's indents into those of the file: shifted by a
constant, or tabs for spaces.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise, product

from stet.text.diff import LineHunk, apply_hunks, diff_lines, unchanged_lines
from stet.text.lines import line_end, split_lines, whole_lines, without_end
from stet.text.match_result import UnclearEdit
from stet.text.merge import TOKEN
from stet.text.unicode_normal import (
    SPACES,
    plain_punctuation,
    plain_sign_map,
    punctuation_origins,
    unknown_signs,
)

_TAB_WIDTHS = (2, 4, 8)


@dataclass(frozen=True, slots=True)
class IndentRule:
    """The conversion of the model's indent to the file's indent.

    Attributes:
        added: The prefix that only the file's indents have.
        removed: The prefix that only the model's indents have.
        tab_width: The number of spaces for a tab; 0 if tabs are not converted.
        tabs: With a tab width: whether the file has the tabs (otherwise the model has).
    """

    added: str = ""
    removed: str = ""
    tab_width: int = 0
    tabs: bool = False

    def to_file(self, indent: str) -> str | None:
        """Return the file's form of `indent`. Return None if the indent is left of the block's
        margin or between two tab stops.
        """
        if not indent.startswith(self.removed):
            return None
        rest = indent[len(self.removed) :]
        if self.tab_width:
            spaces = " " * self.tab_width
            rest = rest.replace(spaces, "\t") if self.tabs else rest.replace("\t", spaces)
            if self.tabs and " " in rest:
                return None
        return self.added + rest

    def to_model(self, indent: str) -> str | None:
        """Return the model's form of the file's `indent`, or None if the form is not clear."""
        rest = indent[len(self.added) :]
        if self.tab_width:
            spaces = " " * self.tab_width
            rest = rest.replace("\t", spaces) if self.tabs else rest.replace(spaces, "\t")
        source = self.removed + rest
        return source if self.to_file(source) == indent else None


def indent_of(line: str) -> str:
    """Return the white space at the start of `line`."""
    return line[: len(line) - len(line.lstrip(" \t"))]


def visible_indent(line: str) -> str | None:
    """Return the indent of `line` with plain spaces, or None if nothing visible follows the
    indent.
    """
    return indent_of(plain_punctuation(line)) if line.strip(SPACES) else None


def find_indent_rule(theirs: Sequence[str | None], ours: Sequence[str | None]) -> IndentRule | None:
    """Return the one rule that turns the model's indents into the file's, line for line.

    Lines without anything visible (None) are left out. Return None if there is no such rule.
    """
    pairs = ((a, b) for a, b in zip(theirs, ours, strict=True) if a is not None and b is not None)
    for rule in _rules(*next(pairs, ("", ""))):
        if all(a is None or rule.to_file(a) == b for a, b in zip(theirs, ours, strict=True)):
            return rule
    return None


def _rules(theirs: str, ours: str) -> Iterator[IndentRule]:
    """Yield the rules that turn the indent `theirs` into `ours`, the most likely rule first."""
    if ours.endswith(theirs):
        yield IndentRule(added=ours.removesuffix(theirs))
    elif theirs.endswith(ours):
        yield IndentRule(removed=theirs.removesuffix(ours))
    widths = product((True, False), _TAB_WIDTHS)
    conversions = [IndentRule(tab_width=width, tabs=tabs) for tabs, width in widths]
    converted = [(rule, rule.to_file(theirs)) for rule in conversions]
    yield from (rule for rule, indent in converted if indent == ours)
    for rule, indent in converted:
        if indent is not None and ours.endswith(indent):
            yield replace(rule, added=ours.removesuffix(indent))


_MAX_PAIRS = 2_500
"""The maximum product of line counts for which every line is compared with every other."""


def pair_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Pair each new line with the changed old one, as (new, old), 0-based, in order on both sides.

    The pairs are the heaviest common subsequence by likeness (dynamic programming); in very long
    hunks only lines of the same number are compared. Lines that share less than half have no
    partner.
    """
    words, new_words = [_words(line) for line in old], [_words(line) for line in new]
    if len(old) * len(new) > _MAX_PAIRS:
        likely = enumerate(zip(words, new_words, strict=False))
        yield from ((i, i) for i, (one, other) in likely if _likeness(one, other))
        return
    likeness = [[_likeness(word, other) for other in new_words] for word in words]
    best = _best(likeness, len(new))
    i = j = 0
    while i < len(old) and j < len(new):
        if likeness[i][j] and best[i][j] == best[i + 1][j + 1] + likeness[i][j]:
            yield j, i
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1


def _best(likeness: Sequence[Sequence[float]], n_new: int) -> list[list[float]]:
    """Return the weight of the heaviest common subsequence from each pair of lines on."""
    best = [[0.0] * (n_new + 1) for _ in range(len(likeness) + 1)]
    for i in range(len(likeness) - 1, -1, -1):
        for j in range(n_new - 1, -1, -1):
            paired = best[i + 1][j + 1] + likeness[i][j] if likeness[i][j] else 0.0
            best[i][j] = max(best[i + 1][j], best[i][j + 1], paired)
    return best


def _words(line: str) -> Counter[str]:
    """Return the words and signs of a line, each with its number of occurrences."""
    return Counter(TOKEN.findall(line.strip()))


def _likeness(one: Counter[str], other: Counter[str]) -> float:
    """Return how much two lines share, 0 to 1; 0 if less than half."""
    n_words = one.total() + other.total()
    likeness = 2 * (one & other).total() / n_words if n_words else 0.0
    return likeness if likeness >= 0.5 else 0.0


def adopt_line_ends(source: str, old: str, new: str, default: str) -> str:
    r"""Return `new`, which replaces `old`, with the line ends of the file.

    Args:
        source: The text in the file; the same as `old` up to line ends.
        old: The replaced text, with `\n`.
        new: The new text, with `\n`.
        default: The line end of new lines.
    """
    if "\r" not in source and default == "\n":
        return new
    from_file = [line_end(line) for line in split_lines(source)[:-1]]
    old_lines, new_lines = old.split("\n"), new.split("\n")
    ends = [default] * (len(new_lines) - 1)
    for i, j in _counterparts(old_lines, new_lines):
        if i < len(from_file) and j < len(ends):
            ends[j] = from_file[i]
    return "".join(line + end for line, end in zip(new_lines, [*ends, ""], strict=True))


def adopt_known_line_ends(new: str, known: Sequence[str], default: str, above: str = "") -> str:
    r"""Return `new`, with the line ends that the same lines have in other texts.

    A last line without a line end keeps none.

    Args:
        new: The text; its line ends only separate its lines.
        known: Texts that may share lines with `new`, the nearest first.
        default: The line end of lines that are in none of these texts.
        above: The line end before the text.
    """
    lines = whole_lines(new)
    texts = [without_end(line) for line in lines]
    ends = ["" for _ in lines]
    replaced = ends.copy()
    for nth, source in enumerate(map(whole_lines, known)):
        words = [without_end(line) for line in source]
        for i, j in _counterparts(words, texts):
            if words[i] == texts[j]:
                ends[j] = ends[j] or line_end(source[i])
            elif nth == 0 and (len(known) == 1 or len(words) == len(texts)):
                replaced[j] = line_end(source[i])
    ends = [end or other for end, other in zip(ends, replaced, strict=True)]
    made = []
    for line, text, found in zip(lines, texts, ends, strict=True):
        end = found or default if line_end(line) else ""
        if not text and above == "\r" and end == "\n":
            end = "\r\n"  # or the two would be one line end
        made.append(text + end)
        above = end
    return "".join(made)


def _counterparts(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield pairs of a line of `old` and the line of `new` that equals or replaces it, 0-based; a
    line that is only removed or inserted is in no pair.
    """
    hunks = diff_lines(old, new)
    yield from unchanged_lines(hunks, len(old))
    for hunk in hunks:
        for nth in range(min(len(hunk.old), len(hunk.new))):
            yield hunk.old_start + nth, hunk.new_start + nth


def reindent_block(
    block: Sequence[str], old: Sequence[str], new: Sequence[str], indent: IndentRule, default: str
) -> str:
    """Return the text that replaces `block`.

    Args:
        block: The lines of the file, with their line ends.
        old: The same lines as the model wrote them, without line ends.
        new: The model's new lines, without line ends.
        indent: The conversion of the model's indents to the file's.
        default: The line end of new lines.

    Raises:
        UnclearEdit: If a new line's indent has no counterpart in the file.
    """
    made: list[tuple[str, str]] = []
    at = 0
    lines = [(without_end(line), line_end(line)) for line in block]
    old, new = _use_plain_punctuation(old, new, [text for text, _ in lines])
    for hunk in diff_lines(old, new):
        made += lines[at : hunk.old_start]
        at = hunk.old_end
        made += _changed(lines[hunk.old_start : at], hunk, indent, default)
    made += lines[at:]
    if not made:
        return ""
    ends = [end or default for _, end in made[:-1]] + [line_end(block[-1])]
    return "".join(text + end for (text, _), end in zip(made, ends, strict=True))


def restore_lost_indent(lost: str, old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """Return both texts, with the indent `lost` before their first lines.

    Raises:
        UnclearEdit: The first line of the new text has an indent.
    """
    if not lost:
        return old, new
    if new and new[0] != new[0].lstrip():
        raise UnclearEdit(
            "The first line of the old text lacks its indent, and that of the new text has one. "
            "Send both with the file's own indent."
        )
    return [lost + old[0], *old[1:]], [lost + line for line in new[:1]] + new[1:]


def check_indent(old: list[str], new: list[str]) -> None:
    """Check that no lines are added to a single quoted line that lacks its indent.

    Raises:
        UnclearEdit: If there are such lines: they may lack the indent or not.
    """
    quoted = [line for line in old if line.strip()]
    if len(quoted) > 1 or quoted[0] != quoted[0].lstrip():
        return
    if any(line.strip() for line in new[1:]):
        raise UnclearEdit(
            "The one line of the old text lacks its indent, so the indentation of the new lines "
            "is unknown. Send both texts with the file's own indent."
        )


def _use_plain_punctuation(
    old: Sequence[str], new: Sequence[str], block: Sequence[str]
) -> tuple[Sequence[str], Sequence[str]]:
    """Return both texts with the plain signs of `block` instead of the model's typographic signs.

    Raises:
        UnclearEdit: If the model wrote such signs, and the new text has other typographic signs
            that may replace plain signs too.
    """
    plainer = plain_sign_map(zip(old, block, strict=True))
    if not plainer:
        return old, new
    if unknown := unknown_signs("".join(new), "".join(old)):
        odd = chr(next(iter(plainer)))
        raise UnclearEdit(
            f"The old text has {odd!r} where the file has {plainer[ord(odd)]!r}, so the meaning "
            f"of {unknown!r} in the new text is unknown. Send both with the file's own signs."
        )
    return [line.translate(plainer) for line in old], [line.translate(plainer) for line in new]


def _changed(
    block: Sequence[tuple[str, str]], hunk: LineHunk, indent: IndentRule, default: str
) -> Iterator[tuple[str, str]]:
    """Yield the new lines of one hunk, each with its line end."""
    partner = dict(pair_lines(hunk.old, hunk.new))
    for j, line in enumerate(hunk.new):
        i = partner.get(j)
        if i is not None:
            text, end = block[i]
            yield _merge_line(text, hunk.old[i], line, indent), end
        else:
            block_end = block[j][1] if j < len(block) else ""
            yield _indented(line, indent), block_end or default


def _indented(line: str, indent: IndentRule) -> str:
    """Return a new line with the file's indent. A blank line stays unchanged if its indent has no
    counterpart.
    """
    if not line.strip(SPACES):
        made = indent.to_file(line) if line else None
        return line if made is None else made
    lead = indent_of(line)
    made = indent.to_file(lead)
    if made is None:
        raise UnclearEdit(
            f"The old text was found at another indent, and the new line {line!r} has no place "
            "there. Send both texts with the file's own indent."
        )
    return made + line[len(lead) :]


def _merge_line(current: str, old: str, new: str, indent: IndentRule) -> str:
    """Return a changed line; the parts that `old` and `new` share are taken from `current`."""
    if not new.strip(SPACES):
        return new
    live_lead, live_body, live_tail = _parts(current)
    old_lead, old_body, old_tail = _parts(old)
    new_lead, new_body, new_tail = _parts(new)
    lead = live_lead if new_lead == old_lead else indent_of(_indented(new, indent))
    tail = live_tail if new_tail == old_tail else new_tail
    return lead + _merge_line_body(live_body, old_body, new_body) + tail


def _parts(line: str) -> tuple[str, str, str]:
    """Return indent, text and trailing white space."""
    body = line.strip(SPACES)
    start = line.find(body)
    return line[:start], body, line[start + len(body) :]


def _merge_line_body(current: str, old: str, new: str) -> str:
    """Return `new`, with the file's punctuation in the words that `old` also contains."""
    if current == old or plain_punctuation(current) != plain_punctuation(old):
        return new
    old_tokens, new_tokens = TOKEN.findall(old), TOKEN.findall(new)
    sizes = (len(plain_punctuation(token)) for token in old_tokens)
    bounds = list(accumulate(sizes, initial=0))
    where = punctuation_origins(current)
    if any(bound and where[bound] == where[bound - 1] for bound in bounds):
        return new
    sources = [current[where[a] : where[b]] for a, b in pairwise(bounds)]
    return "".join(apply_hunks(diff_lines(old_tokens, new_tokens), sources))
