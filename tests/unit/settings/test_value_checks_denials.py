"""A denial that can't hold is refused with what to write; a project takes none back."""

import pytest

from stet.settings.layers import SettingsFile, merge_settings
from tests.support.settings_parsing import parse_settings


@pytest.mark.parametrize(
    ("entry", "remedy"),
    [
        ("", "it is empty"),
        ("  ", "it is empty"),
        ("/", "it is empty"),
        ("!", "it is empty"),
        ("# secrets", "it is a comment"),
        (" notes", "a blank stands before it"),
        ("file:///home/me", "write a path"),
        ("~/diary", "write the whole path"),
        ("C:\\secret", "write the path below it"),
        ("sub\\file.md", "write /"),
        ("./notes", "from the workspace down"),
        ("../other", "from the workspace down"),
        ("a//b", "write one /"),
        ("[abc", "never closed"),
        ("a\\", "ends in a backslash"),
        ("*.{key,pem}", "an entry for each"),
    ],
)
def test_deny_pattern_without_effect_is_reported_with_a_remedy(entry: str, remedy: str) -> None:
    parsed = parse_settings({"privacy": {"deny": [entry, "*.secret"]}})
    assert parsed.settings.privacy.deny == ("*.secret",)
    (problem,) = parsed.problems
    assert "keeps nothing back" in problem.message
    assert remedy in problem.message


@pytest.mark.parametrize(
    "entry",
    ["*.secret", "diary/", "/home/me/diary", "a/**/b", "[ab].md", "[]x]", "\\#x", "\\!x", "a b", "!a.md",
     "**/x", "{x}", ".env", "..x", "a\\ "],
)  # fmt: skip
def test_deny_pattern_of_an_ignore_file_is_applied(entry: str) -> None:
    parsed = parse_settings({"privacy": {"deny": [entry]}})
    assert (parsed.settings.privacy.deny, parsed.problems) == ((entry,), ())


@pytest.mark.parametrize(("section", "key"), [("privacy", "deny"), ("context", "excludedFolders")])
def test_project_cannot_lift_a_denial_of_the_user(section: str, key: str) -> None:
    project = SettingsFile("/ws/.stet.toml", f'[{section}]\n{key} = ["!vault", "more"]\n'.encode())
    layers = merge_settings(None, [{section: {key: ["vault"]}}], [project])
    kept = (
        layers.settings.privacy.deny
        if section == "privacy"
        else layers.settings.context.excluded_folders
    )
    assert kept == ("vault", "more")
    (problem,) = layers.problems
    assert "a project may only keep more back" in problem.message
