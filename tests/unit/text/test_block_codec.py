"""Blocks in a text: written, found and skipped, whatever is around and in them."""

import json
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stet.text.block_codec import (
    BlockForm,
    InlineBlock,
    find_blocks,
    form_for,
    has_leftovers,
    render_block,
)
from stet.text.diff import diff_lines
from stet.text.document import TextDocument
from stet.text.lines import split_lines
from stet.text.stripped_document import strip_blocks
from tests.support.naive_text import NASTY

PIECES = [
    *[piece for piece in NASTY if piece not in {"\r", "\ude00"}],  # two halves make one character
    "<<<<<<< yours\n",
    "<<<<<<<< yours\n",
    "=======\n",
    "========\r\n",
    ">>>>>>> stet h1 (s)\n",
    ">>>>>>> branch\n",
    "||||||| base\n",
    "```\n",
    "````ai-edit\n",
    "```ai-edit\n",
    '{"id":"h1","type":"add","before":"","after":"x"}\n',
    "#ai_edit\n",
    "#ai_edit",
    "    indented\n",
    "\n",
    "\r\n",
]
texts = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


def document(text: str, name: str = "a.py") -> TextDocument:
    return TextDocument(f"file:///ws/{name}", text)


def with_blocks(old: TextDocument, new: str) -> tuple[str, dict[str, tuple[str, str]]] | None:
    """`old` with every hunk that leads to `new` as a block; ids no text of `PIECES` holds."""
    lines = list(old.lines)
    changes = {}
    for nth, hunk in reversed(list(enumerate(diff_lines(old.lines, split_lines(new))))):
        end = hunk.old_start + len(hunk.old)
        before, after = "".join(hunk.old), "".join(hunk.new)
        block = render_block(f"k{nth}", before, after, form_for(old, end, after), "why")
        if block is None:
            return None
        lines[hunk.old_start : end] = [block]
        changes[f"k{nth}"] = (before, after)
    return "".join(lines), dict(sorted(changes.items()))


@pytest.mark.slow
@given(old=texts, new=texts, name=st.sampled_from(["a.md", "a.py"]))
@example(old="a\nlast", new="a\nlast\n", name="a.py")
@example(old="a\nlast\n", new="a\nlast", name="a.py")
@example(old="x\n\ny", new="x\n\n\ny", name="a.md")
@example(old="x\n", new="x\r\n", name="a.md")
@example(old="", new="\n", name="a.md")
@settings(max_examples=500, deadline=None)
def test_blocks_are_found_as_they_were_written_and_read_past_to_the_byte(
    old: str, new: str, name: str
) -> None:
    blocked = with_blocks(document(old, name), new)
    if blocked is None:
        assert re.search("\r(?!\n)", old + new)
        return
    text, changes = blocked
    found = find_blocks(split_lines(text), set(changes))
    assert {b.id: (b.before, b.after) for b in found} == dict(changes)
    stripped = strip_blocks(document(text, name), set(changes))
    assert (stripped.plain.text if stripped else text) == old
    lines = split_lines(text)
    for block in reversed(found):
        lines[block.first : block.end] = [block.after]
    assert "".join(lines) == new


@given(old=texts, new=texts, name=st.sampled_from(["a.md", "a.py"]))
@settings(max_examples=200, deadline=None)
def test_a_text_in_bare_carriage_returns_is_read_back_too(old: str, new: str, name: str) -> None:
    old, new = ((re.sub("\r\n|\n", "\r", text)) for text in (old, new))
    blocked = with_blocks(document(old, name), new)
    assert blocked is not None
    text, changes = blocked
    found = find_blocks(split_lines(text), set(changes))
    assert {b.id: (b.before, b.after) for b in found} == changes
    assert "\n" not in text or "\r" not in old


@given(text=texts, id_=st.sampled_from(["h1", "zz"]))
@settings(max_examples=300, deadline=None)
def test_a_search_never_fails_and_finds_no_block_of_another(text: str, id_: str) -> None:
    lines = split_lines(text)
    found = find_blocks(lines, {id_})
    assert all(block.id == id_ for block in found)
    assert all(0 <= b.first < b.end <= len(lines) for b in found)
    assert id_ == "h1" or found == ()


def test_a_note_gets_the_block_that_other_tools_know() -> None:
    note = document("# A\nold words\nend\n", "a.md")
    assert render_block("h12", "old words\n", "new `words`\n", form_for(note, 2, "")) == (
        "```ai-edit\n"
        '{"id":"h12","type":"replace","before":"old words","after":"new `words`"}\n'
        "```\n"
        "#ai_edit\n"
    )


def test_a_source_file_gets_conflict_markers_with_the_code_as_it_is() -> None:
    code = document("def f():\r\n    return 1\r\n", "a.py")
    block = render_block(
        "h3", "    return 1\r\n", "    return 2\r\n", form_for(code, 2, ""), "Return two\nnot one"
    )
    assert block == (
        "<<<<<<< yours\r\n"
        "    return 1\r\n"
        "=======\r\n"
        "    return 2\r\n"
        ">>>>>>> stet h3 (Return two not one)\r\n"
    )


def test_fence_and_markers_are_longer_than_any_inside() -> None:
    fenced = render_block(
        "h1", "````\n", "x\n", BlockForm(is_fence=True, line_end="\n", at_end=False)
    )
    marked = render_block(
        "h1", "=======\n", "x\n", BlockForm(is_fence=False, line_end="\n", at_end=False)
    )
    assert fenced is not None
    assert marked is not None
    assert fenced.startswith("`````ai-edit\n")
    assert marked.splitlines() == ["<<<<<<<< yours", "=======", "========", "x", ">>>>>>>> stet h1"]


