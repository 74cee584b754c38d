import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.settings.values import ContextSettings, PrivacySettings, Settings
from stet.workspace.secret_files import is_secret
from stet.workspace.snapshot import NotShown, Snapshot
from tests.support.workspaces import make_workspace, uri_at


def refusal_of(snapshot: Snapshot, path: str) -> str | None:
    """The rule that keeps a file from being shown; None if it is shown."""
    try:
        snapshot.show(uri_at(path))
    except NotShown as refused:
        return refused.rule
    return None


@pytest.mark.parametrize(
    "path",
    [
        ".env", "sub/.env.production", "prod.env", ".ENV", ".env.bak", ".env~", "key.pem",
        "server.key", "id_rsa", "id_ed25519.pub", ".netrc", ".npmrc", ".pypirc", "credentials",
        "a.kdbx", ".ssh/config", "x/.ssh/deep/er/known_hosts", ".aws/config", ".docker/config.json",
        ".env.", ".env::$DATA", "\uff0eenv", ".e\u200bnv", "ID_RSA", "secrets.yaml", "infra.tfstate",
        "home/.config/gcloud/db.json", ".env-prod", ".env_local", "prod.tfvars", ".databrickscfg",
        "home/.m2/settings.xml",
    ],
)  # fmt: skip
def test_names_of_secrets_are_known(path: str) -> None:
    assert is_secret(tuple(path.split("/")))


@pytest.mark.parametrize(
    "path",
    [
        ".env.example", ".env.sample", ".env.template", "example.env", "environment.py", "keys.py",
        "keyboard.md", "credentials.py", "docker/config.json", "ssh/config", "monkey", "a.key.md",
    ],
)  # fmt: skip
def test_samples_and_ordinary_names_are_no_secrets(path: str) -> None:
    assert not is_secret(tuple(path.split("/")))


SECRETS = {"/ws/.env": "K=canary", "/ws/sub/id_rsa": "canary", "/ws/.ssh/config": "canary"}


@pytest.mark.parametrize("path", SECRETS)
def test_a_secret_is_not_shown_even_when_it_is_the_active_file(path: str) -> None:
    closed = make_workspace(SECRETS).snapshot()
    active = make_workspace(SECRETS, opened={path: "canary"}).snapshot()
    assert refusal_of(closed, path) == "secret"
    assert refusal_of(active.asked_about(uri_at(path)), path) == "secret"


def test_a_secret_is_not_shown_under_the_name_of_a_link() -> None:
    snapshot = make_workspace(
        SECRETS, links={"/ws/notes.txt": "/ws/.env", "/ws/folder": "/ws/.ssh"}
    ).snapshot()
    assert refusal_of(snapshot, "/ws/notes.txt") == "secret"
    assert refusal_of(snapshot, "/ws/folder/config") == "secret"
    with pytest.raises(NotShown) as refused:
        snapshot.show("file:///ws/notes.txt")
    assert ".env" not in refused.value.message


def test_untitled_document_with_a_secret_name_is_secret() -> None:
    snapshot = make_workspace(opened={"untitled:.env": "canary", "untitled:note": "x"}).snapshot()
    assert refusal_of(snapshot, "untitled:.env") == "secret"
    assert refusal_of(snapshot, "untitled:note") is None
    assert refusal_of(snapshot, "untitled:gone") == "missing"


@pytest.mark.parametrize(
    ("deny", "path", "rule"),
    [
        ("private/", "/ws/private/a.md", "deny"),
        ("private/", "/ws/x/PRIVATE/a.md", "deny"),
        ("*.Secret", "/ws/a.secret", "deny"),
        ("/ws/x", "/ws/x/PRIVATE/a.md", "deny"),
        ("ws/", "/ws/a.secret", None),
        ("*.secret", "/ws/private/a.md", None),
    ],
)
def test_what_the_user_denies_is_denied_in_any_case_of_letters(
    deny: str, path: str, rule: str | None
) -> None:
    files = {"/ws/private/a.md": "", "/ws/x/PRIVATE/a.md": "", "/ws/a.secret": ""}
    settings = Settings(privacy=PrivacySettings(deny=(deny,)))
    assert refusal_of(make_workspace(files, settings=settings).snapshot(), path) == rule
    opened = make_workspace(files, opened={path: ""}, settings=settings).snapshot()
    assert refusal_of(opened, path) == rule


