"""Which hosts have been named in a conversation, and by whom: others are asked for first.

An address that the model makes up can carry the user's text away, and so can one that it read in a
file or on a page. So only three may name a host: the user, a search API, and the settings.
"""

import re
from dataclasses import dataclass, field

from stet.web.address import MAX_UNNAMED, MAX_UNNAMED_OF_TURN, Address, parse
from stet.web.errors import WebError

_WORD = re.compile(r"(?:https?://\[[0-9a-fA-F:.]+\])?[^\s<>\"'`()\[\]{}|\\]+")
_URL = re.compile(r"https?://", re.IGNORECASE)
_BARE = re.compile(
    r"(?:www\.(?:[\w-]+\.)+[^\W\d_]{2,}|(?:[\w-]+\.)+(?:com|edu|eu|gov|net|org))(?::\d+)?(?:[/?#].*)?",
    re.IGNORECASE,
)
"""Not every ending of a host: `readme.md` and `self.name` could be hosts, and mean something else.
Who means one writes `https://` before it, or is asked.
"""

_TRAILING = ".,;:!?*_~…"


@dataclass(slots=True)
class Named:
    """What a search API has named in one conversation, and what the user has allowed in it.

    Attributes:
        places: Hosts, with a port where it is not the usual one (`Address.place`).
        urls: Whole addresses.
    """

    places: set[str] = field(default_factory=set)
    urls: set[str] = field(default_factory=set)

    def add(self, address: Address) -> None:
        """Note an address that was found, or that the user has agreed to."""
        self.places.add(address.place)
        self.urls.add(address.url)

    def knows(self, address: Address, words: str) -> bool:
        """Whether the whole address has been named, so that nothing in it is the model's."""
        return address.url in self.urls or any(
            one.url == address.url for one in addresses_in(words)
        )

    def why_unnamed(self, address: Address, words: str, n_before: int = 0) -> str:
        """Why the user must be asked before this address is read, for them; "": no need to.

        Args:
            address: What is to be read.
            words: What the user has said in the conversation.
            n_before: How many characters new addresses of this turn have carried until now.
        """
        if self.knows(address, words):
            return ""
        said = addresses_in(words)
        places = {_bare(place) for place in (*self.places, *(one.place for one in said))}
        if _bare(address.place) not in places:
            return "Neither you nor a search has named this host here."
        if address.n_carried > MAX_UNNAMED:
            return (
                f"The host is known here, but the address is new and carries {address.n_carried} "
                "characters to it."
            )
        if n_before + address.n_carried > MAX_UNNAMED_OF_TURN:
            return (
                "The host is known here, but the address is new, and with it the new addresses of "
                f"this turn carry {n_before + address.n_carried} characters."
            )
        return ""


def addresses_in(words: str) -> list[Address]:
    """The addresses and hosts that somebody has written."""
    found = []
    for match in _WORD.finditer(words):
        word = match[0].rstrip(_TRAILING)
        if not _URL.match(word):
            if not _BARE.fullmatch(word):
                continue
            word = f"https://{word}"
        try:
            found.append(parse(word))
        except WebError:
            continue
    return found


def _bare(place: str) -> str:
    """A place without `www.`: whoever names one of the two means both."""
    return place.removeprefix("www.")
