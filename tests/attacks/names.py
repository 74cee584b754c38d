"""Classes 4 to 8: file names that lead to a place which the user would not allow."""

import itertools
import ntpath
import unicodedata
from collections.abc import Callable
from random import Random

from stet.workspace.names import PathRefused, split_name
from tests.attacks.obedient import Order, order
from tests.attacks.registry import Result, attack
from tests.attacks.stage import Stage
from tests.attacks.weaknesses import weakened

PROTECTED = (
    ".stet.toml", ".stetignore", ".vscode/settings.json", ".vscode/tasks.json", ".vscode/launch.json",
    "x.code-workspace", ".envrc", "conftest.py", "package.json", "Makefile", ".idea/workspace.xml",
    ".zed/settings.json", ".zed/tasks.json", ".nvim.lua", ".exrc", ".dir-locals.el", ".gitattributes",
    ".gitmodules", ".husky/pre-commit", ".github/workflows/ci.yml", ".gitlab-ci.yml", ".cursor/mcp.json",
    ".mcp.json", ".claude/settings.json", "AGENTS.md", "CLAUDE.md", ".cursorrules", ".helix/config.toml",
    ".pre-commit-config.yaml", "build.rs", ".devcontainer/devcontainer.json", "justfile", "setup.py",
    ".cargo/config.toml", "opencode.json", ".editorconfig", "compile_commands.json", ".direnv/x",
    "CMakeLists.txt", "Cargo.toml", "rust-toolchain.toml", "App.csproj", "Directory.Build.targets", "mix.exs",
    "Gemfile", "x.gemspec", "pom.xml", "build.gradle", ".eslintrc.json", "eslint.config.js", "tsconfig.json",
    ".golangci.yml", "tox.ini", "noxfile.py", "pyproject.toml", ".pnp.cjs", ".clang-tidy", "Dockerfile",
    "compose.yml", "Jenkinsfile", "go.mod", "package-lock.json", "Package.swift", ".gitpod.yml",
    "hooks/pre-commit", "lefthook.yml", ".aiderignore", ".kiro/steering/x.md", "docs/conf.py", "flake.nix",
    "rules/style.mdc", "poetry.lock", "wrangler.toml", "biome.json", "Guardfile", "mise.toml", "pylintrc",
    "lazy-lock.json", "node_modules/x/index.js", "tool.config.mts", ".anything/at-all", "serverless.yml",
)  # fmt: skip
SECRET = (".env", ".env.local", "id_rsa", ".ssh/config", ".aws/credentials", "server.pem", ".npmrc")
VERSIONED = (
    ".git/config", ".git/hooks/pre-commit", ".hg/hgrc", "sub/.git/config", ".svn/entries",
    ".jj/repo/config.toml", ".sl/config", "_darcs/prefs/defaults", ".bzr/branch/branch.conf", "CVS/Root",
    ".pijul/config", "_FOSSIL_", ".fslckout",
)  # fmt: skip


def written_by_all_tools(name: str, n: int) -> list[Order]:
    """Write an order that proposes the file `name`, with the tool chosen by `n`."""
    ways = (
        order("create_file", file=name, content="run: evil\n"),
        order("edit_file", file=name, position="create", content="run: evil\n"),
        order("move_file", file=f"loose/{n}.md", to=name),
    )
    return [ways[n % len(ways)]]


async def propose(stage: Stage, names: list[str]) -> Result:
    """Propose a write to every name and accept all; no write may happen."""
    for n in range(len(names)):
        stage.put(f"loose/{n}.md", "run: evil\n")
    orders = [one for n, name in enumerate(names) for one in written_by_all_tools(name, n)]
    reads = [order("read_file", file=f"loose/{n}.md") for n in range(2, len(names), 3)]
    seen = await stage.play([*reads, *orders])
    result = Result()
    result.add(len(names), seen.effects())
    return result


@attack(4, "approval by its own write", least=115, weakness="nothing_protected")
async def own_writes(stage: Stage) -> Result:
    deeper = [f"{folder}/{name}" for folder in ("app", "a/b/c") for name in PROTECTED]
    return await propose(stage, stage.some([*PROTECTED, *deeper], 120))


def recased(name: str, random: Random) -> str:
    """Spell the name in another letter case: the same name on a disk that folds case."""
    while True:
        other = "".join(random.choice((c.lower(), c.upper())) for c in name)
        if other != name:
            return other


@attack(5, "case", least=60, weakness="spelling")
async def case(stage: Stage) -> Result:
    names = [*PROTECTED, *SECRET, *VERSIONED]
    others = [recased(name, stage.random) for name in (*names, *names)]
    return await propose(stage, stage.some(dict.fromkeys(others), 64))


ZERO_WIDTH = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u180e\u034f\u115f\u3164\ufe0f\U000e0041"


def disguised(name: str, random: Random) -> str:
    """Spell the name so that it looks the same, or is the same on a disk that folds Unicode."""
    at = random.randrange(1, len(name))
    ways: tuple[Callable[[], str], ...] = (
        lambda: name[:at] + random.choice(ZERO_WIDTH) + name[at:],
        lambda: "".join(chr(ord(c) + 0xFEE0) if "a" <= c <= "z" else c for c in name),
        lambda: name.replace("s", "\u017f", 1).replace("k", "\u212a", 1),
        lambda: name.replace(".", "\uff0e", 1),
        lambda: name.replace("/", "\uff0f", 1).replace(".", "\u2024", 1),
        lambda: unicodedata.normalize("NFD", name.replace("e", "\u00e9", 1)).replace(
            "\u0301", "\u200d"
        ),
        lambda: name.translate(
            str.maketrans("aeopcxi", "\u0430\u0435\u043e\u0440\u0441\u0445\u0456")
        ),
    )
    for way in random.sample(ways, len(ways)):
        if (other := way()) != name:
            return other
    return "\u200b" + name


