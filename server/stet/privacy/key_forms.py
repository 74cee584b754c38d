"""Forms of keys and passwords that are found by a literal in them: each a literal, a pattern and a kind.

The literals are searched for in each text, which costs some: what a run of letters and digits tells by
itself or by what stands right before it is left to `issued_keys`, what a name tells to `assignments` and
`named_values`.
"""

import re
from dataclasses import dataclass
from functools import cache

_MOST_BEFORE = 160
"""Characters of a line that are looked at before a hint."""


@dataclass(frozen=True, slots=True)
class FormRule:
    """Keys of one form.

    Attributes:
        kind: What they are.
        hints: Each is begun with one of these, as written.
        source: A pattern from there on; the group `secret` is what is told to nobody.
        is_long: Whether it is part of a run of letters and digits as long as `LEAST` of
            `stet.privacy.randomness`.
        before: A pattern of what the line holds before the hint; empty for anything.
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
        """Return the match at a hint that is at `at`."""
        found = self.pattern.match(text, at)
        if found is None or not self.before:
            return found
        line = text[max(text.rfind("\n", 0, at) + 1, at - _MOST_BEFORE) : at]
        return found if _compiled(self.before).search(line) else None


@cache
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source)


BEGIN = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
"""Where a word begins, also behind a line end that is written as two characters."""


def _rule(
    kind: str, hints: str, pattern: str, *, is_inside: bool = False, before: str = ""
) -> FormRule:
    """Return a rule; `is_inside` says that the hints of the rule need not begin a word."""
    whole = pattern if "(?P<secret>" in pattern else f"(?P<secret>{pattern})"
    source = whole if is_inside else BEGIN + whole
    words = tuple(hint.replace("~", " ") for hint in hints.split())
    return FormRule(kind, words, source, before=before)


def _key(kind: str, hints: str, pattern: str) -> FormRule:
    """Return a rule for keys that are one long run of letters, digits and base64 signs."""
    return FormRule(kind, tuple(hints.split()), f"{BEGIN}(?P<secret>{pattern})", is_long=True)


_TELLING = r"(?=[^\s<>]{0,60}[A-Za-z])(?=[^\s<>]{0,60}\d)"
"""Of a secret in front of which little is said: it has letters and digits."""

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
