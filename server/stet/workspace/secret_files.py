"""Recognition of secret files by their names; they are never shown to a model.

Names are compared as a case-folding, Unicode-normalising file system would (so `.ENV` and a
full-width spelling are found on every machine), and without the endings editors give to copies.

The shapes of names show that a file contains a secret, whatever program writes it. People and
programs name such files alike: the kind comes last (`db-secret.yaml`, `my_api_keys.txt`,
`github-recovery-codes`), in a data file or one without an ending. Sources, pages and word lists
about secrets have other names, and do not count. All names here are folded
(`stet.workspace.names.folded`).
"""

import re
from fnmatch import translate
from functools import lru_cache

from stet.workspace.names import MAX_PART, folded, loosest

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
"""Endings in `_DATA` of files that may only be about passwords and tokens."""
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
"""Endings of a bare text, with which these names count."""
_BARE = frozenset({"", "txt", "text", "dat", "env", "gpg", "enc", "age"})
_NOTES = re.compile(
    r"(?:.*-)?(?:(?:recovery|backup|rescue|2fa|emergency)-?(?:codes?|keys?|phrases?)|seed-?(?:phrases?|words)"
    r"|mnemonics?)"
)
"""Names of notes that contain secrets; documentation about them is in `_PAGES`."""
_PAGES = frozenset(
    {"docs", "doc", "content", "pages", "documentation", "help", "site", "website", "blog"}
)
_TRANSLATIONS = frozenset(
    {
        "locale", "locales", "i18n", "l10n", "lang", "langs", "languages", "translations", "messages",
        "intl", "src",
    }
)  # fmt: skip
"""Folders whose files are named after the subject of their texts."""
_ABOUT = re.compile(
    r"(?:^|-)(?:example|examples|sample|samples|template|templates|tmpl|dist|defaults|schema|dummy|fake"
    r"|mock|public|pub|policy|no|missing|invalid|sealed|external|common|test|tests)(?:-|$)"
    r"|^(?:reset|rotate|create|delete|get|set|add|list|update|encrypt|decrypt|forgot|forgotten|lost|change"
    r"|verify|check|generate|gen|show|hide|describe|remove|fetch|sync|scan|detect|find|make|rename|manage"
    r"|validate|import|export|load|read|write|print|new)-"
)
"""Words in names of files that contain no secrets or are only about secrets."""
_TOOLS = frozenset({"passwd", "password", "secret", "credential", "seed"})
"""Names that programs and their settings have too."""
_PROGRAMS = frozenset(
    {"bin", "sbin", "libexec", "git-core", "completions", "scripts", "tmpfiles.d"}
)
"""Folders in which a name without an ending is a program's."""
_SUFFIX = re.compile(
    r"(?:-(?:prod|production|dev|development|staging|stage|test|local|live|old|new|bak|backup|copy|final"
    r"|work|home|me|[0-9][0-9a-f-]*))+$"
)

_STAGES = frozenset(
    {"prod", "production", "dev", "development", "local", "staging", "live", "test", "common"}
)
"""Endings that name the stage in which the values are used: `secrets.production`."""
_IN_ENDING = re.compile(r"(?:.+-)(?:passwords?|passwd|passphrase|secrets?|credentials?|token)")
_TOOL_SECRET_FILE = re.compile(
    r"\.[a-z0-9-]+[-_](?:token|api[-_]?key|passwords?|secrets?|credentials?)"
)
"""A hidden file in which a program stores a secret: `.nomad-token`."""
_SHELL = re.compile(
    r"env[-._](?:prod|production|dev|development|local|staging|live)\.(?:sh|bash|zsh|fish|ps1|bat|cmd|list)"
)
"""Files with environment variables that a shell reads."""

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
"""Histories of shells and programs, where passwords are on the command line."""

