"""Values that look made by a machine, given to a name that says that they are secret.

    RAILS_MASTER_KEY=0123456789abcdef...     <add key="ApiKey" value="..." />     setx API_TOKEN 0123...
    X-Api-Key: 0123456789abcdef...           tokens:                              Cookie: sessionid=...
                                               - 0123456789abcdef...

Hexadecimal digits, UUIDs and letters of one case are hashes, numbers and names more often than secrets,
so that their form alone says nothing. Asked is what stands before them: a name at whose end a telling word
stands, and nothing but signs of assignment between the two.
"""

import re

from stet.privacy.randomness import entropy, is_unspeakable, looks_random

KIND = "secret"
_BEFORE = 160
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
_SIGN = re.compile(
    r"""
    \\?["'`]?\]?\)?[ \t]{0,20}
    (?:(?::=|=>|->|[:=,>]|\?=|\+=)\s{0,40}(?:[\[({]\s{0,40})?(?:-[ \t]{1,3}|[|>][+-]?\s{1,40}|\\\r?\n[ \t]{0,40}|\(\s{0,40})?|[ \t]{1,9})
    \\?(?:"{3}\s{0,40}|'{3}\s{0,40}|["'`])?
    """,
    re.VERBOSE,
)
_NAME_BACKWARDS = re.compile(r"[\w.$@-]{1,60}")
_CARRIERS = frozenset({"value", "content", "default", "defaultvalue", "data", "val"})
"""What a value is called whose name stands before: `name: API_KEY`, `value: ...`."""
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
_SETTING = re.compile(
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
    """Whether the name of a secret stands before `start`, and nothing but signs between the two."""
    head = text[max(0, start - _BEFORE) : start]
    if (scheme := _SCHEME.search(head[-16:])) is not None:
        head = head[: len(head) - len(scheme.group())]
    named = _name_at_end(head, _SIGNS)
    if named is None:
        return False
    name, sign, before = named
    if not _SIGN.fullmatch(sign.lstrip(" ") if scheme and not sign.strip() else sign):
        return False
    if name.lower() in _CARRIERS:
        earlier_name = _name_at_end(before, _BETWEEN_NAMES)
        return earlier_name is not None and _is_telling(earlier_name[0])
    if not _is_telling(name) or ("," in sign and not before.rstrip(_QUOTES).endswith("(")):
        return False  # a list of names
    is_assigned = bool(sign.strip(" \t\"'")) or name.lower() in _DIRECTIVES
    return is_assigned or _SETTING.search(before[-24:]) is not None


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
