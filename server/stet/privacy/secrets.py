"""Find the secrets in a text: keys by form, passwords by the text before them, random strings.

The finders find keys that services issue (the services publish their prefixes, so that scanners
know them), private keys in PEM, passwords in URLs, headers and assignments, and strings that look
random (`stet.privacy.randomness`). Each pattern takes time linear in the text: repetitions are
bounded, or begin where none of their characters comes before them, or have no condition after them.

A secret never crosses the end of a line: each line of a private key is one secret. So a text with
marks instead of secrets has as many lines, and line numbers mean the same in both.

`RULES` are the forms that are found by a literal in them: each a literal, a pattern and a kind. The
literals are searched for in each text, which has a cost: secrets that a run of letters and digits
shows by itself or by the text right before it are left to `issued_keys`, secrets that a name shows
to `assignments`.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from operator import itemgetter
from typing import NamedTuple

from stet.privacy import issued_keys, randomness
from stet.privacy.assignments import NAMED_KIND, follows, in_assignments, is_made, is_secret_by_name
from stet.privacy.issued_keys import issued_key
from stet.privacy.randomness import is_random_string, long_runs, with_signs
from stet.privacy.secret_layouts import (
    BODY,
    PRIVATE_KEY,
    SecretSpan,
    find_in_layouts,
    is_encoded_key,
)

_MOST_BEFORE = 160
"""Characters of a line before a hint that are read."""


@dataclass(frozen=True, slots=True)
class FormRule:
    """A rule that finds keys of one form.

    Attributes:
        kind: The kind of the keys.
        hints: Literals; each match begins with one of them.
        source: The pattern of a match from the hint on; its group `secret` is redacted.
        is_long: Whether a key is part of a run of letters and digits as long as `LEAST` of
            `stet.privacy.randomness`.
        before: The pattern of the line before the hint; empty for any text.
    """

    kind: str
    hints: tuple[str, ...]
    source: str
    is_long: bool = False
    before: str = ""

    @property
    def pattern(self) -> re.Pattern[str]:
        """The pattern, compiled when a text holds a hint for the first time."""
        return _compiled(self.source)

    def match(self, text: str, at: int) -> re.Match[str] | None:
        """Return the match at the hint at offset `at`."""
        found = self.pattern.match(text, at)
        if found is None or not self.before:
            return found
        line = text[max(text.rfind("\n", 0, at) + 1, at - _MOST_BEFORE) : at]
        return found if _compiled(self.before).search(line) else None


@cache
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source)


BEGIN = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
"""The start of a word, also after a line end that is written as two characters."""


def _rule(
    kind: str, hints: str, pattern: str, *, is_inside: bool = False, before: str = ""
) -> FormRule:
    """Return a rule; `is_inside` is whether the hints of the rule may be inside a word."""
    whole = pattern if "(?P<secret>" in pattern else f"(?P<secret>{pattern})"
    source = whole if is_inside else BEGIN + whole
    words = tuple(hint.replace("~", " ") for hint in hints.split())
    return FormRule(kind, words, source, before=before)


def _key(kind: str, hints: str, pattern: str) -> FormRule:
    """Return a rule for keys that are one long run of letters, digits and base64 signs."""
    return FormRule(kind, tuple(hints.split()), f"{BEGIN}(?P<secret>{pattern})", is_long=True)


_TELLING = r"(?=[^\s<>]{0,60}[A-Za-z])(?=[^\s<>]{0,60}\d)"
"""A secret after text that is a weak sign of one: the secret has letters and digits."""

_LETTERS_OR_SIGNS = r"(?=[^\s<>]{0,60}[A-Za-z])(?=[^\s<>]{0,60}[\d!@#%^&*?+~])"

RULES = (
    _key("AWS key", "AKIA ASIA ABIA ACCA", r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _rule(
        "AWS secret key", "ecret ECRET",
        r"[A-Za-z]{5}[\w.-]{0,20}[\"' \t:=,(]{1,10}"
        r"(?P<secret>(?=[a-z0-9+/]{0,40}[A-Z])(?=[A-Z0-9+/]{0,40}[a-z])(?=[A-Za-z+/]{0,40}\d)[A-Za-z0-9+/]{40})(?![\w+/=])",
        is_inside=True,
    ),
    _key("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{20,}"),
    _key("GitHub token", "github_pat_", r"github_pat_[A-Za-z0-9_]{20,}"),
    _key(
        "GitLab token", "glpat- gldt- glrt- glcbt- glptt- glft- glagent- glsoat- gloas-",
        r"gl(?:pat|dt|rt|cbt|ptt|ft|agent|soat|oas)-[\w.-]{16,}",
    ),
    _rule("Slack token", "xoxe.", r"xoxe\.[A-Za-z0-9.-]{10,}"),
    _key(
        "Slack token", "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-",
        r"(?:xox[abeoprs]|xapp)-[A-Za-z0-9.-]{10,}",
    ),
    _rule(
        "Slack webhook", "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9/]{16,})",
    ),
    _rule(
        "Teams webhook", "IncomingWebhook/", r"IncomingWebhook/(?P<secret>[0-9a-f]{32})",
        is_inside=True,
    ),
    _rule("password", "SETUSER", rf"SETUSER[ \t][^\n]{{0,80}}?[ \t]>(?P<secret>{_LETTERS_OR_SIGNS}[^\s\"']{{8,200}})"),
    _rule(
        "password", "REG_SZ",
        r"REG_SZ[ \t]{1,3}/d[ \t]{1,3}\"?(?P<secret>[^\s\"]{8,400})",
        before=r"(?i)/v[ \t]{1,3}\"?[\w -]{0,40}(?:key|token|secret|pass\w{0,8})\"?[ \t]",
    ),
    _rule(
        "password", "uth=( asicAuth(",
        r"\w{3,9}=?\([ ]?[\"'][^\s\"']{1,60}[\"'],\s{0,20}[\"']"
        rf"(?P<secret>{_LETTERS_OR_SIGNS}[^\s\"'<>{{}}$]{{8,200}})[\"']",
        is_inside=True,
    ),
    _rule(
        "password", "word~7~ ecret~5~ ecret~9~",
        r"\w{4,5} [579] (?P<secret>[0-9A-F]{12,}(?![0-9a-z])|\$\d{1,2}\$\S{8,200})",
        is_inside=True,
    ),
    _rule(
        "password", "]:587 ]:465",
        rf"\]:\d{{3}}[ \t]{{1,9}}[^\s:]{{1,100}}:(?P<secret>{_LETTERS_OR_SIGNS}[^\s\"'<>{{}}$]{{8,200}})",
        is_inside=True,
    ),
    _rule("password", "://", r"://(?P<secret>[0-9a-f]{8,64}:[0-9a-f]{8,64})@", is_inside=True),
    _rule("Google token", "1//0", r"1//0[\w-]{40,200}"),
    _rule("Google key", "AAAA", r"AAAA[\w-]{7}:(?P<secret>[\w-]{120,200})"),
    _rule("Discord webhook", "webhooks/", r"webhooks/\d{15,22}/(?P<secret>[\w-]{40,})"),
    _key(
        "Stripe key", "sk_live_ rk_live_ sk_test_ rk_test_ sk_prod_ rk_prod_",
        r"(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{10,}",
    ),
    _key("webhook secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{16,}"),
    _key("Google key", "AIza", r"AIza[\w-]{35}(?![\w-])"),
    _key("Google token", "GOCSPX-", r"GOCSPX-[\w-]{20,}"),
    _rule("Google token", "ya29.", r"ya29\.[\w-]{20,}"),
    _key("Anthropic key", "sk-ant-", r"sk-ant-[\w-]{16,}"),
    _key(
        "OpenAI key", "sk-proj- sk-svcacct- sk-admin- sk-None-",
        r"sk-(?:proj|svcacct|admin|None)-[\w-]{16,}",
    ),
    _key("OpenRouter key", "sk-or-", r"sk-or-[\w-]{16,}"),
    _key("API key", "sk-", r"sk-[A-Za-z0-9]{32,}(?![\w-])"),
    _key("Groq key", "gsk_", r"gsk_[A-Za-z0-9]{32,}"),
    _key("xAI key", "xai-", r"xai-[A-Za-z0-9]{40,}"),
    _key("Hugging Face token", "hf_", r"hf_[A-Za-z0-9]{30,}"),
    _key("Replicate token", "r8_", r"r8_[A-Za-z0-9]{30,}"),
    _key("npm token", "npm_", r"npm_[A-Za-z0-9]{30,}"),
    _key("PyPI token", "pypi-A", r"pypi-A[\w-]{50,}"),
    _key("RubyGems key", "rubygems_", r"rubygems_[a-f0-9]{40,}"),
    _key("Docker token", "dckr_", r"dckr_(?:pat|oat)_[\w-]{20,}"),
    _key("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[a-f0-9]{40,}"),
    _rule("SendGrid key", "SG.", r"SG\.[\w-]{16,}\.[\w-]{16,}"),
    _key("Mailgun key", "key-", r"key-[0-9a-f]{32}(?![A-Za-z0-9])"),
    _key("Twilio key", "SK", r"SK[0-9a-f]{32}(?![A-Za-z0-9])"),
    _rule(
        "Telegram token", ":AA", r"(?<=\d{8}):(?P<secret>AA[\w-]{32,34})(?![\w-])", is_inside=True
    ),
    _key("Shopify token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    _rule("Vault token", "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{20,}"),
    _key("Databricks token", "dapi", r"dapi[0-9a-f]{32}(?![A-Za-z0-9])"),
    _rule("Azure key", "AccountKey= SharedAccessKey=", r"(?:Account|SharedAccess)Key=(?P<secret>[A-Za-z0-9+/]{40,}={0,2})"),
    _rule("signature", "sig=", r"sig=(?P<secret>[A-Za-z0-9%+/]{40,}={0,2})"),
    _key("Linear key", "lin_api_", r"lin_api_[A-Za-z0-9]{32,}"),
    _key("Notion token", "ntn_", r"ntn_[A-Za-z0-9]{40,}"),
    _key("Figma token", "figd_", r"figd_[\w-]{30,}"),
    _key("Postman key", "PMAK-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{30,}"),
    _key("1Password token", "ops_eyJ", r"ops_eyJ[A-Za-z0-9+/]{100,1000}={0,3}"),
    _key("Fly token", "fm1a_ fm1r_ fm2_", r"fm(?:1[ar]|2)_[A-Za-z0-9+/]{80,1000}={0,3}"),
    _key("AWS key", "ABSK", r"ABSK[A-Za-z0-9+/]{100,300}={0,2}"),
    _key("Confluent key", "cflt", r"cflt[A-Za-z0-9+/]{60}(?![A-Za-z0-9+/])"),
    _key("Sentry token", "sntrys_", r"sntrys_[A-Za-z0-9+/]{30,400}={0,2}_[A-Za-z0-9+/]{40,}"),
    _key("age key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{50,}"),
    _rule(
        "web token", "eyJ",
        r"(?<!-)eyJ[\w-]{10,8000}\.eyJ[\w-]{10,8000}\.[\w-]{16,}",
    ),
    _rule(
        "password", "://",
        r"://[^\s/:@\"'<>\[\]{}]{0,100}:"
        r"(?P<secret>(?![*x.]+@|(?:password|passwd|pass|pw|pwd|secret|token)@)"
        r"[^\s/@\"'<>{}$\[\]]{3,200})@(?=[\w\[])",
        is_inside=True,
    ),
    _rule(
        "password", "://",
        rf"://(?P<secret>{_TELLING}[A-Za-z0-9_-]{{16,200}})@(?=\w)",
        is_inside=True,
    ),
    _rule(
        "password", "login",
        rf"login[ \t]{{1,3}}[^\s]{{1,100}}[ \t]{{1,3}}password[ \t]{{1,3}}(?P<secret>{_TELLING}\S{{8,200}})",
    ),
    _rule(
        "password", "-u --user",
        rf"(?:-u|--user)[ \t=]{{1,3}}[\"']?[\w.@-]{{1,60}}:(?P<secret>{_TELLING}[^\s\"'<>${{}}]{{8,200}})",
    ),
    _rule(
        "password", "DENTIFIED dentified",
        r"(?:DENTIFIED|dentified)(?: (?:WITH|with) \S{1,40})? (?:BY|by|AS|as)[ \t]{1,3}(?P<quote>[\"'])"
        r"(?P<secret>(?=[^\s\"']{0,60}[A-Za-z])(?=[^\s\"']{0,60}[\d!@#%^&*?+~])[^\s\"'<>{}$]{8,200})(?P=quote)",
        is_inside=True,
    ),
    _rule(
        "password", "SecureString",
        rf"SecureString[ \t]{{1,3}}(?:-String[ \t]{{1,3}})?\(?[\"'](?P<secret>{_TELLING}[^\s\"'<>{{}}$]{{8,200}})[\"']",
        is_inside=True,
    ),
    _rule(
        "password", "-p -P /user:",
        rf"(?:-[pP][ \t]{{0,3}}|/user:\S{{1,40}}[ \t])[\"']?(?P<secret>{_TELLING}[^\s\"'<>{{}}$]{{8,200}})",
        before=r"\b(?:sshpass|mysql\w*|mongo\w*|(?:docker|podman|helm|az|net)[ ](?:registry[ ])?(?:login|use)|sqlcmd"
        r"|ldap\w+|kinit|wget|htpasswd|smbclient|gpg|mosquitto_\w+|rabbitmqctl)\b[^|;&]*$",
    ),
    _rule(
        "password", "redis-cli",
        rf"redis-cli[^\n|;&]{{0,80}}[ ](?:-a|--pass)[ ][\"']?(?P<secret>{_TELLING}[^\s\"'<>{{}}$]{{8,200}})",
    ),
    _rule(
        "password", "earer asic EARER ASIC",
        r"[A-Za-z]{4,5}[ \t]{1,3}(?P<secret>(?=[^\s\"']{0,60}\d)[A-Za-z0-9+/_.~-]{20,}={0,2})",
        is_inside=True,
    ),
)  # fmt: skip


class Secret(NamedTuple):
    """A stretch of a text to redact.

    Attributes:
        start: The start, in code points.
        end: The end, after the last character.
        kind: The kind of the secret, in words.
    """

    start: int
    end: int
    kind: str


_MOST_ENCODED = 4000
_IN_RUN = re.compile(r"[A-Za-z0-9_-]+")
_SIGNS = re.compile(r"[+/_-]+")
_MIXED = re.compile(r"(?=[^A-Z]{0,40}[A-Z])(?=[^a-z]{0,40}[a-z])[^0-9]{0,40}[0-9]")


def _is_by_word(rule: FormRule) -> bool:
    """Return whether a rule's matches begin words of long runs, so that only runs are searched."""
    return (
        rule.source.startswith(BEGIN) and rule.is_long and all(map(_IN_RUN.fullmatch, rule.hints))
    )


