"""The wording of all texts that users see: natural, short English, and no phrase that reads
translated. Each refused phrase has the words to write instead.
"""

import re
from pathlib import Path

import pytest

from stet.cli.neovim_config import OLD_KEYS
from tests.support.user_strings import user_strings

ROOT = Path(__file__).parents[1]
CLIENTS = ROOT / "client-configs"
SERVER = sorted((ROOT / "server" / "stet").rglob("*.py"))
SURFACES = {
    "server": [path for path in SERVER if path.parent.name != "cli"],
    "cli": [path for path in SERVER if path.parent.name == "cli"],
    "neovim": sorted(
        path for end in ("*.lua", "*.txt", "*.md") for path in (CLIENTS / "neovim").rglob(end)
    ),
    "emacs": [*sorted((CLIENTS / "emacs").glob("*.el")), CLIENTS / "emacs" / "README.md"],
    "vscode": [
        CLIENTS / "vscode" / "package.json",
        *sorted((CLIENTS / "vscode" / "src").rglob("*.ts")),
        CLIENTS / "vscode" / "README.md",
    ],
    "docs": [
        ROOT / "README.md",
        *sorted((ROOT / "docs").glob("*.md")),
        CLIENTS / "README.md",
        CLIENTS / "helix" / "README.md",
        CLIENTS / "opencode" / "README.md",
    ],
}
"""The sources of each surface."""
REFUSED = {
    # The command line
    r"say which stet\b": "Show the version and exit.",
    r"bring the search index up": "Update the search index.",
    r"how large it is": "its size",
    r"what becomes of": "what to do with",
    r"stays as it is, undecided": "3 hunks left pending.",
    r"\bat most so many\b": "the maximum number of",
    r"\bthe first it lists\b": "the first one listed",
    r"\bis yours already\b": "already exists",
    # Hunks and turns
    r"check whether that is meant": "the model gave no summary",
    r"does not apply now": "Conflict: you edited this text.",
    r"\ball that waits\b": "all pending hunks",
    r"\bwhat (?:still )?waits\b": "pending hunks",
    r"\bnothing waits\b": "no pending hunks",
    r"\bwaits no more\b": "was already answered",
    r"\bwhat is to be done\b": "Ask or instruct…",
    r"\bis to be (?:done|changed|shown|asked|written)\b": "must be, or an imperative",
    r"\bdo what the comment\b": "Run comment instruction",
    r"\bcancel (?:what runs|all that)\b": "Cancel running turns",
    r"\btell the running turn\b": "Steer the running turn",
    r"\banswer what is asked\b": "Answer the question",
    r"\bhave it (?:done|proposed|heard)\b": "Retry",
    r"\bput both in\b": "keep both",
    r"\btake the text of\b": "take the proposal",
    r"\bways? out\b": "options",
    r"\b(?:takes|take|brings|bring|taken|brought) it back\b": "undo, restore",
    r"\btaken back\b": "undone",
    r"\btake off\b": "detach",
    r"\bown yes\b|\byes of its own\b": "approve it separately",
    r"\bsaid yes\b": "approved, reported success",
    r"\bat work\b": "running",
    # Relations that other languages express by these words
    r"\banew\b": "again, from scratch",
    r"\bsay which\b": "be more specific",
    r"\bsay more precisely\b": "be more specific",
    r"\bin other words\b": "rephrase",
    r"\b(?:by words alone|search in words)\b": "words only; Search…",
    r"\bis none of\b|\bare none of\b": "is not one of",
    r"(?<!there )\b(?:is|are|was) no (?:valid|file|folder|name|conflict|hunk|number|object|address|"
    r"tag|list|text|json|yaml|markdown|chat|iso|glob|link|place|answer)\b": "is not a",
    r"\b(?<!text )stands? (?:in|at|there|here|below|above|before|between|twice)\b": "is, occurs",
    r"\bbehind (?:it|that|those|them|these|what|each|the (?:end|text|last))\b": "after",
    r"\bby now\b": "already, now",
    r"\bleads? to no file\b": "does not exist",
    r"\bleads? (?:out of|nowhere)\b": "is outside, is broken",
    r"\bat the most\b": "at most",
    r"\b(?:is|are) the most\b": "the maximum is",
    r"\bmend(?:s|ed)?\b": "fix",
    r"\bputs? it aside\b": "moves it to",
    r"\blets? go\b": "is released",
    r"\bholds? (?:nothing|a login|none of)\b": "is empty, contains",
    r"\bno more\.$": "no longer",
    r"\bsays? nothing\b|\bsaid nothing\b": "is empty, did not respond",
    r"\bwithout saying\b": "without",
    r"\banother one than\b": "not the same as",
    r"\bkeeps? (?:nothing|more) back\b|\bkeep more back\b": "excludes",
    r"\bkept from\b": "excluded from",
    r"\b(?:is|was|are|were) told\b|\btold of\b": "is sent, is informed of",
    r"\blook(?:ed|ing) for\b": "search, find, check",
    r"\bbegun\b": "started",
    r"\bwants? a (?:key|login|password)\b": "requires",
    r"\bknows? no\b": "has no",
    r"\btakes? no\b": "does not support, does not accept",
    r"\bfell silent\b": "stopped responding",
    r"\bbroke off\b|\bbroken off\b": "was cut off",
    r"\bas they were\b": "unchanged",
    r"\bgiven up\b": "aborted, timed out",
    r"\bcan't be told\b": "is ambiguous, is unknown",
    r"\bcarr(?:y|ies|ied) out\b": "run, apply",
    r"\bwhole path\b": "full path",
    r"\bmeanwhile\b": "in the meantime, since",
    r"\bexists (?:by now|already)\b|\bis there already\b": "already exists",
    r"\bfailed inside\b": "Internal error in Stet",
    r"\b(?:its|the) log (?:has|says)\b": "see its log",
    r"\bwhat was proposed\b": "proposals",
    r"\bwhat you selected\b": "the selection",
    r"\bcould not be looked at\b": "could not be checked",
    r"\bin the environment the editor starts in\b": "in the editor's environment",
    r"\bnot there (?:any more|yet)\b": "no longer exists, does not exist yet",
}
"""Patterns of refused phrases, in any case, with the words to write instead."""
ANY_REFUSED = re.compile("|".join(f"(?:{phrase})" for phrase in REFUSED), re.IGNORECASE)


