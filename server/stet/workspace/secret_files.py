"""Files whose name says that they hold a secret: never shown to a model, whoever asks.

Names are compared as a case-folding, Unicode-normalising file system would (so `.ENV` and a
full-width spelling are found on every machine), and without the endings editors give to copies.
"""

import re
from fnmatch import translate
from functools import lru_cache

from stet.workspace.names import folded, loosest

SECRET_NAMES = (
    # environments
    ".env", ".env.*", ".env[-_]*", "*.env", ".envrc",
    # keys and key stores
    "*.pem", "*.key", "*.p12", "*.pfx", "*.pkcs12", "*.p8", "*.jks", "*.keystore", "*.ppk",
    "*.kdbx", "*.kdb", "*.ovpn", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "secring.*",
    "*.mobileprovision", ".vault-token", ".vault_pass*",
    # logins of tools
    ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", "pgpass.conf", ".my.cnf", ".mylogin.cnf",
    ".htpasswd", ".git-credentials", ".dockercfg", ".terraformrc", "terraform.rc", "kubeconfig",
    ".s3cfg", ".boto", ".rclone.conf", ".databrickscfg", "rclone.conf", ".authinfo", ".authinfo.gpg",
    "credentials", "credentials.json", "credentials.y*ml", "credentials.toml", "credentials.ini",
    "credentials.csv", "credentials.xml", "client_secret*.json", "service-account*.json",
    "service_account*.json", "secrets.json", "secrets.y*ml", "secrets.toml", "secrets.ini", ".secrets",
    # state that repeats them
    "*.tfstate", "*.tfstate.backup", "*.tfvars",
    ".bash_history", ".zsh_history", ".python_history", ".psql_history", ".mysql_history",
)  # fmt: skip
"""Patterns of file names, folded."""

SECRET_FOLDERS = frozenset({".ssh", ".gnupg", ".aws", ".azure", ".kube", ".password-store"})
"""Folders, folded, in which everything is secret."""

SECRET_PATHS = (".docker/config.json", ".config/gcloud", ".config/gh/hosts.yml", ".m2/settings.xml")
"""Ends of paths, folded, of files and folders whose name alone says nothing."""

_SAMPLE = re.compile(
    r"(\.env|env)\.(example|sample|template|tmpl|dist|defaults)|(example|sample|template)\.env"
)
_SECRET_NAME = re.compile("|".join(map(translate, SECRET_NAMES)))
_COPY_ENDINGS = ("~", ".bak", ".orig", ".old", ".save", ".swp", ".swo", ".tmp")


@lru_cache(maxsize=8192)  # the folders of a path are asked about with each of its files
def is_secret(parts: tuple[str, ...]) -> bool:
    """Whether a path, given as its parts, names a secret file or one in a secret folder."""
    names = [folded(part) for part in parts]
    if any(loosest(name) in SECRET_FOLDERS for name in names):
        return True
    path = "/" + "/".join(names) + "/"
    if any(f"/{secret}/" in path for secret in SECRET_PATHS):
        return True
    return bool(names) and _is_secret_name(names[-1])


def _is_secret_name(name: str) -> bool:
    """Whether a folded file name is a secret's; samples without values are not."""
    name = name.partition("::")[0].rstrip(". ")  # what Windows makes of `.env::$DATA` and `.env.`
    if _SAMPLE.fullmatch(name):
        return False
    names = {name, *(name.removesuffix(ending) for ending in _COPY_ENDINGS)}
    return any(_SECRET_NAME.match(each) for each in names)
