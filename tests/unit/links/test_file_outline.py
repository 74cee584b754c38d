"""What files are made of."""

from stet.links.file_outline import OutlineEntry, outline_file
from stet.text.document import TextDocument


def test_headings_of_a_note_lie_in_each_other() -> None:
    document = TextDocument("file:///a.md", "# A\n\n```\n# no\n```\n\n### C\n\nB\n---\n")
    assert outline_file(document, "a.md") == (
        OutlineEntry(1, 0, "# A"),
        OutlineEntry(7, 2, "### C"),
        OutlineEntry(9, 1, "## B"),
    )


def test_definitions_of_code_lie_in_each_other_and_those_in_strings_are_none() -> None:
    text = '"""\ndef no(): ...\n"""\nclass A:\n    def run(self):\n        def inner(): ...\n\n    x = 1\n\ndef main() -> None:\n    A()\n'
    assert outline_file(TextDocument("file:///a.py", text), "a.py") == (
        OutlineEntry(4, 0, "class A:"),
        OutlineEntry(5, 1, "def run(self):"),
        OutlineEntry(6, 2, "def inner(): ..."),
        OutlineEntry(10, 0, "def main() -> None:"),
    )


def test_outline_of_an_unknown_language_follows_the_indentation() -> None:
    document = TextDocument("file:///a.zig", "pub fn main() void {\n}\n")
    assert outline_file(document, "a.zig") == (OutlineEntry(1, 0, "pub fn main() void {"),)
    assert outline_file(TextDocument("file:///a.txt", "just words\n"), "a.txt") == ()
