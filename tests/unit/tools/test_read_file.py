"""What the tools that read show, cut and refuse."""

from pathlib import Path

import pytest

from stet.search.word_search import SearchQuery, SearchResults
from stet.settings.values import PrivacySettings, Settings
from stet.system.system import System
from stet.tools.list_files import LIST_FILES
from stet.tools.read_file import MAX_CHARACTERS, READ_FILE
from stet.tools.search_workspace import SEARCH_WORKSPACE
from stet.workspace.grep_helper import MAX_HITS
from stet.workspace.snapshot import Snapshot
from stet.workspace.workspace import Workspace
from tests.support.agent_harness import make_tool_context, use
from tests.support.workspaces import make_workspace, open_document

FILES: dict[str, str | bytes] = {
    "/ws/a.py": "one\ntwo\nthree\n",
    "/ws/sub/b.md": "# B\n",
    "/ws/.env": "KEY=1\n",
    "/ws/.gitignore": "out/\n",
    "/ws/out/c.py": "c\n",
    "/ws/data.bin": b"\0\1",
    "/ws/empty.py": "",
    "/else/x.py": "x\n",
}


async def test_a_file_is_read_with_numbers_and_noted_as_shown() -> None:
    ctx = make_tool_context(make_workspace(FILES))
    assert await use(READ_FILE, ctx, file="a.py") == "     1\tone\n     2\ttwo\n     3\tthree\n"
    assert await use(READ_FILE, ctx, file="./a.py", start_line=2, end_line=2) == "     2\ttwo\n"
    assert ctx.reader.report.files_read == ["a.py"]
    shown = ctx.reader.shown.last("file:///ws/%61.py")
    assert shown is not None
    assert shown.text == "one\ntwo\nthree\n"
    assert ctx.proposer.rules.editable("file:///ws/%61.py")


async def test_read_file_returns_unsaved_text() -> None:
    ctx = make_tool_context(make_workspace(FILES, opened={"/ws/a.py": "unsaved\n"}))
    assert await use(READ_FILE, ctx, file="a.py") == "     1\tunsaved\n"


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ({"file": "empty.py"}, "empty.py is empty.\n"),
        ({"file": "a.py", "end_line": 99}, "     1\tone\n     2\ttwo\n     3\tthree\n"),
        (
            {"file": "a.py", "start_line": 4},
            "Error: 'a.py' has 3 lines; start_line 4 is past the end.",
        ),
        (
            {"file": "a.py", "start_line": 3, "end_line": 2},
            "Error: end_line 2 is before start_line 3.",
        ),
        ({"file": "none.py"}, "Error: There is no file 'none.py'."),
        ({"file": "sub"}, "Error: 'sub' is a folder or a device, not a file."),
        ({"file": "data.bin"}, "Error: 'data.bin' is not a text file."),
        ({"file": "../else/x.py"}, "Error: '../else/x.py'"),
        ({"file": "/else/x.py"}, "Error: 'x.py' is outside the workspace."),
        ({"file": ".env"}, "Error: '.env' looks like a secret"),
        ({"file": "out/c.py"}, "Error: 'out' is ignored by a .gitignore."),
    ],
)
async def test_read_file_reports_why_there_is_no_text(
    arguments: dict[str, object], answer: str
) -> None:
    ctx = make_tool_context(make_workspace(FILES))
    assert (await use(READ_FILE, ctx, **arguments)).startswith(answer)


async def test_a_long_file_is_cut_and_can_be_read_on_to_its_end() -> None:
    text = "".join(f"line {n}\n" for n in range(1, 2501))
    ctx = make_tool_context(make_workspace({"/ws/long.txt": text}))
    answer, seen, start = "", [], 1
    while True:
        answer = await use(READ_FILE, ctx, file="long.txt", start_line=start)
        *lines, last = answer.splitlines()
        if not last.startswith("(cut"):
            seen += [*lines, last]
            break
        seen += lines
        start = int(last.split("start_line=")[1].rstrip(")"))
    assert [line.split("\t")[1] for line in seen] == text.splitlines()