_HINT = re.compile(
    "secret|cred|passw|passphrase|token|key|code|phrase|words|mnemonic|seed|account|adminsdk|emergency|cache"
    "|cookie|export|backup|dump|otp|kubeconfig|hist|hst|shada|viminfo|auth|env|recovery|2fa"
)
"""A word of each of the shapes above: most names contain none, which is the fast path."""
_LOGIN = re.compile(
    r"""
    (?:.*[-_])?auth(?:\.[a-z0-9]+)? | session(?:s)?\.json | hosts(?:\.(?:ya?ml|json|toml))?
    | apps\.json | keys?(?:\.(?:json|txt|toml|ya?ml))? | (?:.*[-_])?accounts?\.(?:json|xml|ya?ml|toml|conf|ini|cfg)
    | .*(?:oauth|credential|creds|secret|token|passw|passwd).* | \.?cookies?(?:\..+)? | logins?(?:[-_.].*)?
    | .*history.* | .*client[-_]info\.json | id\.json
    """,
    re.VERBOSE,
)
"""Files in which a program stores a login, in its own folder that begins with a dot."""
_LOGIN_CODE = re.compile(
    r"(?:.*[-_])?(?:secrets?|credentials?|tokens?|passwords?|api[-_]?keys?)\.(?:gradle|lua|rb|py|el|vim|fish|zsh|bash|kts|nu)"
)
"""Such files in the language of the program's settings: `.emacs.d/secrets.el`."""
_HOMES = frozenset({"appdata", "application support"})
"""The parents of programs' own folders on Windows and macOS."""
_PROJECT_FOLDERS = frozenset(
    {
        ".github", ".gitlab", ".gitea", ".forgejo", ".vscode", ".circleci", ".husky", ".storybook",
        ".vitepress", ".vuepress", ".devcontainer", ".venv", ".tox", ".nox", ".obsidian", ".next", ".nuxt",
        ".svelte-kit", ".astro", ".yarn", ".pnpm", ".changeset", ".well-known", ".cursor", ".agents", ".kiro",
        ".claude-plugin", ".pc", ".build-id", ".eggs", ".mypy_cache", ".ruff_cache", ".pytest_cache",
    }
)  # fmt: skip
"""Folders that begin with a dot, belong to a project and contain no login."""
_DEPTH = 4
"""The maximum depth of a login below a program's own folder (`.local/share/x/auth.json`)."""
_STORES = frozenset(
    {"secrets", ".secrets", "secret", "keystore", "keystores", "wallets", ".wallets"}
)
"""Folders in which data files, and files without an ending, are secrets."""
_STORED = frozenset(
    {"", "txt", "json", "key", "pem", "yaml", "yml", "toml", "env", "dat", "secret"}
)


def is_secret_shape(names: list[str]) -> bool:
    """Return whether the folded parts of a path look like those of a file that holds a secret."""
    name = names[-1]
    if len(name) > MAX_PART:
        return False  # no disk has such a name
    if _HINT.search(name) is not None:
        is_program = _split(name)[1] in ("", "conf") and _PROGRAMS.intersection(names[-2:-1])
        if _HISTORY.fullmatch(name) or (_is_named_secret(names) and not is_program):
            return True
    return _is_login(names) or _is_stored(names)


def _is_named_secret(names: list[str]) -> bool:
    name = names[-1]
    stem, ending = _split(name)
    if _SHELL.fullmatch(name) or _TOOL_SECRET_FILE.fullmatch(name) or _IN_ENDING.fullmatch(ending):
        return True
    if ending in _STAGES:
        stem, ending = name, ""
    words = re.sub(r"[-_. ]+", "-", stem).strip("-")
    if _ABOUT.search(words):
        return False
    words = _SUFFIX.sub("", words)
    if ending in ("md", "markdown"):
        return _NOTES.fullmatch(words) is not None and not _PAGES.intersection(names[-3:-1])
    if ending not in _DATA or (not ending and name in _TOOLS):
        return False
    if ending in ("json", "yaml", "yml") and _TRANSLATIONS.intersection(names[-4:-1]):
        return False
    shapes = (
        ending not in _NO_SHAPE and _PLAIN,
        ending not in _NO_WORDS and _WORDS,
        ending in _BARE and _PASSWORD,
    )
    is_shaped = any(shape and shape.fullmatch(words) for shape in shapes)
    return is_shaped or name == "auth.json"


def _is_login(names: list[str]) -> bool:
    """Return whether a file in a program's own folder is where the program stores a login."""
    above = names[:-1][-_DEPTH:]
    is_programs = any(part.startswith(".") or part in _HOMES for part in above)
    if not is_programs or _PROJECT_FOLDERS.intersection(names[:-1]):
        return False
    is_history = names[-1] != "" and any("history" in part for part in names[-2:-1])
    if _LOGIN_CODE.fullmatch(names[-1]) is not None or is_history:
        return True
    return _split(names[-1])[1] in _DATA and _LOGIN.fullmatch(names[-1]) is not None


def _is_stored(names: list[str]) -> bool:
    """Return whether a data file is directly in a folder for secrets."""
    return len(names) > 1 and names[-2] in _STORES and _split(names[-1])[1] in _STORED


def _split(name: str) -> tuple[str, str]:
    """Return a name without its last ending, and the ending; a leading dot begins no ending."""
    stem, dot, ending = name.rpartition(".")
    return (stem, ending) if dot and stem.strip(".") else (name, "")


