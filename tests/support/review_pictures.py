"""Pictures of a text under review, for tests that say what the user sees before and after an edit.

A picture has one line for each line of the text or of a hunk. The first two columns are the gutter:

====  ========  ======================================================================
mark  in text?  meaning
====  ========  ======================================================================
      yes       context: a line of no hunk
``-``  yes       a line that a pending hunk removes
``+``  no        a line that a pending hunk, or a hunk in conflict, writes
``!``  yes       a line of the user in the place of a hunk in conflict
``*``  yes       a line in the place of an accepted hunk
``~``  no        a former line: what a conflict was made for, what an accepted hunk replaced
====  ========  ======================================================================

The lines of a hunk are in the order ``~``, then ``-``, ``!`` or ``*``, then ``+``. The marks show
the state of the hunk: ``-`` and ``+`` pending, ``!`` conflict, ``*`` or ``~`` accepted.

``@@`` begins a hunk. The line is drawn only where the marks are ambiguous: if the hunk touches the
hunk above, if the state is another (``@@ conflict``, ``@@ sent``, ``@@ rejected``), or if the hunks
are not in the order in which they were made; then each has its id (``@@ h2``). Hunks that are
rejected, undone, superseded or withdrawn have only this line. A hunk that lies within lines drawn
before has this line with its lines, counted from 1 (``@@ accepted 2-3``).

Line ends: a line ends with ``\\n`` unless ``␍␊`` (``\\r\\n``), ``␍`` (``\\r``) or ``␃`` (nothing,
at the end of the text) is drawn. ``␠`` is a space at the end of a line. An empty line is an empty
line.

``$0`` is the cursor, in a line that is in the text; two of them are the ends of a selection. After
the last line end the cursor has a line of its own: ``$0␃``. A string as a step is typed at the
cursor in place of the selection, so an empty string deletes the selection. Other steps are
functions that take the harness: the actions of the user, the editor and the agent in
`tests.support.review_steps`.

A picture in triple quotes begins with a line end, and the last line, of spaces, gives the margin.

A word typed above a hunk leaves the hunk as it was::

    check_review(
        '''
          one$0
        - two
        + TWO
        ''',
        " more",
        '''
          one more
        - two
        + TWO
        ''',
    )

A line changed in the place of a hunk is a conflict, which the user ends with the agent's text::

    check_review(
        '''
          one
        - tw$0o
        + TWO
        ''',
        "x",
        '''
          one
        ~ two
        ! twxo
        + TWO
        ''',
        take_theirs("h1"),
        '''
          one
        - twxo
        + TWO
        ''',
    )

Each check ends with the acceptance of all pending hunks: the text has to become what the last
picture says, that is the context and the lines of the hunks. No hunk is accepted while another is
in flight.
"""

import difflib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from stet.review.proposal import Hunk
from stet.text.lines import whole_lines
from tests.support.review_harness import ReviewHarness

Action = Callable[[ReviewHarness], object]
Step = str | Action | tuple[Action, ...]

CURSOR = "$0"
_ENDS = {"\r\n": "␍␊", "\r": "␍", "\n": ""}
_NO_END = "␃"
_IN_TEXT = " -!*"
_ORDER = {"~": 0, "-": 1, "!": 1, "*": 1, "+": 2}
_HEADING = re.compile(r"@@(?: (?P<id>h\d+))?(?: (?P<state>[a-z]+))?(?P<inside> \d+-\d+)?$")
_CLOSED = ("rejected", "undone", "superseded", "withdrawn")


# -- drawing -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class _DrawnHunk:
    """One hunk of a picture.

    Attributes:
        id: The id, if the picture has it.
        state: The state, if the picture has it.
        parts: The text behind each mark, with line ends.
        start: The offset in the text of the picture where the hunk begins.
        is_inside: Whether the hunk lies within lines drawn before, which are not drawn again.
    """

    id: str = ""
    state: str = ""
    parts: dict[str, str] = field(default_factory=dict)
    start: int = 0
    is_inside: bool = False

    @property
    def marked_state(self) -> str:
        """Return the state that the marks show; empty if there are no lines."""
        if "!" in self.parts or {"~", "+"} <= self.parts.keys():
            return "conflict"
        if "*" in self.parts or "~" in self.parts:
            return "accepted"
        return "pending" if self.parts else ""