async def test_line_that_is_too_long_is_cut_with_a_notice() -> None:
    ctx = make_tool_context(
        make_workspace({"/ws/long.txt": "a\n" + "x" * (MAX_CHARACTERS + 1) + "\nb\n"})
    )
    first = await use(READ_FILE, ctx, file="long.txt")
    assert first == "     1\ta\n(cut: 2 more lines; read on with start_line=2)\n"
    second = await use(READ_FILE, ctx, file="long.txt", start_line=2)
    assert second.startswith(f"(Line 2 alone is longer than {MAX_CHARACTERS} characters")
    assert "start_line=3" in second
    assert await use(READ_FILE, ctx, file="long.txt", start_line=3) == "     3\tb\n"


async def test_files_are_listed_without_what_may_not_be_shown() -> None:
    ctx = make_tool_context(make_workspace(FILES))
    assert await use(LIST_FILES, ctx) == ".gitignore\na.py\nempty.py\nsub/b.md\n"
    assert await use(LIST_FILES, ctx, folder="sub") == "sub/b.md\n"
    assert await use(LIST_FILES, ctx, glob="**/*.py") == "a.py\nempty.py\n"


@pytest.mark.parametrize(
    ("glob", "listed"),
    [
        ("/ws/**/*.py", "a.py\nempty.py\n"),
        ("/ws/*.py", "a.py\nempty.py\n"),
        ("/ws/sub/*.md", "sub/b.md\n"),
        ("/ws/sub", "There are no files that match 'sub'.\n"),
        ("/ws/sub/", "sub/b.md\n"),
        ("/ws", ".gitignore\na.py\nempty.py\nsub/b.md\n"),
        ("/sub/*.md", "sub/b.md\n"),
        ("./sub/*.md", "sub/b.md\n"),
        ("sub/", "sub/b.md\n"),
        ("/wsx/*.py", "There are no files that match '*.py'.\n"),
    ],
)
async def test_a_pattern_may_begin_with_the_path_of_the_root(glob: str, listed: str) -> None:
    ctx = make_tool_context(make_workspace(FILES))
    assert await use(LIST_FILES, ctx, glob=glob) == listed


async def test_with_several_roots_a_pattern_with_a_path_is_below_that_root() -> None:
    files = {"/a/x/one.py": "", "/a/x/y/two.py": "", "/b/three.py": ""}
    ctx = make_tool_context(make_workspace(files, roots=("/a/x", "/b")))
    assert await use(LIST_FILES, ctx, glob="/a/x/**/*.py") == "x/one.py\nx/y/two.py\n"
    assert await use(LIST_FILES, ctx, glob="/b/*.py") == "b/three.py\n"


async def test_list_is_cut_at_the_given_limit() -> None:
    ctx = make_tool_context(make_workspace({f"/ws/f{n}.txt": "" for n in range(5)}))
    assert await use(LIST_FILES, ctx, limit=2) == (
        "f0.txt\nf1.txt\n(cut at 2; narrow it with folder or glob, or raise limit)\n"
    )
    assert "(cut" not in await use(LIST_FILES, ctx, limit=5)


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ({"glob": "*.rs"}, "There are no files that match '*.rs'.\n"),
        ({"folder": "none"}, "There are no files below 'none'.\n"),
        ({"folder": "/else"}, "Error: 'else' is outside the workspace."),
    ],
)
async def test_list_files_reports_why_there_are_no_files(
    arguments: dict[str, object], answer: str
) -> None:
    assert await use(LIST_FILES, make_tool_context(make_workspace(FILES)), **arguments) == answer


