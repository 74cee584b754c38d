from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.workspace.names import alias_fault, loosest, split_name, windows_fault
from stet.workspace.paths import Located, PathRefused
from stet.workspace.workspace import Workspace
from tests.support.memory_system import MemorySystem
from tests.support.workspaces import make_workspace


def world_with_traps() -> Workspace:
    return make_workspace(
        {"/ws/src/a.py": "", "/ws/b.md": "", "/ws-evil/c": "", "/etc/passwd": "root"},
        links={"/ws/out": "/etc", "/ws/in": "/ws/src", "/ws/loop": "/ws/loop"},
    )


def rule_of(take: Callable[[], object]) -> str:
    with pytest.raises(PathRefused) as refused:
        take()
    assert refused.value.message.endswith((".", "which."))
    return refused.value.rule


def windows_rule_of(name: str) -> str:
    return rule_of(lambda: split_name(name, windows=True))


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("src/a.py", "/ws/src/a.py"),
        ("./src//a.py", "/ws/src/a.py"),
        ("/ws/src/a.py", "/ws/src/a.py"),
        ("new/folder/x.py", "/ws/new/folder/x.py"),
        ("in/a.py", "/ws/in/a.py"),
        ("100%.md", "/ws/100%.md"),
        ("ein Wort - 😀.md", "/ws/ein Wort - 😀.md"),
        ("aux.c", "/ws/aux.c"),
        (".", "/ws"),
    ],
)
def test_a_name_means_a_path_in_the_root(name: str, path: str) -> None:
    assert world_with_traps().snapshot().locate(name).path == Path(path)


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("../x", "parent"),
        ("src/../../x", "parent"),
        ("src/../b.md", "parent"),
        ("/etc/passwd", "outside"),
        ("/ws-evil/c", "outside"),
        ("/", "outside"),
        ("out/passwd", "link"),
        ("out/new", "link"),
        ("%2e%2e/x", "encoded"),
        ("%252e%252e%252fx", "encoded"),
        ("a\0b", "nul"),
        ("src\\a.py", "backslash"),
        ("a\nb", "invisible"),
        ("a\u202egnp.py", "invisible"),
        ("a\u200bb", "invisible"),
        ("a\x1b[8m", "invisible"),
        ("\uff0e\uff0e/x", "look-alike"),
        ("a\uff0fb", "look-alike"),
        ("file:///ws/b.md", "scheme"),
        ("https://x.org/a", "scheme"),
        ("//server/share", "network"),
        ("~/x", "home"),
        ("x" * 5000, "too-long"),
        ("x" * 256, "too-long"),
        ("a\ud800b", "invisible"),
        ("\udc80", "invisible"),
        ("\u00e9" * 128, "too-long"),
        ("a%25252Fb", "encoded"),
        ("untitled:none", "untitled"),
    ],
)
def test_a_name_that_leads_elsewhere_is_refused(name: str, rule: str) -> None:
    assert rule_of(lambda: world_with_traps().snapshot().locate(name)) == rule


@pytest.mark.parametrize(
    "name",
    [
        "NUL", "con.md", "sub/aux", "COM1.txt", "lpt¹", "a.txt.", "a ", "a.txt::$DATA", "C:x",
        "SETTIN~1.JSO", "a|b", "what?.md", "a.txt:stream", "CONIN$",
    ],
)  # fmt: skip
def test_windows_names_are_refused_on_windows(name: str) -> None:
    assert windows_rule_of(name) == "windows-name"


@pytest.mark.parametrize("name", ["\\\\?\\C:\\x", "\\\\server\\share", "//./COM1"])
def test_windows_devices_and_shares_are_refused(name: str) -> None:
    assert windows_rule_of(name) == "network"


def test_windows_paths_are_understood_on_windows() -> None:
    assert split_name("src\\a.py", windows=True) == (False, ("src", "a.py"))
    assert split_name("C:\\ws\\a.py", windows=True) == (True, ("C:", "ws", "a.py"))
    assert windows_rule_of("..\\x") == "parent"
    assert windows_fault("console.md") is None
    assert windows_fault("nullable.py") is None


@given(st.lists(st.sampled_from(["..", ".", "src", "out", "in", "loop", "ws", "etc", "passwd",
    "", "%2e%2e", "\\", "~", "untitled:", "file:", "a.py", "\uff0f", "\uff0e\uff0e", "ws-evil"]), max_size=6),
    st.text(max_size=3), st.booleans())  # fmt: skip
