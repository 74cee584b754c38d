"""Passwords and keys by the name of what they are given to: `password = "..."`, `API_KEY=...`.

A name says so by a word in it. What stands in quotes behind it counts unless it is a word, a name, a
place-holder or a sentence, as code that speaks *of* passwords holds; without quotes it must look like
no code at all.
"""

import re
from collections.abc import Iterator

from stet.text.randomness import looks_random

_LOGIN = "password"
_OTHER = "secret"

_DIGITS = 0.2
"""Least share of digits in a secret of letters and digits: `sha256_to_refresh` is a name."""
_NAMES = (
    "password", "passwd", "passphrase", "pwd", "secret", "token", "api_key", "apikey", "api-key",
    "access_key", "accesskey", "access-key", "private_key", "privatekey", "auth_key", "authkey",
    "encryption_key", "signing_key", "account_key", "credential",
    "become_pass", "db_pass",
)  # fmt: skip
_LEAST_SET = 8
_BEFORE_SET = 90
"""Characters in front of a name that may be the rest of its line."""
_QUOTED = re.compile(
    r"(?:[\w-]{0,24}\\?[\"']?\]?[ \t]{0,20}(?::[ \t]{0,3}\w{1,12}[ \t]{0,3}=|:=|=>|[:=(])|\\?[\"']\]?[ \t]{0,20},|\],)[ \t]{0,20}"
    r"[bruf]{0,2}\\?(?P<quote>[\"'`])(?P<secret>[^\"'`\r\n\\]{6,200})\\?(?P=quote)"
)
_BARE = re.compile(
    r"(?P<name>[\w-]{0,24})(?P<sign>[ \t]{0,3}[:=][ \t]{0,3})"
    r"(?P<secret>[^\s\"'`,;(){}\[\]<>$]{6,200})(?=[\s&;,\"'`]|\Z)"
)
_NEXT_LINE = re.compile(
    r"[\w-]{0,24}\\?[\"']?\]?[ \t]{0,20}(?P<sign>:=|=>|[:=(])[ \t]{0,9}(?P<fold>[|>][+-]?|[\\(])?[ \t]{0,9}\r?\n"
    r"[ \t]{0,80}(?:- )?[bruf]{0,2}(?P<quote>[\"'`]?)(?P<secret>[^\"'`\s]{6,200})(?P=quote)[,;)]{0,2}[ \t]{0,9}(?=[\r\n]|\Z)"
)
"""A value on the line after its name."""
_OPTION = re.compile(
    r"[ \t]{1,3}(?P<secret>[^\s\"'`,;(){}\[\]<>$|-][^\s\"'`,;(){}\[\]<>$|]{7,200})"
)
_BEFORE = re.compile(r"[A-Za-z0-9_.-]{0,24}\Z")
_SETTING = re.compile(r"(?:^|[\r\n])[ \t]{0,20}(?:- |export )?[\w.-]{0,60}\Z")
_TO_THE_END = re.compile(r"[ \t]{0,20}(?:[\r\n]|\Z)")
_SIGN = re.compile(r"[!@#%^&*?+~]")
_IN_WORDS = re.compile(r"[a-z]\d[a-z]|[A-Z]\d[a-z]|\d[A-Z]?[a-z].*\d")
"""Digits in the place of letters, as passwords have them: in names they stand behind words."""
_PLACE_HOLDER = re.compile(
    r"(?i)\$\{|\{\{|%\(|%s|<[\w -]+>|\{\w*\}|x{4,}|\*{3,}|\.\.\.|…|change.?me|example|your.|placeholder|dummy"
    r"|redacted"
)
_WORDS = re.compile(r"[A-Za-z][A-Za-z _.:/-]*+[?!]?")
_PLAIN = re.compile(r"[\w.:/-]+")
_CODE_LIKE = re.compile(r"[A-Za-z_][\w-]*(?:[.:/][\w-]*)*[.:]?")
_URL = re.compile(r"[a-z][a-z0-9+.-]{1,20}://|/|\./|~/|#|@|%", re.IGNORECASE)