def render_review(page: ReviewHarness) -> str:
    """Return the picture of a document and its hunks, without a cursor."""
    hunks = page.hunks
    has_ids = [hunk.id for hunk in hunks] != [f"h{n}" for n in range(1, len(hunks) + 1)]
    drawn: list[str] = []
    done, is_touching = 0, False
    for hunk in hunks:
        start, end = (page.document.offset_at(at) for at in (hunk.range.start, hunk.range.end))
        if hunk.state == "withdrawn":  # the range is that of a former text
            start = end = done
        if start > done:
            drawn += _draw_lines(" ", page.text[done:start])
            is_touching = False
        one = _DrawnHunk(hunk.id if has_ids else "", str(hunk.state))
        lines = ""
        if start < done:
            lines = f" {hunk.range.start.line + 1}-{max(hunk.range.end.line, 1)}"
        elif one.state not in _CLOSED:
            one.parts = _parts(hunk, page.text[start:end])
            start = end
        done = max(start, done)
        drawn += _draw_hunk(one, lines, is_touching=is_touching)
        is_touching = True
    drawn += _draw_lines(" ", page.text[done:])
    return "".join(f"{line}\n" for line in drawn)


def _parts(hunk: Hunk, text: str) -> dict[str, str]:
    """Return the texts behind the marks of a hunk that has `text` in its place."""
    if hunk.state == "conflict":
        parts = {"~": hunk.base, "!": text, "+": hunk.new}
    elif hunk.state == "accepted":
        parts = {"~": hunk.old, "*": text}
    else:
        parts = {"-": text, "+": hunk.new}
    return {mark: text for mark, text in parts.items() if text}


def _draw_hunk(hunk: _DrawnHunk, lines: str, *, is_touching: bool) -> Iterator[str]:
    state = "" if hunk.state == hunk.marked_state else hunk.state
    if hunk.id or state or is_touching:
        yield " ".join(word for word in ("@@", hunk.id, state) if word) + lines
    for mark, text in hunk.parts.items():
        yield from _draw_lines(mark, text)


def _draw_lines(mark: str, text: str) -> Iterator[str]:
    for line in whole_lines(text):
        words = line.rstrip("\r\n")
        end = _ENDS.get(line[len(words) :], _NO_END)
        shown = words.rstrip(" ")
        yield f"{mark} {shown}{'␠' * (len(words) - len(shown))}{end}".rstrip()


# -- reading -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class Picture:
    """A picture as it was read.

    Attributes:
        text: The text of the document.
        hunks: The hunks, from top to bottom.
        cursors: The offsets of the cursor, or of the two ends of the selection, in `text`.
        plain: The picture without the cursor, as `render_review` draws it.
    """

    text: str = ""
    hunks: list[_DrawnHunk] = field(default_factory=list)
    cursors: list[int] = field(default_factory=list)
    plain: str = ""

    @property
    def accepted_text(self) -> str:
        """Return the text after the acceptance of all pending hunks."""
        text = self.text
        for hunk in reversed(self.hunks):
            if (hunk.state or hunk.marked_state) == "pending":
                end = hunk.start + len(hunk.parts.get("-", ""))
                text = text[: hunk.start] + hunk.parts.get("+", "") + text[end:]
        return text


