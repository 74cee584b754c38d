"""Comments that start a turn, in unsaved text of many languages, through the protocol."""

import time
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from tests.support import openai_server as api
from tests.support.editor import FakeEditor
from tests.support.live_turns import calls, done, edit, provider, run, scripted, wait_for_states
from tests.support.openai_server import OpenAIServer
from tests.support.restarts import ready

DO, ANSWER = "Stet: Run comment instruction", "Stet: Answer comment"
ON_SAVE = {"instructions": {"onSave": True}}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    return folder


async def over(editor: FakeEditor, turn: str) -> Any:
    """Wait for the end of a turn; return the turn."""
    while True:
        arrived = editor.n_news
        found = await editor.command("stet.turn", {"turn": turn})
        if found["success"] is not None:
            return found
        await editor.wait_until(lambda seen=arrived: editor.n_news > seen)  # type: ignore[misc]


async def chosen(editor: FakeEditor, uri: str, needle: str, title: str = DO) -> Any:
    """Choose the action on a line; return the finished turn."""
    answer = await editor.choose(uri, needle, title)
    return await over(editor, answer["turn"])


async def accepted(editor: FakeEditor, turn: str) -> None:
    """Accept all hunks of a turn, and wait until the text has them."""
    answer = await editor.command("stet.accept", {"turn": turn})
    assert answer["refused"] == []
    await wait_for_states(editor, **dict.fromkeys(answer["hunks"], "accepted"))


async def turns(editor: FakeEditor) -> list[str]:
    """Return the prompts of all turns, found by their consecutive ids."""
    found: list[Any] = []
    while True:
        try:
            found.append(await editor.command("stet.turn", {"turn": f"t{len(found) + 1}"}))
        except JsonRpcException:
            return [one["prompt"] for one in found]


LANGUAGES = [
    (
        "a.py",
        "python",
        "x = 1\ns = '# no AI!'\n{}\ny = 2\n",
        "# Make y three. AI!",
        "Make y three.",
    ),
    ("a.py", "python", "y = 2  {}\n", "# three, please AI!", "three, please"),
    ("a.js", "javascript", "f(`// no AI!`);\n{}\n", "// AI! Call g, too", "Call g, too"),
    ("a.js", "javascript", "{}\nf();\n", "/*\n * Call g.\n * Then h. AI!\n */", "Call g.\nThen h."),
    ("a.rs", "rust", "/// Docs.\n{}\nfn f() {{}}\n", "// Make it public AI!", "Make it public"),
    ("a.go", "go", "package main\n\n{}\nvar x = 1\n", "// AI! Export x", "Export x"),
    ("a.html", "html", "<p>// no AI!</p>\n{}\n", "<!-- Add a list AI! -->", "Add a list"),
    ("b.html", "html", "<script>\n{}\n</script>\n", "// Call f AI!", "Call f"),
    ("a.lua", "lua", "local s = '-- no AI!'\n{}\n", "-- Return s AI!", "Return s"),
    ("a.sql", "sql", "select '-- no AI!'\n{}\n", "-- Add a where AI!", "Add a where"),
    ("a.md", "markdown", "# What?\n\n{}\n\nText.\n", "<!-- Shorten this. AI! -->", "Shorten this."),
    ("a.sh", "shellscript", "#!/bin/sh\n{}\nls\n", "# Sort it AI!", "Sort it"),
    ("a.odd", "oddlang", "say '# no AI!'\n{}\n", "# AI! Say more", "Say more"),
]


@pytest.mark.parametrize(
    ("name", "language", "text", "comment", "prompt"), LANGUAGES, ids=[one[0] for one in LANGUAGES]
)
async def test_a_comment_in_unsaved_text_is_carried_out_and_goes(
    root: Path, name: str, language: str, text: str, comment: str, prompt: str
) -> None:
    with_comment = text.format(comment)
    # A line with only the comment is removed; else the white space before the comment.
    without = text.replace("{}\n", "") if "\n{}" in f"\n{text}" else text.replace("  {}", "")
    (root / name).write_text("")
    async with FakeEditor.start(root, env=scripted(root.parent, done())) as editor:
        uri = editor.open(name, "nothing yet\n", language)
        editor.change(uri, "nothing yet\n", with_comment)
        marked = next(line for line in comment.splitlines() if "AI!" in line)
        turn = await chosen(editor, uri, marked)
        assert (turn["prompt"], turn["mode"], turn["state"]) == (prompt, "agent", "completed")
        [hunk] = await editor.command("stet.proposals")
        assert (hunk["turn"], hunk["author"]) == (turn["turn"], "stet")
        await accepted(editor, turn["turn"])
        assert editor.text(uri) == without.format()


