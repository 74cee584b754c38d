"""Names of files as a model or a person writes them: the checks that need no disk access.

These are pure functions on text, so that the rules of Windows can be tested on every machine. A
name is relative to a root with `/` between its parts, or absolute; `stet.workspace.paths` decides
with the disk whether it is outside the roots. A refusal has the rule and the reason.

Names of version control are refused everywhere: its state is neither shown to a model nor changed
for one. A file there can make the next `status` of any editor run a program, and no edit of text
there is ever part of a user's project.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath, PureWindowsPath

from stet.text.unicode_normal import normalize_unicode


def parts_below(path: PurePath, base: PurePath) -> tuple[str, ...] | None:
    """Return the names that lead from `base` down to `path`, or None if `path` is not below. There
    are no names if both are equal.

    This is `path.relative_to(base).parts` in a tenth of the time: one request calls it hundreds of
    times. Links are not resolved; on Windows case does not count.
    """
    parts, above = path.parts, base.parts
    n_above = len(above)
    is_below = parts[:n_above] == above or (
        isinstance(path, PureWindowsPath) and type(path)(*parts[:n_above]) == base
    )
    return parts[n_above:] if is_below else None


MAX_NAME = 4096
"""The maximum length of a whole name, in code points."""
MAX_PART = 255
"""The maximum length of one part of a name, in bytes of UTF-8, as on common file systems."""

_ENCODED = re.compile(r"%(?:25)*(?:2e|2f|5c|00)", re.IGNORECASE)
_DEVICES = re.compile(
    r"(?:con|prn|aux|nul|clock\$|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?",
    re.IGNORECASE | re.DOTALL,
)
_SHORT_NAME = re.compile(r"[^.]{1,6}~[0-9]+(?:\.[^.]{0,3})?")
_JOINERS = "\u200c\u200d"
"""Invisible characters that are part of ordinary words and emoji."""
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Invisible characters that Unicode counts among letters and marks (Default_Ignorable)."""


_ABSOLUTE = re.compile(r"\s*(?:[A-Za-z][\w+.-]*:)*[\\/]")
_QUOTED_ABSOLUTE = re.compile(
    r"""(?P<quote>['"])(?P<name>\s*(?:[A-Za-z][\w+.-]*:)*[\\/](?:(?!(?P=quote)).)*)(?P=quote)""",
    re.DOTALL,
)


def is_absolute(name: str) -> bool:
    """Return whether a name begins like an absolute path or like the URI of one."""
    return _ABSOLUTE.match(name) is not None


def last_part(name: str) -> str:
    """Return the last part of an absolute name, for messages that must not reveal its folders."""
    return re.split(r"[\\/]", name.rstrip("\\/ "))[-1] or "/"


def without_folders(message: str) -> str:
    """Return a refusal with each quoted absolute path replaced by its last part.

    A refusal reveals to a model neither the place of the user's files nor a link's target.
    """
    return _QUOTED_ABSOLUTE.sub(
        lambda found: f"{found['quote']}{last_part(found['name'])}{found['quote']}", message
    )


class PathRefused(Exception):
    """A name that is refused as the name of a file in the workspace.

    Attributes:
        rule: The short name of the violated rule.
        message: A sentence with the error and the name to write instead.
    """

    def __init__(self, rule: str, message: str) -> None:
        self.rule = rule
        self.message = without_folders(message)
        super().__init__(self.message)


def split_name(name: str, *, windows: bool) -> tuple[bool, tuple[str, ...]]:
    """Return the parts of a name, and whether the name is absolute.

    Returns:
        `(is_absolute, parts)`; `.` and empty parts are left out, so there may be none. On Windows
        the drive of an absolute name is its first part.

    Raises:
        PathRefused: If the name breaks a rule.
    """
    _check_characters(name)
    if windows:
        name = name.replace("\\", "/")
    _check_form(name)
    parts = tuple(part for part in name.split("/") if part not in ("", "."))
    has_drive = windows and parts and re.fullmatch(r"[A-Za-z]:", parts[0])
    is_absolute = name.startswith("/") or bool(has_drive)
    for n_before, part in enumerate(parts):
        _check_part(part, name)
        is_drive = is_absolute and n_before == 0
        if windows and not is_drive and (fault := windows_fault(part)):
            raise PathRefused("windows-name", f"{name!r} is not a valid file name: {fault}.")
    return is_absolute, parts


def windows_fault(part: str) -> str | None:
    """Return why one part of a path is not a plain name on Windows; None if it is one."""
    if fault := alias_fault(part):
        return fault
    if any(character in '<>"|?*' for character in part):
        return f"{part!r} has a character that Windows does not allow"
    return None


def alias_fault(part: str) -> str | None:
    """Return why one part of a path means another name on Windows; None if it does not.

    No new file gets such a name on any machine: a repository is checked out on others.
    """
    if _DEVICES.fullmatch(part.rstrip(". ")):
        return f"{part!r} is a device of Windows"
    if part.endswith((".", " ")):
        return f"{part!r} ends with a dot or a space, which Windows drops"
    if ":" in part:
        return f"{part!r} has a colon, for Windows a drive or a hidden stream"
    if _SHORT_NAME.fullmatch(part):
        return f"{part!r} may be the short form of another name on Windows"
    return None


