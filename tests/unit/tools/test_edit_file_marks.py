"""Edits of files with secrets, by a model that was shown marks."""

import pytest

from stet.agent.turn import Mode, TurnState
from stet.llm.model import Completion, Request
from stet.llm.scripted_model import Reply, call, say
from stet.settings.values import PrivacySettings, Settings
from tests.support.agent_harness import FILE, AgentHarness
from tests.support.canaries import keys, private_key
from tests.support.workspaces import insertion, make_workspace

KEY = keys()["AWS key"]
OTHER = keys(2)["Stripe key"]
MARK = "[redacted: AWS key #1]"
TEXT = f"import aws\n\nKEY = '{KEY}'\nclient = aws.connect(KEY)\n"
DONE = call("done", summary="Done.")


def table(*replies: Reply, text: str = TEXT, others: dict[str, str] | None = None) -> AgentHarness:
    return AgentHarness(make_workspace(others, opened={FILE: text}), [*replies, DONE, DONE])


def edit(old: str, new: str, file: str = "a.py") -> Completion:
    return call("edit_file", file=file, old_text=old, new_text=new)


def tool_results(ctx: AgentHarness) -> list[str]:
    """Return the answers to the calls of the model."""
    return [one.content for one in ctx.model.requests[-1].messages if one.role == "tool"]


@pytest.mark.parametrize(
    ("reply", "after"),
    [
        (edit(f"KEY = '{MARK}'", f"AWS_KEY = '{MARK}'"), TEXT.replace("KEY = '", "AWS_KEY = '")),
        (
            edit(f"KEY = '{MARK}'\nclient", f"TOKEN = '{MARK}'\nclient"),
            TEXT.replace("KEY = '", "TOKEN = '"),
        ),
        # found leniently: other quotes, white space at the end
        (edit(f"KEY = \u2018{MARK}\u2019 ", f"K2 = '{MARK}'"), TEXT.replace("KEY = '", "K2 = '")),
        (
            call("edit_file", file="a.py", position="replace:3", content=f"KEY = ['{MARK}']\n"),
            TEXT.replace(f"'{KEY}'", f"['{KEY}']"),
        ),
        (
            call("edit_file", file="a.py", position="end", content=f"again = '{MARK}'\n"),
            f"{TEXT}again = '{KEY}'\n",
        ),
        (
            edit("import aws\n", "import aws, os\n"),
            TEXT.replace("import aws\n", "import aws, os\n"),
        ),
        (edit(f"KEY = '{MARK}'\n", ""), TEXT.replace(f"KEY = '{KEY}'\n", "")),
    ],
)
async def test_an_edit_with_a_mark_keeps_the_secret(reply: Reply, after: str) -> None:
    ctx = table(reply)
    turn = await ctx.ask()
    assert (turn.state, turn.rejected) == (TurnState.COMPLETED, ())
    assert ctx.proposed() == after
    assert KEY not in str(ctx.model.requests)


async def test_a_key_is_shown_as_a_mark_and_lines_keep_their_numbers() -> None:
    ctx = table(call("read_file", file="a.py"))
    await ctx.ask()
    assert tool_results(ctx)[0] == (
        f"     1\timport aws\n     2\t\n     3\tKEY = '{MARK}'\n     4\tclient = aws.connect(KEY)\n"
    )


async def test_a_private_key_of_many_lines_is_moved_whole() -> None:
    key = private_key()
    text = f"one\nKEY = '''{key}'''\ntwo\n"
    n_lines = len(key.splitlines()) - 2
    marks = "".join(f"[redacted: private key line #{n + 1}]\n" for n in range(n_lines))
    first, last = key.splitlines()[0], key.splitlines()[-1]
    shown = f"KEY = '''{first}\n{marks}{last}\n'''\n"
    ctx = table(edit(shown + "two\n", f"two\n{shown}"), text=text)
    turn = await ctx.ask()
    assert turn.state is TurnState.COMPLETED
    assert ctx.proposed() == f"one\ntwo\nKEY = '''{key}'''\n"


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (
            edit("import aws", f"import aws  # {OTHER} [redacted: Stripe key #7]"),
            "not in this file",
        ),
        (edit("import aws", "import aws  # [redacted: some key]"), "is never written"),
        (edit("import aws", "import aws  # [REDACTED: AWS key]"), "is never written"),
        (call("create_file", file="b.py", content=f"KEY = '{MARK}'\n"), "no tool is given"),
        (
            call("edit_file", file="b.py", position="create", content=f"KEY = '{MARK}'\n"),
            "is never written",
        ),
        (call("create_file", file="b.py", content="# [redacted: nothing #1]\n"), "never written"),
        (edit(f"KEY = '{MARK}'", f"KEY = '{MARK}'", file="c.py"), "not in this file"),
        (call("search_workspace", query=MARK), "no tool is given"),
        (call("move_file", file="a.py", to=f"{MARK}.py"), "no tool is given"),
        (call("add_tags", file="a.py", tags=[MARK]), "no tool is given"),
    ],
)
async def test_a_mark_is_never_written(reply: Reply, why: str) -> None:
    ctx = table(reply, others={"/ws/c.py": "KEY = ''\n"})
    turn = await ctx.ask()
    assert turn.state is TurnState.COMPLETED
    assert why in tool_results(ctx)[0]
    assert ctx.hunks == ()


