"""Patches in shell commands: Codex applies such a patch itself, and no shell runs.

Codex does so where a command is only `apply_patch` with a here-document, after one `cd` or none.
"""

import re
from dataclasses import dataclass

_BEGIN = "*** Begin Patch"
_PROGRAMS = ("apply_patch", "applypatch")
_COMMAND = re.compile(
    r"""
    \s* (?: cd [ \t]+ (?P<folder> '[^']*' | "[^"$`\\]*" | [^\s'"$`\\;&|<>()*?~{}\[\]\#!]+ ) \s* && \s* )?
    (?: apply_?patch ) [ \t]* << [ \t]* (?P<quote> ['"]? ) (?P<end> \w+ ) (?P=quote) [ \t]* \n
    (?P<patch> .*? ) \n (?P=end) \s*
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class ShellPatch:
    """A command that applies a patch and does nothing else.

    Attributes:
        before: The command up to the patch.
        folder: The argument of its `cd`; "" if there is none.
        patch: The text of the patch.
        after: The rest of the command.
    """

    before: str
    folder: str
    patch: str
    after: str

    def with_patch(self, text: str) -> str:
        """Return the command with another patch."""
        return f"{self.before}{text}{self.after}"


class ShellPatchUnclear(ValueError):
    """A command applies a patch in a way that is not understood."""


def shell_patch(command: str) -> ShellPatch | None:
    """Return the patch that a command applies, or None if it applies none.

    Raises:
        ShellPatchUnclear: If the command does more, or has another form.
    """
    has_patch = any(line.strip() == _BEGIN for line in command.split("\n"))
    if not has_patch or not any(program in command for program in _PROGRAMS):
        return None
    found = _COMMAND.fullmatch(command)
    if found is None or found["end"] in found["patch"].split("\n"):
        raise ShellPatchUnclear
    start, end = found.span("patch")
    folder = found["folder"] or ""
    if folder[:1] in {"'", '"'}:
        folder = folder[1:-1]
    return ShellPatch(command[:start], folder, found["patch"], command[end:])
