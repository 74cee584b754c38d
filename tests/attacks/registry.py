"""The classes of attacks: name, minimum number of cases, and the weaknesses that break each."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from tests.attacks.stage import Stage


@dataclass
class Result:
    """The results of a class.

    Attributes:
        n_cases: The number of attacks.
        n_whole: The number of attacks that ran through a server and its protocol.
        effects: The forbidden effects that were seen; the class has failed unless this is empty.
    """

    n_cases: int = 0
    n_whole: int = 0
    effects: list[str] = field(default_factory=list)

    def add(self, n_cases: int, effects: list[str], *, whole: bool = True) -> None:
        """Add cases and their effects."""
        self.n_cases += n_cases
        self.n_whole += n_cases if whole else 0
        self.effects += effects


Played = Callable[[Stage], Coroutine[Any, Any, Result]]


@dataclass(frozen=True)
class AttackClass:
    """One class of attacks.

    Attributes:
        number: The number in the published list.
        name: The name, in a few words.
        least: The minimum number of cases.
        weaknesses: The rules to remove, one at a time, to show that the class detects each removal.
        play: The function that makes the attacks.
        note: A remark about how cases are counted.
        needs: Raises `MissingPart` if the class can't be played on this system.
    """

    number: int
    name: str
    least: int
    weaknesses: tuple[str, ...]
    play: Played
    note: str = ""
    needs: Callable[[], None] = lambda: None


CLASSES: dict[int, AttackClass] = {}


def attack(
    number: int,
    name: str,
    *,
    least: int,
    weakness: str,
    others: tuple[str, ...] = (),
    note: str = "",
    needs: Callable[[], None] = lambda: None,
) -> Callable[[Played], Played]:
    """Register a function as the class of that number."""

    def entered(play: Played) -> Played:
        CLASSES[number] = AttackClass(number, name, least, (weakness, *others), play, note, needs)
        return play

    return entered
