"""What proposals look like in a shell."""

from rich.console import Console

from stet.cli.terminal import coloured, hunk_diff
from stet.text.encoding import Encoding

TEXT = "def f():\n    return 1\n"


def proposal(start: tuple[int, int], end: tuple[int, int], new: str) -> dict[str, object]:
    return {
        "range": {
            "start": {"line": start[0], "character": start[1]},
            "end": {"line": end[0], "character": end[1]},
        },
        "new": new,
    }


def test_a_hunk_is_shown_as_a_unified_diff_with_its_context() -> None:
    hunk = proposal((1, 0), (1, 0), '    """One."""\n')
    assert hunk_diff(hunk, TEXT, "f.py", Encoding.UTF32) == (
        '--- f.py\n+++ f.py\n@@ -1,2 +1,3 @@\n def f():\n+    """One."""\n     return 1\n'
    )


def test_a_file_that_is_not_there_yet_is_all_new() -> None:
    new = {"old": "", "new": "a\nb", **proposal((0, 0), (0, 0), "a\nb")}
    assert hunk_diff(new, None, "n", Encoding.UTF16) == (
        "--- n\n+++ n\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n"
    )


def test_columns_count_in_the_negotiated_encoding() -> None:
    hunk = proposal((0, 2), (0, 3), "y")
    assert "+🎉y\n" in hunk_diff(hunk, "🎉x\n", "f", Encoding.UTF16)


def test_a_diff_in_colour_acts_on_nothing_and_reads_the_same_without() -> None:
    diff = "--- a\n+++ a\n@@ -1 +1 @@\n-[bold]x\x1b[8m\n+y\r\n"
    shown = coloured(diff)
    assert shown.plain == "--- a\n+++ a\n@@ -1 +1 @@\n-[bold]x\\x1b[8m\n+y"
    plain = Console(no_color=True, force_terminal=False, width=40)
    with plain.capture() as captured:
        plain.print(shown)
    assert captured.get() == f"{shown.plain}\n"