def read_picture(picture: str) -> Picture:
    """Return the text, hunks and cursors of a picture.

    Raises:
        ValueError: If the picture is invalid.
    """
    read, hunk = Picture(), None
    for line in _without_margin(picture):
        if line.startswith("@@"):
            if (heading := _HEADING.match(line)) is None:
                raise ValueError(f"no heading of a hunk: {line!r}")
            hunk = _DrawnHunk(heading["id"] or "", heading["state"] or "", start=len(read.text))
            hunk.is_inside = bool(heading["inside"])
            read.hunks.append(hunk)
            read.plain += f"{line}\n"
            continue
        mark, text = _read_line(line, read)
        if mark == " ":
            hunk = None
        else:
            if hunk is None:
                hunk = _DrawnHunk(start=len(read.text) - (len(text) if mark in _IN_TEXT else 0))
                read.hunks.append(hunk)
            if hunk.parts and _ORDER[[*hunk.parts][-1]] > _ORDER[mark]:
                raise ValueError(f"a hunk that touches the hunk above begins with @@: {line!r}")
            hunk.parts[mark] = hunk.parts.get(mark, "") + text
    return read


def _read_line(line: str, read: Picture) -> tuple[str, str]:
    """Return the mark and the text of a line, and add the line to the picture."""
    mark, gap, shown = (line[:1] or " "), (line[1:2] or " "), line[2:]
    if mark not in f"{_IN_TEXT}+~" or gap != " ":
        raise ValueError(f"no line of a picture: {line!r}")
    while CURSOR in shown:
        if mark not in _IN_TEXT:
            raise ValueError(f"the cursor is in a line that is not in the text: {line!r}")
        before, _, after = shown.partition(CURSOR)
        read.cursors.append(len(read.text) + len(before))
        shown = before + after
    words, end = re.fullmatch(r"([^␍␊␃]*)(␍␊|␍|␃|)", shown).groups()  # type: ignore[union-attr]
    text = words.replace("␠", " ") + {"␍␊": "\r\n", "␍": "\r", "␃": "", "": "\n"}[end]
    if text or mark != " ":  # else only a cursor after the last line end
        read.plain += f"{mark} {shown}".rstrip() + "\n"
    if mark in _IN_TEXT:
        read.text += text
    return mark, text


def _without_margin(picture: str) -> list[str]:
    if not picture.startswith("\n"):
        return picture.splitlines()
    *lines, margin = picture[1:].split("\n")
    if margin.strip():
        raise ValueError("the last line of a picture has only the spaces of the margin")
    if wrong := [line for line in lines if line.strip() and not line.startswith(margin)]:
        raise ValueError(f"left of the margin: {wrong[0]!r}")
    return [line.removeprefix(margin) if line.strip() else "" for line in lines]


# -- checking ----------------------------------------------------------------------------------------


class PictureMismatch(AssertionError):
    """A review whose picture differs from the expected one."""


class PicturedReview(ReviewHarness):
    """A document made from a picture, with the editor's undo.

    Attributes:
        undo_texts: The texts that the editor's undo restores, the latest last.
        redo_texts: The texts that the editor's redo restores, the next last.
    """

    def __init__(self, picture: str) -> None:
        """Make the text of a picture, propose the hunks, accept the accepted hunks from top to
        bottom, and type the user's lines of the conflicts.

        Each hunk is the edit of a separate turn, in the order of the ids.

        Raises:
            PictureMismatch: If the ledger makes other hunks than those of the picture.
        """
        read = read_picture(picture)
        base, edits = _base_of(read)
        super().__init__(base)
        self.undo_texts: list[str] = []
        self.redo_texts: list[str] = []
        for hunk_id in sorted(edits, key=lambda hunk_id: int(hunk_id[1:])):
            place, hunk = edits[hunk_id]
            new = hunk.parts.get("*" if hunk.marked_state == "accepted" else "+", "")
            self.propose_at((*place, new), turn=f"t{hunk_id[1:]}")
        for hunk_id, (_, hunk) in edits.items():
            if hunk.marked_state == "accepted":
                self.accept(hunk_id)
        for hunk_id, (_, hunk) in edits.items():
            if hunk.marked_state == "conflict":
                self._type_conflict(hunk_id, hunk.parts.get("!", ""))
        check_picture(self, picture, "before the first step")

    def _type_conflict(self, hunk_id: str, text: str) -> None:
        place = self.ledger.hunk(hunk_id).range
        start, end = place.start, place.end
        self.type(start.line, start.character, end.line, end.character, text)

    def take(self, step: Step, picture: str) -> None:
        """Do one step of a check: type `step` at the cursor of `picture`, or carry out the
        actions.
        """
        if isinstance(step, str):
            self._do(lambda page: self._type_at_cursor(step, picture))
            return
        for action in step if isinstance(step, tuple) else (step,):
            self._do(action)

    def _do(self, action: Action) -> None:
        before, n_texts = self.text, (len(self.undo_texts), len(self.redo_texts))
        action(self)
        is_undo_or_redo = (len(self.undo_texts), len(self.redo_texts)) != n_texts
        if self.text != before and not is_undo_or_redo:
            self.undo_texts.append(before)
            self.redo_texts.clear()

    def _type_at_cursor(self, text: str, picture: str) -> None:
        cursors = read_picture(picture).cursors
        if len(cursors) not in {1, 2}:
            raise ValueError(f"text is typed at one cursor or selection, not at {len(cursors)}")
        start, end = (self.document.position_at(at) for at in (cursors[0], cursors[-1]))
        self.type(start.line, start.character, end.line, end.character, text)


