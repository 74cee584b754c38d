"""`<mentioned>`: the files and folders that the question names with `@`."""

from stet.context.attachment_collector import CollectedAttachments
from stet.context.context_tags import element
from stet.context.context_values import ContextSection
from stet.context.sections.section_elements import attachment_elements
from stet.settings.values import Settings

NAME = "mentioned"


def mentioned_section(mentions: CollectedAttachments, settings: Settings) -> ContextSection:
    """One `<file_contents>` for each file, one list for each folder, and what there is not."""
    return ContextSection(NAME, element(NAME, "\n".join(attachment_elements(mentions, settings))))