SECRET_NAMES = (
    # environments
    ".env", ".env.*", ".env[-_]*", ".env[0-9]", ".environment", "env.prod", "env.production", "env.dev",
    "env.development",
    "env.staging", "env.local", "*.env", ".envrc", ".envrc.*", ".flaskenv", ".dev.vars", ".dev.vars.*",
    "local.settings.json", "wp-config.php", "localsettings.php", "arduino_secrets.h", "secret_token.rb",
    # keys and key stores
    "*.pem", "*.key", "*.p12", "*.pfx", "*.pkcs12", "*.p8", "*.jks", "*.jceks", "*.bks", "*.keystore",
    "*.ppk", "*.pvk", "*.snk", "*.jwk", "*.jwks.json", "*.keytab", "*.agekey", "*.age.txt", "*.sec",
    "*.kdbx", "*.kdb", "*.keyx", "*.ovpn", "wg[0-9]*.conf", "id_rsa*", "id_dsa*", "id_ecdsa*",
    "id_ed25519*",
    "*_rsa", "*_dsa", "*_ecdsa", "*_ed25519", "*_ed25519_sk", "*_ecdsa_sk", "ssh_host_*_key", "secring.*",
    "private.asc", "private.gpg", "secret.asc", "secret.gpg", "*-secret-key.asc", "*.private", "*.privkey",
    "privkey", "privatekey", "krb5cc_*", "*.mobileprovision", "*.provisionprofile", ".vault-token",
    "vault-token", ".vault*pass*", "vault[-_]pass*", "keystore.properties", "key.properties",
    "signing.properties", "acme.json", "hudson.util.secret", "authtoken.secret", "identity.secret", "*.secrets", "*.token", "*.credential", "*.credentials",
    "*.skr", "*.priv", "*.keyfile", "key", "keyfile", "keyfile.json", "key.json", "key.txt", "*.pse",
    "*.pwd", "*_private", "*-private", "*.decrypt.private.php", "*subkeys.asc", "*_priv", "*.macaroon",
    # logins of tools
    ".netrc", "_netrc", "netrc", ".netrc.gpg", ".npmrc", ".pypirc", ".pgpass", "pgpass", "pgpass.conf",
    ".pg_service.conf", "pg_service.conf", ".my.cnf", ".mylogin.cnf", ".odbc.ini", "odbc.ini", "cqlshrc",
    "cwallet.sso", "pgadmin4.db", "users.acl", ".rediscli_auth", ".htpasswd", "htpasswd", "*.htpasswd",
    ".htdigest", ".git-credentials", ".gitcookies", ".dockercfg", ".dockerconfigjson", ".terraformrc",
    "terraform.rc", "*.tfrc.json", "kubeconfig", "*.kubeconfig", "super-admin.conf", "admin.conf",
    "k3s.yaml", "talosconfig", ".s3cfg", "s3cfg",
    ".boto", "*passwd-s3fs", "rclone.conf", ".rclone.conf", ".databrickscfg", ".authinfo*", "authinfo",
    "*.publishsettings", "*.azureauth", ".clasprc.json", ".vultr-cli.yaml", ".ovh.conf", "ovh.conf",
    ".edgerc", "clouds.yaml", "clouds-public.yaml", "secure.yaml", "openrc", "*openrc.sh", ".sentryclirc",
    "ngrok.yml", "connections.toml", "profiles.yml", ".modal.toml", ".comet.config", "kaggle.json",
    ".claude.json", ".pause", ".arcrc", "settings-security.xml", "gitlab-secrets.json",
    "initialadminpassword", "cloudflare.ini", "knife.rb", ".msmtprc", "msmtprc", ".fetchmailrc",
    ".mbsyncrc", ".offlineimaprc", ".getmailrc", "getmailrc", ".esmtprc", ".smbcredentials",
    "smbcredentials", ".ftppass", ".ftpconfig", ".remote-sync.json", "sftp-config.json", "sftp.json",
    "webservers.xml", "datasources.local.xml", "sitemanager.xml", "recentservers.xml", "filezilla.xml",
    "winscp.ini", "*.rdp", "*.remmina", "*.nmconnection", "wpa_supplicant.conf", "credentials-config.json",
    "credentials", "credentials.json", "credentials.y*ml", "credentials.toml", "credentials.ini",
    "credentials.csv", "credentials.xml", "client_secret*.json", "service-account*.json", "accesskeys.csv",
    "service_account*.json", "secrets.json", "secrets.y*ml", "secrets.toml", "secrets.ini", ".secrets",
    "rootkey.csv", "application_default_credentials.json", "*_accesskeys.csv", "state.vscdb", ".sgptrc",
    "tailscaled.state", "rke2.yaml", "kube_config_*.y*ml", "*.rkestate", "kubelet.conf",
    "bootstrap-kubelet.conf", ".doppler.yaml", ".civo.json",
    ".sem.yaml", ".dogrc", "newrelic.yml", "newrelic.ini", "*.pkrvars.hcl", "*.pkrvars.json",
    # systems
    "gshadow", "shadow-", "gshadow-", "master.passwd", "spwd.db", "sasldb2", "sasl_passwd", "proftpdpasswd",
    "chap-secrets", "pap-secrets", "ipsec.secrets", "unattend.xml", "autounattend.xml", "sysprep.inf",
    "sysprep.xml", "ntds.dit", "groups.xml", ".xauthority", ".iceauthority",
    # browsers, key rings, password managers
    "logins.json", "key[34].db", "signons.sqlite", "cookies.sqlite", "login data", "web data",
    "local state", "cookies", "cookies.txt", "cookie.jar", "cookiejar.txt", "*.keychain", "*.keychain-db",
    "*.keyring", "*.kwl", "*.1pif", "*.1pux", "*.psafe3", "*.enpassdb", "*.agilekeychain", "*.opvault",
    "bitwarden*export*", "lastpass*export*",
    "dashlane*.csv", "nordpass*.csv", "protonpass*", "proton pass*", "keeper*export*", "1password*export*",
    "*.2fas", "*.bcup", "*.authpass", "*-logins.csv", "*_logins.csv", "logins.csv", "logins.txt",
    "aegis-*.json", "otp_accounts*", ".google_authenticator",
    # wallets
    "wallet.dat", "wallet.json", "*[-_]wallet.json", "wallet.aes.json", "keystore*.json",
    "litecoin.conf", "dogecoin.conf", "zcash.conf", "priv_validator_key.json", "node_key.json",
    "nodekey", "jwt.hex", "*.xprv", "hsm_secret", "*.wallet", "wallet.keys", "main.keys",
    "default_wallet", "bitcoin.conf",
    "*.seco", "*wallet*.keys", "utc--*", "*keypair.json", ".secret",
    # state that repeats them
    "*.tfstate", "*.tfstate.backup", "*.tfstate.*.backup", "*.tfvars", "*.tfvars.json",
)  # fmt: skip
"""Patterns of file names, folded."""