def test_what_would_act_or_hide_in_a_note_is_escaped() -> None:
    form = BlockForm(is_fence=True, line_end="\n", at_end=False)
    block = render_block("h1", "a\u202eb\ud800\u2028\n", "é\n", form)
    assert block is not None
    assert r"a\u202eb\ud800\u2028" in block
    assert "é" in block
    assert find_blocks(split_lines(block), {"h1"})[0].before == "a\u202eb\ud800\u2028\n"


@pytest.mark.parametrize("name", ["a.md", "a.py"])
def test_a_change_of_line_ends_alone_has_no_block_where_text_follows(name: str) -> None:
    page = document("a\rb\nc\n", name)
    assert render_block("h1", "a\r", "a\n", form_for(page, 1, "")) is None


def test_markdown_is_detected_by_name_or_language_id() -> None:
    assert form_for(document("", "A.MD"), 0, "").is_fence
    assert form_for(TextDocument("untitled:1", "", language_id="markdown"), 0, "").is_fence
    assert not form_for(document("", "md"), 0, "").is_fence


MARKED = "a\n<<<<<<< yours\nold\n=======\nnew\n>>>>>>> stet h1 (s)\nz\n"
FENCED = (
    'a\n```ai-edit\n{"id":"h1","type":"replace","before":"old","after":"new"}\n```\n#ai_edit\nz\n'
)


@pytest.mark.parametrize("text", [MARKED, FENCED])
def test_blocks_of_ids_that_are_not_known_are_text(text: str) -> None:
    assert find_blocks(split_lines(text), {"h2"}) == ()
    assert strip_blocks(document(text), {"h2"}) is None


def test_a_conflict_of_the_users_own_is_text_and_one_of_ours_within_it_is_found() -> None:
    text = f"<<<<<<< HEAD\nmine\n{MARKED}=======\ntheirs\n>>>>>>> branch\n"
    assert find_blocks(split_lines(text), {"h1"}) == (InlineBlock("h1", 3, 8, "old\n", "new\n"),)
    stripped = strip_blocks(document(text), {"h1"})
    assert stripped is not None
    assert stripped.plain.text == (
        "<<<<<<< HEAD\nmine\na\nold\nz\n=======\ntheirs\n>>>>>>> branch\n"
    )


@pytest.mark.parametrize(
    ("edited", "before", "after"),
    [
        (MARKED.replace("new\n", "new\nand more\n"), "old\n", "new\nand more\n"),
        (MARKED.replace("new\n", ""), "old\n", ""),
        (MARKED.replace("old\n", "old, mine\n"), "old, mine\n", "new\n"),
        (FENCED.replace('"new"', '"new\\nand more"'), "old\n", "new\nand more\n"),
        (FENCED.replace(',"before"', ' ,\n  "before"'), "old\n", "new\n"),
        (FENCED.replace("```\n#", "```\n\n#"), "old\n", "new\n"),
        (FENCED.replace("#ai_edit\n", ""), "old\n", "new\n"),
        (FENCED.replace("```\n", "```  \n"), "old\n", "new\n"),
    ],
)
def test_what_the_user_wrote_inside_is_an_amendment(edited: str, before: str, after: str) -> None:
    [block] = find_blocks(split_lines(edited), {"h1"})
    assert (block.id, block.before, block.after) == ("h1", before, after)


@pytest.mark.parametrize(
    "damaged",
    [
        MARKED.replace("<<<<<<< yours\n", ""),
        MARKED.replace("=======\n", ""),
        MARKED.replace("new\n", "=======\nnew\n"),
        MARKED.replace("<<<<<<< yours\n", "<<<<<<<< yours\n"),
        MARKED.replace("new\n", "<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> b\n"),
        FENCED.replace("```ai-edit\n", ""),
        FENCED.replace('"before"', '"before'),
        FENCED.replace('"old"', "7"),
        FENCED.replace("```\n#ai_edit\nz\n", ""),
        FENCED.replace("```\n", "``\n"),
        FENCED.replace("```ai-edit", "  ```ai-edit"),
    ],
)
def test_a_half_deleted_block_is_never_misread(damaged: str) -> None:
    assert find_blocks(split_lines(damaged), {"h1"}) == ()
    assert strip_blocks(document(damaged), {"h1"}) is None


def test_json_made_to_exhaust_the_parser_is_no_block() -> None:
    deep = "[" * 100_000
    text = f'```ai-edit\n{{"id":"h1","x":{deep}\n```\n'
    assert find_blocks(split_lines(text), {"h1"}) == ()


@pytest.mark.parametrize("text", [MARKED, FENCED])
def test_lines_that_still_hold_a_part_of_a_block_are_unfinished(text: str) -> None:
    lines = split_lines(text)[1:-2]
    for count in range(1, len(lines)):
        rest = lines[count:]
        has_mark = any(line not in {"new\n", "```\n"} for line in rest)
        assert has_leftovers(rest, "old\n", "new\n") is has_mark
    assert not has_leftovers(["old\n"], "old\n", "new\n")
    assert not has_leftovers(["=======\n"], "=======\n", "new\n")


def test_the_final_line_end_of_a_text_is_that_of_its_last_block() -> None:
    blocked = with_blocks(document("a\nlast", "a.md"), "a\nlast\n\nmore")
    assert blocked is not None
    text, _ = blocked
    assert text.endswith("#ai_edit")
    assert json.loads(text.splitlines()[2])["after"] == "last\n\nmore"
    # Some editors end every file with a line end; then it is the user's, whatever is decided.
    assert find_blocks(split_lines(text + "\n"), {"k0"})[0].before == "last\n"
