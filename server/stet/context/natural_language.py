"""Detection of the natural language of a workspace by its most frequent words.

Some languages are recognised by their script. For the others, frequent words are counted (a
well-known method: the most frequent short words hardly overlap between languages).
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from stet.workspace.snapshot import Snapshot

MAX_FILES = 12
"""The maximum number of notes that are read."""
MAX_LOOKED = 2_000
"""The maximum number of files that are searched for notes."""
MAX_CHARACTERS = 4_000
"""The maximum number of code points that are read of each note."""
_MIN_WORDS = 8
_LEAD = 1.3
_NOTES = (".md", ".markdown", ".txt", ".rst", ".org", ".adoc")

_COMMON = {
    "English": "the of and to in is that for it with are this be not you on as have from or",
    "German": "der die das und ist nicht ein eine zu mit den auf für von dem sich auch im wird als",
    "French": "le la les des et est une que dans pour pas qui sur au plus avec ce sont du ne",
    "Spanish": "el los las que una por con para no es se del como más pero su al lo está y",
    "Italian": "il che di non una per con sono è della le gli dei anche come più nel si alla questo",
    "Portuguese": "o os que uma não com para por do da em se mais como mas ao são das dos é",
    "Dutch": "het een van en niet dat zijn met voor op te aan ook maar als wordt bij naar deze deze",
    "Swedish": "och att det som en på är av för med inte den till har ett om från kan ska eller",
    "Danish": "og at det som en på er af for med ikke den til har et om fra kan skal eller",
    "Polish": "i w nie na się że z do jest to jak o co ale po tak za od przez dla",
    "Turkish": "ve bir bu için ile da de ne çok daha olarak gibi var olan kadar ama değil en ya her",
    "Czech": "a v na že se je to s z do jako pro by ale jsou nebo když podle po již",
}
_SCRIPTS = (
    ("Japanese", re.compile(r"[\u3040-\u30ff]")),
    ("Korean", re.compile(r"[\uac00-\ud7af]")),
    ("Chinese", re.compile(r"[\u4e00-\u9fff]")),
    ("Ukrainian", re.compile(r"[іїєґ]", re.IGNORECASE)),
    ("Russian", re.compile(r"[\u0400-\u04ff]")),
    ("Greek", re.compile(r"[\u0370-\u03ff]")),
    ("Arabic", re.compile(r"[\u0600-\u06ff]")),
    ("Hebrew", re.compile(r"[\u0590-\u05ff]")),
)
_SCRIPT_SHARE = 0.02
_WORDS = {name: frozenset(words.split()) for name, words in _COMMON.items()}
_WORD = re.compile(r"[^\W\d_]+")


def detect_language(text: str) -> str | None:
    """Return the English name of the language of `text`, or None if the language is unclear."""
    for name, script in _SCRIPTS:
        if len(script.findall(text)) > _SCRIPT_SHARE * max(len(text), 100):
            return name
    words = Counter(word.casefold() for word in _WORD.findall(text))
    counts = Counter({name: sum(words[word] for word in common) for name, common in _WORDS.items()})
    (first, n_first), (_, n_second) = counts.most_common(2)
    return first if n_first >= _MIN_WORDS and n_first >= _LEAD * n_second else None


def detect_workspace_language(snapshot: Snapshot) -> str | None:
    """Return the language of the notes nearest to the root, or None. Blocks on the disk."""
    return detect_language("\n".join(_samples(snapshot)))


def _samples(snapshot: Snapshot) -> Iterator[str]:
    looked = islice(snapshot.walk(), MAX_LOOKED)
    notes = [located for located in looked if located.name.lower().endswith(_NOTES)]
    notes.sort(key=lambda located: (located.name.count("/"), located.name))
    for located in notes[:MAX_FILES]:
        if (document := snapshot.show_or_none(located.uri)) is not None:
            yield document.head(MAX_CHARACTERS)
