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
        (" notes", "it has a leading space"),
        ("file:///home/me", "use a path"),
        ("~/diary", "use the full path"),
        ("C:\\secret", "use the path below the drive"),
        ("sub\\file.md", "use /"),
        ("./notes", "relative to the workspace"),
        ("../other", "relative to the workspace"),
        ("a//b", "use a single /"),
        ("[abc", "is not closed"),
        ("a\\", "ends with a backslash"),
        ("*.{key,pem}", "one entry for each"),
    ],
)
def test_deny_pattern_without_effect_is_reported_with_a_remedy(entry: str, remedy: str) -> None:
    parsed = parse_settings({"privacy": {"deny": [entry, "*.secret"]}})
    assert parsed.settings.privacy.deny == ("*.secret",)
    (problem,) = parsed.problems
    assert "excludes nothing" in problem.message
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
    assert "a project can only exclude more files" in problem.message