def refused_phrases(path: Path) -> list[str]:
    """Return the texts of a file that hold a refused phrase, each with the phrase and its
    remedy.

    The descriptions of keys in files of earlier versions, which are read, are left out.
    """
    return [
        f"{path.name}: {found.group()!r}; write {words!r} in: {text[:200]}"
        for text in user_strings(path)
        if ANY_REFUSED.search(text) and text not in OLD_KEYS
        for phrase, words in REFUSED.items()
        if (found := re.search(phrase, text, re.IGNORECASE))
    ]


@pytest.mark.parametrize("surface", SURFACES)
def test_wording_has_no_refused_phrase(surface: str) -> None:
    assert [one for path in SURFACES[surface] for one in refused_phrases(path)] == []


def test_wording_of_each_surface_is_gathered() -> None:
    sizes = {
        name: sum(1 for p in paths for _ in user_strings(p)) for name, paths in SURFACES.items()
    }
    assert sizes["server"] > 2_000
    assert min(sizes.values()) > 50, sizes


def test_wording_list_is_long() -> None:
    assert len(REFUSED) >= 60


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("a.py", 'warn(f"Stet: {n} hunks. Say at " "the most two.")\n'),
        ("a.lua", "vim.notify('Two at the most.') -- a note\n"),
        ("a.el", '(message "Two at the most.") ; a note\n'),
        ("a.ts", "void show(`Two at the most.`); // a note\n"),
        ("package.json", '{"contributes": {"commands": [{"title": "Two at the most"}]}}'),
        ("a.md", "# Title\n\nTwo at the\nmost.\n"),
        ("stet.txt", "*stet*\n\nTwo at the\nmost.\n"),
    ],
)
def test_wording_finds_a_planted_phrase(tmp_path: Path, name: str, source: str) -> None:
    (tmp_path / name).write_text(source)
    [found] = refused_phrases(tmp_path / name)
    assert "'at most'" in found


def test_wording_ignores_docstrings_comments_and_code(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text('def f():\n    """Two at the most."""  # two at the most\n')
    (tmp_path / "a.lua").write_text("-- two at the most\n")
    (tmp_path / "a.md").write_text("Run `two at the most` here.\n\n```\ntwo at the most\n```\n")
    assert [one for path in tmp_path.iterdir() for one in refused_phrases(path)] == []
