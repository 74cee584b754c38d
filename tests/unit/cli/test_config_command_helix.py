"""`languages.toml` for Helix: what it comes with is kept, what the user wrote too, and Stet is the
last.
"""

import tomllib
from pathlib import Path

import pytest

from stet.cli.config_command import BEGIN, END, default_languages, languages_file, remove_block
from stet.cli.terminal import CliError

DEFAULTS = """
use-grammars = { except = [ "wren" ] }

[language-server]
pylsp = { command = "pylsp" }

[[language]]
name = "python"
scope = "source.python"
file-types = ["py"]
language-servers = [ "ruff", "pylsp" ]

[[grammar]]
name = "python"
source = { git = "somewhere", rev = "abc" }

[language.auto-pairs]
'"' = '"'

[[language]]
name = "gjs"
scope = "source.gjs"
file-types = ["gjs"]
language-servers = [ { except-features = ["format"], name = "ts" }, "ember" ]

[[language]]
name = "comment"
scope = "scope.comment"
file-types = []

[[language]]
name = "awk"
scope = "source.awk"
file-types = ["awk"]

[[grammar]]
name = "awk"
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program with the text in it, as the compiler leaves it: others before and after it."""
    path = tmp_path / "hx"
    path.write_bytes(
        b"\x7fELF\x00[[language]]" + DEFAULTS.encode() + b"Could not parse: [x\x00\x01more"
    )
    return path


def servers(text: str) -> dict[str, list[object]]:
    """Each language's servers as Helix reads them: the last one of a name counts."""
    return {
        language["name"]: language["language-servers"]
        for language in tomllib.loads(text)["language"]
        if "language-servers" in language
    }


def test_stet_is_the_last_server_of_each_language_that_has_files(program: Path) -> None:
    text = languages_file(program, "")
    assert servers(text) == {
        "text": ["stet"],
        "python": ["ruff", "pylsp", "stet"],
        "gjs": [{"name": "ts", "except-features": ["format"]}, "ember", "stet"],
        "awk": ["stet"],
    }
    assert tomllib.loads(text)["language-server"] == {
        "stet": {"command": "stet", "args": ["serve"]}
    }


def test_the_users_text_stays_and_their_servers_count(program: Path) -> None:
    own = (
        "# mine\n"
        '[language-server.mine]\ncommand = "mine"\n\n'
        '[[language]]\nname = "python"\nlanguage-servers = ["mine"]  # only this\n\n'
        '[[language]]\nname = "new"\nscope = "source.new"\nfile-types = ["new", "txt"]\n\n'
        '[[language]]\nname = "awk"\nlanguage-servers = ["stet", "mine"]\n'
    )
    text = languages_file(program, own)
    assert text.startswith(own)
    assert servers(text) == {
        "python": ["mine", "stet"],
        "new": ["stet"],
        "awk": ["stet", "mine"],
        "gjs": [{"name": "ts", "except-features": ["format"]}, "ember", "stet"],
    }


def test_a_second_time_only_the_block_is_made_anew(program: Path) -> None:
    own = '[[language]]\nname = "awk"\nlanguage-servers = ["mine"]\n'
    once = languages_file(program, own)
    assert languages_file(program, once) == once
    after = once + '\n[editor]\nname = "added behind"\n'
    again = languages_file(program, after)
    assert again.startswith(own)
    assert again.count(BEGIN) == again.count(END) == 1
    assert tomllib.loads(again)["editor"] == {"name": "added behind"}


def test_a_command_of_the_users_for_stet_stays(program: Path) -> None:
    own = '[language-server.stet]\ncommand = "/opt/stet"\nargs = ["serve"]\n'
    text = languages_file(program, own)
    assert tomllib.loads(text)["language-server"]["stet"]["command"] == "/opt/stet"


def test_settings_for_stet_stay_beside_its_command(program: Path) -> None:
    own = '[language-server.stet.config.stet.model]\nname = "m"\n'
    assert tomllib.loads(languages_file(program, own))["language-server"]["stet"] == {
        "command": "stet",
        "args": ["serve"],
        "config": {"stet": {"model": {"name": "m"}}},
    }


@pytest.mark.parametrize(
    ("own", "reported"),
    [
        ("[[language]\n", "not valid TOML"),
        ('language = [{ name = "x" }]\n', "write each language as [[language]]"),
        ("[language-server.stet]\ntimeout = 3\n", "give Stet's server a command"),
        (f"{BEGIN}\n", "has 1 line "),
        (f"{END}\n{BEGIN}\n", "has 1 line "),
    ],
)
def test_a_file_that_cant_be_added_to_is_refused_with_a_reason(
    program: Path, own: str, reported: str
) -> None:
    with pytest.raises(CliError) as refused:
        languages_file(program, own)
    assert reported in str(refused.value)


def test_program_of_a_wrapper_script_is_found(program: Path, tmp_path: Path) -> None:
    wrapper = tmp_path / "bin" / "helix"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\nHELIX_RUNTIME=/usr/share exec "{program}" "$@"\n')
    assert default_languages(wrapper) == default_languages(program)


def test_program_other_than_helix_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "hx"
    other.write_text("#!/bin/sh\nexec /nowhere/hx\n")
    with pytest.raises(CliError, match="doesn't contain Helix's list of languages"):
        default_languages(other)


def test_file_without_a_block_is_unchanged() -> None:
    assert remove_block("# mine\r\n") == "# mine\r\n"
