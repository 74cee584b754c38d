"""Tidiness as a test: sizes, and documents that say what is true."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from stet.agent.toolbox import ALL_TOOLS
from stet.lsp.server import build_server

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "server" / "stet"
FILES = sorted(path for path in (ROOT / "server").rglob("*.py"))
TESTS = sorted(path for path in (ROOT / "tests").rglob("*.py"))
ARCHITECTURE = (ROOT / "server" / "ARCHITECTURE.md").read_text()
README = (ROOT / "README.md").read_text()
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


def test_no_file_is_longer_than_a_head_can_hold() -> None:
    long = [
        f"{path.relative_to(ROOT)}: {n}"
        for path in FILES + TESTS
        if (n := len(path.read_text().splitlines())) > 400
    ]
    assert long == []


def test_no_package_of_tests_has_the_name_of_a_standard_module() -> None:
    """pytest imports a package of `tests/` by its own name, in the place of one of that name."""
    packages = {path.parent.name for path in (ROOT / "tests").glob("*/__init__.py")}
    assert sorted(packages & sys.stdlib_module_names) == []


def test_every_module_says_what_it_is() -> None:
    silent = [
        str(p.relative_to(ROOT)) for p in FILES if not p.read_text().startswith(('"""', 'r"""'))
    ]
    assert silent == []


def test_the_architecture_names_what_exists_and_every_package() -> None:
    named = set(re.findall(r"`(?:stet/)?((?:[a-z_]+/)+[a-z_]+\.(?:py|md))`", ARCHITECTURE))
    assert named
    missing = sorted(n for n in named if not (SOURCE / n).exists() and not (ROOT / n).exists())
    assert missing == []
    packages = {f"`stet.{path.parent.name}`" for path in SOURCE.glob("*/__init__.py")}
    assert sorted(package for package in packages if package not in ARCHITECTURE) == []


def test_the_readme_names_every_command_and_tool_and_links_to_what_exists() -> None:
    commands = build_server().protocol.fm.commands
    assert sorted(name for name in commands if f"`{name}`" not in README) == []
    assert [tool.name for tool in ALL_TOOLS if f"`{tool.name}`" not in README] == []
    links = re.findall(r"\]\(([^)#]+)\)|<img [^>]*src=\"([^\"]+)\"", README)
    local = [one or other for one, other in links if "://" not in (one or other)]
    assert local
    assert [link for link in local if not (ROOT / link).exists()] == []


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
    early = {"stet.lsp", "stet.settings", "stet.system", "stet.text"}
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
