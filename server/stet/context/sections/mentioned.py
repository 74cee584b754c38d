"""`<mentioned>`: the files and folders that the question names with `@`."""

from stet.context.excerpt import head_of
from stet.context.mentions import Mentioned, MentionedFile, MentionedFolder
from stet.context.tags import element, on_one_line
from stet.context.values import Section
from stet.settings.values import Settings
from stet.text.iso import iso_time

NAME = "mentioned"
MAX_CHARACTERS = 200_000
"""Of all files together; those behind are shown by their first lines."""


def mentioned(found: Mentioned, settings: Settings) -> Section:
    """One `<file_contents>` for each file, one list for each folder, and what there is not."""
    left, elements = MAX_CHARACTERS, []
    for file in found.files:
        elements.append(_file_contents(file, settings, is_whole=file.is_whole and left > 0))
        left -= len(elements[-1])
    folders = [_folder(folder) for folder in found.folders]
    problems = [f"({on_one_line(problem)})" for problem in found.problems]
    return Section(NAME, element(NAME, "\n".join([*elements, *folders, *problems])))


def _file_contents(file: MentionedFile, settings: Settings, *, is_whole: bool) -> str:
    context = settings.context
    excerpt = head_of(file.document, context.current_file_lines if is_whole else context.head_lines)
    attributes = {"path": file.name}
    written = None if file.mtime is None else iso_time(file.mtime)
    if written is not None:
        attributes["mtime"] = written
    attributes |= {"lines": excerpt.lines, "total_lines": str(excerpt.total)}
    return element("file_contents", excerpt.text, attributes)


def _folder(folder: MentionedFolder) -> str:
    names = [on_one_line(name) for name in folder.files]
    if folder.is_cut:
        names.append("(cut: there are more; `list_files` gives them)")
    text = "\n".join(names) if names else "(no files)"
    return element("folder_contents", text, {"path": folder.name})
