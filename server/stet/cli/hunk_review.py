"""The review of `stet ask`: the layout of a hunk, the question about it, and editing it.

An edited hunk is read as `git add -e` reads one: lines with ` ` and `-` are the lines of the file
and must not change, lines with ` ` and `+` are the new text.
"""

import os
import shlex
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from rich.text import Text

from stet.cli.terminal import CliError, coloured
from stet.text.escape import escape_line
from stet.text.lines import whole_lines

EDITABLE = frozenset({"add", "replace", "delete"})
"""The kinds of hunks that can be edited; the others are about a file as a whole."""
HELP = {
    "y": "accept this hunk",
    "n": "reject this hunk",
    "a": "accept this hunk and all later ones",
    "q": "quit; leave this hunk and all later ones pending",
    "e": "edit this hunk, then accept it",
    "?": "print help",
}
"""By key, what the key does."""
GUIDE = """\
# Edit the hunk, then save and close.
# To keep a '-' line, change its '-' to ' '. To drop a '+' line, delete it.
# Lines that start with '#' are removed. If no line is left, nothing is accepted.
"""
NO_NEWLINE = "\\ No newline at end of file"


class InvalidHunk(ValueError):
    """An edited hunk can't be used; the message gives the reason."""


def keys_of(item: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the keys that decide about a proposal of `stet.proposals`."""
    return tuple(key for key in HELP if key != "e" or item["kind"] in EDITABLE)


def help_lines(keys: tuple[str, ...]) -> Text:
    """Return one line for each key."""
    return Text("\n").join(Text(f"{key} - {HELP[key]}", "bold red") for key in keys)


def heading(name: str, number: int, total: int, item: Mapping[str, Any]) -> Text:
    """Return the two lines above a hunk: the file and the number of the hunk; the summary."""
    notes = [
        *(["protected file"] if item.get("protected") else []),
        *(["merged with your change"] if item.get("merged") else []),
    ]
    place = f"{escape_line(name)}: hunk {number} of {total}"
    return Text.assemble(
        ("\n", ""),
        (place, "bold"),
        (f" ({', '.join(notes)})" if notes else "", "yellow"),
        f"\n{escape_line(item['summary'])}",
    )


def body(diff: str) -> Text:
    """Return a coloured diff without the two lines that name the file."""
    return coloured("".join(diff.splitlines(keepends=True)[2:]))


def hunk_text(old: str, new: str) -> str:
    """Return the text of a hunk for an editor: all lines, each with its mark, below a guide."""
    return GUIDE + "".join(_marked(old, new))


def _marked(old: str, new: str) -> Iterator[str]:
    before, after = whole_lines(old), whole_lines(new)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for tag, first, last, start, end in matcher.get_opcodes():
        if tag == "equal":
            yield from (_line(" ", line) for line in before[first:last])
        else:
            yield from (_line("-", line) for line in before[first:last])
            yield from (_line("+", line) for line in after[start:end])


def _line(mark: str, line: str) -> str:
    content = line.rstrip("\r\n")
    end = "" if content != line else f"\n{NO_NEWLINE}"
    return f"{mark}{content}{end}\n"


def read_hunk(edited: str, old: str, new: str) -> str | None:
    """Return the new text of an edited hunk, or None if no line is left.

    Args:
        edited: The text as it comes from the editor.
        old: The lines of the file that the hunk replaces.
        new: The proposed text; the result ends with a line end where this text does.

    Raises:
        InvalidHunk: If a line has no mark, or the lines of the file were changed.
    """
    lines = [line.rstrip("\r") for line in edited.split("\n") if line[:1] not in {"#", "\\"}]
    if lines[-1:] == [""]:
        lines.pop()
    if not lines:
        return None
    before, after = [], []
    for line in lines:
        mark, content = line[:1] or " ", line[1:]
        if mark not in " +-":
            raise InvalidHunk(f"a line starts with {mark!r}, not with ' ', '+' or '-'")
        if mark != "+":
            before.append(content)
        if mark != "-":
            after.append(content)
    if before != [line.rstrip("\r\n") for line in whole_lines(old)]:
        raise InvalidHunk("the lines with ' ' and '-' differ from the file")
    text = "".join(f"{line}\n" for line in after)
    return text if not new or new.endswith(("\n", "\r")) else text.removesuffix("\n")


def edit_in_editor(text: str) -> str:
    """Let the user edit a text in $VISUAL or $EDITOR, by default vi; return the edited text.

    Raises:
        CliError: If the editor can't be started or fails.
    """
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="stet-edit-") as folder:
        path = Path(folder, "hunk.diff")
        path.write_text(text, encoding="utf-8", newline="")
        try:
            code = subprocess.run([*shlex.split(command), str(path)], check=False).returncode  # noqa: S603 - the user's own editor
            edited = path.read_bytes().decode()
        except (OSError, ValueError) as error:
            raise CliError(f"the editor {command!r} failed: {error}") from error
    if code != 0:
        raise CliError(f"the editor {command!r} exited with {code}")
    return edited
