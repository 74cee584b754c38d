"""What the rules make of the tables: as many names as must be known, as few ordinary ones as may
be.
"""

import hashlib
from collections.abc import Callable
from importlib.metadata import distributions

import pytest

from stet.review.policy.protected_files import is_protected
from stet.workspace.secret_files import is_secret
from tests.names.rates import asks, hides, privacy, rate, refused, share
from tests.names.tables import (
    LATER,
    Entry,
    protected,
    protected_later,
    secrets,
    secrets_later,
    touched,
)

LEAST = 0.98
FIRST_ASKED = 0.1523
"""The part of ordinary edits that asked for a yes of their own before there were shapes
(`rates.md`).
"""


def half(entries: list[Entry], *, held_out: bool) -> list[Entry]:
    return [one for one in entries if one.is_held_out is held_out]


@pytest.mark.parametrize("held_out", [False, True], ids=["tuning", "held out"])
def test_files_that_programs_obey_are_not_taken_with_everything_else(held_out: bool) -> None:
    assert rate(half(protected(), held_out=held_out), asks) >= LEAST


@pytest.mark.parametrize("number", LATER)
def test_names_that_were_listed_later_are_known_too(number: int) -> None:
    """Rules were made from these lists after their first runs (`rates.md`)."""
    assert rate(protected_later(number), asks) >= 0.92
    assert rate(secrets_later(number), hides) >= LEAST


def test_ordinary_edits_ask_hardly_more_often_than_before() -> None:
    assert share([one.name for one in touched()], asks) <= FIRST_ASKED + 0.02


def test_the_state_of_every_version_control_is_refused() -> None:
    entries = [one for one in protected() if one.group == "version control, its own state"]
    filtered = privacy()
    assert len(entries) >= 30
    assert [one.name for one in entries if refused(one.name, filtered) != "git"] == []


def wide(name: str) -> str:
    """In full-width letters, which NFKC folds."""
    return "".join(chr(ord(c) + 0xFEE0) if c.isascii() and c.isalpha() else c for c in name)


def cyrillic(name: str) -> str:
    """In letters that look the same."""
    there = str.maketrans(
        "aeopcxiyBEHMT",
        "\u0430\u0435\u043e\u0440\u0441\u0445\u0456\u0443\u0412\u0415\u041d\u041c\u0422",
    )
    return name.translate(there)


def unseen(name: str) -> str:
    """With a letter that nobody sees, in each part."""
    return "/".join(f"{part[:2]}\u200b{part[2:]}" for part in name.split("/"))


