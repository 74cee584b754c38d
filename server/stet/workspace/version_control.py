"""Where version control keeps its own state: neither shown to a model nor changed for one.

What lies there can make the next `status` of any editor run a program, and no edit of text there is ever
part of a user's project.
"""

import re
from functools import lru_cache

from stet.workspace.names import loosest

_FOLDERS = frozenset(
    {
        ".git", ".hg", ".svn", "_svn", ".jj", ".sl", "_darcs", ".bzr", ".pijul", ".fslckout", "_fossil_",
        ".fos", "_mtn", "{arch}", ".arch-ids", ".repo", ".got", ".plastic", ".bk",
    }
)  # fmt: skip
"""Folders and files of one meaning, folded."""
_SHORT = re.compile(r"(?:git|hg|svn|jj|sl|bzr|pijul|fslcko|fos|arch-i|repo|got|plasti|bk)~[0-9]+")
"""The short names that Windows gives to them (CVE-2014-9390)."""
_OLD_FOLDERS = frozenset({"CVS", "RCS", "SCCS", "BitKeeper"})
"""Folders that are named like what they are about; in small letters they may hold sources."""
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


@lru_cache(maxsize=8192)  # the folders of a path are asked about with each of its files
def is_version_control(parts: tuple[str, ...]) -> bool:
    """Whether a path, given as its parts, is or lies in the state of a version control."""
    names = tuple(map(loosest, parts))
    if any(name in _FOLDERS or _SHORT.fullmatch(name) for name in names):
        return True
    last = len(parts) - 1
    return any(
        parts[at] in _OLD_FOLDERS or (at < last and _is_old_state(name, names[at + 1]))
        for at, name in enumerate(names)
    )


def _is_old_state(folder: str, name: str) -> bool:
    """Whether `name` in `folder` is what an older version control keeps there, in whatever letters."""
    if folder == "rcs":
        return name.endswith(",v")
    if folder == "sccs":
        return re.match(r"[spx]\.", name) is not None
    return name in _OLD_FILES.get(folder, ())
