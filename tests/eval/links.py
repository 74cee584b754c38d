"""Questions from the text of a link to its target note, in an index without links."""

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from stet.search.chunk import query_terms
from tests.eval.corpus import Change, Question, Step, files_in, is_held, sampled

_ENDINGS = (".md", ".mdx", ".markdown")
_LINK = re.compile(
    r"(?<!!)\[(?P<text>[^\[\]\n]+)\]\((?P<target>[^()\s]+)(?:[ \t]+\"[^\"\n]*\")?\)"
    r"|(?<!!)\[\[(?P<note>[^\[\]|#\n]+)(?:#[^\[\]|\n]*)?(?:\|(?P<alias>[^\[\]\n]+))?\]\]"
)
_COMPLETIONS = (
    "",
    *_ENDINGS,
    *(f"/{name}{ending}" for name in ("index", "README") for ending in _ENDINGS),
)


@dataclass(frozen=True, slots=True)
class Links:
    """A folder of notes.

    A link's text is the question, once for each text; all notes that this text links to anywhere
    are right. Links within a note and to the web are left out.
    """

    folder: Path
    by_line: bool = False

    def steps(self, sample: int) -> Iterator[Step]:
        """Yield the steps; see `Corpus`."""
        texts = dict(files_in(self.folder, *_ENDINGS))
        found: defaultdict[str, set[str]] = defaultdict(set)
        for name, text in texts.items():
            for link in _LINK.finditer(text):
                target = _target(link, name, texts)
                asked = (link["text"] or link["alias"] or link["note"]).strip("`*_ ")
                if target is not None and target != name and query_terms(asked):
                    found[asked].add(target)
        yield Change({name: _LINK.sub("", text) for name, text in texts.items()})
        questions = [
            Question(asked, frozenset(right), is_held(min(right))) for asked, right in found.items()
        ]
        yield from sampled(questions, sample)


def _target(link: re.Match[str], name: str, texts: dict[str, str]) -> str | None:
    written = unquote((link["target"] or link["note"]).partition("#")[0])
    if not written or re.match(r"[a-z]+:", written):
        return None
    path = written.strip("/").removesuffix(".html") if written.startswith("/") else written
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
    for completion in _COMPLETIONS:
        if not written.startswith("/") and beside + completion in texts:
            return beside + completion
    # Relative to the site generator's root, or a bare name: accept a unique target.
    for completion in _COMPLETIONS:
        if not written.startswith("."):
            ends = [each for each in texts if f"/{each}".endswith(f"/{path}{completion}")]
            if len(ends) == 1:
                return ends[0]
    return None
