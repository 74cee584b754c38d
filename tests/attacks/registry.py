"""The classes of attacks: what each is, how many cases it has at the least, and what weakens it."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from tests.attacks.stage import Stage


@dataclass
class Result:
    """What came of a class.

    Attributes:
        n_cases: How many attacks were made.
        n_whole: How many of them through a server and its protocol.
        effects: What came about that is forbidden: empty, or the class is not stood.
    """

    n_cases: int = 0
    n_whole: int = 0
    effects: list[str] = field(default_factory=list)

    def add(self, n_cases: int, effects: list[str], *, whole: bool = True) -> None:
        """Count cases, and what came of them."""
        self.n_cases += n_cases
        self.n_whole += n_cases if whole else 0
        self.effects += effects


Played = Callable[[Stage], Coroutine[Any, Any, Result]]


@dataclass(frozen=True)
class AttackClass:
    """One class.

    Attributes:
        number: In the published list.
        name: A few words.
        least: How many cases it has at the least.
        weaknesses: What is taken away, one at a time, to show that the class would notice.
        play: Makes the attacks.
        note: What has to be known of the count.
    """

    number: int
    name: str
    least: int
    weaknesses: tuple[str, ...]
    play: Played
    note: str = ""


CLASSES: dict[int, AttackClass] = {}


def attack(
    number: int,
    name: str,
    *,
    least: int,
    weakness: str,
    others: tuple[str, ...] = (),
    note: str = "",
) -> Callable[[Played], Played]:
    """Enter a function as the class of that number."""

    def entered(play: Played) -> Played:
        CLASSES[number] = AttackClass(number, name, least, (weakness, *others), play, note)
        return play

    return entered