SECRET_FOLDERS = frozenset(
    {
        ".ssh", ".gnupg", ".aws", ".azure", ".azure-devops", ".kube", ".oci", ".bluemix", ".aliyun", ".tccli",
        ".password-store", "private-keys-v1.d", ".cloudflared", ".mcp-auth", ".jfrog", ".kaggle", ".e2b",
        ".runpod", ".snowsql", ".snowflake", ".chef", ".near-credentials", ".electrum", ".3t", ".mozilla",
        ".thunderbird", ".zsh_sessions", "system-connections",
    }
)  # fmt: skip
"""Folders, folded, in which everything is secret."""

SECRET_PATHS = (
    ".docker/config.json", ".docker/.token_seed", ".config/gcloud", ".config/gh/hosts.yml", ".config/hub",
    ".config/glab-cli/config.yml", ".config/tea/config.yml", ".config/.jira/.config.yml",
    ".config/github-copilot", ".config/configstore", ".config/doctl/config.yaml", ".config/hcloud/cli.toml",
    ".config/scw/config.yaml", ".config/linode-cli", ".config/netlify/config.json", ".config/ngrok",
    ".config/stripe/config.toml", ".config/atlascli/config.toml", ".config/turso/settings.json",
    ".config/planetscale", ".config/openstack", ".config/containers/auth.json", ".config/argocd/config",
    ".config/helm/registry/config.json", ".config/borg/keys", ".config/sops/age", ".config/chromium",
    ".config/google-chrome", ".config/bravesoftware", ".config/microsoft-edge", ".config/filezilla",
    ".config/solana/id.json", ".config/op", ".config/weechat/sec.conf", ".config/hexchat/servlist.conf",
    ".config/lab", ".config/toot", ".config/todoist", ".config/spotify-tui", ".config/cachix",
    ".config/vercel", ".config/yandex-cloud", ".config/exoscale", ".config/upctl.yaml", ".config/op",
    ".config/bitwarden cli", ".config/infisical", ".config/aichat/config.yaml", ".config/mods/mods.yml",
    ".config/helm/repositories.yaml", ".helm/repository/repositories.yaml", ".copilot/config.json",
    ".openhands/settings.json", ".grok/user-settings.json", ".local/share/crush", ".local/share/amazon-q",
    ".yandex-cloud/config.yaml", ".twilio-cli/config.json", ".okteto/context", ".render/cli.yaml",
    ".doppler", ".op/config", ".algolia/cli.toml", ".expo/state.json", ".local/share/com.vercel.cli",
    ".fly/config.yml", ".mc/config.json", ".railway/config.json", ".ngrok2/ngrok.yml",
    ".wrangler/config", ".circleci/cli.yml", ".travis/config.yml", ".gitlab-runner/config.toml",
    ".rancher/cli2.json", ".talos/config", ".hex/hex.config", ".gem/credentials", ".m2/settings.xml",
    ".gradle/gradle.properties", ".luarocks/upload_config.lua", ".cargo/credentials", ".dbt/profiles.yml",
    ".dbeaver", ".irssi/config", ".weechat/sec.conf", ".purple/accounts.xml", ".vnc/passwd",
    ".config/tigervnc/passwd", ".idea/webservers.xml", ".storage/auth", ".aptos/config.yaml",
    ".bitcoin/wallets", ".bitcoin/.cookie", ".ethereum/keystore", ".foundry/keystores", "etc/shadow",
    "etc/kubernetes",
    "etc/gshadow", "etc/wireguard", "davfs2/secrets", ".local/share/atuin", ".cache/erlang-history",
    ".local/state/nvim/shada", ".local/share/fish/fish_history", "instance/config.py",
    ".local/share/remmina",
    ".local/share/keyrings", ".gnome2/keyrings", "library/keychains", "appdata/roaming/gcloud",
    "appdata/roaming/github cli", "google/chrome/user data", "application support/google/chrome",
    "mozilla/firefox/profiles", "application support/firefox",
)  # fmt: skip
"""Ends of paths, folded, of files and folders whose names alone are not significant."""

