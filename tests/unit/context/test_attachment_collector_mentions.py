"""What a question names with `@` is attached to it."""

import pytest

from stet.context.attachment_collector import MAX_MENTIONS, parse_mentions
from stet.context.context_builder import EditorLocation, build_context
from stet.settings.values import ContextSettings, PrivacySettings, Settings
from stet.text.position import Position, Range
from stet.workspace.uris import canonical
from tests.support.workspaces import make_workspace, uri_at

FILES = {
    "/ws/a.py": "a = 1\n",
    "/ws/my notes/old draft.md": "# Draft\n",
    "/ws/docs/b.md": "b\n" * 30,
    "/ws/docs/sub/c.md": "c\n",
    "/ws/Makefile": "all:\n",
    "/ws/.env": "KEY=1\n",
}


def attached_by(
    prompt: str, settings: Settings | None = None, lines: int = 0
) -> tuple[str, list[str]]:
    """The section of what is mentioned, and the files that the model is shown."""
    world = make_workspace(FILES, opened={"/ws/open.py": "one\ntwo\n"}, settings=settings)
    selected = Range(Position(0, 0), Position(lines, 0)) if lines else None
    context = build_context(
        world.snapshot(), EditorLocation(uri_at("/ws/open.py"), selected), prompt
    )
    text = next((part.text for part in context.sections if part.name == "mentioned"), "")
    names = [world.snapshot().name_of(document.uri) for document in context.shown]
    assert [f"({problem})" in text for problem in context.problems] == [True] * len(
        context.problems
    )
    return text, names


@pytest.mark.parametrize(
    ("prompt", "found"),
    [
        ("@a.py", {"a.py": True}),
        ("see @src/a.py, @b.py. And (@c.md)!", {"src/a.py": True, "b.py": True, "c.md": True}),
        ('with @"my notes/old draft.md" too', {"my notes/old draft.md": True}),
        ("@docs/ and @docs/ again", {"docs/": True}),
        ("add @property to x", {"property": False}),
        ("write to me@example.org or `@decorator`", {}),
        ("@ @@ @.", {}),
        ("é\n@ä/ö.md\n", {"ä/ö.md": True}),
    ],
)  # fmt: skip
def test_mentions_begin_a_word(prompt: str, found: dict[str, bool]) -> None:
    assert parse_mentions(prompt) == found


def test_a_mentioned_file_is_attached_whole_and_counts_as_shown() -> None:
    text, names = attached_by('Compare @a.py, @"my notes/old draft.md", @docs/b.md and @Makefile.')
    assert names == ["open.py", "a.py", "my notes/old draft.md", "docs/b.md", "Makefile"]
    assert '<file_contents path="a.py" mtime="' in text
    assert 'lines="1-30" total_lines="30"' in text
    assert text.startswith("<mentioned>\n")


def test_a_folder_is_listed_and_the_heads_of_its_files_are_attached() -> None:
    text, names = attached_by("What is in @docs/?", Settings(context=ContextSettings(max_files=1)))
    assert names == ["open.py", "docs/b.md"]
    assert 'lines="1-20" total_lines="30"' in text
    assert '<folder_contents path="docs">\ndocs/b.md\ndocs/sub/c.md\n</folder_contents>' in text


def test_missing_file_is_reported_without_an_error() -> None:
    text, names = attached_by("Use @nope.py and @../out.md and @property, @selection")
    assert names == ["open.py"]
    assert "(@nope.py: There is no file 'nope.py'.)" in text
    assert "(@../out.md: '../out.md' contains `..`" in text
    assert "(@selection: nothing is selected.)" in text
    assert "property" not in text


def test_the_privacy_filter_decides() -> None:
    text, names = attached_by(
        "Read @.env and @a.py", Settings(privacy=PrivacySettings(deny=("a.py",)))
    )
    assert names == ["open.py"]
    assert "KEY" not in text
    assert text.count("(@") == 2


def test_selection_and_current_file_are_not_attached_twice() -> None:
    assert attached_by("Explain @selection of @open.py", lines=1)[0] == ""


def test_mentions_are_limited() -> None:
    text, names = attached_by(" ".join(f"@f{n}.py" for n in range(MAX_MENTIONS + 1)))
    assert f"Only the first {MAX_MENTIONS} of {MAX_MENTIONS + 1} mentions are attached." in text
    assert names == ["open.py"]


def test_a_mentioned_file_that_is_open_too_is_attached_once() -> None:
    world = make_workspace(FILES, opened={"/ws/a.py": "new\n", "/ws/b.py": ""})
    context = build_context(world.snapshot(), EditorLocation(uri_at("/ws/b.py")), "Fix @a.py")
    assert "attached_files" not in [section.name for section in context.sections]
    assert [canonical(one.uri) for one in context.shown].count("file:///ws/a.py") == 1
    assert "new\n" in context.text
