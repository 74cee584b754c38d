"""A line that is cut is looked through for secrets as a whole: none goes out without its end."""

import pytest

from stet.context.project_instructions import MAX_CHARACTERS
from stet.llm.scripted_model import call
from stet.settings.values import PrivacySettings, Settings
from tests.support.agent_harness import AgentHarness
from tests.support.memory_system import MemorySystem
from tests.support.workspaces import make_workspace

DONE = call("done", summary="Done.")
SECRETS = {
    'password = "%s"': "Sup3rSecretPassw0rd9x",
    "DB_PASSWORD=%s": "Sup3rSecretPassw0rd9x",
    "x = %s": "ghp_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5h",
    "postgres://me:%s@db/x": "hunter2S3cret",
}


def long_line(form: str, *, n_seen: int, before: str = "") -> tuple[str, str]:
    """A line whose cut, 200 characters in, leaves so many of a secret; and what is left of it."""
    secret = SECRETS[form]
    body = form % secret
    at = body.index(secret)
    return before + "kkk " + "z" * (200 - 5 - at - n_seen) + " " + body + "\n", secret[:n_seen]


def sent(table: AgentHarness) -> str:
    return "\n".join(one.content for one in table.model.requests[-1].messages)


@pytest.mark.parametrize("form", SECRETS)
@pytest.mark.parametrize("n_seen", [6, 12])
@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
async def test_search_hit_is_cut_after_a_mark(form: str, n_seen: int, mode: str) -> None:
    line, left = long_line(form, n_seen=n_seen)
    files = {"/ws/c.conf": line, "/ws/a.py": "x\n"}
    table = AgentHarness(
        make_workspace(files, opened={"/ws/a.py": "x\n"}),
        [call("search_workspace", query="kkk", mode=mode), DONE],
    )
    await table.ask("Go")
    assert "c.conf:1: kkk zzz" in sent(table)
    assert left not in sent(table)


@pytest.mark.parametrize("n_blanks", [792, 795, 798])
async def test_search_hit_is_not_cut_inside_a_mark_at_its_end(n_blanks: int) -> None:
    line, _ = long_line("x = %s", n_seen=1000 - n_blanks - 188, before=" " * n_blanks)
    files = {"/ws/c.conf": line, "/ws/a.py": "x\n"}
    table = AgentHarness(
        make_workspace(files, opened={"/ws/a.py": "x\n"}),
        [call("search_workspace", query="kkk", mode="keyword"), DONE],
    )
    await table.ask("Go")
    assert "c.conf:1: " in sent(table)
    assert "ghp_" not in sent(table)


async def test_marks_do_not_include_text_after_the_cut() -> None:
    keys = "".join(f"ghp_{n:036} " for n in range(30))  # they are longer than their marks
    files = {"/ws/c.conf": f"kkk {keys}\n", "/ws/a.py": "x\n"}
    table = AgentHarness(
        make_workspace(files, opened={"/ws/a.py": "x\n"}),
        [call("search_workspace", query="kkk", mode="keyword"), DONE],
    )
    await table.ask("Go")
    assert "[redacted: GitHub token #5] …" in sent(table)
    assert "#6]" not in sent(table)
    assert "ghp_" not in sent(table)


async def test_excerpt_without_redaction_is_the_line() -> None:
    line, left = long_line("x = %s", n_seen=12)
    settings = Settings(privacy=PrivacySettings(redact_secrets=False))
    files = {"/ws/c.conf": line, "/ws/a.py": "x\n"}
    world = make_workspace(files, opened={"/ws/a.py": "x\n"}, settings=settings)
    table = AgentHarness(world, [call("search_workspace", query="kkk", mode="keyword"), DONE])
    await table.ask("Go")
    assert left in sent(table)


@pytest.mark.parametrize("form", SECRETS)
@pytest.mark.parametrize("n_seen", [6, 12, 20])
async def test_changed_line_is_cut_after_a_mark(form: str, n_seen: int) -> None:
    line, left = long_line(form, n_seen=min(n_seen, len(SECRETS[form]) - 1))
    files = {"/ws/h.py": "ok\n", "/ws/a.py": "x\n"}
    world = make_workspace(files, opened={"/ws/a.py": "x\n"})
    table = AgentHarness(world, [call("read_file", file="h.py"), DONE, DONE])
    await table.ask("Go")
    system = world.snapshot().system
    assert isinstance(system, MemorySystem)
    system.add_file("/ws/h.py", f"ok\n{line}", mtime=9e9)
    await table.ask("Again")
    assert "+ kkk zzz" in sent(table)
    assert left not in sent(table)


@pytest.mark.slow
@pytest.mark.parametrize("form", SECRETS)
@pytest.mark.parametrize("n_seen", [6, 12])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get_links", {"file": "c.md"}),
        ("query_files", {"text": "kkk"}),
        ("query_files", {"task": "open"}),
    ],
)
async def test_line_quoted_by_a_tool_is_cut_after_a_mark(
    form: str, n_seen: int, tool: str, arguments: dict[str, str]
) -> None:
    line, left = long_line(form, n_seen=n_seen)
    text = line.replace("zzzzz", "[[a]]", 1)
    if "task" in arguments:
        text = "- [ ] " + text.replace("zzzz", "", 1)  # shown as `[ ] kkk ...`
    files = {"/ws/c.md": text, "/ws/a.md": "x\n"}
    world = make_workspace(files, opened={"/ws/a.md": "x\n"})
    table = AgentHarness(world, [call(tool, **arguments), DONE])
    await table.ask("Go")
    assert "kkk " in sent(table)
    assert left not in sent(table)


@pytest.mark.parametrize("n_seen", [6, 12])
async def test_dead_link_is_not_cut_inside_a_mark(n_seen: int) -> None:
    key = SECRETS["x = %s"]
    target = "z" * (200 - n_seen - 1) + "-" + key
    world = make_workspace(
        {"/ws/c.md": f"[[{target}]]\n", "/ws/a.md": "x\n"}, opened={"/ws/a.md": "x\n"}
    )
    table = AgentHarness(world, [call("find_dead_links"), call("get_links", file="c.md"), DONE])
    await table.ask("Go")
    assert "does not exist" in sent(table)
    assert key[:n_seen] not in sent(table)


async def test_long_project_instructions_are_not_cut_inside_a_mark() -> None:
    key = SECRETS["x = %s"]
    text = "z" * (MAX_CHARACTERS - 13) + " " + key
    world = make_workspace({"/ws/AGENTS.md": text, "/ws/a.py": "x\n"}, opened={"/ws/a.py": "x\n"})
    table = AgentHarness(world, [DONE])
    await table.ask("Go")
    assert "zzzz" in sent(table)
    assert "(cut: " in sent(table)
    assert key[:12] not in sent(table)
