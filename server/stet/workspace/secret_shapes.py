"""Shapes of names that say that a file holds a secret, whatever program keeps it.

People and programs name such files alike: what it is comes last (`db-secret.yaml`, `my_api_keys.txt`,
`github-recovery-codes`), in a file of data or one without an ending. Sources, pages and word lists about
secrets are named otherwise, and are none. All names here are folded (`stet.workspace.names.folded`).
"""

import re

from stet.workspace.names import MAX_PART

_DATA = frozenset(
    {
        "", "txt", "text", "json", "jsonc", "json5", "yaml", "yml", "toml", "ini", "cfg", "conf", "csv",
        "tsv", "properties", "env", "db", "sqlite", "sqlite3", "dat", "bin", "pickle", "pkl", "key", "pem",
        "asc", "gpg", "pgp", "enc", "age", "pdf", "rtf", "doc", "docx", "odt", "ods", "xls", "xlsx", "plist",
        "lst", "list", "log", "sh", "ps1", "bak", "old", "backup", "b64", "hex", "der", "xml", "cred",
    }
)  # fmt: skip
"""Endings of files that hold data."""
_NO_WORDS = frozenset({"xml", "log", "list", "lst", "sh", "ps1", "db", "conf"})
"""Of those, endings of files that may be about passwords and tokens as well as hold some."""
_NO_SHAPE = frozenset({"xml", "log", "sh", "ps1"})

