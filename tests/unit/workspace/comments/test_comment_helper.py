"""Finding comments in texts of any language."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stet.system.system import System
from stet.text.ai_comments import AiComment, Marker
from stet.text.document import TextDocument
from stet.workspace.comments.comment_finder import (
    MAX_CHARACTERS,
    CommentsUnreadable,
    read_ai_comments,
)
from stet.workspace.comments.comment_helper import (
    comments_by_grammar,
    comments_by_sign,
    comments_of,
    comments_of_markdown,
)
from stet.workspace.comments.lexer_comments import comments_by_lexer

WILD = st.lists(
    st.sampled_from(
        ["#", "//", "/*", "*/", "<!--", "-->", "--", "'", '"', "`", "```", "~~~", "AI!", " ", "\n",
         "\r\n", "\r", "x", "é", "\U0001f600", "\ud800", "\0", "\\", "{", "}", "<script>"]
    ),
    max_size=40,
).map("".join)  # fmt: skip
NAMES = ["python", "javascript", "typescriptreact", "rust", "html", "php", "sql", "markdown", "odd"]


def shown(text: str, spans: list[tuple[int, int]] | None) -> list[str] | None:
    return None if spans is None else [text[start:end].rstrip() for start, end in spans]


PYTHON = 's = "# no"  # yes\n"""\n# no\n"""\n# é \U0001f600 yes\n'


def test_grammar_and_lexer_distinguish_comments_from_strings() -> None:
    wanted = ["# yes", "# é \U0001f600 yes"]
    assert shown(PYTHON, comments_by_grammar(PYTHON, "python")) == wanted
    assert shown(PYTHON, comments_by_lexer(PYTHON, "python", "a")) == wanted
    assert shown(PYTHON, comments_by_lexer(PYTHON, "", "a.py")) == wanted


def test_language_without_grammar_and_lexer_is_reported() -> None:
    for language in ("oddlang", "", "html", "../python", "os.path"):
        assert comments_by_grammar("# x\n", language) is None
    for language, name in (("oddlang", "a.odd"), ("", "a"), ("plaintext", "a.txt"), ("", "")):
        assert comments_by_lexer("# x\n", language, name) is None


def test_lexer_keeps_line_ends() -> None:
    text = "x = 1 # a\r\n# b\r# c\n"
    assert shown(text, comments_by_lexer(text, "ruby", "a")) == ["# a", "# b", "# c"]


def test_an_include_and_a_hashbang_are_no_comments() -> None:
    text = "#include <a.h> // x\n"
    assert shown(text, comments_by_lexer(text, "c", "a")) == ["// x"]
    assert shown("#!/bin/sh\n# x\n", comments_by_lexer("#!/bin/sh\n# x\n", "bash", "a")) == ["# x"]


def test_comment_signs_are_recognised_at_the_beginning_or_after_white_space_outside_quotes() -> (
    None
):
    text = "# a\nx '# no' # b\nhttp://no\nrun --no\ndon't # c\n/* d\n e */ f\n<!-- g\n -->\n; h\n"
    assert shown(text, comments_by_sign(text)) == [
        "# a", "# b", "# c", "/* d\n e */", "<!-- g\n -->", "; h",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "# no\n<!-- a -->\nb <!-- c\nd -->e<!-- f -->\n",
            ["<!-- a -->", "<!-- c\nd -->", "<!-- f -->"],
        ),
        ("```\n<!-- no -->\n```\n<!-- a -->\n", ["<!-- a -->"]),
        ("~~~~ x\n```\n<!-- no -->\n~~~~\n<!-- a -->\n", ["<!-- a -->"]),
        ("- ```\n  <!-- no -->\n  ```\n\n<!-- a -->\n", ["<!-- a -->"]),
        ("`<!-- no -->` ``a ` <!-- no -->`` <!-- a -->\n", ["<!-- a -->"]),
        ("a ` b <!-- a -->\n", ["<!-- a -->"]),
        ("<!-- no\n", []),
        ("<!-- a\n```\nb -->\n```\n<!-- no -->\n```\n", ["<!-- a\n```\nb -->"]),
    ],
)
def test_in_markdown_comments_of_html_outside_of_code_count(text: str, wanted: list[str]) -> None:
    assert shown(text, comments_of_markdown(text)) == wanted


@pytest.mark.slow
@given(WILD, st.sampled_from(NAMES))
@settings(deadline=None, max_examples=150)
def test_any_text_is_read_and_comments_are_in_order(text: str, language: str) -> None:
    end = 0
    for start, stop in comments_of(text, language, "a.odd"):
        assert end <= start < stop <= len(text)
        end = stop


@given(WILD)
@settings(deadline=None, max_examples=100)
def test_grammar_and_lexer_agree_about_a_comment_that_follows_a_line(text: str) -> None:
    plain = "".join(one for one in text if one not in "'\"`/*<>-#\\{}\0\ud800")
    whole = f"x = 1\n# {plain.splitlines()[0] if plain.splitlines() else ''} end\n"
    by_grammar = shown(whole, comments_by_grammar(whole, "python"))
    assert by_grammar == shown(whole, comments_by_lexer(whole, "python", "a"))


async def test_instructions_are_found_by_a_process_of_its_own() -> None:
    document = TextDocument("file:///w/a.py", "x = 1  # double it AI!\n", 1, "python")
    assert await read_ai_comments(document, "a.py", System()) == (
        AiComment(Marker.DO, "double it", 7, 22),
    )
    by_name = TextDocument("file:///w/a.py", "x = '# no AI!'\n", 1, "")
    assert await read_ai_comments(by_name, "a.py", System()) == ()


async def test_a_text_that_is_too_long_is_not_read() -> None:
    document = TextDocument("file:///w/a.py", "x" * (MAX_CHARACTERS + 1), 1, "python")
    with pytest.raises(CommentsUnreadable, match="characters; comments are only found"):
        await read_ai_comments(document, "a.py", System())


async def test_a_text_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stet.workspace.comments.comment_finder.SECONDS", 0.0)
    document = TextDocument("file:///w/a.py", "# do it AI!\n", 1, "python")
    with pytest.raises(CommentsUnreadable, match="took more than"):
        await read_ai_comments(document, "a.py", System())


def test_the_process_imports_nothing_of_the_folder_it_runs_in(tmp_path: Path) -> None:
    for name in ("tree_sitter_odd", "pygments", "stet"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('taken over')\n")
    task = json.dumps({"text": "# do it AI!\n", "language": "odd", "name": "a.odd"})
    ran = subprocess.run(
        [sys.executable, "-I", "-m", "stet.workspace.comments.comment_helper"],
        input=task.encode(),
        capture_output=True,
        cwd=tmp_path,
        check=True,
    )
    assert (json.loads(ran.stdout), ran.stderr) == ([["AI!", "do it", 0, 11]], b"")
