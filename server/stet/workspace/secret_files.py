"""Files whose name says that they hold a secret: never shown to a model, whoever asks.

Names are compared as a case-folding, Unicode-normalising file system would (so `.ENV` and a
full-width spelling are found on every machine), and without the endings editors give to copies.
"""

import re
from fnmatch import translate
from functools import lru_cache

from stet.workspace.names import folded, loosest
from stet.workspace.secret_shapes import is_secret_shape

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
"""Ends of paths, folded, of files and folders whose name alone says nothing."""

_BUNDLES = (".agilekeychain", ".opvault", ".wallet", ".keychain")
"""Endings of folders that password managers take for one file."""
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


@lru_cache(maxsize=8192)  # the folders of a path are asked about with each of its files
def is_secret(parts: tuple[str, ...]) -> bool:
    """Whether a path, given as its parts, names a secret file or one in a secret folder."""
    names = [loosest(part) for part in parts]
    if any(name in SECRET_FOLDERS or name.endswith(_BUNDLES) for name in names):
        return True
    written = folded(parts[-1]).rstrip(". ") if parts else ""  # a colon is a letter on most disks
    return any(_is_secret_at(names[:-1], name) for name in {*names[-1:], written})


def _is_secret_at(above: list[str], name: str) -> bool:
    """Whether a folded file name is a secret's; samples without values are not."""
    # Without the endings that editors give to copies.
    names = {name, *(name.removesuffix(ending) for ending in _COPY_ENDINGS)}
    if not _STARTS.isdisjoint((*above, *names)) and any(
        path in f"/{'/'.join((*above, each))}/" for each in names for path in _PATHS
    ):
        return True
    if not name or _SAMPLE.fullmatch(name):
        return False  # a folder is asked about with an empty name behind it
    return any(_is_listed(each) or is_secret_shape([*above, each]) for each in names - {""})


def _is_listed(name: str) -> bool:
    # A walk asks about each file, and one expression of all the patterns takes ten times as long.
    # What begins with a dot is listed for one purpose too: `.npmrc.ci`.
    base = _PURPOSE.sub("", name) if name.startswith(".") else name
    return (
        name in _EXACT
        or base in _EXACT
        or name.endswith(_ENDINGS)
        or _PATTERN.match(name) is not None
    )
