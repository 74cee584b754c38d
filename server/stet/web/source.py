"""Where on the web something came from."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Source:
    """A page that was found or read.

    Attributes:
        url: Its address.
        title: What it calls itself; empty where it does not.
    """

    url: str
    title: str = ""


def note(sources: list[Source], source: Source) -> None:
    """Add a source unless it is there; a title takes the place of none."""
    for n, known in enumerate(sources):
        if known.url == source.url:
            sources[n] = known if known.title else source
            return
    sources.append(source)