_OWNER = (
    r"(?:access|auth|refresh|bearer|oauth|oauth2|session|sso|bot|github|gh|gitlab|gl|gitea|npm|pypi|cargo"
    r"|slack|discord|telegram|api|vault|consul|personal|pat|root|admin|service|user|login|hf|huggingface"
    r"|openai|anthropic|gemini|google|gcp|gcloud|aws|azure|docker|registry|k8s|kube|jwt|mcp|client|app|bearer"
    r"|cf|cloudflare|digitalocean|do|heroku|sentry|stripe|twilio|sendgrid|db|database|mysql|postgres|redis"
    r"|deploy|ci|my|nomad|consul|bootstrap|boundary|management|join|agent|rancher|argocd|grafana|linode|hetzner)"
)
_PLAIN = re.compile(
    r"""
    (?:.*-)? (?:credentials?|creds|secrets?|secretkeys?) (?:-(?:key|base|token|id|store|file|backup|bak|old))?
    | (?:.*-)? (?:api|access|secret|private|priv|encryption|signing|deploy|ssh|master|unseal)-?keys?
    | (?:.*-)? (?:rsa|dsa|ecdsa|ed25519|ed25519-sk|ecdsa-sk|age|gpg|pgp|minisign|cosign|gcp|gcloud|service
        |vault|cluster|sa|host|serviceaccount)-keys?
    | (?:.*-)? (?:private|priv)-?key-?[a-z0-9]*
    | (?:.*-)? service-?accounts? (?:-?(?:key|credentials|file|creds))?
    | (?:.*-)? firebase-adminsdk (?:-.*)?
    | (?:.*-)? client-?secrets? (?:-.*)?
    | (?:.*-)? (?:recovery|backup|rescue|scratch|2fa|mfa|otp|emergency|one-time|two-factor)-?codes? (?:-.*)?
    | (?:.*-)? (?:recovery|bitlocker-recovery)-?(?:keys?|phrase|kit|words|seed)
    | (?:.*-)? (?:seed|mnemonic|backup|secret)-?(?:phrases?|words) | (?:.*-)? mnemonics?
    | (?:wallet|wallet-.*|hd)-?seed
    | (?:.*-)? (?:token|tokens|msal|msal-token)-?cache | t?otp(?:-secrets?)?
    | (?:env|environment)-(?:prod|production|dev|development|local|staging|live)
    | (?:secrets?|credentials?|passwords?)-(?:prod|production|dev|development|local|staging|live|db|dec|key
        |keys|api|app|all|store|backup|enc|sops|common)
    | (?:.*-)? (?:image-?)?pull-?secrets? | (?:.*-)? validator-keys?
    | (?:.*-)? emergency-?(?:kit|access|sheet) (?:-.*)?
    | (?:.*-)? key-?pair
    | (?:.*-)? (?:passwords?|passwd)-?files? | (?:.*-)? (?:init|root|unseal)-?keys?
    | (?:bitlocker-)? recovery-?keys? (?:-.*)?
    | (?:enpass|bitwarden|1password|lastpass|dashlane|keepass(?:xc)?|nordpass|roboform|proton-?pass|passbolt
        |buttercup|padloc|zoho-?vault)-? (?:.*-)? (?:export|backup|dump) (?:-.*)?
    | (?:.*-)? kubeconfig (?:-.*)?
    """,
    re.VERBOSE,
)
_WORDS = re.compile(
    rf"""
    (?:{_OWNER}-)* (?:token|{_OWNER}-?tokens?)
    | (?:{_OWNER}-|restic-|borg-|sudo-|mail-|smtp-|wifi-|ssh-|sql-|pg-|prod-|dev-|staging-|chrome-|firefox-
        |(?:.*-)?vault-|all-|saved-|exported-|safari-|edge-|brave-)* (?:passwords?|passwd|passphrases?)
    | (?:.*-)? (?:oauth|oauth2)-(?:creds?|tokens?|credentials?)
    | (?:.*-)? (?:openai|anthropic|gemini|google|gcp|aws|azure|github|gitlab|slack|stripe|twilio|sendgrid|hf
        |huggingface|jwt|cloudflare|npm|pypi|docker|heroku|sentry|mistral|groq|openrouter|deepseek)-?keys?
    """,
    re.VERBOSE,
)
_PASSWORD = re.compile(
    r"(?:.*-)?(?:passwords?|passphrases?)|(?:.*-)?cookies?(?:-(?:export|dump|backup|jar|session|all))?"
    r"|(?:(?:metamask|ledger|trezor|exodus|phantom|electrum|btc|bitcoin|eth|ethereum|solana|monero|wallet"
    r"|crypto|coinbase|backup|my)-)?seed"
)
"""What only a bare text is taken for."""
_BARE = frozenset({"", "txt", "text", "dat", "env", "gpg", "enc", "age"})
_NOTES = re.compile(
    r"(?:.*-)?(?:(?:recovery|backup|rescue|2fa|emergency)-?(?:codes?|keys?|phrases?)|seed-?(?:phrases?|words)"
    r"|mnemonics?)"
)
"""What people write into a note; pages of documentation about it lie elsewhere."""
_PAGES = frozenset(
    {"docs", "doc", "content", "pages", "documentation", "help", "site", "website", "blog"}
)
_TRANSLATIONS = frozenset(
    {
        "locale",
        "locales",
        "i18n",
        "l10n",
        "lang",
        "langs",
        "languages",
        "translations",
        "messages",
        "intl",
        "src",
    }
)
"""Folders whose files are named after what their texts are about."""
_ABOUT = re.compile(
    r"(?:^|-)(?:example|examples|sample|samples|template|templates|tmpl|dist|defaults|schema|dummy|fake"
    r"|mock|public|pub|policy|no|missing|invalid|sealed|external|common|test|tests)(?:-|$)"
    r"|^(?:reset|rotate|create|delete|get|set|add|list|update|encrypt|decrypt|forgot|forgotten|lost|change"
    r"|verify|check|generate|gen|show|hide|describe|remove|fetch|sync|scan|detect|find|make|rename|manage"
    r"|validate|import|export|load|read|write|print|new)-"
)
"""Words by which a name says that it holds none, or is about some."""
_TOOLS = frozenset({"passwd", "password", "secret", "credential", "seed"})
_PROGRAMS = frozenset(
    {"bin", "sbin", "libexec", "git-core", "completions", "scripts", "tmpfiles.d"}
)
"""Folders in which a name without an ending is a program's."""
"""Names that programs have too, and their settings."""
_SUFFIX = re.compile(
    r"(?:-(?:prod|production|dev|development|staging|stage|test|local|live|old|new|bak|backup|copy|final"
    r"|work|home|me|[0-9][0-9a-f-]*))+$"
)

