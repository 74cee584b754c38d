"""Questions from a commit's message to the files that it changes, in an index of its parent."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.eval.corpus import MAX_BYTES, Change, Question, Step, is_held, sampled, text_of

MAX_FILES = 10
"""Commits that change more files are left out: their message can't describe each file."""
MIN_WORDS = 3
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_TRAILER = re.compile(
    r"^[A-Za-z][A-Za-z-]+(?:-by|-Id|-By): .*$|^\(cherry picked from .*$", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Commits:
    """The history up to `HEAD` of a git repository.

    Merges, commits that change more than `MAX_FILES` files, and files that a commit creates or
    deletes are left out: such files cannot be found, or need not be.
    """

    folder: Path
    by_line: bool = False

    def steps(self, sample: int) -> Iterator[Step]:
        """Yield the steps; see `Corpus`."""
        asked: list[Question] = []
        commits: dict[int, tuple[str, str]] = {}
        for commit, parent, message in self._commits():
            question = self._question(parent, commit, message)
            if question is not None:
                asked.append(question)
                commits[id(question)] = commit, parent
        at = _EMPTY_TREE
        for question in sampled(asked, sample):
            _, parent = commits[id(question)]
            yield self._change(at, parent)
            at = parent
            yield question

    def _commits(self) -> Iterator[tuple[str, str, str]]:
        log = self._git("log", "--no-merges", "--reverse", "--format=%H%x1f%P%x1f%B%x1e").decode(
            "utf-8", "replace"
        )
        for record in log.split("\x1e"):
            commit, _, rest = record.strip().partition("\x1f")
            parent, _, message = rest.partition("\x1f")
            if parent:
                yield commit, parent, message

    def _question(self, parent: str, commit: str, message: str) -> Question | None:
        text = " ".join(_TRAILER.sub("", message).split())
        touched = self._touched(parent, commit)
        # Only files that the commit modifies are answers, not added or deleted ones.
        right = frozenset(name for status, name in touched if status == "M")
        if not right or len(touched) > MAX_FILES or len(text.split()) < MIN_WORDS:
            return None
        return Question(text, right, is_held(min(right)))

    def _touched(self, old: str, new: str) -> list[tuple[str, str]]:
        out = self._git("diff-tree", "-r", "-z", "--no-renames", "--name-status", old, new)
        parts = out.decode("utf-8", "replace").split("\0")
        return list(zip(parts[::2], parts[1::2], strict=False))

    def _change(self, old: str, new: str) -> Change:
        touched = self._touched(old, new)
        names = [name for status, name in touched if status != "D"]
        texts = dict(zip(names, self._texts(new, names), strict=True))
        put = {name: text for name, text in texts.items() if text is not None}
        return Change(put, frozenset(name for _, name in touched if name not in put))

    def _texts(self, commit: str, names: list[str]) -> Iterator[str | None]:
        """Yield the text of each file in `commit`, None for a file that is no text."""
        wanted = "".join(f"{commit}:{name}\n" for name in names)
        data = self._git("cat-file", "--batch", given=wanted.encode())
        at = 0
        for _ in names:
            end = data.index(b"\n", at)
            header = data[at:end].split()
            at = end + 1
            if header[-1] == b"missing" or header[-2] != b"blob":
                size = 0 if header[-1] == b"missing" else int(header[-1]) + 1
                at += size
                yield None
                continue
            size = int(header[-1])
            yield text_of(data[at : at + min(size, MAX_BYTES + 1)])
            at += size + 1

    def _git(self, *arguments: str, given: bytes = b"") -> bytes:
        return subprocess.run(
            ["git", "-C", str(self.folder), *arguments],
            input=given,
            stdout=subprocess.PIPE,
            check=True,
        ).stdout