@pytest.mark.parametrize(
    ("held", "replies"),
    [
        ('x = "[redacZZ"\n', [edit('ZZ"', 'ted: AWS key #1]"')]),
        ('x = "[redacZZted: AWS key #1]"\n', [edit("ZZ", "")]),
        ('x = "[redacted:\nAWS key #1]"\n', [edit("[redacted:\nAWS", "[redacted: AWS")]),
        ('x = "\nredacted: AWS key #1]"\n', [edit('x = "\nred', 'x = "[red')]),
        ("x = 1\n", [edit("x = 1", "x = '[redacZZ'"), edit("ZZ'", "ted: AWS key #1]'")]),
    ],
)
async def test_a_mark_is_not_completed_either(held: str, replies: list[Reply]) -> None:
    ctx = table(*replies, text=f"import aws\n{held}")
    await ctx.ask()
    assert "'[redacted: AWS key #1]' stands for a secret" in tool_results(ctx)[-1]
    assert "[redacted: AWS key #1]" not in ctx.proposed()


async def test_a_mark_that_a_file_really_holds_may_stay_in_a_line_that_changes() -> None:
    held = 'x = "[redacted: AWS key #1]"\n'
    ctx = table(edit("x = ", "yy = "), text=f"import aws\n{held}")
    await ctx.ask()
    assert ctx.proposed() == 'import aws\nyy = "[redacted: AWS key #1]"\n'


async def test_a_mark_of_another_file_brings_no_secret_here() -> None:
    ctx = table(
        call("read_file", file="c.py"),
        edit("import aws", "import aws  # [redacted: Stripe key #1]"),
        others={"/ws/c.py": f"S = '{OTHER}'\n"},
    )
    await ctx.ask()
    assert tool_results(ctx)[0] == "     1\tS = '[redacted: Stripe key #1]'\n"
    assert "not in this file" in tool_results(ctx)[1]
    assert ctx.hunks == ()


async def test_what_is_pending_may_be_quoted_with_its_mark() -> None:
    ctx = table(
        edit(f"KEY = '{MARK}'", f"AWS_KEY = '{MARK}'"),
        edit(f"AWS_KEY = '{MARK}'", f"S3_KEY = '{MARK}'"),
    )
    await ctx.ask()
    assert ctx.proposed() == TEXT.replace("KEY = '", "S3_KEY = '")


async def test_an_edit_follows_what_the_user_types_beside_the_key() -> None:
    async def typing(request: Request) -> Completion:
        ctx.type(insertion(0, 0, "# new\n"))
        return edit(f"KEY = '{MARK}'\nclient", f"KEY = '{MARK}'\n\nclient")

    ctx = table(typing)
    await ctx.ask()
    assert ctx.proposed() == f"# new\n{TEXT}".replace("\nclient", "\n\nclient")


async def test_a_rewritten_passage_keeps_its_key() -> None:
    answer = say(f"```\nTHE_KEY = '{MARK}'\n```")
    ctx = table(answer)
    turn = await ctx.ask("Rename", Mode.REWRITE, lines=(3, 3))
    assert turn.state is TurnState.COMPLETED, turn.error
    assert ctx.proposed() == TEXT.replace("KEY = '", "THE_KEY = '")


async def test_a_rewritten_passage_with_a_mark_of_nothing_is_refused() -> None:
    ctx = table(say("```\nTHE_KEY = '[redacted: AWS key #9]'\n```"))
    turn = await ctx.ask("Rename", Mode.REWRITE, lines=(3, 3))
    assert turn.state is TurnState.FAILED
    assert "is not in this file" in turn.error
    assert ctx.hunks == ()


async def test_with_the_setting_off_the_text_is_as_it_is() -> None:
    settings = Settings(privacy=PrivacySettings(redact_secrets=False))
    world = make_workspace(opened={FILE: TEXT}, settings=settings)
    ctx = AgentHarness(world, [edit(f"KEY = '{KEY}'", f"K = '{KEY}'"), DONE])
    await ctx.ask()
    assert ctx.proposed() == TEXT.replace("KEY = '", "K = '")
    assert KEY in str(ctx.model.requests)
