"""A line that is cut is looked through for secrets as a whole: none goes out without its end."""

import pytest

from stet.llm.scripted import call
from stet.settings.values import PrivacySettings, Settings
from stet.system.memory_system import MemorySystem
from tests.support.turns import Table
from tests.support.world import make_world

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


def sent(table: Table) -> str:
    return "\n".join(one.content for one in table.model.requests[-1].messages)


@pytest.mark.parametrize("form", SECRETS)
@pytest.mark.parametrize("n_seen", [6, 12])
@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
async def test_a_hit_is_cut_behind_a_mark(form: str, n_seen: int, mode: str) -> None:
    line, left = long_line(form, n_seen=n_seen)
    files = {"/ws/c.conf": line, "/ws/a.py": "x\n"}
    table = Table(
        make_world(files, opened={"/ws/a.py": "x\n"}),
        [call("search_workspace", query="kkk", mode=mode), DONE],
    )
    await table.ask("Go")
    assert "c.conf:1: kkk zzz" in sent(table)
    assert left not in sent(table)


@pytest.mark.parametrize("n_blanks", [792, 795, 798])
async def test_nor_is_one_cut_where_the_hit_itself_ends(n_blanks: int) -> None:
    line, _ = long_line("x = %s", n_seen=1000 - n_blanks - 188, before=" " * n_blanks)
    files = {"/ws/c.conf": line, "/ws/a.py": "x\n"}
    table = Table(
        make_world(files, opened={"/ws/a.py": "x\n"}),
        [call("search_workspace", query="kkk", mode="keyword"), DONE],
    )
    await table.ask("Go")
    assert "c.conf:1: " in sent(table)
    assert "ghp_" not in sent(table)


async def test_marks_do_not_pull_in_what_lies_behind_the_cut() -> None:
    keys = "".join(f"ghp_{n:036} " for n in range(30))  # they are longer than their marks
    files = {"/ws/c.conf": f"kkk {keys}\n", "/ws/a.py": "x\n"}
    table = Table(
        make_world(files, opened={"/ws/a.py": "x\n"}),
        [call("search_workspace", query="kkk", mode="keyword"), DONE],
    )
    await table.ask("Go")
    assert "[redacted: GitHub token #5] …" in sent(table)
    assert "#6]" not in sent(table)
    assert "ghp_" not in sent(table)


async def test_who_wants_no_marks_gets_the_line() -> None:
    line, left = long_line("x = %s", n_seen=12)
    settings = Settings(privacy=PrivacySettings(redact_secrets=False))
    files = {"/ws/c.conf": line, "/ws/a.py": "x\n"}
    world = make_world(files, opened={"/ws/a.py": "x\n"}, settings=settings)
    table = Table(world, [call("search_workspace", query="kkk", mode="keyword"), DONE])
    await table.ask("Go")
    assert left in sent(table)


@pytest.mark.parametrize("form", SECRETS)
@pytest.mark.parametrize("n_seen", [6, 12, 20])
async def test_a_changed_line_is_cut_behind_a_mark(form: str, n_seen: int) -> None:
    line, left = long_line(form, n_seen=min(n_seen, len(SECRETS[form]) - 1))
    files = {"/ws/h.py": "ok\n", "/ws/a.py": "x\n"}
    world = make_world(files, opened={"/ws/a.py": "x\n"})
    table = Table(world, [call("read_file", file="h.py"), DONE, DONE])
    await table.ask("Go")
    system = world.snapshot().system
    assert isinstance(system, MemorySystem)
    system.put("/ws/h.py", f"ok\n{line}", mtime=9e9)
    await table.ask("Again")
    assert "+ kkk zzz" in sent(table)
    assert left not in sent(table)
