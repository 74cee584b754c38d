"""Secrets by the name of what they are given to.

    password = "..."                         API_KEY=...
    RAILS_MASTER_KEY=0123456789abcdef...     <add key="ApiKey" value="..." />     setx API_TOKEN 0123...
    X-Api-Key: 0123456789abcdef...           tokens:                              Cookie: sessionid=...
                                               - 0123456789abcdef...

A name says by a word in it that its value is secret. In assignments a value in quotes counts unless it is
a word, a name, a placeholder or a sentence, which code that speaks *of* passwords holds; a value without
quotes must look like no code at all.

Values that look made by a machine are found first: hexadecimal digits, UUIDs and letters of one case are
hashes, numbers and names more often than secrets, so their form alone says nothing. What is before them
decides: a name that ends with a telling word, and only signs of assignment between the two.
"""

import re
from collections.abc import Iterator

from stet.privacy.randomness import entropy, is_unspeakable, looks_random

_LOGIN = "password"
_OTHER = "secret"

_DIGITS = 0.2
"""Least share of digits in a secret of letters and digits: `sha256_to_refresh` is a name."""
_NAMES = (
    "password", "passwd", "passphrase", "pwd", "secret", "token", "api_key", "apikey", "api-key",
    "access_key", "accesskey", "access-key", "private_key", "privatekey", "auth_key", "authkey",
    "encryption_key", "signing_key", "account_key", "credential",
)  # fmt: skip
_SHORT_NAMES = ("pass", "psk")
_SHORT_SIGN = re.compile(r"[ ]?[=:]|[\"']\]?[ ]?(?:[=:]|[^\s,\])=:])|[ ]\"")
"""Names that are parts of other words too, so that a sign must follow."""
_LEAST_SET = 8
_LEAST_MIXED, _LEAST_LETTERS = 12, 14
_FEW = 0.4
"""Frequent pairs of letters in a value without digits, at most."""
_BEFORE_SET = 90
"""Characters in front of a name that may be the rest of its line."""
_QUOTED = re.compile(
    r"""
    (?:
      [\w-]{0,24}\\?["']?\]?[ \t]{0,20}
      (?::[ \t]{0,3}[\w&'*. ?]{1,20}[ \t]{0,3}=|:=|=>|<-|\?\?=|\?=|[:=(]|[ ](?:string|String|str)[ ]{0,3}=)
      | \\?["']\]?[ \t]{0,20}, | \],
      | [\w-]{0,24}\\?["'][ \t]{0,9},?\s{0,40}\\?["']?(?:value|Value|val|default)\\?["']?[ \t]{0,9}[=:]
      | [\w-]{0,24}["'][ \t]{0,9}\{\s{0,40}(?:(?:type|description|sensitive|nullable)[ \t]*=[^\n]{0,200}\n\s{0,40}){0,4}default[ \t]{0,20}=
      | [\w-]{0,24}\s{1,40}value:
    )
    \s{0,20}(?:[bruflLR@$]{0,2}|(?:[sS]tring(?:::from|::new)?|bytes|SecretStr|str|Some|Ok)\(|r\#{1,3}|@)
    \\?(?P<quote>"{3}|'{3}|["'`])(?P<secret>[^"'`\r\n\\]{6,200})\\?(?P=quote)
    """,
    re.VERBOSE,
)
_BLANK = re.compile(
    r"[\w-]{0,24}[ \t]{1,40}(?P<quote>[\"'])(?P<secret>[^\"'`\s\\]{8,200})(?P=quote)"
)
"""A value in quotes after a name and a blank: `#define API_TOKEN "..."`, `(setq token "...")`."""
_LINE = re.compile(r"[ \t]{1,9}(?P<secret>[^\s\"'`]{8,200})[ \t]{0,9}(?=[\r\n]|\Z)")
"""A value that is the rest of its line: `password ...`."""
_LINE_BEGIN = re.compile(r"(?:\A|[\r\n])[ \t]{0,20}\Z")
_MARKUP = re.compile(
    r"[\w.-]{0,24}(?:\"[^<>\"]{0,40})?(?:</(?:key|name|Name|Key)>\s{0,80}<(?:string|value|Value|String)(?:[ ][^<>]{0,60})?)?>"
    r"\s{0,40}(?:<!\[CDATA\[|<value>\s{0,20})?(?P<secret>[^<>\s\"']{6,200})\s{0,40}(?:\]\]>|</value>\s{0,20})?</"
)
"""`<password>...</password>`, `<string name="api_key">...</string>`, `<key>token</key><string>...</string>`."""
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
_IN_QUERY = re.compile(r"[?&][\w-]{0,20}\Z")
_BEFORE = re.compile(r"[A-Za-z0-9_.-]{0,24}\Z")
_SETTING = re.compile(r"(?:^|[\r\n])[ \t]{0,20}(?:- |export )?[\w.-]{0,60}\Z")
_TO_THE_END = re.compile(r"[ \t]{0,20}(?:[\r\n]|\Z)")
_SIGN = re.compile(r"[!@#%^&*?+~]")
_PATTERN = re.compile(r"\(\?|\[\^|\[[A-Za-z0-9]-[A-Za-z0-9]|^\(.*[|*+]|\.[*+]")
"""What a regular expression holds."""
_CALL = re.compile(r"[()\[\]{};]")
_IN_WORDS = re.compile(r"[a-z]\d[a-z]|[A-Z]\d[a-z]|\d[A-Z]?[a-z].*\d")
"""Digits instead of letters, as passwords have them: in names they come after words."""
_PLACE_HOLDER = re.compile(
    r"(?i)\$\{|\{\{|%\(|%s(?![A-Za-z])|<[\w -]+>|\{\w*\}|x{4,}|\*{3,}|\.\.\.|…|change.?me|example|your.|placeholder|dummy"
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
        before = text[max(0, start - 24) : start]
        if (match := _QUOTED.match(text, end)) is not None:
            if _is_secret(match["secret"], kind):
                yield (*match.span("secret"), kind)
        elif (match := _alone(text, end, before, kind)) is not None:
            yield (*match.span("secret"), kind)
        else:
            for match in _without_quotes(text, start, end, before):
                yield (*match.span("secret"), kind)


def _alone(text: str, end: int, before: str, kind: str) -> re.Match[str] | None:
    """Return the value after a name that ends at `end`, with no sign of assignment on the same
    line.
    """
    match = _MARKUP.match(text, end)
    is_element = text.startswith(">", end)  # an attribute's text is for people as often
    if match is not None and _is_strong(match["secret"], kind if is_element else _OTHER):
        return match
    match = _BLANK.match(text, end)
    if match is not None and _is_strong(match["secret"]):
        return match
    match = _LINE.match(text, end)
    if match is not None and _is_strong(match["secret"]) and _LINE_BEGIN.search(before):
        return match
    match = _NEXT_LINE.match(text, end)
    return match if match is not None and _is_on_next_line(match, kind) else None


def _without_quotes(text: str, start: int, end: int, before: str) -> Iterator[re.Match[str]]:
    """Yield the values without quotes after a name from `start` to `end`."""
    if (match := _BARE.match(text, end)) and _is_bare_secret(match, start, before):
        yield match
    match = _OPTION.match(text, end) if before.endswith("-") else None
    if match and _is_secret(match["secret"], _kind(text[start:end])):
        yield match


def _is_on_next_line(match: re.Match[str], kind: str) -> bool:
    """Whether a value on the line after its name is a secret: in quotes, folded, or no code."""
    value = match["secret"]
    if not _is_secret(value, kind):
        return False
    if match["quote"] or (match["fold"] or "")[:1] in {"|", ">"}:
        return True
    n_digits = sum(map(str.isdigit, value))
    is_code = _CODE_LIKE.fullmatch(value.rstrip(",")) or re.search(r"[(){}\[\];]", value)
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
    for name in _SHORT_NAMES:
        at = low.find(name)
        while at >= 0:
            end = at + len(name)
            if _SHORT_SIGN.match(low, end):
                yield at, end
            at = low.find(name, end)


def _is_mixed(value: str) -> bool:
    """Whether a value that begins with a sign is a password for all that."""
    classes = (any(map(each, value)) for each in (str.islower, str.isupper, str.isdigit))
    return value[0] in "#@%~" and len(value) >= _LEAST_MIXED and all(classes) and " " not in value


def _is_without_digits(value: str) -> bool:
    """Whether letters alone are by chance: of both cases, and in no order of a word."""
    is_mixed = value.isalnum() and not value.islower() and not value.isupper()
    return is_mixed and len(value) >= _LEAST_LETTERS and is_unspeakable(value, _FEW)


def _is_strong(value: str, kind: str = _OTHER) -> bool:
    """Whether a value looks like no word, no name and no code, wherever it is."""
    if not _is_secret(value, kind):
        return False
    is_made = any(map(str.isdigit, value)) and (value.isalnum() or _SIGN.search(value) is not None)
    return looks_random(value) or (is_made and _CALL.search(value) is None)


def _kind(name: str) -> str:
    """Return the kind of value that the name announces."""
    low = name.lower()
    return _LOGIN if "pass" in low or "pwd" in low else _OTHER


def _is_secret(value: str, kind: str) -> bool:
    """Whether a value in quotes is more than a word, a name, a placeholder or a sentence."""
    if _PLACE_HOLDER.search(value) or value.count(" ") > 1 or value != value.strip():
        return False
    if not re.search("[A-Za-z]", value) or (_URL.match(value) and not _is_mixed(value)):
        return False
    if _WORDS.fullmatch(value):
        return _is_without_digits(value)
    if not _PLAIN.fullmatch(value):
        return _PATTERN.search(value) is None and bool(re.search(r"[0-9!@#$%^&*?+~]", value))
    return _has_digits_as_secrets(value, kind)


def _has_digits_as_secrets(value: str, kind: str) -> bool:
    """Whether a value of letters and digits has enough of these to be no name."""
    n_digits = sum(map(str.isdigit, value))
    if len(value) >= _LEAST_MIXED and n_digits and is_unspeakable(value) and value[:1] not in "/.":
        return True
    if kind == _LOGIN and value.isalnum():
        return n_digits > 0
    return n_digits >= _DIGITS * len(value) or looks_random(value)


def _is_set(match: re.Match[str], text: str, start: int) -> bool:
    """Whether a password is all that a line gives to its name, and looks like no name itself."""
    value = match["secret"]
    if len(value) < _LEAST_SET or not _TO_THE_END.match(text, match.end("secret")):
        return False
    if not _SETTING.search(text[max(0, start - _BEFORE_SET) : start]):
        return False
    if not re.search(r"\d", value):
        n_signs = len(_SIGN.findall(value))
        return n_signs > 1 or (n_signs > 0 and is_unspeakable(value, _FEW))
    is_mixed = value.isalnum() and not value.islower() and _IN_WORDS.search(value) is not None
    return _SIGN.search(value) is not None or is_mixed


def _is_bare_secret(match: re.Match[str], start: int, before: str) -> bool:
    """Whether a value without quotes is a secret, for a name that begins at `start`.

    Code has names there. In a file of settings the name is in capitals and the sign close to it.
    """
    text, value = match.string, match["secret"]
    name = text[start : match.start()]
    kind = _kind(name)
    if not _is_secret(value, kind):
        return False
    head = _BEFORE.search(before)
    whole = (head.group() if head else "") + name + match["name"]
    if (match["sign"] == "=" and whole.upper() == whole) or looks_random(value):
        return True
    if kind == _LOGIN and _is_set(match, text, start):
        return True
    n_digits = sum(map(str.isdigit, value))
    is_in_query = match["sign"] == "=" and n_digits >= 2 and _IN_QUERY.search(before) is not None
    if is_in_query or (value.isalnum() and not value.islower() and _is_by_chance(value, kind)):
        return True
    if kind == _LOGIN and match["sign"] == ": " and value.isalnum():
        return n_digits > 0  # YAML
    return n_digits >= 2 and not _CODE_LIKE.fullmatch(value)


def _is_by_chance(value: str, kind: str) -> bool:
    """Whether letters of both cases and digits are in no order of a name."""
    if len(value) < _LEAST_MIXED:
        return False
    return is_unspeakable(value, _FEW) or (kind == _LOGIN and _IN_WORDS.search(value) is not None)


NAMED_KIND = "secret"
_BEFORE_VALUE = 160
"""Characters before a value that are looked at for its name."""
_MOST = 8000

_HEX = re.compile(r"(?:0x)?(?:[0-9a-f]{20,}|[0-9A-F]{20,})")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_PARTS = re.compile(r"[_/-]")
_MOST_PARTS = 2
_LEAST_PART = 12
_DIGIT = re.compile(r"\d")
_CAMEL = re.compile(r"[A-Z][a-z]{2,}")

_OWNER = (
    r"(?:api|access|secret|private|priv|master|app|application|admin|auth|account|licen[sc]e|encryption|decryption"
    r"|encrypt|decrypt|enc|signing|sign|signature|write|read|ingest|ingestion|integration|server|client|service"
    r"|consumer|shared|pre-?shared|psk|validation|deploy|deployment|webhook|storage|security|subscription|rest|user"
    r"|personal|project|team|org|organi[sz]ation|bot|device|management|machine|root|session|cookie|jwt|hmac|aes"
    r"|fernet|mac|vault|unseal|recovery|seed|wallet|crypto|cipher|data|backup|push|fcm|maps|site|live|test|sandbox"
    r"|production|sending|host|agent|function|functions|developer|dev|provisioning|registration|upload|feed)"
)
_WORD = (
    rf"(?:pass(?:word|wd|phrase|code)?s?|pwd|psk|secrets?(?:_?key_?base|_?base)?|tokens?|credentials?|authorization|jwt|bearer"
    rf"|{_OWNER}[-_. ]?keys?|[A-Z][A-Z0-9]*_KEY|authkey|auth|api_?hash|session_?id|sessid|session|[a-z]+_session"
    rf"|phpsessid|cookie|otp|seed|mnemonic|masterauth|requirepass|sid|sas|dsn|pat)"
)
_SUFFIX = r"(?:[-_.]?(?:v?\d{1,2}|prod|production|dev|test|staging|live|value|base64|b64|hex|old|new|current|primary|secondary|default))?"
_SCHEME = re.compile(
    r"(?<![\w$.-])(?:(?:Bearer|Token|Basic|ApiKey|Apikey|apikey|Key|token|key|Bot|GenieKey|SSWS|AccessKey|Digest|OAuth)[ ]{1,2}"
    r"[\"']?|base64:|hex:|0x|\$\w{1,9}\$)\Z"
)
_SIGNS = " \t\r\n\"'`\\=:>|,(-[]+?{"
_SIGN_OF_NAME = re.compile(
    r"""
    \\?["'`]?\]?\)?[ \t]{0,20}
    (?:(?::=|=>|->|[:=,>]|\?=|\+=)\s{0,40}(?:[\[({]\s{0,40})?(?:-[ \t]{1,3}|[|>][+-]?\s{1,40}|\\\r?\n[ \t]{0,40}|\(\s{0,40})?|[ \t]{1,9})
    \\?(?:"{3}\s{0,40}|'{3}\s{0,40}|["'`])?
    """,
    re.VERBOSE,
)
_NAME_BACKWARDS = re.compile(r"[\w.$@-]{1,60}")
_CARRIERS = frozenset({"value", "content", "default", "defaultvalue", "data", "val"})
"""What a value is called whose name comes before: `name: API_KEY`, `value: ...`."""
_QUOTES = " \"'`"
_BETWEEN_NAMES = " \t\r\n\"'`{,:;=>"
_TELLING = re.compile(
    rf"(?i:.*[^A-Za-z]|)(?:(?i:{_WORD})){_SUFFIX}\Z|.*(?:Key|Token|Secret|Password|Pass|Auth|Credential)s?\Z"
)
_HARMLESS = re.compile(
    r"(?i)(?:.*[-_.]|)(?:pub(?:lic)?|cache|primary|foreign|sort|partition|host|registry|hash|index|dict|row|group|object|unique"
    r"|cursor|next|page|continuation|etag|sync|resume|state|csrf_?param|eos|bos|pad|unk|mask|cls|sep|key|idempotency)[-_. ]?(?:key|token|pass)s?\Z"
    r"|(?:.*[-_.]|)(?:fingerprint|publickey|hashkey|cachekey|sha\d*|hashed\w*|encrypted\w*)\Z"
)
_SETTING_NAME = re.compile(
    r"(?:^|[\s;&|({\"'`])(?:setx?|ENV|ARG|export|setenv|define|secret set|config set|requirepass|masterauth|put|add)[ \t]+(?:-\w+[ \t]+)?\Z|--?\Z"
)
"""Before a name whose value follows after a blank."""
_DIRECTIVES = frozenset({"requirepass", "masterauth"})
_NEXT = re.compile(r"[\"'`]?,?[ \t]{0,9}(?:\r?\n[ \t]{0,40})?(?:-[ \t]{1,3})?[\"'`]?")


def follows(text: str, end: int, start: int) -> bool:
    """Whether a list goes on between one value's end and the next one's start."""
    return 1 < start - end < 80 and _NEXT.fullmatch(text, end, start) is not None


def is_secret_by_name(text: str, start: int, end: int) -> bool:
    """Whether a run of letters, digits and signs looks made by a machine and is named as a secret.

    Args:
        text: Any.
        start: Of the run, in code points.
        end: After its last character.
    """
    if end - start > _MOST or not is_made(text[start:end]):
        return False
    return is_named_secret(text, start)


def is_named_secret(text: str, start: int) -> bool:
    """Whether the name of a secret is before `start`, with only signs between the two."""
    head = text[max(0, start - _BEFORE_VALUE) : start]
    if (scheme := _SCHEME.search(head[-16:])) is not None:
        head = head[: len(head) - len(scheme.group())]
    named = _name_at_end(head, _SIGNS)
    if named is None:
        return False
    name, sign, before = named
    if not _SIGN_OF_NAME.fullmatch(sign.lstrip(" ") if scheme and not sign.strip() else sign):
        return False
    if name.lower() in _CARRIERS:
        earlier_name = _name_at_end(before, _BETWEEN_NAMES)
        return earlier_name is not None and _is_telling(earlier_name[0])
    if not _is_telling(name) or ("," in sign and not before.rstrip(_QUOTES).endswith("(")):
        return False  # a list of names
    is_assigned = bool(sign.strip(" \t\"'")) or name.lower() in _DIRECTIVES
    return is_assigned or _SETTING_NAME.search(before[-24:]) is not None


def _name_at_end(head: str, signs: str) -> tuple[str, str, str] | None:
    """Return the name at the end of a text, the signs after the name and the text before the name."""
    cut = head.rstrip(signs)
    found = _NAME_BACKWARDS.match(cut[::-1])
    if found is None:
        return None
    name = found.group()[::-1]
    return name, head[len(cut) :], cut[: len(cut) - len(name)]


def _is_telling(name: str) -> bool:
    return _TELLING.match(name) is not None and _HARMLESS.match(name) is None


def is_made(value: str) -> bool:
    """Whether letters, digits and signs look made by a machine: digits of a number, a UUID, or by chance."""
    if _UUID.fullmatch(value) or _HEX.fullmatch(value):
        return entropy(value) > 2.5
    if _DIGIT.search(value) is None and (value.islower() or value.isupper()):
        return False
    bare = value.rstrip("=")
    parts = _PARTS.split(bare)
    if len(parts) > _MOST_PARTS:
        bare = max(parts, key=len)
        if len(bare) < _LEAST_PART:
            return False  # a name of several words
    n_in_words = sum(map(len, _CAMEL.findall(bare)))
    if n_in_words > 0.4 * len(bare):
        return False
    n_digits = sum(map(str.isdigit, bare))
    if not n_digits:
        return is_unspeakable(bare)
    return is_unspeakable(bare) or looks_random(bare) or n_digits >= 0.2 * len(bare)