SPELLINGS: dict[str, Callable[[str], str]] = {
    "capitals": str.upper,
    "small": str.lower,
    "turned": str.swapcase,
    "wide": wide,
    "look-alike": cyrillic,
    "unseen": unseen,
    "dot behind": lambda name: f"{name}.",
    "blank behind": lambda name: f"{name} ",
    "stream": lambda name: f"{name}::$DATA",
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_no_spelling_gets_past(spelling: str) -> None:
    spelled, filtered = SPELLINGS[spelling], privacy()
    known = [one.name for one in protected() if asks(one.name, filtered)]
    # `cvs` in small letters may hold sources: only what CVS itself keeps there is refused.
    old = ("CVS/", "RCS/", "SCCS/", "BitKeeper/", "src/CVS/")
    assert [
        name for name in known if not name.startswith(old) and not asks(spelled(name), filtered)
    ] == []


def test_deep_in_a_project_what_has_a_name_of_its_own_is_known_too() -> None:
    """What is only known in a root (a configuration without a telling name) is less than a
    tenth.
    """
    filtered = privacy()
    nested = [f"packages/a1/{one.name}" for one in protected()]
    assert share(nested, asks) >= 0.9
    assert asks("packages/a1/tsconfig.json", filtered)


def test_names_that_nobody_listed_are_known_by_their_shape() -> None:
    made = [hashlib.sha256(str(n).encode()).hexdigest()[:6].translate(LETTERS) for n in range(30)]
    shapes = (
        ".{}", ".{}/x.md", "deep/er/.{}rc", "{}.config.mjs", "a/{}.config.yaml", "{}.lock", "a/{}-lock.json",
        "{}.toml", "{}.yml", "{}.json", "hooks/{}", "a/hooks/{}.sh", "{}file", "a/b/{}file", "{}rc", "{}",
        "a/node_modules/{}/index.js", "{}.ini", "{}.lockfile", "{}-hooks/{}",
    )  # fmt: skip
    names = [shape.replace("{}", word) for shape in shapes for word in made]
    assert [name for name in names if not is_protected(name, at_root=True)] == []


LETTERS = str.maketrans("0123456789", "ghijklmnpq")


@pytest.mark.parametrize(
    "name",
    [
        "README", "LICENSE", "COPYING.LESSER", "CHANGELOG", "AUTHORS", "NEWS", "TODO", "LICENSE-MIT",
        "notes.md", "main.c", "a/b/data.json", "src/settings.yaml", "src/hooks/useThing.ts", "data/config.json",
        "src/app/app.config.ts", "lib/hooks/register.tsx", "tests/data/sample", "src/cvs/parser.py",
        "drivers/hooks/table.c", "run_tests", "index.html", "a/lock.c", "src/clock.json", "lib/arc.py",
        "po/LINGUAS", "docs/.gitkeep", "src/profile.py", "hooks/use-toast.ts",
    ],
)  # fmt: skip
def test_ordinary_files_are_left_alone(name: str) -> None:
    assert not asks(name, privacy())


@pytest.mark.parametrize("held_out", [False, True], ids=["tuning", "held out"])
def test_secret_files_are_known_by_their_name(held_out: bool) -> None:
    assert rate(half(secrets(), held_out=held_out), hides) >= LEAST


def test_secret_files_are_known_in_a_home_folder_and_deep_in_a_project() -> None:
    """Some names only enter some text at the end of a path that begins in a root (`etc/shadow`)."""
    for folder in ("home/me", "packages/a1/deep"):
        assert share([f"{folder}/{one.name}" for one in secrets()], hides) >= LEAST


@pytest.mark.parametrize(
    "spelling",
    ["capitals", "small", "turned", "wide", "unseen", "dot behind", "blank behind", "stream"],
)
def test_no_spelling_shows_a_secret(spelling: str) -> None:
    spelled, filtered = SPELLINGS[spelling], privacy()
    known = [one.name for one in secrets() if hides(one.name, filtered)]
    assert [name for name in known if not hides(spelled(name), filtered)] == []


@pytest.mark.parametrize("copy", ["~", ".bak", ".orig", ".old", ".save", ".swp", ".tmp"])
def test_a_copy_of_a_secret_is_one(copy: str) -> None:
    filtered = privacy()
    known = [one.name for one in secrets() if hides(one.name, filtered)]
    known = [name for name in known if not name.endswith(("~", ".bak"))]  # copies already
    assert [name for name in known if not hides(f"{name}{copy}", filtered)] == []


def test_hardly_any_file_of_an_installed_package_is_taken_for_a_secret() -> None:
    """Of all of them three are: two bundles of certificates, which end like keys, and settings of
    npm.
    """
    files = [str(file) for one in distributions() for file in one.files or ()]
    names = sorted(name for name in files if not name.startswith(("/", "..")))[::5]
    found = [name for name in names if is_secret(tuple(name.split("/")))]
    assert len(names) > 1_000
    assert len(found) <= len(names) // 1_000


def test_no_ordinary_edit_is_of_a_file_that_is_taken_for_a_secret() -> None:
    filtered = privacy()
    assert [one.name for one in touched() if hides(one.name, filtered)] == []


@pytest.mark.parametrize(
    "name",
    [
        "secret-db.yaml", "My Recovery Codes.txt", "2FA codes.txt", "wallet seed.txt", "prod.secrets.json",
        "bot-token.txt", "gh-token", "openai_key.txt", "anthropic-key", "ldap_password", "wifi-password.txt",
        "imagepullsecret.yaml", "sso_token.json", "tokenCache.json", "encryption-key.txt", "root_token.txt",
        ".config/mutt/passwords", ".anytool/auth.json", ".config/newtool/credentials", ".newtool/oauth.json",
        ".newtool_history", ".local/share/newtool/history.txt", "AppData/Roaming/NewTool/tokens.json",
        "recovery-codes.md", "team/seed-phrase.md", "deploy_key", "ci_ed25519", "env.production",
        "secrets/smtp", "run/secrets/db_password", "x.pkrvars.hcl", ".copilot/config.json",
    ],
)  # fmt: skip
def test_secrets_that_no_list_names_are_known_by_their_shape(name: str) -> None:
    assert hides(name, privacy())


@pytest.mark.parametrize(
    "name",
    [
        "tokens.json", "design-tokens.json", "tokenizer.json", "HISTORY", "history.txt", "docs/secrets.md",
        "docs/recovery-codes.md", "password_policy.json", "common-passwords.txt", "forgot_password.txt",
        "locales/en/auth.json", "i18n/de/password.json", "src/auth.json", ".github/workflows/auth.yml",
        "keybindings.json", "session.json", "secret.go", "secrets/README.md", "secrets/main.go", "seed.sql",
        "external-secret.yaml", "token.c", "include/seed.h", "bin/git-credential", "credentials.example.json",
        "terraform.tfvars.example", "wp-config-sample.php", "secrets.sample.yaml", ".claude/settings.json",
        ".codex/config.toml", ".config/nvim/init.lua", "public_key", "api-keys.md", "monkey.json", "passwd.c",
        "reset_secret.yaml", "encrypt-secrets.sh",
    ],
)  # fmt: skip
def test_what_is_only_about_secrets_is_shown(name: str) -> None:
    assert not hides(name, privacy())


def test_a_hostile_name_is_judged_at_once() -> None:
    """In the time of its length: what backtracks takes for ever here."""
    for unit in (
        "-",
        "a-",
        "api-",
        "token-",
        "secret-key-",
        ".auth",
        "seed-",
        "auth_",
        "-backup-1",
    ):
        for name in (unit * (255 // len(unit)), unit * 2_000):
            assert not is_secret(("x", f"{name}!"))
            is_protected(f"{name}!", at_root=True)
