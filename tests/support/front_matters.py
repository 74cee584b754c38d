"""Front matters as people and tools write them, with every YAML form of notes, by seed."""

import random
from collections.abc import Callable
from dataclasses import dataclass

Draw = random.Random

ODD_DATES = (
    "2024-02-30", "2024-1-1", "2001-12-14t21:59:43.10-05:00", "2024-05-01 10:00", "20240501",
    "12:30:45", "2024-13-01", "0000-00-00", "2024-05", "24-05-01",
)  # fmt: skip
ODD_SCALARS = (
    "~", "null", "yes", "Off", "0o14", "0x1F", "1_000", ".5", "1e3", "-.inf", "007", "+1", "-1",
    "a:b", "http://x.y/z#a", "x#y", "C:\\dir", "it's", "ünï cödé", "✅ done", "!!str 12", "50%", "a  b",
)  # fmt: skip
QUOTED = (
    '"a\\tb \\u00e9 \\"x\\""', '"tab\there"', "'tab\tthere'", "'it''s'", '""', "''", '"# no comment"',
    "'a: b'", '"[x]"', '"2024-01-01"', '"two\n  lines"', "'three\n\n  lines'",
)  # fmt: skip
COMMENTS = ("", "", "", "  # why", " # a: b")


@dataclass(frozen=True, slots=True)
class Chunk:
    """Complete lines of a front matter.

    Attributes:
        name: The name of the property; empty for comments and blank lines.
        text: The lines, with line ends.
    """

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """A note in parts.

    Attributes:
        top: The text above the properties.
        chunks: The properties, and the comments and blank lines between them.
        bottom: The text below the properties.
    """

    top: str
    chunks: tuple[Chunk, ...]
    bottom: str

    @property
    def text(self) -> str:
        """Return the whole note."""
        return self.top + "".join(chunk.text for chunk in self.chunks) + self.bottom

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the properties, in order."""
        return tuple(chunk.name for chunk in self.chunks if chunk.name)


def note(seed: int) -> Note:
    """Make the note of that seed."""
    draw = Draw(seed)
    end = draw.choice(("\n", "\n", "\r\n"))
    names = [f"k{n}" for n in range(draw.randint(1, 9))]
    chunks: list[Chunk] = []
    if draw.random() < 0.4:
        names.insert(draw.randint(0, len(names)), "tags")
    anchors: list[str] = []
    for name in names:
        chunks += _between(draw)
        if name == "tags":
            chunks.append(Chunk(name, _tags(draw)))
        else:
            chunks.append(Chunk(name, _property(draw, name, anchors)))
    chunks += _between(draw)
    made = tuple(Chunk(one.name, one.text.replace("\n", end)) for one in chunks)
    mark, closing = draw.choice(("", "", "\ufeff")), draw.choice(("---", "---", "...", "--- "))
    return Note(f"{mark}---{end}", made, f"{closing}{end}# Body{end}k0: no property{end}")


def _between(draw: Draw) -> list[Chunk]:
    """Draw comments and blank lines, mostly none."""
    lines = draw.choices(("# note: x\n", "\n", "#\n", "#tag: y\n"), k=draw.choice((0, 0, 0, 1, 2)))
    return [Chunk("", line) for line in lines]


def _property(draw: Draw, name: str, anchors: list[str]) -> str:
    key = draw.choice((name, name, name, f'"{name}"', f"'{name}'"))
    colon = draw.choice((":", ":", ":", " :", ":  "))
    forms: tuple[Callable[[Draw], str], ...] = (_scalar, _quoted, _block, _flow, _list, _map, _long)
    if anchors and draw.random() < 0.25:
        return f"{key}{colon} *{draw.choice(anchors)}{draw.choice(COMMENTS)}\n"
    if draw.random() < 0.2:
        anchors.append(f"a{len(anchors)}")
        return f"{key}{colon} &{anchors[-1]} {draw.choice(ODD_DATES)}{draw.choice(COMMENTS)}\n"
    value = draw.choice(forms)(draw)
    return f"{key}{colon}{value}"


def _scalar(draw: Draw) -> str:
    value = draw.choice((*ODD_DATES, *ODD_SCALARS, ""))
    return f" {value}{draw.choice(COMMENTS)}\n" if value else f"{draw.choice(COMMENTS)}\n"


def _quoted(draw: Draw) -> str:
    return f" {draw.choice(QUOTED)}{draw.choice(COMMENTS)}\n"


def _block(draw: Draw) -> str:
    head = draw.choice(("|", ">", "|-", ">-", "|2", "| # why"))
    lines = draw.choices(("one", "# no comment", "k0: no property", "", "  deeper", "a\tb"), k=3)
    body = "".join(f"  {line}\n" if line else "\n" for line in ("first", *lines, "last"))
    return f" {head}\n{body}"


def _flow(draw: Draw) -> str:
    inner = ", ".join(draw.choices(("a", '"b, c"', "'d'", "2024-02-30", "[x, y]", "7"), k=3))
    form = draw.choice(
        (f"[{inner}]", "[]", "{}", "{a: 1, 'b': \"x\"}", "[a,\n  b  # why\n  ]", "[ a , b ]")
    )
    return f" {form}{draw.choice(COMMENTS)}\n"


def _list(draw: Draw) -> str:
    indent = draw.choice(("", "  ", "    "))
    items = draw.choices(
        ("a", '"b"', "'c' # why", "2024-1-1", "[x]", "k: v\n{}  l: w", "x y", "", "k:"), k=3
    )
    lines = "".join(f"{indent}- {item.format(indent)}\n" for item in items)
    inside = f"{indent}# inside\n" if draw.random() < 0.3 else ""
    return f"{draw.choice(COMMENTS)}\n{inside}{lines}"


def _map(draw: Draw) -> str:
    indent = draw.choice(("  ", "    "))
    lines = (
        f"{indent}m: {draw.choice(QUOTED[:6])}\n{indent}# inside\n{indent}n:\n{indent}  o: [p]\n"
    )
    return f"{draw.choice(COMMENTS)}\n{lines}"


def _long(draw: Draw) -> str:
    return f" plain text\n  that goes on\n\n  here{draw.choice(COMMENTS[:5])}\n"


def _tags(draw: Draw) -> str:
    return draw.choice(
        (
            "tags: [a, 'b/c', \"d\"]  # why\n",
            "tags:\n  - a # why\n  - 'b/c'\n",
            "tags:\n- a\n# inside\n- b/c\n",
            "tags: a, b/c\n",
            "tags: a\n",
            "tags:\n",
            "tags: [] # none\n",
            "tags: ['#a']\n",
        )
    )
