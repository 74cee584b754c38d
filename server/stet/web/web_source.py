"""Where on the web something came from."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WebSource:
    """A page that was found or read.

    Attributes:
        url: Its address.
        title: What it calls itself; empty where it does not.
    """

    url: str
    title: str = ""


def add_source(sources: list[WebSource], source: WebSource) -> None:
    """Add a source unless it is there; a title takes the place of none."""
    for n, known in enumerate(sources):
        if known.url == source.url:
            sources[n] = known if known.title else source
            return
    sources.append(source)
