"""Files that are instructions to a machine: editors, version control, CI and agents do what they say.

A proposal for one of them needs a yes of its own, never "accept all": an agent that may write its
own editor's settings has no other limits. Whatever a program obeys or runs by itself counts, when a
folder is opened, a file is loaded or saved, or something is committed, pushed, built or installed:
language servers read builds as soon as a folder is opened. Such names are known by their shape
(`stet.review.protected_shapes`), and where they have none by a list (`stet.review.protected_names`). A name too many
costs a question, one too few a machine; `tests/names` holds what both cost.

The state of version control (`.git`, `.jj`, `CVS`) is no matter of a yes: it is refused outright, as
secrets are (`stet.workspace.privacy_filter`). A hook or a line of `.git/config` runs at the next `git status` of
any editor, no text edit there is ever part of a user's project, and the model is not shown what it holds,
so that it could only write blindly. Other agents came to the same (Codex keeps `.git` read-only even
where it may write everything else).
"""

import re
from fnmatch import translate
from pathlib import PurePosixPath

from stet.review.protected_names import (
    FILE_PATTERNS,
    FILES,
    FOLDER_PATTERNS,
    FOLDERS,
    PATHS,
    ROOT_FILES,
    ROOT_FOLDERS,
)
from stet.review.protected_shapes import has_hidden_part, is_configuration, is_hook, is_top_level
from stet.text.spoofing import CONFUSABLES, skeleton
from stet.workspace.names import loosest
from stet.workspace.secret_files import is_secret
from stet.workspace.version_control import is_version_control

_FILE = re.compile("|".join(map(translate, FILE_PATTERNS)))
_FOLDER = re.compile("|".join(map(translate, FOLDER_PATTERNS)))
_PATH = re.compile("|".join(translate(f"*/{path}") for path in PATHS))


def is_protected(name: str, *, at_root: bool = False) -> bool:
    """Whether `name`, with `/` between its parts, needs a yes of its own.

    Case, Unicode form, invisible characters, a stream of Windows and dots at the end are folded: on
    some disk `.GIT` and `.git` are one folder. Letters that only look the same are folded too, for
    the user's eye.

    Args:
        name: Of a file or folder, as people call it.
        at_root: Whether the name begins below a root of a project, so that a name of one part lies in it.
    """
    plain = tuple(loosest(part) for part in PurePosixPath(name).parts)
    parts = tuple(_normalize_part(part) for part in PurePosixPath(name).parts)
    if not parts:
        return False
    return (
        has_hidden_part(parts)
        or _is_listed(parts)
        or is_configuration(parts)
        or is_hook(parts)
        or (at_root and _is_for_root(parts))
        # A secret's own name is refused before; what only reads like it is no secret, but a lure.
        or (parts != plain and (is_secret(parts) or is_version_control(parts)))
    )


def _normalize_part(part: str) -> str:
    """What a part of a name reads like, as names are compared."""
    return loosest(skeleton(part)).translate(CONFUSABLES)


def _is_listed(parts: tuple[str, ...]) -> bool:
    return (
        any(part in FOLDERS or _FOLDER.match(part) for part in parts)
        or parts[-1] in FILES
        or _FILE.match(parts[-1]) is not None
        or _PATH.match("/" + "/".join(parts)) is not None
    )


def _is_for_root(parts: tuple[str, ...]) -> bool:
    if len(parts) > 1:
        return parts[0] in ROOT_FOLDERS
    return parts[0] in ROOT_FILES or is_top_level(parts[0])