async def test_the_model_receives_comment_and_place_and_leaves_the_comment_alone(
    root: Path,
) -> None:
    text = "a = 1\n# Double it.\n# Both of them, please. AI!\nb = 1\nc = 1\n\nd = 1\n"
    (root / "a.py").write_text("")
    replies = [api.call("done", summary="Done.")]
    async with (
        OpenAIServer(replies) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        uri = editor.open("a.py", text, "python")
        await chosen(editor, uri, "# Both of them, please. AI!")
        asked = server.requests[0].body["messages"][-1]["content"]
        _, _, query = asked.partition("<user_query>\n")
        assert query.startswith(
            'Double it.\nBoth of them, please.\n\n(A comment in "a.py", line 2, '
        )
        assert "Leave the comment itself alone" in query
        assert (
            '<manually_added_selection path="a.py" lines="2-5">\n'
            "# Double it.\n# Both of them, please. AI!\nb = 1\nc = 1\n</manually" in asked
        )


@pytest.mark.parametrize(
    ("before", "reply", "after"),
    [
        # The model leaves the comment unchanged, beside its edit.
        ("# double it AI!\nx = 1\n", ("x = 1", "x = 2"), "x = 2\n"),
        # The model edits the line of the comment.
        ("x = 1  # double it AI!\n", ("x = 1", "x = 2"), "x = 2\n"),
        # The model removes the comment itself.
        ("# double it AI!\nx = 1\n", ("# double it AI!\nx = 1", "x = 2"), "x = 2\n"),
        # The model rewrites all lines and keeps the comment.
        (
            "# double it AI!\nx = 1\ny = 1\n",
            ("# double it AI!\nx = 1\ny = 1", "y = 0\n# double it AI!\nx = 2"),
            "y = 0\nx = 2\n",
        ),
    ],
    ids=["beside", "same-line", "model-removes", "model-keeps"],
)
async def test_the_comment_goes_with_what_the_model_proposes(
    root: Path, before: str, reply: tuple[str, str], after: str
) -> None:
    (root / "a.py").write_text("")
    script = [calls(edit("a.py", *reply, "Double x")), done()]
    async with FakeEditor.start(root, env=scripted(root.parent, *script)) as editor:
        uri = editor.open("a.py", before, "python")
        turn = await chosen(editor, uri, "# double it AI!")
        assert len(turn["proposals"]) == 1
        waiting = await editor.command("stet.proposals", {"state": "pending"})
        assert any("Double x" in hunk["summary"] for hunk in waiting)
        await accepted(editor, turn["turn"])
        assert editor.text(uri) == after


async def test_a_question_is_answered_and_its_comment_goes_too(root: Path) -> None:
    (root / "a.go").write_text("")
    script = [{"text": "Because."}]
    async with FakeEditor.start(root, env=scripted(root.parent, *script)) as editor:
        uri = editor.open("a.go", "package a\n\nvar x = 1 // why one? AI?\n", "go")
        turn = await chosen(editor, uri, "// why one? AI?", ANSWER)
        assert (turn["mode"], turn["prompt"], turn["answer"]) == ("ask", "why one?", "Because.")
        await accepted(editor, turn["turn"])
        assert editor.text(uri) == "package a\n\nvar x = 1\n"


async def test_the_user_may_type_meanwhile(root: Path) -> None:
    (root / "a.py").write_text("")
    hold = root.parent / "go"
    async with FakeEditor.start(
        root, env=scripted(root.parent, {**done(), "hold": str(hold)})
    ) as editor:
        uri = editor.open("a.py", "x = 1\n# double it AI!\n", "python")
        answer = await editor.choose(uri, "# double it AI!", DO)
        editor.change(uri, "x = 1\n", "w = 0\nx = 1\n")
        hold.write_text("")
        turn = await over(editor, answer["turn"])
        await accepted(editor, turn["turn"])
        assert editor.text(uri) == "w = 0\nx = 1\n"


async def test_a_comment_is_found_again_when_its_turn_has_waited(root: Path) -> None:
    (root / "a.py").write_text("")
    hold = root.parent / "go"
    script = [{**done(), "hold": str(hold)}, done("Then.")]
    async with FakeEditor.start(root, env=scripted(root.parent, *script)) as editor:
        uri = editor.open("a.py", "x = 1\n# double it AI!\n# AI? why\n\n# add AI!\n", "python")
        await editor.command("stet.ask", {"prompt": "First", "uri": uri})
        answer = await editor.choose(uri, "# add AI!", DO)
        editor.change(uri, "x = 1\n", "v = 0\nw = 0\n\nx = 1\n")
        hold.write_text("")
        turn = await over(editor, answer["turn"])
        assert (turn["state"], turn["prompt"]) == ("completed", "add")
        [hunk] = await editor.command("stet.proposals")
        assert hunk["old"] == "# add AI!\n"


async def test_a_comment_that_was_changed_meanwhile_stays(root: Path) -> None:
    (root / "a.py").write_text("")
    hold = root.parent / "go"
    async with FakeEditor.start(
        root, env=scripted(root.parent, {**done(), "hold": str(hold)})
    ) as editor:
        uri = editor.open("a.py", "x = 1\n# double it AI!\n", "python")
        answer = await editor.choose(uri, "# double it AI!", DO)
        await editor.wait_until(lambda: "round 1" in str(editor.progress_reports))
        editor.change(uri, "double it AI!", "halve it AI!")
        hold.write_text("")
        turn = await over(editor, answer["turn"])
        assert (turn["state"], turn["hunks"]) == ("completed", [])


async def test_with_blocks_in_the_text_the_comment_goes_as_one_of_them(root: Path) -> None:
    (root / "a.py").write_text("")
    settings = {"edit": {"reviewStyle": "inline"}}
    script = [calls(edit("a.py", "y = 1", "y = 2", "Double y")), done()]
    async with FakeEditor.start(
        root, env=scripted(root.parent, *script), settings=settings
    ) as editor:
        uri = editor.open("a.py", "y = 1\nz = 1\n# double y AI!\n", "python")
        await ready(editor)
        turn = await chosen(editor, uri, "# double y AI!")
        await editor.wait_until(lambda: editor.text(uri).count("<<<<<<<") == 2)
        await accepted(editor, turn["turn"])
        assert editor.text(uri) == "y = 2\nz = 1\n"


async def test_nothing_is_removed_when_the_turn_fails(root: Path) -> None:
    (root / "a.py").write_text("")
    async with FakeEditor.start(root, env=scripted(root.parent, {"error": "No power."})) as editor:
        uri = editor.open("a.py", "# double it AI!\n", "python")
        turn = await chosen(editor, uri, "# double it AI!")
        assert (turn["state"], turn["hunks"]) == ("failed", [])


async def test_policy_refusal_is_reported_and_the_turn_completes(root: Path) -> None:
    (root / "a.py").write_text("")
    settings = {"edit": {"canDelete": False}}
    async with FakeEditor.start(
        root, env=scripted(root.parent, done("All done.")), settings=settings
    ) as editor:
        uri = editor.open("a.py", "# double it AI!\n", "python")
        await ready(editor)
        turn = await chosen(editor, uri, "# double it AI!")
        assert (turn["state"], turn["hunks"]) == ("completed", [])
        assert [one["rule"] for one in turn["rejectedEdits"]] == ["edit.canDelete"]
        assert turn["summary"].startswith("All done. The comment was kept: Refused by the rule")


async def test_missing_instruction_is_reported(root: Path) -> None:
    async with OpenAIServer([]) as server, FakeEditor.start(root, env=provider(server)) as editor:
        for name, text, line, sentence in (
            ("a.py", "x = '# do it AI!'\n", 1, "Line 1 of 'a.py' has no comment that starts or"),
            ("b.py", "# do it AI!\nx = 1\n", 2, "Line 2 of 'b.py' has no comment that starts or"),
            ("c.py", "x = 1  # AI!\n", 1, "has no text besides `AI!`"),
            (".env", "# do it AI!\n", 1, ".env"),
        ):
            uri = editor.open(name, text, "python" if name != ".env" else "")
            answer = await editor.command("stet.carryOut", {"uri": uri, "line": line})
            turn = await over(editor, answer["turn"])
            assert (turn["state"], turn["hunks"]) == ("failed", [])
            assert sentence in turn["error"]
        assert server.requests == []


async def test_the_command_answers_at_once_and_takes_the_cursor(root: Path) -> None:
    (root / "a.py").write_text("")
    text = "# double it AI!\n" + "x = [1, 2, 3]\n" * 20_000
    async with FakeEditor.start(root, env=scripted(root.parent, *[done()] * 6)) as editor:
        uri = editor.open("a.py", text, "python")
        await ready(editor)
        await over(
            editor, (await editor.command("stet.carryOut", {"file": "a.py", "line": 1}))["turn"]
        )
        editor.select(uri, "double")
        took = []
        for _ in range(5):
            await editor.command("stet.status")  # all earlier messages are processed
            started = time.perf_counter()
            answer = await editor.command("stet.carryOut")
            took.append(time.perf_counter() - started)
            assert (await over(editor, answer["turn"]))["prompt"] == "double it"
        # The median, because other work of the machine may delay any single run.
        assert median(took) < 0.05, took
        with pytest.raises(JsonRpcException, match="past the end") as raised:
            await editor.command("stet.carryOut", {"uri": uri, "line": 99_999})
        assert raised.value.code == -32602


@pytest.mark.parametrize("name", ["stet.runComment", "stet.carryOut"])
async def test_run_comment_has_two_names(root: Path, name: str) -> None:
    (root / "a.py").write_text("# double it AI!\nx = 1\n")
    async with FakeEditor.start(root, env=scripted(root.parent, done())) as editor:
        uri = editor.open("a.py", "# double it AI!\nx = 1\n", "python")
        turn = await over(editor, (await editor.command(name, {"uri": uri, "line": 1}))["turn"])
        assert turn["prompt"] == "double it"
        with pytest.raises(JsonRpcException, match=f"{name} has no argument 'what'"):
            await editor.command(name, {"what": "x"})


async def test_code_actions_are_offered_on_the_line_of_the_comment_only(root: Path) -> None:
    (root / "a.py").write_text("")
    async with FakeEditor.start(root, env=scripted(root.parent)) as editor:
        uri = editor.open("a.py", "# do it AI!\nx = 1\n# why? AI?\n", "python")

        async def offered(needle: str) -> list[tuple[str, object]]:
            actions = await editor.actions(uri, needle)
            return [(one.title, one.kind) for one in actions if one.title in {DO, ANSWER}]

        assert await offered("# do it AI!") == [(DO, "refactor.rewrite.stet")]
        assert await offered("x = 1") == []
        assert await offered("# why? AI?") == [(ANSWER, "source.stet")]
        assert len(await offered("# do it AI!\nx = 1\n# why? AI?")) == 2
        only = await editor.actions(uri, "# why? AI?", only=[lsp.CodeActionKind.Refactor.value])
        assert ANSWER not in {one.title for one in only}


async def test_on_save_only_what_the_user_wrote_is_carried_out_and_only_once(root: Path) -> None:
    (root / "a.py").write_text("# a stranger's AI!\nx = 1\n")
    async with FakeEditor.start(
        root, env=scripted(root.parent, done(), done(), done()), settings=ON_SAVE
    ) as editor:
        uri = editor.open("a.py", language_id="python")
        await ready(editor)
        editor.change(uri, "x = 1\n", "x = 1  # double it AI!\ny = '# no AI!'\n")
        editor.save(uri)
        await editor.wait_for_message("Done.")
        assert await turns(editor) == ["double it"]
        editor.save(uri)
        editor.change(uri, "# double it AI!", "# double it\nz = 1  # add one AI?")
        editor.save(uri)
        await editor.wait_until(lambda: sum("Done." in m.message for m in editor.messages) == 2)
        assert await turns(editor) == ["double it", "add one"]
        # A comment that is deleted and typed again counts as new.
        editor.change(uri, "  # add one AI?", "")
        editor.save(uri)
        editor.change(uri, "z = 1", "z = 1  # add one AI?")
        editor.save(uri)
        await editor.wait_until(lambda: sum("Done." in m.message for m in editor.messages) == 3)
        assert await turns(editor) == ["double it", "add one", "add one"]


async def test_on_save_what_an_accepted_hunk_brought_is_not_carried_out(root: Path) -> None:
    (root / "a.py").write_text("x = 1\n")
    script = [calls(edit("a.py", "x = 1", "# run on AI!\nx = 2")), done(), done("Again.")]
    async with FakeEditor.start(
        root, env=scripted(root.parent, *script), settings=ON_SAVE
    ) as editor:
        uri = editor.open("a.py", language_id="python")
        await ready(editor)
        turn = await run(editor, "Go", uri=uri)
        await accepted(editor, turn["turn"])
        editor.change(uri, "x = 2", "x = 3  # mine AI!")
        editor.save(uri)
        await editor.wait_for_message("Again.")
        assert await turns(editor) == ["Go", "mine"]


async def test_without_the_setting_saving_starts_nothing(root: Path) -> None:
    (root / "a.py").write_text("x = 1\n")
    async with FakeEditor.start(root, env=scripted(root.parent, done())) as editor:
        uri = editor.open("a.py", language_id="python")
        await ready(editor)
        editor.change(uri, "x = 1", "x = 1  # double it AI!")
        editor.save(uri)
        assert await turns(editor) == []
        assert (await editor.command("stet.status"))["turns"] == []


async def test_on_save_a_file_that_may_not_be_shown_gives_no_turn(root: Path) -> None:
    (root / ".env").write_text("A=1\n")
    async with FakeEditor.start(
        root, env=scripted(root.parent, done()), settings=ON_SAVE
    ) as editor:
        uri = editor.open(".env")
        await ready(editor)
        editor.change(uri, "A=1\n", "A=1\n# do it AI!\n")
        editor.save(uri)
        assert ".env" in await editor.wait_for_message("Stet: ")
        assert await turns(editor) == []
