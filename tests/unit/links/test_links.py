"""Links of notes: what is one, where exactly its target is, and what only looks like one."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from stet.links.links import find_links
from stet.text.masking import mask_markdown


def links_in(text: str) -> list[tuple[str, str]]:
    found = find_links(text, "note.md")
    assert [text[link.start : link.end] for link in found] == [link.written for link in found]
    return [(link.kind.value, link.written) for link in found]


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("[[Setup]]", "Setup"),
        ("[[Setup|how to]]", "Setup"),
        ("[[Setup#Install]]", "Setup"),
        ("[[Setup#^block1|x]]", "Setup"),
        ("[[ folder/Set up ]]", "folder/Set up"),
        ("| a | [[Setup\\|how]] |", "Setup"),
        ("a [[b [[Setup]]", "Setup"),
    ],
)
def test_a_wikilink_names_a_note(text: str, target: str) -> None:
    assert links_in(text) == [("wikilink", target)]


def test_an_embed_is_a_link_too() -> None:
    assert links_in("![[a.png|100]] ![[Note#Part]]") == [("embed", "a.png"), ("embed", "Note")]


def test_a_heading_of_the_same_note_is_no_link_to_a_file() -> None:
    assert links_in("[[#Install]] [[]] [[^b]]") == [("wikilink", "^b")]
    assert links_in("[a](#install) [b](?x) []()") == []


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("[t](a.md)", "a.md"),
        ("[t](a.md#part)", "a.md"),
        ('[t](a.md "title")', "a.md"),
        ("[t](a.md 'ti\\'tle')", "a.md"),
        ("[t]( a.md\n  (title) )", "a.md"),
        ("![t](img/a%20b.png)", "img/a%20b.png"),
        ("[t](a_(b).md)", "a_(b).md"),
        ("[t](a\\)b.md)", "a\\)b.md"),
        ("[a [b] c](d.md)", "d.md"),
        ("[`]`](d.md)", "d.md"),
        ("[x]: a.md 'title'", "a.md"),
        ("> [x]:\n>  a.md", "a.md"),
        ("<a class='x' href='a.md#y'>", "a.md"),
        ('<img\nsrc="a.png">', "a.png"),
    ],
)
def test_a_link_names_a_path(text: str, target: str) -> None:
    assert links_in(text) == [("markdown", target)]


def test_between_angle_brackets_spaces_are_allowed() -> None:
    assert links_in("[t](<a b.md#c>)\n\n[x]: <c d.md>") == [
        ("markdown-angle", "a b.md"),
        ("markdown-angle", "c d.md"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "[t](http://example.org/a.md)", "[t](mailto:a@b.c)", "[t](//host/a)", "<https://a.b>",
        "`[[a]]`", "\\[[a]]", "``x ` [t](a.md)``", "\\[t](a.md)", "a](b.md)", "[t] (a.md)", "[t](a b.md)",
        "[t](a.md", "[^1]: a.md", "<!-- [[a]] -->", "```\n[[a]]\n```", "~~~ md\n[t](a.md)\n~~~",
        "> ```\n> [[a]]\n> ```", "- ```\n  [[a]]\n  ```", "```\n[[a]]", "[t\n\nx](a.md)",
        "---\nx: [t](a.md)\n---\n",
    ],
)  # fmt: skip
def test_text_that_resembles_a_link_is_no_link(text: str) -> None:
    assert links_in(text) == []


def test_text_that_resembles_code_hides_no_link() -> None:
    assert links_in("a ` [[b]]\n\n` c") == [("wikilink", "b")]
    assert links_in("```a` [[b]]\n[[c]]") == [("wikilink", "b"), ("wikilink", "c")]
    assert links_in("\\`[[b]]\\`") == [("wikilink", "b")]
    assert links_in("~~~\n```\n~~~\n[[b]]") == [("wikilink", "b")]


@pytest.mark.parametrize(
    "text",
    [
        "Example:\n\n    See [[n]] and [x](n.md)\n", "    [[n]]", "# H\n\t[x](n.md)", ">     [[n]]",
        "a\r\n\r\n    [[n]]\r\n\r\n    ![](n.png)", "a\r\r    [[n]]", "- a\n\n      [[n]]",
        "-     [[n]]", "1. a\n\n   b\n\n       [[n]]", "---\na: b\n---\n\n    [[n]]\n",
        "\ufeffa\n\n    [x]: n.md", "a\n\n    <a href='n.md'>", "- a\n\nb\n\n    - [[n]]",
        "[^1]: a\n\nb\n\n    [[n]]",
    ],
)  # fmt: skip
def test_indented_code_holds_no_links(text: str) -> None:
    assert links_in(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "a\n    [[n]]", "- a\n\n    [[n]]", "- a\n    - b\n\n    [[n]]", "- a\n    - [[n]]",
        "1.  a\n\n    [[n]]", "> a\n    [[n]]", "- a\n\n    - b\n\n        - [[n]]",
        "```\n    x `\n```\n[[n]]", "    ```\n\n[[n]]", "    <!--\n\n[[n]]\n\n-->", "    `\n[[n]] `",
        "[^1]: a\n\n    [[n]]", "[^a-b]: a\nb\n\n    c\n\n    [[n]]",
    ],
)  # fmt: skip
def test_an_indented_line_of_a_list_a_paragraph_or_a_footnote_is_text(text: str) -> None:
    assert links_in(text) == [("wikilink", "n")]


def test_mdx_has_no_indented_code() -> None:
    assert [link.written for link in find_links("<Tab>\n\n    [[n]]\n</Tab>", "a.mdx")] == ["n"]


def test_front_matter_holds_wikilinks_only() -> None:
    text = '---\nup: "[[Home]]"\nx: [t](a.md)\n---\n[t](b.md)\n'
    assert links_in(text) == [("wikilink", "Home"), ("markdown", "b.md")]


PIECES = [
    "[t](a.md)", "![i](b.png)", "[x](<c d.md>)", "[n [o] p](e.md 'q')", "`", "``", "[", "]", "\\",
    " ", "\n", "\n\n", "text", "*", "[[", "(", ")", "\n- ", "\n> ", "\n```\n", "\n~~~\n",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES[:6] + PIECES[8:16]), max_size=12).map("".join))
def test_inline_links_are_those_of_a_parser(text: str) -> None:
    # A link can't hold another one for a parser; for us both name a file.
    expected = set()
    for token in MarkdownIt("commonmark").parse(text):
        for child in token.children or ():
            expected |= {str(v) for k, v in child.attrs.items() if k in ("href", "src")}
    found = {link.written.replace(" ", "%20") for link in find_links(text, "a.md")}
    assert expected <= found


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_a_mask_keeps_every_place(text: str) -> None:
    masked = mask_markdown(text)
    assert len(masked) == len(text)
    assert [c for c in masked if c == "\n"] == [c for c in text if c == "\n"]
    assert all(new in (old, " ") for old, new in zip(text, masked, strict=True))
    for link in find_links(text, "a.md"):
        assert text[link.start : link.end] == link.written


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        "[", "[[a", "[](", "` `` ", "<a ", "](", "[a]((", "<!--", "> ", "[a](<", "[a](b '",
        '[a](b "\n', "---\n", "[x]: <", "\\", "~~~\n",
        "    [[a\n\n", "-     [[a\n", "[^1]:\n\n    [[\n", "\t> [[a\n", "- - [[a",
    ],
)  # fmt: skip
def test_a_hostile_note_costs_no_more_than_its_length(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    start = time.process_time()
    find_links(text, "a.md")
    assert time.process_time() - start < 5


def test_a_file_without_links_has_none() -> None:
    assert find_links("[[a]]", "a.txt") == ()
    assert find_links("[[a]] " * 200_000, "a.md") == ()
