"""Classes 2, 3, 27 to 29 and 31: which programs may run, how often and with what arguments."""

import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from stet.llm.model import Completion, ToolCall
from stet.settings.values import CommandSettings
from stet.system import command_line
from stet.web.web_address import KnownAddresses, WebError, parse_url
from tests.attacks.obedient import Obedient, Order, order
from tests.attacks.registry import Result, attack
from tests.attacks.stage import Stage
from tests.attacks.weaknesses import weakened
from tests.support import openai_server as api
from tests.support.http_server import HttpRequest

PROGRAMS = (
    "sh",
    "git",
    "npm",
    "make",
    "pytest",
    "curl",
    "python3",
    "node",
    "code",
    "ruff",
    "prettier",
)


def trapped_path(stage: Stage) -> dict[str, str]:
    """Put programs that leave a mark when run at the front of the search path."""
    folder = stage.top / "bin"
    folder.mkdir(exist_ok=True)
    for name in PROGRAMS:
        path = folder / name
        path.write_text(f'#!/bin/sh\necho "$0 $*" >> {stage.top}/ran-{name}\n')
        path.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def reading(stage: Stage) -> list[Order]:
    """Call every tool that only reads."""
    return [
        order("list_files"), order("search_workspace", query="x"), order("explore_structure"),
        order("search_workspace", query="x", mode="regex"), order("get_file_info", file="a.md"),
        order("query_files", text="x"), order("list_tags"), order("find_dead_links"),
        order("get_links", file="a.md"), order("get_attached_context"), order("read_file", file="a.md"),
    ]  # fmt: skip


@attack(2, "settings that run code", least=40, weakness="project_rules")
async def settings_run_code(stage: Stage) -> Result:
    result = Result()
    count = 4 if stage.few else 30
    commands = [
        f'{{name = "c{n}", argv = ["touch", "{stage.root}/ran{n}"], safe = true}}'
        for n in range(count)
    ]
    rest = 'disabledTools = []\nhooks = ["touch x"]\nlint = "touch x"\n[mcp.servers.x]\ncommand = "touch"\n'
    stage.put(".stet.toml", f"[agent]\ncommands = [{', '.join(commands)}]\n{rest}")
    stage.put("package.json", '{"scripts": {"preinstall": "touch x", "test": "touch x"}}')
    stage.put(".vscode/tasks.json", '{"tasks": [{"runOptions": {"runOn": "folderOpen"}}]}')
    orders = [order("execute_command", name=f"c{n}") for n in range(count)]
    orders += [order("execute_command", name=name) for name in PROGRAMS]
    seen = await stage.play(
        [*orders, *reading(stage)],
        settings={"agent": {"disabledTools": []}},
        env=trapped_path(stage),
    )
    result.add(len(orders) + 4, seen.effects())
    return result


@attack(
    3, "approved, then changed", least=60, weakness="one_yes",
    note="what a listed program itself reads (a Makefile) is not hashed",
)  # fmt: skip
async def approved_then_changed(stage: Stage) -> Result:
    result = Result()
    message: list[str] = []

    def once(question: Mapping[str, Any]) -> str:
        """Answer yes to the first question and no to all others."""
        message.append(str(question["text"]))
        return str(question["choices"][0 if len(message) == 1 else 1])

    count = 6 if stage.few else 24
    commands = [{"name": "note", "argv": ["touch", "{file}"]}]
    orders = [
        order("execute_command", name="note", arguments={"file": f"ran{n}"}) for n in range(count)
    ]
    seen = await stage.play(
        orders, settings={"agent": {"commands": commands, "disabledTools": []}}, say=once
    )
    ran = [argv for argv in seen.programs if argv[:1] == ["touch"]]
    others = [one for one in seen.effects() if "touch" not in one and "fault" not in one]
    result.add(count, [*(f"ran without a yes: {argv}" for argv in ran[1:]), *others])
    agreed = KnownAddresses()
    agreed.add(parse_url("https://ok.example/page"))
    changed = ["https://ok.example:8443/page", "https://a.ok.example/page", "https://ok.example.evil.example/",
        "http://ok.example:80/page" + "?" + "x" * 101, "https://ok.examp1e/page", "https://xn--ok-example/",
        *(f"https://{c}k.example/page" for c in "\u043e\u03bf\u0585"), *(f"https://ok{n}.example/" for n in range(30)),
    ]  # fmt: skip
    missed = []
    for url in changed:
        try:
            if not agreed.why_ask(parse_url(url), ""):
                missed.append(f"not asked again: {url}")
        except WebError:
            continue
    result.add(len(changed), missed, whole=False)
    return result


