"""Elements that several sections use: the lines of a file, the names in a folder, what is missing."""

from collections.abc import Iterator

from stet.context.attachment_collector import AttachedFolder, CollectedAttachments
from stet.context.context_tags import element, single_line
from stet.context.excerpt import head_excerpt
from stet.settings.values import Settings
from stet.text.document import TextDocument
from stet.text.iso_time import iso_time

MAX_CHARACTERS = 200_000
"""Of all whole files of a section together; those behind are shown by their first lines."""


def file_element(document: TextDocument, name: str, mtime: float | None, max_lines: int) -> str:
    """`<file_contents>`: the first lines of a file, numbered."""
    excerpt = head_excerpt(document, max_lines)
    attributes = {"path": name}
    written = None if mtime is None else iso_time(mtime)
    if written is not None:
        attributes["mtime"] = written
    attributes |= {"lines": excerpt.lines, "total_lines": str(excerpt.total)}
    return element("file_contents", excerpt.text, attributes)


def attachment_elements(attachments: CollectedAttachments, settings: Settings) -> Iterator[str]:
    """An element for each file, one for each folder, and a line for what there is not."""
    left, context = MAX_CHARACTERS, settings.context
    n_shortened = 0
    for file in attachments.files:
        is_whole = file.is_whole and left > 0
        n_shortened += file.is_whole and not is_whole
        lines = context.current_file_lines if is_whole else context.head_lines
        contents = file_element(file.document, file.name, file.mtime, lines)
        left -= len(contents)
        yield contents
    if n_shortened:
        yield (
            f"(cut: of {n_shortened} of these files only the first lines stand here, because all "
            "together are too long; `read_file` shows the rest)"
        )
    yield from (_folder_element(folder) for folder in attachments.folders)
    yield from (f"({single_line(problem)})" for problem in attachments.problems)


def _folder_element(folder: AttachedFolder) -> str:
    names = [single_line(name) for name in folder.files]
    if folder.is_cut:
        names.append("(cut: there are more; `list_files` gives them)")
    text = "\n".join(names) if names else "(no files)"
    return element("folder_contents", text, {"path": folder.name})