def test_deny_holds_for_open_files_outside_the_roots() -> None:
    settings = Settings(privacy=PrivacySettings(deny=("diary/",)))
    opened = {"/home/me/diary/today.md": "x", "/home/me/note.md": "y"}
    snapshot = make_workspace(opened=opened, settings=settings).snapshot()
    assert refusal_of(snapshot, "/home/me/diary/today.md") == "deny"
    assert refusal_of(snapshot, "/home/me/note.md") is None


@pytest.mark.parametrize("mark", ["\uff01", "\ufe57", "\u200b!", "\u2060\uff01", "\u3164!"])
def test_only_a_plain_exclamation_mark_cancels_a_setting(mark: str) -> None:
    # A project's settings are searched for it, in the letters that are there.
    privacy = PrivacySettings(deny=("*.secret", f"{mark}*.secret"))
    context = ContextSettings(excluded_folders=("vault", f"{mark}vault"))
    files = {"/ws/a.secret": "", "/ws/vault/b.md": "", f"/ws/{mark}vault/c.md": ""}
    world = make_workspace(files, settings=Settings(privacy=privacy, context=context))
    assert refusal_of(world.snapshot(), "/ws/a.secret") == "deny"
    assert refusal_of(world.snapshot(), "/ws/vault/b.md") == "excluded"
    assert refusal_of(world.snapshot(), f"/ws/{mark}vault/c.md") == "excluded"  # it is a name


def test_plain_exclamation_mark_cancels_the_patterns_before_it() -> None:
    settings = Settings(privacy=PrivacySettings(deny=("*.secret", "!A.secret")))
    world = make_workspace({"/ws/a.secret": "", "/ws/b.secret": ""}, settings=settings)
    assert refusal_of(world.snapshot(), "/ws/a.secret") is None
    assert refusal_of(world.snapshot(), "/ws/b.secret") == "deny"


@pytest.mark.parametrize("folder", ["vault/private", "private", "/private/", "ws/vault"])
def test_excluded_folders_are_hidden(folder: str) -> None:
    settings = Settings(context=ContextSettings(excluded_folders=(folder,)))
    files = {"/ws/vault/private/deep/a.md": "", "/ws/b.md": ""}
    world = make_workspace(files, opened={"/ws/vault/private/deep/a.md": ""}, settings=settings)
    assert refusal_of(world.snapshot(), "/ws/vault/private/deep/a.md") == "excluded"
    assert refusal_of(world.snapshot(), "/ws/b.md") is None


def test_a_git_ignored_file_is_shown_only_to_who_asks_about_it() -> None:
    files = {"/ws/.gitignore": "*.log\n", "/ws/a.log": "canary", "/ws/b.md": ""}
    assert refusal_of(make_workspace(files).snapshot(), "/ws/a.log") == "ignored"
    assert refusal_of(make_workspace(files).snapshot().asked_about("file:///ws/a.log"), "/ws/a.log")
    active = make_workspace(files, opened={"/ws/b.md": "", "/ws/a.log": "x"}).snapshot()
    assert refusal_of(active, "/ws/a.log") is None
    in_a_tab = make_workspace(files, opened={"/ws/a.log": "x", "/ws/b.md": ""}).snapshot()
    assert refusal_of(in_a_tab, "/ws/a.log") == "ignored"
    assert refusal_of(in_a_tab.asked_about("file:///ws/a.log"), "/ws/a.log") is None


def test_a_stet_ignored_file_is_shown_to_nobody() -> None:
    files = {"/ws/.stetignore": "*.log\n", "/ws/a.log": "canary"}
    world = make_workspace(files, opened={"/ws/a.log": "canary"})
    assert refusal_of(world.snapshot(), "/ws/a.log") == "ignored"


def test_the_inside_of_version_control_is_not_shown() -> None:
    files = {"/ws/.git/config": "canary", "/ws/sub/.GIT/config": "canary", "/ws/.github/a.yml": ""}
    snapshot = make_workspace(files, opened={"/ws/.git/config": "canary"}).snapshot()
    assert refusal_of(snapshot, "/ws/.git/config") == "git"
    assert refusal_of(snapshot, "/ws/sub/.GIT/config") == "git"
    assert refusal_of(snapshot, "/ws/.github/a.yml") is None


