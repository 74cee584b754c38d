"""Find files by tags, properties, times, links, tasks and text.

The search is a plain scan. Cheap conditions are checked first, and a note is parsed only if its
text may match.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from stet.notes.note_content import tags_in, tasks_in
from stet.notes.note_properties import InvalidYaml, read_properties
from stet.notes.property_filter import PropertyFilter
from stet.outline.headings import find_front_matter
from stet.privacy.redactor import Redactor
from stet.text.document import TextDocument
from stet.text.lines import split_lines
from stet.text.unicode_normal import fold_name
from stet.workspace.ignore_rules import IgnorePatterns
from stet.workspace.paths import Located
from stet.workspace.safe_excerpt import redactor_of
from stet.workspace.snapshot import Snapshot
from stet.workspace.uris import canonical

LINES_PER_FILE = 5
"""The most lines that are returned of one file."""


@dataclass(frozen=True, slots=True)
class FileQuery:
    """The conditions of a query; all given conditions must hold.

    Attributes:
        tag: A tag of a note; it includes its subtags.
        property: The name of a front matter property.
        condition: The condition on the value of the property; None: any value.
        folder: Only below this folder.
        patterns: Only paths that match.
        after: Modified at this time or later.
        before: Modified before this time.
        linking: Canonical URIs of the candidate files.
        task: Has a task in this state.
        text: Contains this text, case ignored; if `task` is set, in such a task.
    """

    tag: str = ""
    property: str = ""
    condition: PropertyFilter | None = None
    folder: str = ""
    patterns: IgnorePatterns | None = None
    after: datetime | None = None
    before: datetime | None = None
    linking: frozenset[str] | None = None
    task: Literal["open", "done"] | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class FileMatch:
    """A file that meets the conditions.

    Attributes:
        name: The file's name for models and people.
        mtime: The modification time, in seconds since the epoch; None if the query has no time.
        lines: Lines with the tasks or the text: number (1-based) and text.
        n_more: The number of further lines with the tasks or the text.
    """

    name: str
    mtime: float | None
    lines: tuple[tuple[int, str], ...]
    n_more: int


def match_all(query: FileQuery, snapshot: Snapshot) -> Iterator[FileMatch | None]:
    """Yield the match of every file, or None for a file that does not match. Blocks on the disk."""
    redactor = redactor_of(snapshot)
    for located in snapshot.walk(query.folder):
        yield _match_file(query, snapshot, located, redactor)


def _match_file(
    query: FileQuery, snapshot: Snapshot, located: Located, redactor: Redactor | None
) -> FileMatch | None:
    is_timed = query.after is not None or query.before is not None
    mtime = snapshot.mtime(located.uri) if is_timed else None
    if not _is_named(query, located) or (is_timed and not _is_in_time(query, mtime)):
        return None
    document = snapshot.show_or_none(located.uri)
    if document is None:
        return None  # deleted since it was listed
    if document.is_large and (query.tag or query.property or query.task or query.text):
        return None  # skipped like a large file on the disk: a scan would take too long
    if not _has_tag(query.tag, document) or not _has_property(query, document, redactor):
        return None
    lines = list(_matching_lines(query, document, redactor))
    if not lines and (query.task or query.text):
        return None
    shown = tuple(lines[:LINES_PER_FILE])
    return FileMatch(located.name, mtime, shown, len(lines) - len(shown))


def _is_named(query: FileQuery, located: Located) -> bool:
    if query.linking is not None and canonical(located.uri) not in query.linking:
        return False
    parts = tuple(located.name.split("/"))
    return query.patterns is None or bool(query.patterns.match(parts, is_folder=False))


def _is_in_time(query: FileQuery, mtime: float | None) -> bool:
    """Return whether the time fits; an unsaved file has no time and never fits."""
    if mtime is None or (query.after is not None and mtime < query.after.timestamp()):
        return False
    return query.before is None or mtime < query.before.timestamp()


def _has_tag(tag: str, document: TextDocument) -> bool:
    folded = fold_name(tag.strip().removeprefix("#").strip("/"))
    if not folded:
        return True
    if not document.is_markdown or folded not in fold_name(document.text):
        return False
    tags = map(fold_name, tags_in(document.text))
    return any(each == folded or each.startswith(f"{folded}/") for each in tags)


def _has_property(query: FileQuery, document: TextDocument, redactor: Redactor | None) -> bool:
    """Return whether the property of the query exists and meets the condition."""
    if not query.property:
        return True
    folded = fold_name(query.property)
    front = find_front_matter(document.text)
    if front is None or folded not in fold_name(front.yaml):
        return False
    try:
        properties = read_properties(document.text)
    except InvalidYaml:
        return False
    values = [value for name, value in properties.items() if fold_name(name) == folded]
    condition = query.condition
    if condition is None or not values:
        return bool(values)
    if redactor is not None:
        redactor.learn(document.text)
        values = [_redact_value(query.property, value, redactor) for value in values]
    return any(map(condition.matches, values))


def _redact_value(name: str, value: object, redactor: Redactor) -> object:
    """Return a property's value with secrets redacted: a comparison could reveal their letters."""
    if isinstance(value, dict):
        return {key: _redact_value(str(key), each, redactor) for key, each in value.items()}
    if isinstance(value, list):
        return [_redact_value(name, each, redactor) for each in value]
    if isinstance(value, tuple):  # the YAML type and the text of a scalar
        return value[0], redactor.redact(f"{name}: {value[1]}").text.removeprefix(f"{name}: ")
    return value


def _matching_lines(
    query: FileQuery, document: TextDocument, redactor: Redactor | None
) -> Iterator[tuple[int, str]]:
    """Yield the lines with the tasks or the text; with both, yield the tasks that hold the text.

    The redacted text is searched: otherwise queries could guess a secret letter by letter.
    """
    text = fold_name(query.text)
    if text not in fold_name(document.text):
        return
    if query.task is not None:
        for task in tasks_in(document.text) if document.is_markdown else ():
            is_wanted = task.is_done == (query.task == "done")
            if is_wanted and text in fold_name(_redact(task.text, redactor)):
                yield task.line, f"[{'x' if task.is_done else ' '}] {task.text}"
    elif text:
        redacted = split_lines(_redact(document.text, redactor))
        for number, line in enumerate(document.lines, 1):
            if text in fold_name(redacted[number - 1]):
                yield number, line


def _redact(text: str, redactor: Redactor | None) -> str:
    return text if redactor is None else redactor.redact(text).text
