"""Entries of `privacy.deny` that would name nothing: each is refused with what to write instead.

A denial that does nothing is worse than none, as its user relies on it.
"""

import re

_ESCAPED_NAME = re.compile(r"\\[A-Za-z0-9]")
_OPEN_BRACKET = re.compile(r"(?<!\\)\[(?![!^]?\]?(?:\\.|[^\]\\])*+\])", re.DOTALL)


def deny_problem(entry: str) -> str:
    """Why an entry names nothing, and what would; "" if it may name something."""
    text = re.sub(r"(?<!\\) +$", "", entry)
    bare = text.removeprefix("!").rstrip("/")
    parts = bare.split("/")
    faults = (
        (not bare, "it is empty"),
        (
            text.startswith("#"),
            "it is a comment; for a name that begins so write a backslash first",
        ),
        (entry != entry.lstrip(), "a blank stands before it"),
        ("://" in text, "it is an address; write a path, such as /home/me/diary"),
        (
            parts[0].startswith("~"),
            "~ is no folder here; write the whole path, such as /home/me/diary",
        ),
        (
            bool(re.match(r"[A-Za-z]:", bare)),
            "a drive is no folder here; write the path below it, with /",
        ),
        (_ESCAPED_NAME.search(bare) is not None, "a backslash is no folder's end; write /"),
        (
            "." in parts or ".." in parts,
            "no name is . or ..; write the path from the workspace down",
        ),
        ("" in parts[1:], "it has // in it; write one /"),
        (_OPEN_BRACKET.search(bare) is not None, "its [ is never closed"),
        (bare.endswith("\\") and not bare.endswith("\\\\"), "it ends in a backslash"),
        (
            re.search(r"\{[^}]*,[^}]*\}", bare) is not None,
            "braces mean themselves; write an entry for each",
        ),
    )
    return next((why for is_so, why in faults if is_so), "")