_STAGES = frozenset(
    {"prod", "production", "dev", "development", "local", "staging", "live", "test", "common"}
)
"""Endings that say where the values are used: `secrets.production`."""
_IN_ENDING = re.compile(r"(?:.+-)(?:passwords?|passwd|passphrase|secrets?|credentials?|token)")
_TOOL_SECRET_FILE = re.compile(
    r"\.[a-z0-9-]+[-_](?:token|api[-_]?key|passwords?|secrets?|credentials?)"
)
"""A hidden file that a program keeps one in: `.nomad-token`."""
_SHELL = re.compile(
    r"env[-._](?:prod|production|dev|development|local|staging|live)\.(?:sh|bash|zsh|fish|ps1|bat|cmd|list)"
)
"""Variables of an environment that a shell reads."""

_HISTORY = re.compile(
    r"""
    \..*(?:hist|history|histfile|hst)(?:[-_.].*)?
    | \..*history\.(?:db|sqlite3?|txt|jl)
    | (?:fish|bash|zsh|ksh|ash|sh|csh|tcsh|consolehost|repl|console|shell|mongosh|cqlsh|psql|mysql|mariadb
        |sqlite|redis|redis-?cli|ghci|node|python|ipython|irb|pry|php|psysh|xonsh|groovysh|jline)
      [-_.]?(?:repl[-_])?(?:hist|history)(?:\.[a-z0-9]+)?
    | .+[-_]repl[-_]history(?:\.[a-z0-9]+)?
    | .*\.shada | \.n?viminfo
    """,
    re.VERBOSE,
)
"""What was typed in a shell, where passwords stand on the command line."""

_HINT = re.compile(
    "secret|cred|passw|passphrase|token|key|code|phrase|words|mnemonic|seed|account|adminsdk|emergency|cache"
    "|cookie|export|backup|dump|otp|kubeconfig|hist|hst|shada|viminfo|auth|env|recovery|2fa"
)
"""A word of each of the shapes above: most names have none, and are judged at once."""
_LOGIN = re.compile(
    r"""
    (?:.*[-_])?auth(?:\.[a-z0-9]+)? | session(?:s)?\.json | hosts(?:\.(?:ya?ml|json|toml))?
    | apps\.json | keys?(?:\.(?:json|txt|toml|ya?ml))? | (?:.*[-_])?accounts?\.(?:json|xml|ya?ml|toml|conf|ini|cfg)
    | .*(?:oauth|credential|creds|secret|token|passw|passwd).* | \.?cookies?(?:\..+)? | logins?(?:[-_.].*)?
    | .*history.* | .*client[-_]info\.json | id\.json
    """,
    re.VERBOSE,
)
"""What a program of the user's keeps a login in, in a folder of its own that begins with a dot."""
_LOGIN_CODE = re.compile(
    r"(?:.*[-_])?(?:secrets?|credentials?|tokens?|passwords?|api[-_]?keys?)\.(?:gradle|lua|rb|py|el|vim|fish|zsh|bash|kts|nu)"
)
"""The same in the language of the program's settings: `.emacs.d/secrets.el`."""
_HOMES = frozenset({"appdata", "application support"})
"""What stands for such a folder on Windows and macOS."""
_PROJECT_FOLDERS = frozenset(
    {
        ".github", ".gitlab", ".gitea", ".forgejo", ".vscode", ".circleci", ".husky", ".storybook",
        ".vitepress", ".vuepress", ".devcontainer", ".venv", ".tox", ".nox", ".obsidian", ".next", ".nuxt",
        ".svelte-kit", ".astro", ".yarn", ".pnpm", ".changeset", ".well-known", ".cursor", ".agents", ".kiro",
        ".claude-plugin", ".pc", ".build-id", ".eggs", ".mypy_cache", ".ruff_cache", ".pytest_cache",
    }
)  # fmt: skip
"""Folders of that kind that belong to a project, and hold no login."""
_DEPTH = 4
"""Parts of a path below such a folder in which programs keep their logins (`.local/share/x/auth.json`)."""
_STORES = frozenset(
    {"secrets", ".secrets", "secret", "keystore", "keystores", "wallets", ".wallets"}
)
"""Folders in which files of data, and without an ending, are secrets."""
_STORED = frozenset(
    {"", "txt", "json", "key", "pem", "yaml", "yml", "toml", "env", "dat", "secret"}
)


