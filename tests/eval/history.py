"""A git history from a source package: its sources, then a commit for each patch of its series.

Distributions store their changes to a program as patches, many of which are commits of that program
with their messages. They give real messages and real changes without a repository.
"""

import re
import subprocess
from email import message_from_string
from email.header import decode_header, make_header
from pathlib import Path

_DIFF = re.compile(r"^(?:--- |diff --git |Index: )", re.MULTILINE)
_CUT = re.compile(r"^---\s*$", re.MULTILINE)
_PREFIX = re.compile(r"^\[[^\]]*\]\s*")


def make_history(sources: Path, patches: Path) -> tuple[int, int]:
    """Turn `sources` into a repository, with a commit for each patch that `series` in the folder
    `patches` names; return how many were applied, and how many did not fit.

    Raises:
        OSError: If the series can't be read, or `git` or `patch` is missing.
        subprocess.CalledProcessError: If git refuses.
    """
    _git(sources, "init", "--quiet")
    _commit(sources, "Import the sources")
    applied = broken = 0
    for line in (patches / "series").read_text("utf-8").splitlines():
        name = line.partition("#")[0].split()
        if not name:
            continue
        path = (patches / name[0]).resolve()
        fits = subprocess.run(
            ["patch", "-p1", "--silent", "--force", "--no-backup-if-mismatch", "-i", str(path)],
            cwd=sources,
            stdout=subprocess.DEVNULL,
            check=False,
        )
        applied, broken = applied + 1, broken + (fits.returncode != 0)
        _commit(sources, message_of(path.read_text("utf-8", "replace")))
    return applied, broken


def message_of(patch: str) -> str:
    """Return the message of a patch: in the form of a git mail, of Debian's fields, or plain."""
    head = _DIFF.split(patch, maxsplit=1)[0]
    mail = message_from_string(head)
    if not mail.keys():
        return head.strip()
    subject = mail["Subject"] or mail["Description"] or ""
    reported = " ".join(str(make_header(decode_header(subject))).split())
    body = _CUT.split(str(mail.get_payload()), maxsplit=1)[0]
    return f"{_PREFIX.sub('', reported)}\n\n{body}".strip()


def _commit(folder: Path, message: str) -> None:
    _git(folder, "add", "--all")
    _git(
        folder,
        "commit",
        "--quiet",
        "--allow-empty",
        "--allow-empty-message",
        "--file=-",
        given=message,
    )


def _git(folder: Path, *arguments: str, given: str = "") -> None:
    identity = (
        "-c",
        "user.name=nobody",
        "-c",
        "user.email=nobody@localhost",
        "-c",
        "commit.gpgsign=false",
    )
    subprocess.run(
        ["git", "-C", str(folder), *identity, *arguments], input=given.encode(), check=True
    )