def _base_of(read: Picture) -> tuple[str, dict[str, tuple[tuple[int, int], _DrawnHunk]]]:
    """Return the text before all edits, and the place of each hunk in that text, by id."""
    base, done = "", 0
    edits = {}
    for number, hunk in enumerate(read.hunks, 1):
        if hunk.state not in {"", "pending"}:
            raise ValueError(f"a first picture can't have a hunk that is {hunk.state}")
        here = "".join(hunk.parts.get(mark, "") for mark in "-!*")
        old = hunk.parts.get("-" if hunk.marked_state == "pending" else "~", "")
        base += read.text[done : hunk.start]
        edits[hunk.id or f"h{number}"] = (len(base), len(base) + len(old)), hunk
        base += old
        done = hunk.start + len(here)
    return base + read.text[done:], edits


def check_review(before: str, user_types: Step, after: str, *then: Step) -> None:
    """Check what a review looks like after each step.

    Args:
        before: The picture to begin with.
        user_types: The text that is typed at the cursor of `before`, or another step.
        after: The picture that is expected then.
        then: More steps, each followed by the picture that is expected after the step.

    Raises:
        PictureMismatch: If a picture differs, with the difference.
        ValueError: If a picture is invalid.
    """
    if len(then) % 2:
        raise ValueError("each step is followed by a picture")
    page = PicturedReview(before)
    steps, pictures = (user_types, *then[::2]), (after, *then[1::2])
    for number, (step, picture) in enumerate(zip(steps, pictures, strict=True), 1):
        assert isinstance(picture, str)
        page.take(step, before)
        check_picture(page, picture, f"after step {number}")
        before = picture
    _check_acceptance(page, read_picture(before))


def _check_acceptance(page: ReviewHarness, picture: Picture) -> None:
    pending = {hunk.id for hunk in page.hunks if hunk.state == "pending"}
    is_drawn = not any(hunk.is_inside and hunk.state == "pending" for hunk in picture.hunks)
    if "sent" in page.states or not pending or not is_drawn:
        return
    wanted = picture.accepted_text
    page.accept()
    accepted = {hunk.id for hunk in page.hunks if hunk.state == "accepted"}
    if page.text != wanted or not pending <= accepted:
        raise PictureMismatch(
            f"after the acceptance of all pending hunks ({page.states}):\n"
            f"{_difference(wanted, page.text)}"
        )


def check_picture(page: ReviewHarness, picture: str, when: str = "now") -> None:
    """Check what a review looks like.

    Raises:
        PictureMismatch: If the review differs from `picture`, with the difference.
    """
    expected, drawn = read_picture(picture).plain, render_review(page)
    if drawn != expected:
        raise PictureMismatch(f"{when}:\n{_difference(expected, drawn)}")


def _difference(expected: str, drawn: str) -> str:
    names = {"  ": "         | ", "- ": "expected | ", "+ ": "drawn    | "}
    lines = difflib.ndiff(expected.splitlines(), drawn.splitlines())
    return "\n".join(names[line[:2]] + line[2:] for line in lines if line[:2] in names)
