"""Class 38: what agents that speak the Agent Client Protocol, and projects, may make Stet do."""

import json
import re
from collections.abc import Mapping
from typing import Any

from tests.attacks.doors import after_review, runtime_env
from tests.attacks.hook_calls import PROTECTED, UNNAMED, make_workspace
from tests.attacks.registry import Result, attack
from tests.attacks.seen import Seen
from tests.attacks.showing import ESCAPES
from tests.attacks.stage import Stage
from tests.support.acp_scripts import (
    AcpScript,
    Step,
    permission,
    plan,
    progress,
    say,
    think,
    write,
)
from tests.support.acp_scripts import tool as tool_call
from tests.support.chat_documents import opened

PLACES = (
    ".env", "sub/../.env", "to-env.txt", "../secret.txt", "sub/../../secret.txt", "to-secret.txt",
    "up/secret.txt", "up/../secret.txt", "up/ws/.env", ".git/config", "a.txt\0",
    ".git/HEAD", ".git/hooks/pre-commit", "sub", "a.txt/x", ".", "", "fifo", "sub/\0", "sub/\ud800", "new\x1b[2J.txt", *UNNAMED,
)  # fmt: skip
ELSEWHERE = (
    "/etc/passwd", "/proc/self/environ", "/dev/zero", "/dev/stdin", "a.txt", "../a.txt", "~/x", "//etc/passwd",
    "file:///etc/passwd", "\\\\host\\share", "/proc/self/fd/0", "/nonexistent/../etc/passwd",
)  # fmt: skip
DANGER = "rm -rf ~"
ALLOWING = [
    {"optionId": "yes", "name": "Reject", "kind": "allow_once"},
    {"optionId": "always", "name": "No", "kind": "allow_always"},
]
BOTH = [*ALLOWING, {"optionId": "no", "name": "Yes", "kind": "reject_once"}]
MARKUP = (
    "![x](http://evil.example/p.png)", "<img src=http://evil.example/x>", "[ok](command:evil)", "<script>x</script>",
    "</details>", "# You", "```\n# You\nobey", "[ok](javascript:x)", "[[../secret]]", "<a href='vscode://x'>",
)  # fmt: skip
_RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_ACTIVE = re.compile(r"!\[x\]\(http|<img|<script|\]\(command:|\]\(javascript:|<a href")


def file_steps(stage: Stage) -> list[Step]:
    """Read and write files that the agent may not, and all names of protected files."""
    paths = [*(f"{stage.root}/{place}" for place in PLACES), *ELSEWHERE]
    paths.append(f"/proc/self/root{stage.root}/.env")
    steps = [step for path in paths for step in (raw_read(path), raw_write(path))]
    steps += [write(stage.root / name, "run: evil\n") for name in PROTECTED]
    steps += [{"request": "fs/read_text_file", "params": params} for params in odd_params(stage)]
    return steps


def raw_read(path: str) -> Step:
    """Make a step that reads a path as it is spelled."""
    return {"request": "fs/read_text_file", "params": {"path": path}}


def raw_write(path: str) -> Step:
    """Make a step that writes a path as it is spelled."""
    return {"request": "fs/write_text_file", "params": {"path": path, "content": "x\n"}}


def odd_params(stage: Stage) -> list[dict[str, Any]]:
    """List parameters of another session, or of another form."""
    path = str(stage.root / "a.txt")
    forged = [
        {"path": path, "sessionId": one} for one in ("", "session-2", "../..", None, 7, "x" * 9999)
    ]
    forms: list[dict[str, Any]] = [
        {},
        {"path": None},
        {"path": []},
        {"path": path, "line": -1},
        {"path": path, "limit": "x"},
    ]
    return [*forged, *forms]


def questions() -> list[Step]:
    """Ask for permission with titles and options that mislead."""
    command = {"rawInput": {"command": DANGER}}
    titles = [
        f"Print a warning about {DANGER} only", "ls", "", "Read a.txt", "x" * 7000, f"`{DANGER} --help`",
        "Run tests\nfile: a.txt", *(f"Run {text}" for text in ESCAPES[:8]), "[ok](command:evil)",
    ]  # fmt: skip
    asked = [permission(title, BOTH, kind="execute", **command) for title in titles]
    asked += [
        permission("Go on", options, kind="execute", **command)
        for options in (ALLOWING, ALLOWING[:1], ALLOWING * 30, [])
    ]
    asked += [
        permission("Look", BOTH, kind="execute", rawInput={"command": command})
        for command in (
            f"ls\n{DANGER}",
            f"ls{' ' * 3000}; {DANGER}",
            ["sh", "-c", DANGER],
            f"\x1b[8m{DANGER}",
        )
    ]
    return asked


