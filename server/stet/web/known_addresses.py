"""Which hosts have been named in a conversation, and by whom: others are asked for first.

An address that the model makes up can carry the user's text away, and so can one that it read in a
file or on a page. So only three may name a host: the user, a search API, and the settings.
"""

import re
from dataclasses import dataclass, field

from stet.web.web_address import (
    MAX_NEW_CHARACTERS,
    MAX_NEW_CHARACTERS_OF_CHAT,
    WebAddress,
    WebError,
    parse_url,
)

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
class KnownAddresses:
    """What a search API has named in one conversation, and what the user has allowed in it.

    Attributes:
        places: Hosts, with a port where it is not the usual one (`WebAddress.host_and_port`).
        urls: Whole addresses.
        n_sent_characters: How many characters new addresses have carried to known hosts since the user was
            last asked; outlives the process with the chat.
    """

    places: set[str] = field(default_factory=set)
    urls: set[str] = field(default_factory=set)
    n_sent_characters: int = 0

    def add(self, address: WebAddress) -> None:
        """Note an address that was found, or that the user has agreed to."""
        self.places.add(address.host_and_port)
        self.urls.add(address.url)

    def contains(self, address: WebAddress, words: str) -> bool:
        """Whether the whole address has been named, so that nothing in it is the model's."""
        return address.url in self.urls or any(
            one.url == address.url for one in find_addresses(words)
        )

    def count_unapproved(self, address: WebAddress, words: str) -> None:
        """Count an address that is about to be requested without the user having been asked."""
        if not self.contains(address, words):
            self.n_sent_characters += max(
                1, address.n_path_characters
            )  # which one is chosen says something too

    def approve(self, address: WebAddress) -> None:
        """Note that the user has seen this address, and agrees: the count begins again."""
        self.add(address)
        self.n_sent_characters = 0

    def why_ask(self, address: WebAddress, words: str) -> str:
        """Why the user must be asked before this address is read, for them; "": no need to.

        Args:
            address: What is to be read.
            words: What the user has said in the conversation.
        """
        if self.contains(address, words):
            return ""
        said = find_addresses(words)
        places = {_bare(place) for place in (*self.places, *(one.host_and_port for one in said))}
        if _bare(address.host_and_port) not in places:
            return "Neither you nor a search has named this host here."
        if address.n_path_characters > MAX_NEW_CHARACTERS:
            return (
                f"The host is known here, but the address is new and carries {address.n_path_characters} "
                "characters to it."
            )
        if (
            n_sent := self.n_sent_characters + address.n_path_characters
        ) > MAX_NEW_CHARACTERS_OF_CHAT:
            return (
                "The host is known here, but the address is new, and with it the new addresses of "
                f"this chat carry {n_sent} characters since you were last asked."
            )
        return ""


def find_addresses(words: str) -> list[WebAddress]:
    """Return the addresses and hosts that somebody has written."""
    found = []
    for match in _WORD.finditer(words):
        word = match[0].rstrip(_TRAILING)
        if not _URL.match(word):
            if not _BARE.fullmatch(word):
                continue
            word = f"https://{word}"
        try:
            found.append(parse_url(word))
        except WebError:
            continue
    return found


def _bare(place: str) -> str:
    """Return a host without `www.`, because a person who names either form means both."""
    return place.removeprefix("www.")