@pytest.fixture
def on_disk(tmp_path: Path) -> Workspace:
    for name, content in FILES.items():
        path = tmp_path / name.removeprefix("/ws/").removeprefix("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    workspace = Workspace(System(), Settings(privacy=PrivacySettings(deny=("else",))))
    workspace.add_root(tmp_path.as_uri())
    open_document(workspace, (tmp_path / "a.py").as_uri(), "one\nunsaved two\nKEY\n")
    return workspace


async def test_search_finds_words_and_patterns_in_unsaved_text(on_disk: Workspace) -> None:
    ctx = make_tool_context(on_disk, asked=None)
    found = await use(SEARCH_WORKSPACE, ctx, query="TWO unsaved one")
    assert found == "a.py:2: unsaved two\na.py:1: one\n"
    assert await use(SEARCH_WORKSPACE, ctx, query="^# .$", mode="regex") == "sub/b.md:1: # B\n"


async def test_search_sees_nothing_that_may_not_be_shown(on_disk: Workspace) -> None:
    ctx = make_tool_context(on_disk, asked=None)
    assert await use(SEARCH_WORKSPACE, ctx, query="KEY=1") == "a.py:3: KEY\n"
    exactly = await use(SEARCH_WORKSPACE, ctx, query="KEY=1", mode="keyword")
    assert exactly == "Nothing matches 'KEY=1'.\n"
    assert await use(SEARCH_WORKSPACE, ctx, query=r"^[cx]$", mode="regex") == (
        "Nothing matches '^[cx]$'.\n"
    )


async def test_search_that_matches_almost_everything_ends_early_with_a_notice(
    tmp_path: Path,
) -> None:
    real = Workspace(System())
    real.add_root(tmp_path.as_uri())
    for n in range(MAX_HITS // 20 + 1):
        (tmp_path / f"{n}.txt").write_text("x\n" * 20)
    result = await use(
        SEARCH_WORKSPACE, make_tool_context(real, asked=None), query="x", mode="regex"
    )
    assert f"(cut: {MAX_HITS - 40:} more lines;" in result
    assert result.endswith("(There is too much: not all was searched. Name a folder.)\n")


async def test_search_is_cut_at_the_given_limit_and_refuses_an_invalid_pattern(
    on_disk: Workspace,
) -> None:
    ctx = make_tool_context(on_disk, asked=None)
    cut = await use(SEARCH_WORKSPACE, ctx, query=".", mode="regex", limit=1)
    assert cut.splitlines()[1].startswith("(cut: ")
    bad = await use(SEARCH_WORKSPACE, ctx, query="(", mode="regex")
    assert bad.startswith("Error: The regular expression can't be read")
    huge = await use(SEARCH_WORKSPACE, ctx, query="a{99999999999}", mode="regex")
    assert huge.startswith("Error: The regular expression can't be read")
    outside = await use(SEARCH_WORKSPACE, ctx, query="x", folder="../..")
    assert outside.startswith("Error: ")


async def test_search_by_meaning_reports_that_it_ranked_by_words() -> None:
    ctx = make_tool_context(make_workspace(FILES))
    assert await use(SEARCH_WORKSPACE, ctx, query="two", mode="semantic") == (
        "a.py:2: two\n(Ranked by words: there is no index of meanings here. "
        "Try the words that the text itself would use.)\n"
    )
    assert await use(SEARCH_WORKSPACE, ctx, query="two") == "a.py:2: two\n"


async def test_search_results_are_escaped() -> None:
    ctx = make_tool_context(
        make_workspace({"/ws/x.txt": "word \x1b[8m\u202ehidden\r\n" + "word " * 100})
    )
    assert await use(SEARCH_WORKSPACE, ctx, query="hidden") == (
        "x.txt:1: word \\x1b[8m\\u202ehidden\n"
    )
    long = await use(SEARCH_WORKSPACE, ctx, query="word", mode="keyword")
    assert max(map(len, long.splitlines())) < 220


async def test_search_reports_how_to_see_the_rest() -> None:
    ctx = make_tool_context(make_workspace({f"/ws/{n}.txt": "word\n" for n in range(9)}))
    cut = await use(SEARCH_WORKSPACE, ctx, query="word", limit=2)
    assert cut.splitlines()[2] == (
        "(cut: 7 more lines; narrow the query or the folder, or raise limit)"
    )
    nothing = await use(SEARCH_WORKSPACE, ctx, query="nowhere", folder="none")
    assert nothing == "Nothing matches 'nowhere' below 'none'.\n"


class Half:
    """A searcher whose index is still being built."""

    async def search(self, snapshot: Snapshot, query: SearchQuery) -> SearchResults:
        return SearchResults((), used_vectors=True, n_files_so_far=1200)


async def test_search_reports_that_the_index_is_being_built() -> None:
    ctx = make_tool_context(make_workspace(FILES))
    ctx.searcher = Half()
    assert await use(SEARCH_WORKSPACE, ctx, query="two") == (
        "Nothing matches 'two'.\n"
        "(The index is still being built: 1,200 files so far. What is not found may be in another: ask"
        " again later, or use regex, which reads all of them.)\n"
    )