_BY_HINT: dict[str, list[FormRule]] = {}
_BY_WORD: dict[str, list[tuple[str, FormRule]]] = {}
for _one in RULES:
    for _hint in _one.hints:
        if _is_by_word(_one):
            _BY_WORD.setdefault(_hint[:2], []).append((_hint, _one))
        else:
            _BY_HINT.setdefault(_hint, []).append(_one)

_PEM = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    r"(?P<body>(?:(?!-----)[^\x00]){0,20000})"
)
_PUBLIC = re.compile(
    r"-----BEGIN (?![A-Z0-9 ]{0,40}PRIVATE)[A-Z0-9 ]{3,40}-----(?:(?!-----)[^\x00]){0,20000}"
)
_PEM_HINT = "PRIVATE KEY"
_WRAPPED = re.compile(
    r"^[ \t]*[\"']?(?P<secret>[A-Za-z0-9+/]{60,80}={0,2})[\"']?\\?$", re.MULTILINE
)


def find_secrets(text: str, *, wrapped: bool = False) -> tuple[Secret, ...]:
    """Return the secrets of a text, in order and without overlaps.

    Args:
        text: Any text.
        wrapped: Whether lines of encoded data count too: they may be part of a private key whose
            beginning is not in the text.
    """
    found = [*_by_form(text), *_private_keys(text), *find_in_layouts(text, _keys)]
    # Certificates, public keys and signatures look random, but are not secret.
    blocks = _PUBLIC.finditer(text) if "-----BEGIN " in text else ()
    public = [block.span() for block in blocks]
    found += [
        one
        for one in (*in_assignments(text), *_in_runs(text))
        if not any(start <= one[0] < end for start, end in public)
    ]
    if wrapped:
        found += [(*one.span("secret"), PRIVATE_KEY) for one in _WRAPPED.finditer(text)]
    return merge_overlaps(sorted(found, key=itemgetter(0)))