def is_secret_shape(names: list[str]) -> bool:
    """Whether the folded parts of a path look like those of a file that holds a secret."""
    name = names[-1]
    if len(name) > MAX_PART:
        return False  # on no disk
    return (
        (
            _HINT.search(name) is not None
            and (
                (_is_named_secret(names) and not _is_program(names))
                or _HISTORY.fullmatch(name) is not None
            )
        )
        or _is_login(names)
        or _is_stored(names)
    )


def _is_program(names: list[str]) -> bool:
    return len(names) > 1 and names[-2] in _PROGRAMS and _split(names[-1])[1] in ("", "conf")


def _is_named_secret(names: list[str]) -> bool:
    stem, ending = _split(names[-1])
    if (
        _SHELL.fullmatch(names[-1])
        or _TOOL_SECRET_FILE.fullmatch(names[-1])
        or (ending and _IN_ENDING.fullmatch(ending))
    ):
        return True
    if ending in _STAGES:
        stem, ending = names[-1], ""
    words = re.sub(r"[-_. ]+", "-", stem).strip("-")
    if _ABOUT.search(words):
        return False
    words = _SUFFIX.sub("", words)
    if ending in ("md", "markdown"):
        return _NOTES.fullmatch(words) is not None and not _PAGES.intersection(names[-3:-1])
    if ending not in _DATA or (not ending and names[-1] in _TOOLS):
        return False
    if ending in ("json", "yaml", "yml") and _is_text_for_people(names[-4:-1]):
        return False
    return (
        any(
            ending not in without and shape.fullmatch(words)
            for shape, without in ((_PLAIN, _NO_SHAPE), (_WORDS, _NO_WORDS))
        )
        or (ending in _BARE and _PASSWORD.fullmatch(words) is not None)
        or names[-1] == "auth.json"
    )


def _is_text_for_people(above: list[str]) -> bool:
    return bool(_TRANSLATIONS.intersection(above)) or above[-1:] == ["src"]


def _is_login(names: list[str]) -> bool:
    """Whether a file in a folder of a program's own is what it keeps a login in."""
    above = names[:-1][-_DEPTH:]
    if not any(
        part.startswith(".") or part in _HOMES for part in above
    ) or _PROJECT_FOLDERS.intersection(names[:-1]):
        return False
    is_history = names[-1] != "" and any("history" in part for part in names[-2:-1])
    if _LOGIN_CODE.fullmatch(names[-1]) is not None or is_history:
        return True
    return _split(names[-1])[1] in _DATA and _LOGIN.fullmatch(names[-1]) is not None


def _is_stored(names: list[str]) -> bool:
    """Whether a file of data lies directly in a folder for secrets."""
    return len(names) > 1 and names[-2] in _STORES and _split(names[-1])[1] in _STORED


def _split(name: str) -> tuple[str, str]:
    """Return a name without its last ending, and the ending; a leading dot begins no ending."""
    stem, dot, ending = name.rpartition(".")
    return (stem, ending) if dot and stem.strip(".") else (name, "")