def in_assignments(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and kind of what is given to a name of a secret."""
    for start, end in _named(text):
        kind = _kind(text[start:end])
        found = _QUOTED.match(text, end)
        if found is not None:
            if _is_secret(found["secret"], kind):
                yield (*found.span("secret"), kind)
            continue
        if (found := _NEXT_LINE.match(text, end)) and _is_on_next_line(found, kind):
            yield (*found.span("secret"), kind)
            continue
        before = text[max(0, start - 24) : start]
        if (found := _BARE.match(text, end)) and _is_bare_secret(found, start, before):
            yield (*found.span("secret"), kind)
        found = _OPTION.match(text, end) if before.endswith("-") else None
        if found and _is_secret(found["secret"], kind):
            yield (*found.span("secret"), kind)


def _is_on_next_line(found: re.Match[str], kind: str) -> bool:
    """Whether a value on the line after its name is a secret: in quotes, folded, or no code."""
    value = found["secret"]
    if not _is_secret(value, kind):
        return False
    if found["quote"] or (found["fold"] or "")[:1] in {"|", ">"}:
        return True
    n_digits = sum(map(str.isdigit, value))
    is_code = _CODE_LIKE.fullmatch(value) or re.search(r"[(){}\[\];]", value)
    return looks_random(value) or (n_digits >= 2 and not is_code)


def _named(text: str) -> Iterator[tuple[int, int]]:
    """Where the names stand. To look for literals is many times as fast as a pattern."""
    low = text.lower()
    if len(low) != len(text):  # a few characters become two
        low = "".join(each.lower() if each.isascii() else each for each in text)
    for name in _NAMES:
        at = low.find(name)
        while at >= 0:
            yield at, at + len(name)
            at = low.find(name, at + len(name))


def _kind(name: str) -> str:
    """What the name calls it."""
    low = name.lower()
    return _LOGIN if "pass" in low or "pwd" in low else _OTHER


def _is_secret(value: str, kind: str) -> bool:
    """Whether what stands in quotes is more than a word, a name, a place-holder or a sentence."""
    if _PLACE_HOLDER.search(value) or value.count(" ") > 1 or value != value.strip():
        return False
    if _WORDS.fullmatch(value) or _URL.match(value) or not re.search("[A-Za-z]", value):
        return False
    if not _PLAIN.fullmatch(value):
        return bool(re.search(r"[0-9!@#$%^&*?+~]", value))
    n_digits = sum(map(str.isdigit, value))
    if kind == _LOGIN and value.isalnum():
        return n_digits > 0
    return n_digits >= _DIGITS * len(value) or looks_random(value)


def _is_set(found: re.Match[str], text: str, start: int) -> bool:
    """Whether a password is all that a line gives to its name, and looks like no name itself."""
    value = found["secret"]
    if len(value) < _LEAST_SET or not _TO_THE_END.match(text, found.end("secret")):
        return False
    if not _SETTING.search(text[max(0, start - _BEFORE_SET) : start]):
        return False
    if not re.search(r"\d", value):
        return False
    is_mixed = value.isalnum() and not value.islower() and _IN_WORDS.search(value) is not None
    return _SIGN.search(value) is not None or is_mixed


def _is_bare_secret(found: re.Match[str], start: int, before: str) -> bool:
    """Whether what stands without quotes is a secret, for a name that begins at `start`.

    Code has names there. In a file of settings the name is in capitals and the sign close to it.
    """
    text, value = found.string, found["secret"]
    name = text[start : found.start()]
    kind = _kind(name)
    if not _is_secret(value, kind):
        return False
    head = _BEFORE.search(before)
    whole = (head.group() if head else "") + name + found["name"]
    if (found["sign"] == "=" and whole.upper() == whole) or looks_random(value):
        return True
    if kind == _LOGIN and _is_set(found, text, start):
        return True
    n_digits = sum(map(str.isdigit, value))
    if kind == _LOGIN and found["sign"] == ": " and value.isalnum():
        return n_digits > 0  # YAML
    return n_digits >= 2 and not _CODE_LIKE.fullmatch(value)
