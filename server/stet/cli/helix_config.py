"""Helix's `languages.toml` with Stet behind each language's own servers.

Helix has no server for all languages: each names its own, and a user's list takes the place of the one
Helix comes with. So every language is written down with the servers it has and Stet as the last, which
leaves formatting, renaming and the like to the others. What Helix comes with is compiled into the
program as text, so it is read from the very program that is used: other versions have other languages,
and Helix refuses a file that names one it doesn't know.

A language may be named twice in a user's file; the later one adds to the earlier. So what a user has
written stays as it is, and all of ours is one block at the end.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from stet.cli.terminal import CliError

BEGIN = "# Stet: begin. Made by `stet config helix`, which replaces it up to the end mark."
END = "# Stet: end."
SERVER = '[language-server.stet]\ncommand = "stet"\nargs = ["serve"]\n'
PLAIN_TEXT = {"name": "text", "scope": "text.plain", "file-types": ["txt"]}
"""A language of our own where Helix has none for it, as such files would have no server at all."""
LARGEST_WRAPPER = 1_000_000
"""Bytes; a program that is smaller isn't Helix itself."""

Language = Mapping[str, Any]


def languages_file(program: Path, user_text: str) -> str:
    """Return the whole text of a `languages.toml`.

    Args:
        program: Helix, or a script that starts it.
        user_text: What the user's file says now; empty if there is none. All of it stays, but for the
            block that an earlier call has put there.

    Raises:
        CliError: If the program isn't Helix, or the user's file can't be added to.
    """
    mine = remove_block(user_text)
    try:
        message = tomllib.loads(mine)
    except tomllib.TOMLDecodeError as error:
        raise CliError(
            f"your languages.toml is no valid TOML, so Helix ignores it: {error}"
        ) from error
    text = f"{mine.rstrip()}\n\n".lstrip() + block(default_languages(program), message)
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CliError(
            "your languages.toml can't be added to: write each language as [[language]] and each "
            f"server as [language-server.NAME], and for Stet none without a command ({error})"
        ) from error
    return text


def remove_block(text: str) -> str:
    """Return a user's file without the block that an earlier call has added.

    Raises:
        CliError: If only one of the two marks is there.
    """
    begins, ends = text.count(BEGIN), text.count(END)
    if (begins, ends) == (0, 0):
        return text
    head, _, rest = text.partition(BEGIN)
    _, match, tail = rest.partition(END)
    if (begins, ends) != (1, 1) or not match:
        raise CliError(
            f"your languages.toml has {begins} lines {BEGIN!r} and {ends} lines {END!r} behind them: "
            "remove what `stet config helix` has put there, then run it again"
        )
    return f"{head.rstrip()}\n{tail.lstrip()}".lstrip()


def block(defaults: Sequence[Language], user_values: Mapping[str, Any]) -> str:
    """Return the block to add: the server, and each language's list of servers with Stet last.

    Args:
        defaults: The languages Helix comes with, in its order.
        user_values: The user's file without our block.
    """
    theirs = user_values.get("language-server", {}).get("stet", {})
    parts = [BEGIN, "" if "command" in theirs else SERVER]
    mine = {language["name"]: language for language in user_values.get("language", ())}
    known = {language["name"]: language for language in defaults}
    languages = [{**known.get(name, {}), **mine.get(name, {})} for name in known | mine]
    if not any("txt" in language.get("file-types", ()) for language in languages):
        parts.append(_entry(PLAIN_TEXT, ["stet"]))
    for language in languages:
        servers = language.get("language-servers", [])
        # Others stand only inside of files of these, and no file of theirs is ever opened.
        has_files = language.get("file-types") or language.get("shebangs")
        if has_files and not any(_name(server) == "stet" for server in servers):
            parts.append(_entry({"name": language["name"]}, [*servers, "stet"]))
    return "\n".join(part for part in [*parts, END] if part) + "\n"


def default_languages(program: Path) -> list[Language]:
    """Return the languages that a Helix includes, in the order of Helix.

    Raises:
        CliError: If none are found in the program.
    """
    for candidate in (program, *_started_by(program)):
        if text := _compiled_in(candidate.read_bytes()):
            languages: list[Language] = tomllib.loads(text)["language"]
            return languages
    raise CliError(
        f"{program} doesn't hold Helix's list of languages: name the program itself, "
        "not what starts it"
    )


def _compiled_in(data: bytes) -> str:
    """Return the languages and grammars as written in a program, "" if there are none."""
    first = data.find(b"\n[[language]]\n")
    if first < 0:
        return ""
    text = re.split(rb"[\x00-\x08\x0e-\x1f]", data[first:], maxsplit=1)[0].decode(errors="replace")
    # The program's other texts follow without a gap: of the last table, what is TOML counts.
    begin = max(text.rfind("\n[[language]]\n"), text.rfind("\n[[grammar]]\n"))
    lines = text[begin:].split("\n")
    while not _is_toml("\n".join(lines)):
        lines.pop()
    return text[:begin] + "\n".join(lines)


def _is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _started_by(program: Path) -> Iterator[Path]:
    """Yield the programs that a wrapper names by path. Distributions put a wrapper around Helix."""
    if program.stat().st_size > LARGEST_WRAPPER:
        return
    for name in re.findall(rb"/[^\x00-\x20\"'`:;$*?\\]+", program.read_bytes()):
        path = Path(name.decode(errors="replace"))
        if re.search(r"hx|helix", path.name) and path.is_file():
            yield path


def _name(server: str | Mapping[str, Any]) -> str:
    return server if isinstance(server, str) else str(server["name"])


def _entry(values: Mapping[str, Any], servers: Sequence[Any]) -> str:
    lines = [f"{key} = {_toml(value)}" for key, value in values.items()]
    return "\n".join(["[[language]]", *lines, f"language-servers = {_toml(servers)}", ""])


def _toml(value: object) -> str:
    """Return a value in TOML, on one line: a string, a list, a table with plain keys, or a number."""
    if isinstance(value, str):
        import json  # TOML's strings escape as JSON's do

        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, Sequence):
        return f"[{', '.join(_toml(item) for item in value)}]"
    return str(value).lower()