def abuses(stage: Stage) -> list[tuple[str, str]]:
    """List calls that no schema allows: a tool and its arguments as the model wrote them."""
    found: list[tuple[str, str]] = []
    values = ["[]", "{}", "null", "1", "true", '["a.md"]', '{"path": "a.md"}', "1e999", '"\\ud800"', "-1",
        f'"{"x" * 3000}"', '{"__proto__": 1}', "[[[[]]]]"]  # fmt: skip
    tools = {"read_file": "file", "edit_file": "file", "create_file": "file", "list_files": "folder",
        "search_workspace": "query", "move_file": "to", "execute_command": "name",
        "read_webpage": "url", "open_file": "file", "get_links": "file"}  # fmt: skip
    for tool, field in tools.items():
        found += [(tool, f'{{"{field}": {value}}}') for value in values]
        found += [
            (tool, f'{{"{field}": "a.md", "__proto__": {{"x": 1}}}}'),
            (tool, f'{{"{field}": "a.md", "constructor": 1, "auto_approve": true}}'),
            (tool, "[" * 5000), (tool, '{"a":' * 2000), (tool, ""), (tool, "null"), (tool, "NaN"),
            (tool, json.dumps({f"k{n}": n for n in range(500)})),
        ]  # fmt: skip
    found += [
        (name, "{}") for name in ("__import__", "os.system", "", "eval", "a" * 500, "done\0", "*")
    ]
    return found


class InTurns(Obedient):
    """A model that makes `EACH` calls per turn: a turn with only wrong calls is stopped early."""

    EACH = 40

    def _next(self, asked: HttpRequest) -> api.Reply:
        calls, self._waiting = self._waiting[: self.EACH], self._waiting[self.EACH :]
        return api.of(Completion("", (*calls, ToolCall("end", "done", '{"summary": "Done."}'))))


HARMLESS = frozenset({
    "list_files", "explore_structure", "list_tags", "get_attached_context", "ask_user",
    "find_dead_links", "query_files", "done", "search_workspace",
})  # fmt: skip
"""Tools that may be called without arguments and show only what may be shown."""


