"""`<mentioned>`: the files and folders that the question names with `@`."""

from stet.context.gathering import Gathered
from stet.context.sections.contents import gathered_contents
from stet.context.tags import element
from stet.context.values import Section
from stet.settings.values import Settings

NAME = "mentioned"


def mentioned(found: Gathered, settings: Settings) -> Section:
    """One `<file_contents>` for each file, one list for each folder, and what there is not."""
    return Section(NAME, element(NAME, "\n".join(gathered_contents(found, settings))))
