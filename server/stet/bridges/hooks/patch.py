"""Patches in the form of the tool `apply_patch`: which files they name, and other paths in them.

A patch is read as Codex reads it: `codex-rs/apply-patch/src/parser.rs`. A line is a header only
where that parser expects one, so that no line of a file's text can pass for a header.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

MAX_FILES = 200
"""The most files of one patch."""
_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_ENVIRONMENT = "*** Environment ID: "
_MOVE = "*** Move to: "
_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""What Codex removes around a line: the white space of Unicode, and not `\\x1c` as Python does."""


class PatchAction(StrEnum):
    """What a patch does to a file; the values are the headers."""

    ADD = "*** Add File: "
    DELETE = "*** Delete File: "
    UPDATE = "*** Update File: "


class PatchInvalid(ValueError):
    """A text is no patch; the message says why."""


@dataclass(frozen=True, slots=True)
class PatchedFile:
    """A file that a patch names.

    Attributes:
        action: What the patch does to the file.
        path: The path as it is written.
        new_path: The path to which the file is moved; "" if it stays.
        quoted: The lines that each chunk expects in the file, without line ends.
    """

    action: PatchAction
    path: str
    new_path: str = ""
    quoted: tuple[tuple[str, ...], ...] = ()

    def fits(self, text: str) -> bool:
        """Return whether a text has the lines that each chunk expects, besides spaces at ends."""
        lines = [line.rstrip() for line in text.split("\n")]
        return all(_has_run(lines, [line.rstrip() for line in chunk]) for chunk in self.quoted)


@dataclass(frozen=True, slots=True)
class Patch:
    """A patch.

    Attributes:
        lines: The lines of its text.
        headers: By the number of a line (0-based), the header and the path of the line.
        files: The files, in order.
    """

    lines: tuple[str, ...]
    headers: Mapping[int, tuple[str, str]]
    files: tuple[PatchedFile, ...]

    def with_paths(self, paths: Mapping[str, str]) -> str:
        """Return the text of the patch with other paths, by the path as it is written."""
        lines = list(self.lines)
        for number, (header, path) in self.headers.items():
            lines[number] = header + paths.get(path, path)
        return "\n".join(lines)


def parse_patch(text: str) -> Patch:
    """Return the patch of a text.

    Raises:
        PatchInvalid: If the text is no patch, or names too many files.
    """
    lines = text.split("\n")
    first = next((at for at, line in enumerate(lines) if line.strip(_SPACE)), len(lines))
    last = next((at for at in range(len(lines) - 1, -1, -1) if lines[at].strip(_SPACE)), 0)
    if first >= last or lines[first].strip(_SPACE) != _BEGIN or lines[last].strip(_SPACE) != _END:
        raise PatchInvalid(f"a patch begins with {_BEGIN!r} and ends with {_END!r}")
    files: list[PatchedFile] = []
    headers: dict[int, tuple[str, str]] = {}
    at = first + 1
    if lines[at].strip(_SPACE).startswith(_ENVIRONMENT):
        at += 1
    while at < last:
        action, path = _header(lines[at])
        headers[at] = action.value, path
        new_path = ""
        quoted: tuple[tuple[str, ...], ...] = ()
        at += 1
        if action is PatchAction.UPDATE and at < last and lines[at].startswith(_MOVE):
            new_path = lines[at].removeprefix(_MOVE).rstrip("\r")
            headers[at] = _MOVE, new_path
            at += 1
        end = _end_of_body(lines, at, last, action)
        if action is PatchAction.UPDATE:
            quoted = tuple(_expected(lines[at:end]))
        at = end
        files.append(PatchedFile(action, path, new_path, quoted))
        if len(files) > MAX_FILES:
            raise PatchInvalid(f"a patch may name {MAX_FILES} files")
    return Patch(tuple(lines), headers, tuple(files))


def _header(line: str) -> tuple[PatchAction, str]:
    stripped = line.strip(_SPACE)
    for action in PatchAction:
        if stripped.startswith(action.value) and (path := stripped.removeprefix(action.value)):
            return action, path
    raise PatchInvalid(f"no header of a file: {line[:100]!r}")


def _end_of_body(lines: Sequence[str], at: int, last: int, action: PatchAction) -> int:
    """Return the number of the line after the body of a file."""
    while at < last:
        line = lines[at]
        if action is PatchAction.ADD and not line.startswith("+"):
            break
        if action is PatchAction.DELETE:
            break
        if action is PatchAction.UPDATE and line.startswith("***") and line != "*** End of File":
            break
        at += 1
    return at


def _expected(body: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the old lines of each chunk of an update."""
    chunks: list[list[str]] = [[]]
    for line in body:
        if line.startswith("@@"):
            chunks.append([])
        elif line[:1] in {" ", "-"}:
            chunks[-1].append(line[1:])
        elif not line:
            chunks[-1].append("")
    return [tuple(chunk) for chunk in chunks if any(chunk)]


def _has_run(lines: Sequence[str], run: Sequence[str]) -> bool:
    """Return whether `run` is a run of `lines`; blank lines at its end are optional."""
    while run and not run[-1]:
        run = run[:-1]
    n = len(run)
    return any(lines[at : at + n] == list(run) for at in range(len(lines) - n + 1))