@pytest.mark.parametrize(
    "name",
    [
        ".git/new",
        ".git",
        "GIT~1/config",
        ".git::$INDEX_ALLOCATION/x",
        ".git./x",
        ".g\u200cit/x",
        ".HG/x",
    ],
)
def test_no_spelling_leads_into_version_control(name: str) -> None:
    assert refusal_of(make_workspace({"/ws/a": ""}).snapshot(), f"/ws/{name}") == "git"


def test_secret_folders_are_known_in_every_spelling() -> None:
    for folder in (".SSH", ".ssh.", ".ssh::$INDEX_ALLOCATION", "\uff0essh", ".s\u200bsh"):
        assert is_secret((folder, "config"))


def test_only_open_files_are_shown_from_outside_the_roots() -> None:
    files = {"/etc/hosts": "canary", "/ws-evil/a": "canary"}
    snapshot = make_workspace(files, opened={"/etc/motd": "hi"}, links={"/ws/l": "/etc"}).snapshot()
    assert refusal_of(snapshot, "/etc/motd") is None
    for path in ("/etc/hosts", "/ws-evil/a", "/ws/l/hosts", "/ws/../etc/hosts"):
        assert refusal_of(snapshot, path) == "outside"


@pytest.mark.parametrize("uri", ["git:/ws/a.py", "https://x/a", "/ws/a.py", "", "file://h/ws/a.py"])
def test_other_schemes_are_not_shown(uri: str) -> None:
    with pytest.raises(NotShown) as refused:
        make_workspace({"/ws/a.py": "x"}).snapshot().show(uri)
    assert refused.value.rule == "scheme"


@given(st.lists(st.sampled_from(["..", ".", "l", "etc", "hosts", "ws", "%2e%2e", ".env", "x"])))
def test_no_uri_leads_to_text_from_outside(parts: list[str]) -> None:
    world = make_workspace(
        {"/etc/hosts": "canary", "/ws/.env": "canary", "/ws/x": "shown"}, links={"/ws/l": "/etc"}
    )
    try:
        shown = world.snapshot().show("file:///ws/" + "/".join(parts))
    except NotShown:
        return
    assert shown.text == "shown"


OWN = {
    "/state/workspaces/x/state.db": "canary",
    "/state/trash/1/ws/a.md": "canary",
    "/states/b.md": "mine",
    "/ws/c.md": "mine",
}


@pytest.mark.parametrize("path", ["/state/workspaces/x/state.db", "/state/trash/1/ws/a.md"])
def test_the_state_folder_is_not_shown_though_it_lies_in_the_workspace(path: str) -> None:
    assert refusal_of(make_workspace(OWN, roots=("/",)).snapshot(), path) == "own"
    assert refusal_of(make_workspace(OWN, roots=("/state/trash",)).snapshot(), path) == "own"
    opened = make_workspace(OWN, opened={path: "canary"}).snapshot()
    assert refusal_of(opened.asked_about(uri_at(path)), path) == "own"


def test_the_state_folder_is_not_shown_under_the_name_of_a_link() -> None:
    links = {"/ws/kept": "/state", "/ws/root": "/"}
    snapshot = make_workspace(OWN, links=links).snapshot()
    assert refusal_of(snapshot, "/ws/kept/trash/1/ws/a.md") == "own"
    assert refusal_of(snapshot, "/ws/root/state/trash/1/ws/a.md") == "own"


@pytest.mark.parametrize("root", ["/", "/link"])
def test_no_walk_goes_into_the_state_folder(root: str) -> None:
    snapshot = make_workspace(OWN, roots=(root,), links={"/link": "/"}).snapshot()
    assert [located.name for located in snapshot.walk()] == ["states/b.md", "ws/c.md"]


def test_no_walk_begins_in_the_state_folder() -> None:
    snapshot = make_workspace(OWN, roots=("/state/trash", "/state")).snapshot()
    assert list(snapshot.walk()) == []
