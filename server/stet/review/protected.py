"""Files that are instructions to a machine: editors, version control, CI and agents do what they say.

A proposal for one of them needs a yes of its own, never "accept all": an agent that may write its
own editor's settings has no other limits. The list (`stet.review.protected_names`) is that of published
attacks and their kin: whatever a program obeys or runs by itself, when a folder is opened, a file is
loaded or saved, or something is committed, pushed, built or installed: language servers read builds
as soon as a folder is opened.

The inside of `.git`, `.hg` and `.svn` is no matter of a yes: it is refused outright, as secrets are
(`stet.workspace.privacy`). A hook or a line of `.git/config` runs at the next `git status` of any
editor, no text edit there is ever part of a user's project, and the model is not shown what it holds,
so that it could only write blindly. Other agents came to the same (Codex keeps `.git` read-only even
where it may write everything else). They are named here too, for the day a rule there is loosened.
"""

import re
from fnmatch import translate
from pathlib import PurePosixPath

from stet.review.protected_names import FILE_PATTERNS, FILES, FOLDER_PATTERNS, FOLDERS
from stet.text.hidden import LOOK_ALIKES
from stet.workspace.names import loosest
from stet.workspace.secret_files import is_secret

_FILE = re.compile("|".join(map(translate, FILE_PATTERNS)))
_FOLDER = re.compile("|".join(map(translate, FOLDER_PATTERNS)))


def is_protected(name: str) -> bool:
    """Whether `name`, relative to a root with `/` between its parts, needs a yes of its own.

    Case, Unicode form, invisible characters, a stream of Windows and dots at the end are folded: on
    some disk `.GIT` and `.git` are one folder. Letters that only look the same are folded too, for
    the user's eye.
    """
    plain = [loosest(part) for part in PurePosixPath(name).parts]
    parts = [part.translate(LOOK_ALIKES) for part in plain]
    if not parts:
        return False
    return (
        any(part in FOLDERS or _FOLDER.match(part) for part in parts)
        or parts[-1] in FILES
        or _FILE.match(parts[-1]) is not None
        # A secret's own name is refused before; what only reads like it is no secret, but a lure.
        or (parts != plain and is_secret(tuple(parts)))
    )