_BUNDLES = (".agilekeychain", ".opvault", ".wallet", ".keychain")
"""Endings of folders that password managers treat as one file."""
_SAMPLE = re.compile(
    r"(\.env|env)\.(example|sample|template|tmpl|dist|defaults)|(example|sample|template)\.env"
    r"|.*[-_.](example|sample|template|tmpl|dist)"
)
_PATHS = tuple(f"/{path}/" for path in SECRET_PATHS)
_STARTS = frozenset(path.partition("/")[0] for path in SECRET_PATHS)
_EXACT = frozenset(name for name in SECRET_NAMES if not set("*[") & set(name))
_ENDINGS = tuple(
    name[1:] for name in SECRET_NAMES if name[0] == "*" and not set("*[") & set(name[1:])
)
_PATTERN = re.compile(
    "|".join(map(translate, sorted({*SECRET_NAMES} - _EXACT - {f"*{end}" for end in _ENDINGS})))
)
_PURPOSE = re.compile(r"(?<=[a-z0-9])[-.][a-z0-9]+\Z")
_COPY_ENDINGS = ("~", ".bak", ".orig", ".old", ".save", ".swp", ".swo", ".tmp")


@lru_cache(maxsize=8192)  # the folders of a path are checked again for each of its files
def is_secret(parts: tuple[str, ...]) -> bool:
    """Return whether a path, given as its parts, names a secret file or is in a secret folder."""
    names = [loosest(part) for part in parts]
    if any(name in SECRET_FOLDERS or name.endswith(_BUNDLES) for name in names):
        return True
    written = folded(parts[-1]).rstrip(". ") if parts else ""  # a colon is a letter on most disks
    return any(_is_secret_at(names[:-1], name) for name in {*names[-1:], written})


def _is_secret_at(above: list[str], name: str) -> bool:
    """Return whether a folded file name is that of a secret file; samples are not secret."""
    # Without the endings that editors give to copies.
    names = {name, *(name.removesuffix(ending) for ending in _COPY_ENDINGS)}
    if not _STARTS.isdisjoint((*above, *names)) and any(
        path in f"/{'/'.join((*above, each))}/" for each in names for path in _PATHS
    ):
        return True
    if not name or _SAMPLE.fullmatch(name):
        return False  # a folder is checked with an empty name after it
    return any(_is_listed(each) or is_secret_shape([*above, each]) for each in names - {""})


def _is_listed(name: str) -> bool:
    # A walk checks each file, and one expression of all the patterns takes ten times as long.
    # A hidden file may have one more ending for its purpose: `.npmrc.ci`.
    base = _PURPOSE.sub("", name) if name.startswith(".") else name
    return (
        name in _EXACT
        or base in _EXACT
        or name.endswith(_ENDINGS)
        or _PATTERN.match(name) is not None
    )