def test_no_name_leads_out_of_the_roots(parts: list[str], noise: str, absolute: bool) -> None:
    snapshot = world_with_traps().snapshot()
    try:
        located = snapshot.locate("/" * absolute + "/".join(parts) + noise)
    except PathRefused:
        return
    assert located.path is not None
    real = snapshot.system.real_path(located.path)
    assert Path("/ws") == real or Path("/ws") in real.parents


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_is_located_or_refused(name: str) -> None:
    snapshot = world_with_traps().snapshot()
    try:
        located = snapshot.locate(name)
    except PathRefused:
        return
    assert snapshot.name_of(located.uri) == located.name


def test_an_open_document_is_found_by_its_name_wherever_it_lies() -> None:
    world = make_workspace(opened={"/elsewhere/n.md": "x", "untitled:My%20Note": "y"})
    snapshot = world.snapshot()
    assert snapshot.locate("/elsewhere/n.md") == Located(
        "file:///elsewhere/n.md", Path("/elsewhere/n.md"), "/elsewhere/n.md"
    )
    untitled = Located("untitled:My%20Note", None, "untitled:My Note")
    assert snapshot.locate("untitled:My Note") == untitled
    assert snapshot.locate("untitled:My%20Note") == untitled


def test_a_file_open_under_the_path_of_a_link_is_one_document() -> None:
    world = make_workspace(
        {"/ws/real/a.py": "disk"},
        links={"/ws/link": "/ws/real"},
        opened={"/ws/link/a.py": "buffer"},
    )
    snapshot = world.snapshot()
    assert snapshot.show(snapshot.locate("real/a.py").uri).text == "buffer"


def test_with_several_roots_a_name_may_start_with_the_folders() -> None:
    world = make_workspace({"/x/web/a.py": "", "/x/api/b.py": ""}, roots=("/x/web", "/x/api"))
    snapshot = world.snapshot()
    assert snapshot.locate("web/a.py").path == Path("/x/web/a.py")
    assert snapshot.locate("b.py").name == "api/b.py"
    assert snapshot.locate("api/new.py").path == Path("/x/api/new.py")
    assert snapshot.locate("web").path == Path("/x/web")


@pytest.mark.parametrize("name", ["same.py", "new.py", "."])
def test_a_name_that_could_be_two_files_is_refused_with_both(name: str) -> None:
    world = make_workspace({"/x/web/same.py": "", "/x/api/same.py": ""}, roots=("/x/web", "/x/api"))
    with pytest.raises(PathRefused) as refused:
        world.snapshot().locate(name)
    assert refused.value.rule == "ambiguous"
    assert "'web" in refused.value.message
    assert "'api" in refused.value.message


def test_without_a_folder_a_relative_name_is_refused() -> None:
    with pytest.raises(PathRefused) as refused:
        make_workspace(roots=()).snapshot().locate("a.py")
    assert refused.value.rule == "no-root"


def test_the_one_roots_name_in_front_is_understood() -> None:
    snapshot = make_workspace({"/ws/src/a.py": ""}).snapshot()
    assert snapshot.locate("ws/src/a.py").path == Path("/ws/src/a.py")
    assert snapshot.locate("ws/new.py").path == Path("/ws/ws/new.py")


@pytest.mark.parametrize(
    ("name", "spelled"),
    [
        ("SRC/A.py", "/ws/src/a.py"),
        ("Src/new.py", "/ws/src/new.py"),
        ("in/A.py", "/ws/src/a.py"),
        ("in/a.py", "/ws/in/a.py"),
    ],
)
def test_a_folding_disk_spells_a_name_below_the_root(name: str, spelled: str) -> None:
    system = MemorySystem({"/ws/src/a.py": ""}, links={"/ws/in": "/ws/src"}, case_sensitive=False)
    world = Workspace(system)
    world.add_root("file:///ws")
    assert world.snapshot().locate(name).path == Path(spelled)


@pytest.mark.parametrize(
    "part",
    [
        ".GIT", ".g\u200cit", ".git\ufeff", "\uff0egit", ".git.", ".git ", ".git. .", ".g\u034fit",
        ".git::$INDEX_ALLOCATION", ".git:x", ".gi\ufe00t", ".gIt\U000e0101",
    ],
)  # fmt: skip
def test_what_some_disk_takes_for_one_name_is_one(part: str) -> None:
    assert loosest(part) == ".git"


@pytest.mark.parametrize("part", ["git", ".gitx", "git.", "a.git", ".g it"])
def test_what_no_disk_takes_for_one_name_is_another(part: str) -> None:
    assert loosest(part) != ".git"


@pytest.mark.parametrize("part", ["a.md", "what?.md", "notes - 1.md", "a~b", ".hidden", "nullable"])
def test_an_ordinary_name_means_the_same_everywhere(part: str) -> None:
    assert alias_fault(part) is None
