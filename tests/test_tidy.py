"""Tidiness as a test: sizes, and documents that say what is true."""

import ast
import dataclasses
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stet.agent.toolbox import ALL_TOOLS
from stet.lsp.server import build_server
from stet.settings.parse import read_layer
from stet.settings.values import Price, Settings
from tests.support.settings_parsing import ParsedSettings, parse_settings

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "server" / "stet"
FILES = sorted(path for path in (ROOT / "server").rglob("*.py"))
TESTS = sorted(path for path in (ROOT / "tests").rglob("*.py"))
ARCHITECTURE = (ROOT / "server" / "ARCHITECTURE.md").read_text()
REFERENCE = (ROOT / "docs" / "reference.md").read_text()
PLACES = (
    "*.md",
    "docs/**/*.md",
    "server/*.md",
    "tests/*.md",
    "tests/*/*.md",
    "client-configs/*.md",
)
DOCUMENTS = sorted(
    page
    for place in (*PLACES, "client-configs/*/*.md", ".github/**/*.md")
    for page in ROOT.glob(place)
)
DECISION_HEAD = (
    r"# \d+\. (.+)\n\nDate: (\d{4}-\d\d-\d\d)  \nStatus: (?:accepted|superseded by \d{4})\n"
)
LEAST_LINES = 180
"""The least lines of a file of the server, on average."""
SMALL_PARTS = {
    "observability/owner_only_file.py": "imports sockets and pickle, with the first record only",
}
"""Files of at most 60 lines with one importer beside them, each with the reason; at most ten."""
HEAVY = [
    "openai",
    "ruamel",
    "sqlite3",
    "pydantic",
    "typer",
    "rich",
    "pygments",
    "tree_sitter",
    "trafilatura",
    "platformdirs",
    "markdown_it",
    "annotated_types",
    "xllamacpp",
    "httpx2",
]


def test_root_has_no_files_but_documents_and_settings() -> None:
    found = {path.name for path in ROOT.iterdir() if path.is_file() and path.name[0] != "."}
    assert {name for name in found if not name.endswith((".md", ".toml"))} == {
        "LICENSE",
        "Makefile",
    }


def test_no_file_has_more_than_500_lines() -> None:
    long = [
        f"{path.relative_to(ROOT)}: {n}"
        for path in FILES + TESTS
        if (n := len(path.read_text().splitlines())) > 500
    ]
    assert long == []


def test_files_are_worth_opening() -> None:
    """A file is one idea that is worth opening by itself."""
    n_lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in FILES)
    assert n_lines >= LEAST_LINES * len(FILES)


def test_no_file_is_a_small_part_of_its_only_importer() -> None:
    importers: dict[str, set[str]] = {}
    for path in FILES:
        for name in _imported_modules(path):
            importers.setdefault(name, set()).add(_module_name(path))
    small = {
        str(path.relative_to(SOURCE))
        for path in FILES
        if len(path.read_text().splitlines()) <= 60 and path.name != "__init__.py"
        for found in [importers.get(_module_name(path), set())]
        if {name.rpartition(".")[0] for name in found} == {_module_name(path).rpartition(".")[0]}
        and len(found) == 1
    }
    assert small <= set(SMALL_PARTS)


def _module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT / "server").with_suffix("").parts)