def private_key_lines(text: str) -> tuple[str, ...]:
    """Return the lines of all private keys in a text that are long enough to be recognized
    again.
    """
    return tuple(text[start:end] for start, end, _ in _private_keys(text) if end - start > 15)


def _by_form(text: str) -> Iterator[SecretSpan]:
    for hint, rules in _BY_HINT.items():
        at = text.find(hint)  # a hundred times as fast as a pattern
        while at >= 0:
            end = at + 1
            for rule in rules:
                if (one := rule.match(text, at)) is not None:
                    yield *one.span("secret"), rule.kind
                    end = max(end, one.end())
            at = text.find(hint, end)


def _in_runs(text: str) -> Iterator[SecretSpan]:
    """Yield start, end and kind of the keys in long runs of letters and digits."""
    last = 0  # the end of the last value that was found by its name
    for start, end in long_runs(text):
        if (found := _by_word(text, start, end)) is not None:
            yield found[0], _whole_end(text, found[1], end), found[2]
        elif (key := issued_key(text, start, end)) is not None:
            yield *key, issued_keys.KIND
        elif is_secret_by_name(text, start, end) or (
            follows(text, last, start) and is_made(text[start:end])
        ):
            yield with_signs(text, start), end, NAMED_KIND
            last = end
        elif is_random_string(text, start, end):
            yield with_signs(text, start), end, randomness.KIND
        elif (
            (end - start) % 4 == 0
            and end - start <= _MOST_ENCODED
            and is_encoded_key(text[start:end], _keys)
        ):
            yield start, end, issued_keys.KIND