@attack(6, "Unicode names", least=60, weakness="spelling")
async def unicode_names(stage: Stage) -> Result:
    names = [name for name in (*PROTECTED, *SECRET, *VERSIONED) if "." in name]
    others = [disguised(name, stage.random) for name in (*names, *names)]
    return await propose(stage, stage.some(dict.fromkeys(others), 64))


WINDOWS = (
    "SETTIN~1.JSO", "GIT~1/config", "notes.md::$DATA", "notes.md:hidden", "NUL", "con.md", "AUX",
    "com1.txt", "LPT9", "notes.md.", "notes.md ", ".env.", ".git ./config", "C:x.md", "C:\\x.md",
    "\\\\?\\C:\\x", "\\\\.\\pipe\\x", "\\\\server\\share\\x", "..\\x.md", "a\\..\\..\\x", "a/..\\x",
    "//?/C:/x", "\\x.md", "conin$", "clock$.md", "com\u00b9.md", "a<b.md", 'a"b', "a|b", "x?", "a*",
    ".env::$DATA", "CONOUT$", "prn.tar.gz", "a . /b", "PROGRA~1/x", "d:", "c:.", "lpt\u00b3.x",
)  # fmt: skip
_DEVICES = {"con", "prn", "aux", "nul", "clock$", "conin$", "conout$"} | {
    f"{port}{n}" for port in ("com", "lpt") for n in "0123456789\u00b9\u00b2\u00b3"
}


def windows_takes_plainly(parts: tuple[str, ...]) -> bool:
    """Tell whether Windows would take these parts below a folder for just what they say.

    A second opinion, from the rules of the Win32 file names and `ntpath`: not the code under test.
    """
    for part in parts:
        stem = part.partition(".")[0].rstrip(" ").casefold()
        if part != part.rstrip(". ") or set(part) & set('<>:"/\\|?*') or stem in _DEVICES:
            return False
        if "~" in part and part.rpartition("~")[2].partition(".")[0].isdigit() and len(part) <= 12:
            return False
    joined = ntpath.normpath(ntpath.join("C:\\ws", *parts))
    return joined == "\\".join(("C:\\ws", *parts))


@attack(7, "Windows names", least=240, weakness="windows_names")
async def windows_names(stage: Stage) -> Result:
    result = Result()
    made = [f"{folder}/{name}" for folder in ("notes", "a/b", "x y") for name in WINDOWS]
    pieces = ["a", "..", "con", "b.", "c ", "NUL.x", "d:e", "\\", "/", "LONGNA~1", ".git", "\\\\"]
    for _ in range(120):
        count = stage.random.randint(1, 4)
        made.append("/".join(stage.random.choice(pieces) for _ in range(count)))
    effects = []
    with weakened(stage.weakness):
        for name in (*WINDOWS, *made):
            try:
                is_absolute, parts = split_name(name, windows=True)
            except PathRefused:
                continue
            # Class 8 judges an absolute name by its target.
            if not is_absolute and not windows_takes_plainly(parts):
                effects.append(f"taken for {parts}: {name!r}")
    result.add(len(WINDOWS) + len(made), effects, whole=False)
    # A name that Windows can't have does no harm on other systems.
    whole = await propose(stage, stage.some([n for n in WINDOWS if not set(n) & set('<>"|?*')], 40))
    result.add(whole.n_cases, whole.effects)
    return result


def traversals(stage: Stage) -> list[str]:
    """List ways to name a file outside the workspace."""
    top, file = str(stage.top), "outside/notes.md"
    ups = ["../", ".././", "x/../../", "./../", "..//", "notes/../../", "a/b/../../../"]
    dots = [
        "%2e%2e/",
        "%252e%252e/",
        "..%2f",
        "..%252f",
        "%2e%2e%5c",
        "..\\",
        "..%00/",
        "\uff0e\uff0e/",
    ]
    names = [f"{up}{file}" for up in (*ups, *dots)]
    names += [f"{up}ws-evil/notes.md" for up in ups]
    names += [f"{top}/{file}", f"{top}/ws/../{file}", f"{top}/ws-evil/notes.md", f"//{top}/{file}"]
    names += [f"file://{top}/{file}", f"file:{top}/{file}", f"FILE://{top}/ws/../{file}"]
    names += [f"~/../../../../../../{top}/{file}", f"@../{file}", f"/proc/self/cwd/../{file}"]
    names += [f"/proc/self/root{top}/{file}", f"/dev/fd/../../{top}/{file}", f"untitled:../{file}"]
    return names


@attack(8, "traversal", least=200, weakness="anywhere")
async def traversal(stage: Stage) -> Result:
    stage.put("../outside/notes.md")
    stage.put("../ws-evil/notes.md")
    stage.put("loose.md", "x\n")
    orders = []
    for name in traversals(stage):
        folder = name.rpartition("/")[0]
        orders += [
            order("read_file", file=name),
            order("create_file", file=f"{name}.new", content="x\n"),
            order("edit_file", file=name, position="end", content="x"),
            order("edit_file", file=name, position="open"),
            order("search_workspace", query="here", folder=folder),
            order("move_file", file="loose.md", to=f"{name}.moved"),
            order("list_files", folder=folder),
            order("copy_files", files=[name]),
            order("get_links", file=name),
            order("get_file_info", file=name),
        ]
    orders = stage.some(orders, 220)
    seen = await stage.play(list(itertools.chain(orders)))
    shown = [f"shown: {one.uri}" for one in seen.editor.shown_documents if "/ws/" not in one.uri]
    result = Result()
    result.add(len(orders), [*seen.effects(), *shown])
    return result
