"""What a note says of itself: tags, tasks, headings."""

from time import thread_time

import pytest

from stet.notes.note_content import NoteTask, tags_in, tasks_in
from stet.outline.headings import MAX_LINES, MAX_PIPES, NoteHeading, headings_in

NOTE = """---
tags: [Project/alpha, plan]
---
# Title #head

Text #inline, (#paren) and#not `#code` \\#escaped [#12](x.md) #123 #fr\u00fch
[[Note#Heading]] https://x.y/#frag <!-- #comment -->
#line-start

```
#fenced
- [ ] fenced
```

    #indented

- [ ] open one
- [x] done **one**
  1. [X] nested
- [] none
- [y] none
* [ ]

Second
------
"""


def test_tags_are_found_in_text_and_front_matter_only() -> None:
    assert tags_in(NOTE) == (
        "Project/alpha",
        "plan",
        "head",
        "inline",
        "paren",
        "fr\u00fch",
        "line-start",
    )


def test_tasks_are_items_of_lists_with_a_box() -> None:
    assert tasks_in(NOTE) == (
        NoteTask(17, is_done=False, text="open one"),
        NoteTask(18, is_done=True, text="done **one**"),
        NoteTask(19, is_done=True, text="nested"),
        NoteTask(22, is_done=False, text=""),
    )


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_are_counted_whatever_ends_them(end: str) -> None:
    note = NOTE.replace("\n", end)
    assert headings_in(note) == (NoteHeading(4, 1, "Title #head"), NoteHeading(24, 2, "Second"))
    assert [task.line for task in tasks_in(note)] == [17, 18, 19, 22]
    assert tags_in(note) == tags_in(NOTE)
    assert headings_in(f"a{end}{end}# B{end}") == (NoteHeading(3, 1, "B"),)


def test_an_old_line_end_counts_too() -> None:
    assert tasks_in("# A\r\r- [ ] b\r") == (NoteTask(3, is_done=False, text="b"),)


@pytest.mark.parametrize(
    ("front", "tags"),
    [
        ("tags: a, b c", ("a", "b", "c")),
        ("tag: '#one'", ("one",)),
        ("Tags:\n  - x\n  - 7", ("x", "7")),
        ("tags:", ()),
        ("tags: [open", ()),
        ("title: tags", ()),
    ],
)
def test_front_matter_names_tags_in_any_of_its_ways(front: str, tags: tuple[str, ...]) -> None:
    assert tags_in(f"---\n{front}\n---\ntext\n") == tags


def test_text_or_line_that_is_too_long_has_no_tags() -> None:
    assert tags_in("#a\n" * 400_000) == ()
    assert tags_in("x " * 20_000 + "#a\n\n#b") == ("b",)


@pytest.mark.slow
def test_note_with_too_many_lines_is_not_read() -> None:
    assert len(headings_in("# a\n" * MAX_LINES)) == MAX_LINES
    assert headings_in("# a\n" * (MAX_LINES + 1)) == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "|" * 1000 + "\n" + "|-" * 999 + "|\n" + ("|" * 1000 + "\n") * 900,
        ("#tag [" * 3300 + "\n\n") * 45,
        "- [ ] #a\n" * 100_000,
    ],
    ids=["table", "brackets", "tasks"],
)
def test_hostile_note_is_read_fast(text: str) -> None:
    started = thread_time()
    _ = tags_in(text), tasks_in(text), headings_in(text)
    assert thread_time() - started < 2  # it was 4 s and more than a minute


def test_tags_are_written_in_any_script() -> None:
    text = "#cafe\u0301 #\u65e5\u672c\u8a9e\u3002 #\U0001f389/party, #\u0939\u093f\u0902\u0926\u0940. (#\u2764\ufe0f) #a's"
    assert tags_in(text) == (
        "cafe\u0301",
        "\u65e5\u672c\u8a9e",
        "\U0001f389/party",
        "\u0939\u093f\u0902\u0926\u0940",
        "\u2764\ufe0f",
        "a",
    )


def test_tags_are_found_in_tables_however_large() -> None:
    small = "|a|\n|-|\n| #one |\n"
    assert tags_in(small) == ("one",)
    assert tags_in(f"{small}\n{'|' * MAX_PIPES}") == ("one",)