def _keys(text: str) -> Iterator[SecretSpan]:
    """Yield keys that are known by their form alone, in a text of one line."""
    yield from _by_form(text)
    for start, end in long_runs(text):
        if (found := _by_word(text, start, end)) is not None:
            yield found
        elif (key := issued_key(text, start, end)) is not None:
            yield *key, issued_keys.KIND


def _whole_end(text: str, found: int, end: int) -> int:
    """Return the end of a key that continues, in base64, after the text of its form."""
    rest = text[found:end]
    goes_on = rest[:1] == "+" or (rest[:1] == "/" and _MIXED.match(rest) is not None)
    return end if goes_on else found


def _by_word(text: str, start: int, end: int) -> tuple[int, int, str] | None:
    """Return the key of a known form that begins with a word of a run."""
    for at in (start, *(sign.end() for sign in _SIGNS.finditer(text, start, end))):
        for hint, rule in _BY_WORD.get(text[at : at + 2], ()):
            if text.startswith(hint, at) and (one := rule.pattern.match(text, at)):
                return *one.span("secret"), rule.kind
    return None


def _private_keys(text: str) -> Iterator[SecretSpan]:
    """Yield the lines between the first and the last line of private keys."""
    for key in _PEM.finditer(text) if _PEM_HINT in text else ():
        for line in BODY.finditer(text, *key.span("body")):
            yield *line.span(), PRIVATE_KEY


def merge_overlaps(found: Iterable[SecretSpan]) -> tuple[Secret, ...]:
    """Merge overlapping spans into one, of the kind of the first; `found` is in order of start."""
    disjoint: list[Secret] = []
    for start, end, kind in found:
        if disjoint and start < disjoint[-1].end:
            last = disjoint[-1]
            disjoint[-1] = last._replace(end=max(last.end, end))
        else:
            disjoint.append(Secret(start, end, kind))
    return tuple(disjoint)