def folded(part: str) -> str:
    """Return the form in which names are compared: NFKC, case folded, without invisible
    characters.
    """
    if part.isascii():
        return part.lower()
    visible = "".join(c for c in part if unicodedata.category(c) != "Cf")
    return normalize_unicode("NFKC", _UNSEEN.sub("", visible)).casefold()


@lru_cache(maxsize=4096)
def loosest(part: str) -> str:
    """Return `folded` in the form that Windows uses: no stream after a colon, no dots or spaces at
    the end.

    Two parts with the same form may be one name on some disk.
    """
    return folded(part).partition(":")[0].rstrip(". ")


def has_odd_characters(name: str) -> bool:
    """Return whether a name contains control characters, invisible characters or lone surrogates,
    which no person writes.
    """
    return any(
        (unicodedata.category(character) in ("Cc", "Cf", "Cs") and character not in _JOINERS)
        or character in "\u2028\u2029"
        for character in name
    )


def _check_characters(name: str) -> None:
    """Refuse names with characters or a length that the later rules do not handle."""
    if len(name) > MAX_NAME:
        raise PathRefused("too-long", f"The name {name[:60]!r}... is {len(name)} characters long.")
    if "\0" in name:
        raise PathRefused("nul", f"{name!r} contains a NUL character.")
    if has_odd_characters(name):
        raise PathRefused("invisible", f"{name!r} contains control or invisible characters.")
    if _ENCODED.search(name):
        raise PathRefused("encoded", f"{name!r} is percent-encoded: write the plain path.")


def _check_form(name: str) -> None:
    """Refuse names of another form, such as URIs."""
    if "\\" in name:
        raise PathRefused("backslash", f"{name!r} has a backslash: write `/` between the parts.")
    if name.startswith("//"):
        raise PathRefused("network", f"{name!r} refers to another machine or a device.")
    if "://" in name or name.lower().startswith("file:"):
        raise PathRefused("scheme", f"{name!r} is a URI: write the path from the root.")
    if name == "~" or name.startswith("~/"):
        raise PathRefused("home", f"{name!r}: `~` is not expanded; write the path from the root.")


def _check_part(part: str, name: str) -> None:
    if part == "..":
        raise PathRefused("parent", f"{name!r} contains `..`: write the path from the root.")
    if len(part.encode("utf-8", "surrogatepass")) > MAX_PART:
        raise PathRefused("too-long", f"{part[:60]!r}... is longer than a file name can be.")
    folded = normalize_unicode("NFKC", part)
    if folded != part and (folded.strip(".") == "" or "/" in folded or "\\" in folded):
        raise PathRefused(
            "look-alike", f"{name!r} has characters that only look like dots or slashes."
        )


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why a file may not be shown or changed.

    Attributes:
        rule: The short name of the rule or the setting, as the user would search for it.
        message: One sentence for a person or a model.
    """

    rule: str
    message: str

    @property
    def for_model(self) -> str:
        """The sentence for a model, without absolute paths."""
        return without_folders(self.message)


_FOLDERS = frozenset(
    {
        ".git", ".hg", ".svn", "_svn", ".jj", ".sl", "_darcs", ".bzr", ".pijul", ".fslckout", "_fossil_",
        ".fos", "_mtn", "{arch}", ".arch-ids", ".repo", ".got", ".plastic", ".bk",
    }
)  # fmt: skip
"""Folders and files of version control with an unmistakable name, folded."""
_SHORT = re.compile(r"(?:git|hg|svn|jj|sl|bzr|pijul|fslcko|fos|arch-i|repo|got|plasti|bk)~[0-9]+")
"""The short names of these folders on Windows (CVE-2014-9390)."""
_OLD_FOLDERS = frozenset({"CVS", "RCS", "SCCS", "BitKeeper"})
"""Folders of version control with ordinary names; in lower case they may contain sources."""
_OLD_FILES = {
    "cvs": frozenset(
        {
            "entries", "entries.log", "entries.static", "entries.backup", "repository", "root", "tag",
            "template", "notify", "base", "baserev", "checkin.prog", "update.prog",
        }
    ),
    "sccs": frozenset(),
    "rcs": frozenset(),
    "bitkeeper": frozenset({"etc", "log", "tmp"}),
}  # fmt: skip


@lru_cache(maxsize=8192)  # the folders of a path are checked again for each of its files
def is_version_control(parts: tuple[str, ...]) -> bool:
    """Return whether a path, given as its parts, is or is below the state of a version control."""
    names = tuple(map(loosest, parts))
    if any(name in _FOLDERS or _SHORT.fullmatch(name) for name in names):
        return True
    last = len(parts) - 1
    return any(
        parts[at] in _OLD_FOLDERS or (at < last and _is_old_state(name, names[at + 1]))
        for at, name in enumerate(names)
    )


def _is_old_state(folder: str, name: str) -> bool:
    """Return whether `name` in `folder` is a state file of an older version control."""
    if folder == "rcs":
        return name.endswith(",v")
    if folder == "sccs":
        return re.match(r"[spx]\.", name) is not None
    return name in _OLD_FILES.get(folder, ())
