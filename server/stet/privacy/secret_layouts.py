"""Secrets that are found by their layout, over more than one line or literal.

    machine example.org          db.example.org:5432:app:me:s3cret     user,password
      login me                                                        me,s3cret
      password s3cret

Logins of netrc and pgpass, columns of tables, keys that are split into literals, and private keys
in DER without their first line or encoded once more. Each finder begins at literals that such text
contains, and reads a bounded stretch from there; none crosses the end of a line.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterator

PASSWORD, KEY, PRIVATE_KEY = "password", "API key", "private key line"
SecretSpan = tuple[int, int, str]

_NETRC = re.compile(
    r"(?:machine\s{1,9}\S{1,200}|default)"
    r"(?P<rest>(?:\s{1,40}(?:login|account|password|port)\s{1,9}\S{1,200}){1,5})"
)
_NETRC_PASSWORD = re.compile(r"\spassword\s{1,9}(?P<secret>\S{4,200})")
_PGPASS_HINTS = (":543", ":*:", ":6432:", ":5444:", ":25060:", ":26257:")
_PGPASS = re.compile(
    r"[\w.*/-]{1,253}:(?:\d{4,5}|\*):[^:\s]{1,63}:[^:\s]{1,63}:(?P<secret>[^\s:\"'`,;(){}<>$]{4,200})[ \t]{0,9}"
)
_NO_SECRET = re.compile(
    r"(?i)\$|<|\{|x{4,}|\*{2,}|\.\.\.|change.?me|example|your|placeholder|redacted|(?:my)?(?:password|secret|token)\Z"
)

_COLUMNS = ("password", "passwd", "passphrase", "secret", "token", "api_key", "apikey", "api key")
_MOST_CELLS, _MOST_ROWS, _MOST_LINE = 40, 2000, 2000
_HEADER = re.compile(r"\"?[A-Za-z][\w .-]{0,40}\"?")
_NAMED = re.compile(
    r"(?i)\"?(?:[\w .-]{0,24}[ _.-])?(?:password|passwd|passphrase|secret|token|api[ _]?key)\"?"
)

_JOIN = re.compile(
    r"(?P<quote>[\"'])(?<=[A-Za-z0-9_+/=.:-].)[ \t]{0,9}(?:\+|\\|\.{1,2}|&)?[ \t]{0,9}(?:\r?\n[ \t]{0,80})?(?:\+|\.|&)?[ \t]{0,9}[bruf]?(?P=quote)"
)
_LETTERS_BEFORE = re.compile(r"[\"'](?P<part>[A-Za-z0-9_+/=.:-]{2,200})\Z")
_LETTERS_AFTER = re.compile(r"(?P<part>[A-Za-z0-9_+/=.:-]{2,200})[\"']")
_MOST_PARTS = 8
_LEAST_PART = 6

_BASE64 = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{16,20000}={0,2}")
_BETWEEN = re.compile(r"(?:\\[nrt]|[\s\"'+,\\]){1,80}")
_LAST = re.compile(r"[A-Za-z0-9+/]{2,}={0,2}")
_DER_HINTS = ("IBAA", "IBAD", "AgEA", "AgEB", "CAQEE", "MC4CAQAw", "b3BlbnNzaC1rZXktdjEA")
_DER = re.compile(
    r"MII[A-Za-z0-9+/]{2}[AQgw]IBA[AD]|MI[GH][A-Za-z0-9+/]AgE[AB]|MH[A-Za-z0-9+/]CAQEE|MC4CAQAw|b3BlbnNzaC1rZXktdjEA"
)
"""The start, in base64, of private keys of RFC 5208, 5915, 8017 and 8410 and of OpenSSH."""
_BEFORE_DER = 8
_END = re.compile(r"-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
BODY = re.compile(
    r"(?:(?<=\\[nr])|(?<![A-Za-z0-9+/\\]))(?:[A-Za-z0-9+/]{16,}={0,2}|[A-Za-z0-9+/]{2,15}={1,2})"
)
_MOST_BODY, _MOST_STATIC = 20_000, 800
_HEX_LINE = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{32}(?![0-9A-Za-z])")
_ENCODED_BEGIN = ("LS0tLS1CRUdJTi", "0tLS0tQkVHSU4g", "tLS0tLUJFR0lOI")
"""`-----BEGIN ` in base64, at each of three alignments."""


def find_in_layouts(
    text: str, is_key: Callable[[str], Iterator[SecretSpan]]
) -> Iterator[SecretSpan]:
    """Yield start, end (code points) and kind of each secret, in no order; some may overlap.

    Args:
        text: Any text.
        is_key: Finds keys by their form in a text of one line.
    """
    yield from _netrc_secrets(text)
    yield from _pgpass_secrets(text)
    yield from _column_secrets(text)
    yield from _private_keys(text)
    yield from _encoded_private_keys(text)
    yield from _static_keys(text)
    yield from _split_keys(text, is_key)


def is_encoded_key(run: str, is_key: Callable[[str], Iterator[SecretSpan]]) -> bool:
    """Return whether a run of base64 is the encoding of a key, or of text that holds one."""
    if "_" in run or "-" in run or run.islower() or run.isupper():
        return False
    try:
        plain = base64.b64decode(run, validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        return False
    return plain.isprintable() and next(is_key(plain), None) is not None


def _hint_offsets(text: str, hint: str) -> Iterator[int]:
    """Yield the offsets of a literal."""
    at = text.find(hint)
    while at >= 0:
        yield at
        at = text.find(hint, at + 1)


def _netrc_secrets(text: str) -> Iterator[SecretSpan]:
    if "password" not in text:
        return
    for hint in ("machine", "default"):
        for at in _hint_offsets(text, hint):
            before = text[max(0, at - 80) : at].rstrip(" \t")
            begins = not before or before.endswith(("\n", "\r"))
            if not begins and (hint == "default" or text[at - 1] not in " \t"):
                continue
            if (entry := _NETRC.match(text, at)) is None:
                continue
            for found in _NETRC_PASSWORD.finditer(text, *entry.span("rest")):
                if not _NO_SECRET.search(found["secret"]):
                    yield (*found.span("secret"), PASSWORD)


def _pgpass_secrets(text: str) -> Iterator[SecretSpan]:
    for hint in _PGPASS_HINTS:
        for at in _hint_offsets(text, hint):
            low = max(0, at - 260)
            start = max(text.rfind("\n", low, at), text.rfind("\r", low, at)) + 1
            found = _PGPASS.match(text, start)
            if found is None or text[found.end() : found.end() + 1] not in {"", "\n", "\r"}:
                continue
            if not _NO_SECRET.search(found["secret"]):
                yield (*found.span("secret"), PASSWORD)


def _column_secrets(text: str) -> Iterator[SecretSpan]:
    low, done = text.lower(), 0
    if len(low) != len(text):
        return
    for at in sorted(at for name in _COLUMNS for at in _hint_offsets(low, name)):
        if at < done:
            continue
        start = low.rfind("\n", 0, at) + 1
        end = low.find("\n", at)
        done = end + 1 if end >= 0 else len(text)
        if 0 <= end < start + _MOST_LINE:
            cells, done = _row_secrets(text, start, end)
            yield from cells


def _row_secrets(text: str, start: int, end: int) -> tuple[list[SecretSpan], int]:
    """Return the cells under the names of secrets, and the end of the rows that were examined.

    Args:
        text: Any text.
        start: The start of a line that may be a table's head.
        end: The end of the same line.
    """
    head = text[start:end].rstrip("\r")
    sign = next((one for one in (",", ";", "\t", "|") if one in head), "")
    names = [one.strip() for one in head.split(sign)] if sign else []
    at, found = end + 1, list[SecretSpan]()
    if not 2 <= len(names) <= _MOST_CELLS or not all(
        _HEADER.fullmatch(name) or (sign == "|" and not name) for name in names
    ):
        return found, at
    columns = [n for n, name in enumerate(names) if _NAMED.fullmatch(name)]
    for _ in range(_MOST_ROWS if columns else 0):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        cells = text[at : min(end, at + _MOST_LINE)].rstrip("\r").split(sign)
        if len(cells) != len(names):
            break
        found += _secret_cells(cells, columns, at)
        at = end + 1
    return found, at


def _secret_cells(cells: list[str], columns: list[int], start: int) -> Iterator[SecretSpan]:
    """Yield the secrets of a row that begins at `start`."""
    for n in columns:
        value = cells[n].strip(" \t\"'")
        if len(value) >= _LEAST_PART and not _NO_SECRET.search(value) and _is_value(value):
            first = start + sum(len(cell) + 1 for cell in cells[:n]) + cells[n].index(value)
            yield first, first + len(value), PASSWORD


def _is_value(value: str) -> bool:
    """Return whether a cell is neither a word nor code."""
    if " " in value or "(" in value or value.endswith((")", ":")):
        return False
    return value.strip("-:") != "" and not value.isalpha()


def _private_keys(text: str) -> Iterator[SecretSpan]:
    """Yield the lines of private keys without their first line, or without both marker lines."""
    for end in _END.finditer(text) if "PRIVATE KEY" in text else ():
        before = text.rfind("-----", 0, end.start())
        start = max(before + 5 if before >= 0 else 0, end.start() - _MOST_BODY)
        yield from _last_lines(text, start, end.start())
    done = 0
    for at in sorted(at for hint in _DER_HINTS for at in _hint_offsets(text, hint)):
        for before in range(min(at, _BEFORE_DER) if at >= done else -1, -1, -1):
            key = _DER.match(text, at - before)
            if key is not None and text[key.start() - 1 : key.start()] not in _IN_BASE64:
                for line in _lines_from(text, key.start()):
                    yield line
                    done = line[1]
                break


_IN_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")


def _last_lines(text: str, start: int, end: int) -> Iterator[SecretSpan]:
    """Yield the lines of base64 that end at `end`, with nothing else between the lines."""
    lines = [one.span() for one in BODY.finditer(text, start, end)]
    at = end
    for first, last in reversed(lines):
        if not _BETWEEN.fullmatch(text, last, at):
            return
        yield first, last, PRIVATE_KEY
        at = first


def _lines_from(text: str, start: int) -> Iterator[SecretSpan]:
    """Yield the lines of base64 from `start` on, with nothing else between the lines."""
    line = _BASE64.match(text, start)
    most = start + _MOST_BODY
    while line is not None and line.start() < most:
        yield (*line.span(), PRIVATE_KEY)
        gap = _BETWEEN.match(text, line.end())
        if gap is None:
            return
        short = _LAST.match(text, gap.end()) if line.end() - line.start() >= 60 else None
        line = _BASE64.match(text, gap.end()) or short


def _static_keys(text: str) -> Iterator[SecretSpan]:
    """Yield lines of hexadecimal digits in the static keys of OpenVPN."""
    for at in _hint_offsets(text, "OpenVPN Static key V"):
        end = text.find("-----END", at, at + _MOST_BODY)
        for line in _HEX_LINE.finditer(text, at, end if end >= 0 else at + _MOST_STATIC):
            yield (*line.span(), PRIVATE_KEY)


def _encoded_private_keys(text: str) -> Iterator[SecretSpan]:
    done = 0
    for at in sorted(at for hint in _ENCODED_BEGIN for at in _hint_offsets(text, hint)):
        if at < done:
            continue
        beginning = _BETWEEN.sub("", text[at : at + 160])
        if not any(_is_private(beginning[n:]) for n in range(4)):
            continue
        start = at
        while start > max(done, at - _MOST_BODY) and text[start - 1] in _IN_BASE64:
            start -= 1
        for line in _lines_from(text, start):
            yield line
            done = line[1]


def _is_private(run: str) -> bool:
    """Return whether base64 begins with a private key's first line, perhaps after other text."""
    whole = re.match(r"[A-Za-z0-9+/]{4,}", run)
    if whole is None:
        return False
    letters = whole.group()
    return b"PRIVATE KEY" in base64.b64decode(letters[: len(letters) // 4 * 4])


def _split_keys(text: str, is_key: Callable[[str], Iterator[SecretSpan]]) -> Iterator[SecretSpan]:
    """Yield the parts of keys that are split into adjacent literals."""
    parts: list[tuple[int, int]] = []
    for join in _JOIN.finditer(text):
        before = _LETTERS_BEFORE.search(text, max(0, join.start() - 201), join.start())
        after = _LETTERS_AFTER.match(text, join.end())
        if before is None or after is None:
            continue
        if parts and parts[-1] == before.span("part") and len(parts) < _MOST_PARTS:
            parts.append(after.span("part"))
            continue
        yield from _keys_in(text, parts, is_key)
        parts = [before.span("part"), after.span("part")]
    yield from _keys_in(text, parts, is_key)


def _keys_in(
    text: str, parts: list[tuple[int, int]], is_key: Callable[[str], Iterator[SecretSpan]]
) -> Iterator[SecretSpan]:
    """Yield the stretches of `parts` that are part of a key when the parts are joined."""
    whole = "".join(text[start:end] for start, end in parts)
    if len(whole) < _LEAST_PART or not any(one.isdigit() for one in whole):
        return
    for first, last, kind in is_key(whole):
        at = 0
        for start, end in parts:
            a, b = max(first - at, 0), min(last - at, end - start)
            at += end - start
            if b - a >= _LEAST_PART:
                yield start + a, start + b, kind
