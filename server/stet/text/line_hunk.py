"""Lines that became other lines: a part of the difference of two texts."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LineHunk:
    """The lines `old` became the lines `new`; lines are counted from 0 on both sides.

    Attributes:
        old_start: Where `old` starts; where `new` is put if `old` is empty.
        old: What was there; between two hunks there is at least one line in common.
        new_start: Where `new` starts, in the new lines.
        new: What is there now.
    """

    old_start: int
    old: tuple[str, ...]
    new_start: int
    new: tuple[str, ...]

    @property
    def old_end(self) -> int:
        """The line behind `old`."""
        return self.old_start + len(self.old)

    def slid(self, n: int, block: tuple[str, ...]) -> "LineHunk":
        """The same difference, told `n` lines lower as `block`, which is put in or taken out there."""
        old, new = (block, ()) if self.old else ((), block)
        return LineHunk(self.old_start + n, old, self.new_start + n, new)