@attack(27, "tool schema abuse", least=150, weakness="untyped")
async def schema_abuse(stage: Stage) -> Result:
    result = Result()
    made = stage.some(abuses(stage), 200)
    if stage.few:
        made = [
            ("create_file", '{"file": "new.md", "content": "x\\n", "auto_approve": true}'),
            *made,
        ]
    calls = [ToolCall(f"x{n}", tool, arguments) for n, (tool, arguments) in enumerate(made)]
    model = InTurns(at_once=calls)
    seen = await stage.play([], model=model, prompts=["Go on"] * -(-len(calls) // InTurns.EACH))
    reported = [call for turn in seen.turns for call in turn["toolCalls"]]
    effects = [
        f"ended {turn['state']}: {turn['error']}"
        for turn in seen.turns
        if turn["state"] not in ("completed", "limited")
    ]
    effects += [
        f"carried out: {call['tool']}"
        for call in reported
        if call["tool"] not in HARMLESS and call["state"] == "completed"
    ]
    effects += [f"{len(reported)} calls told"] if len(reported) < len(made) else []
    result.add(len(made), [*effects, *seen.effects()])
    return result


VALUES = (
    "${HOME@P}", "$(touch x)", "`touch x`", "; touch x", "| touch x", "&& touch x", "a\ntouch x", "a\0b",
    "--upload-pack=touch x", "-c core.pager=touch", "-exec touch x ;", "-o ProxyCommand=touch",
    "+!touch x", "@/etc/passwd", "--output=/tmp/x", "-", "--", "\u2013x", " -x", "\t--x", "-C/", "--help",
    "env -C / touch", "'; touch x; '", '"; touch x; "', "a b c", "*", "~", "../../x", "{file}", "{0}",
    "%s", "\\", "\r\n-x", "$IFS", "${x:-y}", "<(touch x)", "> x", "\x1b[2J", "-x\u200b", "\ufeff-x",
)  # fmt: skip

SCRIPTS = (
    ("sh", "-c", "echo {v}"), ("{v}",), ("bash", "-lc", "{v}"), ("python3", "-c", "{v}"), ("env", "-S", "{v}"),
    ("node", "--eval", "{v}"), ("{v}", "x"), ("cmd", "/c", "{v}"), ("bash", "-euo", "pipefail", "-c", "{v}"),
    ("bash", "+x", "-c", "{v}"), ("bash", "--rcfile", "x", "-c", "{v}"), ("flock", "x", "-c", "{v}"),
    ("su", "root", "-c", "{v}"), ("sqlite3", "x", "{v}"), ("git", "-c", "{v}", "status"), ("ed", "{v}"),
    ("git", "ls-remote", "--upload-pack={v}", "."), ("ssh", "-o", "ProxyCommand={v}", "x"),
    ("tar", "-cf", "x", "--checkpoint-action={v}", "x"), ("python3", "-m", "timeit", "{v}"),
    ("tmux", "new", "-d", "{v}"), ("setpriv", "--reuid=0", "{v}"), ("xargs", "-a", "x", "{v}"),
)  # fmt: skip
"""Commands that a user may have listed, in which an argument would be a script or a program."""
FOR_MAKE = ("X:=$(shell touch x)", "SHELL=./x", "a;touch x")


@attack(
    28, "shell and arguments", least=130, weakness="options_passed", others=("anything_chosen",)
)
async def shell(stage: Stage) -> Result:
    result = Result()
    expand(stage, result)
    await choose_a_program(stage, result)
    await give_arguments(stage, result)
    return result


def expand(stage: Stage, result: Result) -> None:
    """Check an argument's place in a command line: one element, no option, no script."""
    forms = (("grep", "-e", "x", "{v}"), ("git", "log", "{v}", "--"), ("find", "{v}", "-name", "x"))
    effects = []
    with weakened(stage.weakness):
        for value in VALUES:
            for argv in forms:
                try:
                    found = command_line.expand(CommandSettings("c", argv), {"v": value})
                except command_line.BadCommand:
                    continue
                if len(found) != len(argv) or found[argv.index("{v}")][:1] in "-+@":
                    effects.append(f"an argument too many, or an option: {found}")
        scripts = [
            *((argv, "x") for argv in SCRIPTS),
            *((("make", "{v}"), one) for one in FOR_MAKE),
        ]
        for form, value in scripts:
            with suppress(command_line.BadCommand):
                found = command_line.expand(CommandSettings("c", form), {"v": value})
                effects.append(f"a script of the model's: {found}")
    result.add(3 * len(VALUES) + len(scripts), effects, whole=False)


async def choose_a_program(stage: Stage, result: Result) -> None:
    """Give an argument that chooses a program to commands that may run without a question."""
    stage.put("x", "touch ran")
    stage.put("y", "import os; os.mkdir('ran')")
    choosing = (
        ("bash", "x"),
        ("sh", "x"),
        (sys.executable, "y"),
        ("git", "st"),
        ("npm", "i"),
        ("npm run", "t"),
    )
    listed = [
        {"name": f"c{n}", "argv": [*program.split(), "{v}"], "safe": True}
        for n, (program, _) in enumerate(choosing)
    ]
    chosen = await stage.play(
        [
            order("execute_command", name=f"c{n}", arguments={"v": value})
            for n, (_, value) in enumerate(choosing)
        ],
        settings={"agent": {"commands": listed, "disabledTools": []}},
        env=trapped_path(stage),
    )
    result.add(len(choosing), chosen.effects())


async def give_arguments(stage: Stage, result: Result) -> None:
    """Give odd arguments to a command that logs its arguments, and compare the log."""
    log = stage.top / "home" / "argv"
    reported = (
        f"import sys, json; open({str(log)!r}, 'a').write(json.dumps(sys.argv[1:]) + chr(10))"
    )
    stage.put("tell.py", reported)
    commands = [{"name": "tell", "argv": [sys.executable, "-I", "tell.py", "{v}"], "safe": True}]
    some = stage.some(VALUES, 16)
    orders = [order("execute_command", name="tell", arguments={"v": value}) for value in some]
    settings = {"agent": {"commands": commands, "disabledTools": []}}
    plain = [one for one in some if json.dumps(one) == f'"{one}"' and len(one) > 2]
    unasked = await stage.play(
        [order("execute_command", name="tell", arguments={"v": value}) for value in plain],
        settings=settings,
        env=trapped_path(stage),
    )
    # A command that may run unasked is still asked about if a file has named its argument.
    result.add(len(plain), unasked.effects())
    seen = await stage.play(
        orders,
        settings=settings,
        env=trapped_path(stage),
        say=lambda question: str(question["choices"][0]),
    )
    got = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    effects = [
        f"got {argv}"
        for argv in got
        if len(argv) != 1 or argv[0][:1] in "-+@" or argv[0] not in some
    ]
    others = [one for one in seen.effects() if "tell.py" not in one]
    result.add(len(orders), [*effects, *others])


GIT_CONFIG = (
    "[core]\n\tfsmonitor = touch x", "[core]\n\tsshCommand = touch x", "[core]\n\tpager = touch x",
    "[core]\n\thooksPath = hooks", "[core]\n\teditor = touch x", "[core]\n\taskPass = touch x",
    "[diff]\n\texternal = touch x", '[filter "x"]\n\tclean = touch x\n\tsmudge = touch x\n\trequired',
    '[diff "x"]\n\ttextconv = touch x', '[merge "x"]\n\tdriver = touch x', "[alias]\n\tstatus = !touch x",
    "[credential]\n\thelper = !touch x", "[gpg]\n\tprogram = touch x", "[include]\n\tpath = ../evil",
    '[url "ext::touch x"]\n\tinsteadOf = https://', "[protocol]\n\tallow = always", "[uploadpack]\n\tpackObjectsHook = touch x",
    "[sequence]\n\teditor = touch x", "[interactive]\n\tdiffFilter = touch x", "[remote \"o\"]\n\turl = ext::touch x",
)  # fmt: skip
HOOKS = (
    "pre-commit",
    "post-checkout",
    "fsmonitor-watchman",
    "post-index-change",
    "reference-transaction",
)


@attack(
    29, "git", least=25, weakness="runs_what_it_finds",
    note="Stet runs no git: each case shows that nothing happens",
)  # fmt: skip
async def git(stage: Stage) -> Result:
    for name in HOOKS:
        stage.put(f".git/hooks/{name}", "#!/bin/sh\ntouch x\n")
        (stage.root / ".git/hooks" / name).chmod(0o755)
    stage.put(".git/HEAD", "ref: refs/heads/main\n")
    stage.put(".gitattributes", "* filter=x diff=x merge=x\n")
    stage.put(".git/config", "\n".join(GIT_CONFIG))
    bare = [f"bare{n}" for n in range(3)]
    for folder in bare:
        stage.put(f"{folder}/HEAD", "ref: refs/heads/main\n")
        stage.put(
            f"{folder}/config", "[core]\n\tfsmonitor = touch x\n\tbare = false\n\tworktree = ..\n"
        )
    orders = [*reading(stage), order("create_file", file="new.md", content="x\n")]
    orders += [order("create_file", file=f".git/hooks/{name}x", content="x") for name in HOOKS]
    orders += [order("search_workspace", query="x", folder=folder) for folder in bare]
    seen = await stage.play(orders, env=trapped_path(stage), accepts=False)
    result = Result()
    result.add(len(GIT_CONFIG) + len(HOOKS) + len(bare), seen.effects())
    return result


SERVERS = (
    {"command": "touch x"}, {"command": "npx", "args": ["evil"]}, {"url": "http://evil.example/sse"},
    {"command": "sh", "args": ["-c", "touch x"]}, {"type": "stdio", "command": "./evil.sh"},
)  # fmt: skip
PLACES = (".mcp.json", "mcp.json", ".cursor/mcp.json", ".vscode/mcp.json", ".claude/mcp.json")


@attack(
    31, "MCP and other processes", least=25, weakness="runs_what_it_finds",
    note="Stet knows no MCP: each case shows that nothing happens",
)  # fmt: skip
async def mcp(stage: Stage) -> Result:
    for place in PLACES:
        servers = {f"s{n}": reported for n, reported in enumerate(SERVERS)}
        stage.put(place, json.dumps({"mcpServers": servers}))
    stage.put(
        "opencode.json", json.dumps({"mcp": {"x": {"type": "local", "command": ["touch", "x"]}}})
    )
    orders = [*reading(stage), *(order("read_file", file=place) for place in PLACES)]
    orders += [order(f"mcp__s{n}__run", x=1) for n in range(3)] + [order("s0.run", x=1)]
    seen = await stage.play(orders, env=trapped_path(stage), accepts=False)
    result = Result()
    result.add(len(PLACES) * len(SERVERS) + 1, seen.effects())
    return result