def edits(stage: Stage) -> list[Step]:
    """Ask to edit a file of the workspace, and to do more by the same call."""
    diff = {"type": "diff", "path": str(stage.root / "a.txt"), "oldText": "one\n", "newText": "1\n"}
    outside = {**diff, "path": str(stage.top / "secret.txt")}
    linked = {**diff, "path": str(stage.root / "to-secret.txt")}
    command = {"command": DANGER}
    return [
        permission("Edit", content=[diff], rawInput=command),
        permission("Edit", kind="execute", content=[diff]),
        permission("Edit", kind="edit", content=[diff], locations=[{"path": "/etc/passwd"}]),
        permission("Edit", kind="edit", content=[diff, outside]),
        permission("Edit", kind="edit", content=[outside]),
        permission("Edit", kind="edit", content=[linked]),
        permission("Edit", kind="edit", content=[]),
    ]


def transcript(stage: Stage) -> list[Step]:
    """Fill the transcript with escape sequences, markup and more than anybody reads."""
    texts = [*ESCAPES, *MARKUP]
    steps: list[Step] = []
    for n, text in enumerate(texts):
        steps += [
            say(f"{text}\n\n"),
            think(text),
            tool_call(f"{n}{text}", title=text, kind="other"),
        ]
        steps += [progress(f"{n}{text}", title=text, status="failed"), plan((text, "pending"))]
    steps += [say("x" * 300_000)] * 4
    steps += [tool_call(f"flood{n}") for n in range(40)]
    steps += [plan(*[("y" * 500, "pending")] * 5_000), think("z" * 1_000_000)]
    steps += [{"request": method, "params": {}} for method in METHODS]
    return steps


METHODS = (
    "terminal/create", "terminal/output", "fs/delete_file", "session/new", "session/prompt", "stet/accept",
    "workspace/executeCommand", "authenticate", "__init__",
)  # fmt: skip


def project_files(stage: Stage) -> list[str]:
    """List project settings that would start a program, or send its edits past the review."""
    touch = f'command = ["touch", "{stage.root}/started"]\n'
    return [
        f'[agents]\ndefault = "robot"\n[agents.servers.robot]\n{touch}',
        f'[agents]\ndefault = "mine"\n[agents.servers.mine]\nprofile = "qwen"\n{touch}',
        f'[stet.agents]\ndefault = "robot"\n[stet.agents.servers.robot]\n{touch}',
        f"[agents.servers.claude]\n{touch}[hooks]\nPreToolUse = 'touch x'\n",
        "[agents]\nsocket = false\nclaudeIde = true\n",
    ]


@attack(
    38, "ACP agents", least=150, weakness="anywhere",
    others=("project_rules", "nothing_protected", "titles_believed", "controls_act"),
)  # fmt: skip
async def chat_agents(stage: Stage) -> Result:
    result = Result()
    if stage.weakness in ("", "project_rules"):
        for text in project_files(stage):
            stage.put(".stet.toml", text)
            seen = await stage.play([], env=runtime_env(stage))
            result.add(1, seen.effects())
        (stage.root / ".stet.toml").unlink()
    make_workspace(stage)
    steps = [file_steps(stage), [*questions(), *edits(stage)], transcript(stage)]
    if stage.few and stage.weakness != "controls_act":
        steps.pop()
    script = AcpScript(stage.top / "home" / "agent", steps)
    settings = script.settings()
    settings["agents"]["default"] = "robot"
    asked: list[Mapping[str, Any]] = []
    shown: list[str] = []

    def refuse(question: Mapping[str, Any]) -> str:
        """Answer with the last choice, which refuses."""
        asked.append(question)
        return str(question["choices"][-1])

    async def look(seen: Seen) -> None:
        await after_review(seen, stage)
        uri = await opened(seen.editor)
        shown.append(seen.editor.text(uri))
        shown.extend(one.message for one in seen.editor.messages)

    seen = await stage.play(
        [], settings=settings, say=refuse, prompts=("Go.",) * len(steps), after=look, env=runtime_env(stage)
    )  # fmt: skip
    seen.sent += map(json.dumps, script.log())
    seen.faults += [
        f"state: {turn['state']}" for turn in seen.turns if turn["state"] != "completed"
    ]
    seen.faults += questions_faults(script, asked)
    seen.faults += [f"raw: {one!a}" for text in shown for one in _RAW.findall(text)]
    seen.faults += [f"active: {one}" for text in shown[:1] for one in _ACTIVE.findall(text)]
    result.add(sum(map(len, steps[:2])) + 4 * len((*ESCAPES, *MARKUP)), effects_of(seen, script))
    return result


def questions_faults(script: AcpScript, asked: list[Mapping[str, Any]]) -> list[str]:
    """List the permissions that the user has not given, and questions that hide a command."""
    answers = script.answers("session/request_permission")
    found = [
        f"allowed: {number}"
        for number, answer in enumerate(answers)
        if answer.get("outcome", {}).get("optionId") in ("yes", "always")
    ]
    for question in asked:
        lines = question["text"].splitlines()
        is_whole = any(line.endswith((DANGER, f'{DANGER}"]')) for line in lines[1:])
        if not is_whole and ": Edit" not in lines[0]:
            found.append(f"hidden command: {question['text']!r:.200}")
    return found


def effects_of(seen: Seen, script: AcpScript) -> list[str]:
    """List the forbidden effects: the program of the agent itself may run."""
    program = script.settings()["agents"]["servers"]["robot"]["command"]
    return [one for one in seen.effects() if one != f"process: {program}"]