def _imported_modules(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_no_package_of_tests_has_the_name_of_a_standard_module() -> None:
    """pytest imports a package of `tests/` by its own name, in the place of one of that name."""
    packages = {path.parent.name for path in (ROOT / "tests").glob("*/__init__.py")}
    assert sorted(packages & sys.stdlib_module_names) == []


def test_every_module_has_a_docstring() -> None:
    silent = [
        str(p.relative_to(ROOT)) for p in FILES if not p.read_text().startswith(('"""', 'r"""'))
    ]
    assert silent == []


def test_the_architecture_names_what_exists_and_every_package() -> None:
    named = set(re.findall(r"`(?:stet/)?((?:[a-z_]+/)+[a-z_]+\.(?:py|md))`", ARCHITECTURE))
    assert named
    missing = sorted(n for n in named if not (SOURCE / n).exists() and not (ROOT / n).exists())
    assert missing == []
    packages = {path.parent.relative_to(SOURCE) for path in SOURCE.glob("*/**/__init__.py")}
    inside = {package for package in packages if package != Path("bridges/opencode")}
    rows = {f"| `stet.{'.'.join(package.parts)}` |" for package in inside}
    assert sorted(row for row in rows if row not in ARCHITECTURE) == []


def test_architecture_is_short_and_lists_forty_behaviours() -> None:
    assert len(ARCHITECTURE.splitlines()) <= 170
    _, _, rest = ARCHITECTURE.partition("| if you look for | open |")
    table, _, _ = rest.partition("\n\n")
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    assert len({behaviour for behaviour, _ in rows}) >= 40
    assert [file for _, file in rows if not (SOURCE / file.strip("`")).is_file()] == []


def test_readme_has_at_most_1000_words() -> None:
    assert len((ROOT / "README.md").read_text().split()) <= 1000


def test_links_between_the_documents_lead_to_files_and_headings() -> None:
    broken = [
        f"{page.relative_to(ROOT)}: {link}"
        for page in DOCUMENTS
        for link in _links(page.read_text())
        if not _leads_somewhere(page, link)
    ]
    assert broken == []


def test_every_decision_has_a_date_and_reasons_and_is_listed() -> None:
    folder = ROOT / "docs" / "decisions"
    files = sorted(folder.glob("[0-9]*.md"))
    index = (folder / "README.md").read_text()
    assert [int(file.name[:4]) for file in files] == list(range(1, len(files) + 1))
    for file in files:
        text = file.read_text()
        head = re.match(DECISION_HEAD, text)
        assert head is not None, file
        title, date = head.groups()
        assert f"| [{file.name[:4]}]({file.name}) | {date} | {title} |" in index
        parts = [part.partition("\n")[2].strip() for part in text.split("\n## ")[1:]]
        assert re.findall("^## (.*)", text, re.MULTILINE) == ["Context", "Decision", "Refused"]
        assert all(parts)


def _has_row(name: str) -> bool:
    """Whether the reference has a row whose first cell names a command or setting."""
    rows = (line.split(" | ")[0] for line in REFERENCE.splitlines() if line.startswith("| "))
    return any(f"`{name}`" in row for row in rows)


def _settings(value: object, prefix: str = "") -> Iterator[str]:
    """Names of settings, in the spelling of the contract; a price is one of them."""
    for field in dataclasses.fields(value):  # type: ignore[arg-type]
        head, *tail = field.name.split("_")
        name = prefix + head + "".join(word.capitalize() for word in tail)
        inner = getattr(value, field.name)
        if dataclasses.is_dataclass(inner) and not isinstance(inner, Price):
            yield from _settings(inner, f"{name}.")
        else:
            yield name


def _links(text: str) -> list[str]:
    """Local targets of links and images, without what code blocks hold."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    prose = re.sub(r"`[^`\n]+`", "", prose)
    found = re.findall(r"\]\(([^)\s]+)\)|<img [^>]*src=\"([^\"]+)\"", prose)
    return [one or other for one, other in found if "://" not in (one or other)]


def _leads_somewhere(page: Path, link: str) -> bool:
    name, _, heading = link.partition("#")
    target = page.parent / name if name else page
    if not target.exists():
        return False
    return not heading or heading in _anchors(target.read_text())


def _anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)", text, re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in plain}


def test_the_reference_names_every_command_tool_and_setting() -> None:
    commands = build_server().protocol.fm.commands
    assert sorted(name for name in commands if not _has_row(name)) == []
    tools = [(tool.name, tool.group) for tool in ALL_TOOLS]
    assert [name for name, group in tools if f"| `{name}` | `{group}` |" not in REFERENCE] == []
    settings = set(_settings(Settings()))
    assert sorted(name for name in settings if not _has_row(name)) == []
    rows = [line.split(" | ")[0] for line in REFERENCE.splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`([a-z]+\.[a-zA-Z.]+)`", row)}
    known = {*commands, *settings, "bridges.opencode"}
    assert sorted(named - known) == []


def test_the_reference_shows_the_default_of_every_setting() -> None:
    shown = re.search(r"```jsonc\n(.*?)```", REFERENCE, re.DOTALL)
    assert shown is not None
    assert parse_settings(json.loads(shown[1])) == ParsedSettings(Settings())
    assert set(read_layer(json.loads(shown[1])).values) | {"context.presets"} >= set(
        _settings(Settings())
    ) - {"model.price"}


def test_tools_have_one_name_each_and_a_description() -> None:
    names = [tool.name for tool in ALL_TOOLS]
    assert len(set(names)) == len(names)
    assert [tool.name for tool in ALL_TOOLS if len(tool.description) < 20] == []


def test_build_server_imports_no_package_that_is_only_needed_after_initialize() -> None:
    code = (
        "import sys; from stet.lsp.server import build_server; build_server(); print(*sys.modules)"
    )
    command = [sys.executable, "-I", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    packages = {".".join(name.split(".")[:2]) for name in done.stdout.split()}
    early = {"stet.lsp", "stet.observability", "stet.settings", "stet.system", "stet.text"}
    assert {name for name in packages if name.startswith("stet.")} - early == set()


@pytest.mark.parametrize("module", ["stet", "stet.lsp.server"])
def test_importing_does_nothing_and_brings_nothing_heavy(module: str, tmp_path: Path) -> None:
    code = f"import sys, {module}\nprint([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
        env={"HOME": str(tmp_path)},
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")
    assert list(tmp_path.iterdir()) == []
