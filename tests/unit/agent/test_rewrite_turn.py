"""Selected lines are given new text: in one shot, or line by line for the embedded model."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from stet.agent import rewrite_turn
from stet.agent.turn import Mode, Turn, TurnState
from stet.llm.model import Completion, Request, StopReason
from stet.llm.scripted_model import Reply, say
from stet.review.policy.rules import EditRules
from stet.review.proposal import EditDraft
from stet.review.resolve.prepared_edit import PreparedDraft, RejectedDraft, prepare_or_reject
from stet.settings.values import EditSettings, Settings
from stet.workspace.workspace import WireEdit
from tests.support.agent_harness import AgentHarness
from tests.support.workspaces import insertion, make_workspace

TEXT = "def f():\n    return 1\n"


def fenced(text: str, fence: str = "```") -> Completion:
    return say(f"{fence}python\n{text}{fence}")


async def rewritten(
    text: str, *replies: Reply, lines: tuple[int, int] = (1, 2), path: str = "/ws/a.py",
    prompt: str = "Shorten it", is_tiny: bool = False, obeys_grammar: bool = False,
) -> tuple[Turn, str, AgentHarness]:  # fmt: skip
    """The turn, the text with its proposals accepted, and everything else."""
    table = AgentHarness(
        make_workspace(opened={path: text}), replies, is_tiny=is_tiny, obeys_grammar=obeys_grammar
    )
    turn = await table.end_of(table.start(prompt, Mode.REWRITE, file=path, lines=lines))
    return turn, table.proposed(path), table


# -- in one shot ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "lines", "answer", "after"),
    [
        (TEXT, (2, 2), "    return 2\n", "def f():\n    return 2\n"),
        ("a\nb", (2, 2), "B\n", "a\nB"),
        ("a\r\nb\r\nc\r\n", (1, 2), "x\ny\n", "x\r\ny\r\nc\r\n"),
        ("a\nb\n", (1, 1), "x\r\ny\r\n", "x\ny\nb\n"),
        ("a\nb\nc\n", (2, 2), "", "a\nc\n"),
        ("a\nb\n", (1, 9), "x\n", "x\n"),
    ],
)
async def test_the_block_takes_the_place_of_the_lines(
    text: str, lines: tuple[int, int], answer: str, after: str
) -> None:
    path = "/ws/a.txt"
    turn, text_after, _ = await rewritten(text, fenced(answer), lines=lines, path=path)
    assert (turn.state, text_after) == (TurnState.COMPLETED, after)
    assert turn.summary == "Proposed 1 hunk in a.txt: Shorten it"


async def test_a_longer_fence_holds_fences() -> None:
    text = "Text.\n\n```\ncode\n```\n"
    answer = fenced("Better.\n\n```\ncode\n```\n", "````")
    turn, after, table = await rewritten(text, answer, lines=(1, 5), path="/ws/a.md")
    assert (turn.state, after) == (TurnState.COMPLETED, "Better.\n\n```\ncode\n```\n")
    assert "\n````markdown\nText." in table.model.requests[0].messages[-1].content


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (say("Just text."), "without a fenced block"),
        (say("```\na\n```\nor\n```\nb\n```"), "2 fenced blocks"),
        (say("```md\nText\n```py\ncode\n```\nmore\n```"), "has nested code fences"),
        (fenced(TEXT), "unchanged"),
        (fenced("def f(:\n"), "not valid Python"),
        (Completion("```\nx", (), StopReason.LENGTH), "cut off"),
        (Completion("No.", (), StopReason.REFUSED), "The model refused: No."),
    ],
)
async def test_unusable_answer_fails_the_turn(reply: Completion, error: str) -> None:
    turn, after, table = await rewritten(TEXT, reply)
    assert turn.state is TurnState.FAILED
    assert error in turn.error
    assert (after, table.hunks) == (TEXT, ())


async def test_a_file_that_was_broken_before_may_stay_so() -> None:
    turn, _, _ = await rewritten("def f(:\n    x\n", fenced("def g(:\n    x\n"))
    assert turn.state is TurnState.COMPLETED


@pytest.mark.parametrize("lines", [None, (9, 9)])
async def test_rewrite_without_a_selection_asks_the_user_to_select(
    lines: tuple[int, int] | None,
) -> None:
    table = AgentHarness(make_workspace(opened={"/ws/a.py": TEXT}), [])
    turn = await table.end_of(table.start("x", Mode.REWRITE, lines=lines))
    assert turn.state is TurnState.FAILED
    assert turn.error.startswith("Select the text to rewrite")


async def test_without_a_file_there_is_nothing_to_rewrite() -> None:
    table = AgentHarness(make_workspace(), [])
    turn = await table.end_of(table.start("x", Mode.REWRITE, file=None))
    assert turn.error.startswith("No file to rewrite in")


async def test_an_open_file_outside_the_workspace_is_rewritten_too() -> None:
    turn, after, _ = await rewritten("a\n", fenced("b\n"), lines=(1, 1), path="/else/a.txt")
    assert (turn.state, after) == (TurnState.COMPLETED, "b\n")


async def test_an_untitled_document_is_rewritten_too() -> None:
    turn, after, _ = await rewritten("a\n", fenced("b\n"), lines=(1, 1), path="untitled:One")
    assert (turn.state, after) == (TurnState.COMPLETED, "b\n")


async def test_text_typed_elsewhere_meanwhile_is_kept() -> None:
    def typing(request: Request) -> Completion:
        table.type(insertion(0, 0, "# mine\n"))
        return fenced("    return 2\n")

    table = AgentHarness(make_workspace(opened={"/ws/a.py": TEXT}), [typing])
    turn = await table.end_of(table.start("x", Mode.REWRITE, lines=(2, 2)))
    assert turn.state is TurnState.COMPLETED
    assert table.proposed() == "# mine\ndef f():\n    return 2\n"


async def test_policy_check_runs_in_a_worker_and_again_if_the_text_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[bool] = []

    def ask(draft: EditDraft, rules: EditRules) -> PreparedDraft | RejectedDraft:
        asked.append(threading.current_thread() is threading.main_thread())
        return prepare_or_reject(draft, rules)

    async def in_a_thread(work: Callable[..., object], *given: object, **named: object) -> object:
        n_asked = len(asked)
        found = await to_thread(work, *given, **named)
        if len(asked) > n_asked == 0:
            table.type(insertion(0, 0, "# mine\n"))
        return found

    to_thread = asyncio.to_thread
    monkeypatch.setattr(rewrite_turn, "prepare_or_reject", ask)
    monkeypatch.setattr(asyncio, "to_thread", in_a_thread)
    table = AgentHarness(make_workspace(opened={"/ws/a.py": TEXT}), [fenced("    return 2\n")])
    turn = await table.end_of(table.start("x", Mode.REWRITE, lines=(2, 2)))
    assert turn.state is TurnState.COMPLETED
    assert table.proposed() == "# mine\ndef f():\n    return 2\n"
    assert asked == [False, False]


async def test_lines_the_user_changed_meanwhile_are_left() -> None:
    def typing(request: Request) -> Completion:
        table.type(WireEdit(1, 11, 1, 12, "5"))
        return fenced("    return 2\n")

    table = AgentHarness(make_workspace(opened={"/ws/a.py": TEXT}), [typing])
    turn = await table.end_of(table.start("x", Mode.REWRITE, lines=(2, 2)))
    assert turn.error == (
        "The selected text changed in the meantime, so nothing was proposed. Ask again."
    )
    assert table.hunks == ()


async def test_rewrite_is_subject_to_the_policy_check() -> None:
    settings = Settings(edit=EditSettings(can_delete=False))
    table = AgentHarness(
        make_workspace(opened={"/ws/a.py": TEXT}, settings=settings), [fenced("x = 1\n")]
    )
    turn = await table.end_of(table.start("x", Mode.REWRITE, lines=(1, 2)))
    assert turn.state is TurnState.FAILED
    assert [edit.rule for edit in turn.rejected] == ["edit.canDelete"]
    assert turn.tool_calls == ()


# -- documentation, by a model too small to copy code --------------------------------------------


async def documented(
    text: str, *, lines: tuple[int, int] = (1, 99), path: str = "/ws/a.py", n: int = 1
) -> str:
    """The text with one sentence for each of `n` places, or the error."""
    turn, after, table = await rewritten(
        text,
        *(say(f"Do it {number}.") for number in range(1, n + 1)),
        lines=lines,
        path=path,
        prompt="Document this",
        is_tiny=True,
    )
    assert all(request.grammar for request in table.model.requests)
    if turn.state is TurnState.FAILED:
        assert after == text
        return f"Error: {turn.error}"
    assert len(table.model.requests) == n
    return after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("def f():\n    return 1\n", 'def f():\n    """Do it 1."""\n    return 1\n'),
        ("async def f():\n    pass\n", 'async def f():\n    """Do it 1."""\n    pass\n'),
        ("@x\n@y(1)\ndef f():\n    pass\n", '@x\n@y(1)\ndef f():\n    """Do it 1."""\n    pass\n'),
        ("class A:\n    x = 1\n", 'class A:\n    """Do it 1."""\n    x = 1\n'),
        ("    def f(self):\n        pass\n", '    def f(self):\n        """Do it 1."""\n        pass\n'),
        ("\tdef f(self):\n\t\tpass\n", '\tdef f(self):\n\t\t"""Do it 1."""\n\t\tpass\n'),
        (
            "def f(\n    a,\n    b,  # two\n):\n    pass\n",
            'def f(\n    a,\n    b,  # two\n):\n    """Do it 1."""\n    pass\n',
        ),
        (
            "def f():\n    # why\n    # so\n    pass\n",
            'def f():\n    """Do it 1."""\n    # why\n    # so\n    pass\n',
        ),
        ("def f():\r\n    pass\r\n", 'def f():\r\n    """Do it 1."""\r\n    pass\r\n'),
        ("def f():\n    pass", 'def f():\n    """Do it 1."""\n    pass'),
        (
            '    def f(self):\n        return """\nfar left\n"""\n',
            '    def f(self):\n        """Do it 1."""\n        return """\nfar left\n"""\n',
        ),
        ("def f():\n    x = 'a\x0cb'\n    pass\n", "def f():\n    \"\"\"Do it 1.\"\"\"\n    x = 'a\x0cb'\n    pass\n"),
        ("x = 1\n", "# Do it 1.\nx = 1\n"),
        ("    é = 1\n", "    # Do it 1.\n    é = 1\n"),
    ],
)  # fmt: skip
async def test_docstring_is_inserted_below_the_header(text: str, after: str) -> None:
    assert await documented(text) == after


async def test_every_function_that_has_none_gets_its_own() -> None:
    text = (
        "class A:\n    @staticmethod\n    def f():\n        def g():\n            pass\n"
        '        return g\n\n    def h(self):\n        """Has one."""\n\n    def i(self): ...\n'
    )
    assert await documented(text, n=3) == (
        'class A:\n    """Do it 1."""\n    @staticmethod\n    def f():\n        """Do it 2."""\n'
        '        def g():\n            """Do it 3."""\n            pass\n'
        '        return g\n\n    def h(self):\n        """Has one."""\n\n    def i(self): ...\n'
    )


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("def f(): return 1\n", "A one-line function"),
        ("def f(\n    a,\n): return a\n", "A one-line function"),
        ('def f():\n    """Has one."""\n', "already has docstrings"),
        ('def f():\n    ""\n', "already has docstrings"),
        ("def f(:\n", "not valid Python"),
        ("\n\n", "The selection is empty"),
        ("".join(f"def f{n}():\n    pass\n" for n in range(9)), "handles at most 8 at a time"),
        (f"def f():\n    x = '{'x' * 5000}'\n", "too long for the embedded model"),
    ],
)
async def test_code_without_a_place_is_refused(text: str, error: str) -> None:
    assert error in await documented(text)


@pytest.mark.parametrize(
    ("path", "text", "after"),
    [
        ("/ws/a.js", "  f();\n", "  // Do it 1.\n  f();\n"),
        ("/ws/a.rs", "fn f() {}\n", "/// Do it 1.\nfn f() {}\n"),
        ("/ws/a.lua", "\n\tf()\n", "\n\t-- Do it 1.\n\tf()\n"),
        ("/ws/a.sh", "ls\n", "# Do it 1.\nls\n"),
        ("/ws/a.html", "<p>\n", "<!-- Do it 1. -->\n<p>\n"),
        ("/ws/a.css", "a {}\r\n", "/* Do it 1. */\r\na {}\r\n"),
    ],
)
async def test_other_languages_get_a_comment_above(path: str, text: str, after: str) -> None:
    assert await documented(text, path=path) == after


async def test_a_sentence_that_broke_its_line_is_put_on_one() -> None:
    turn, after, _ = await rewritten(
        TEXT, say("Give\n one.\n"), prompt="Add a docstring", is_tiny=True
    )
    assert turn.state is TurnState.COMPLETED
    assert after == 'def f():\n    """Give one."""\n    return 1\n'


async def test_only_a_tiny_model_must_begin_a_docstring_with_a_verb_of_the_list() -> None:
    grammars = {}
    for is_tiny in (False, True):
        _, after, table = await rewritten(
            TEXT, say("Give one."), prompt="Add a docstring", is_tiny=is_tiny, obeys_grammar=True
        )
        assert after == 'def f():\n    """Give one."""\n    return 1\n'
        grammars[is_tiny] = table.model.requests[0].grammar
    assert '"Calculate"' in grammars[True]
    assert grammars[False] == r'root ::= [A-Z] ([^\n".\\] | "." [a-z_]){9,120} "."'


async def test_a_model_that_obeys_grammars_and_is_not_tiny_gets_the_surrounding_text() -> None:
    text = "def f():\n    return 1\n\n\ndef g():\n    return f()\n"
    _, after, table = await rewritten(
        text, fenced("    return 2\n"), lines=(2, 2), obeys_grammar=True
    )
    assert after == text.replace("1", "2")
    assert "def g():" in table.model.requests[0].messages[-1].content


# -- prose, by a model too small for a paragraph -------------------------------------------------


async def corrected(
    text: str, path: str = "/ws/a.md", first: int = 1, prompt: str = "Fix the grammar"
) -> tuple[str, list[str]]:
    """The text with "is" for "are", and the lines that the model was asked for."""

    def answer(request: Request) -> Completion:
        return say(request.messages[-1].content.replace(" are ", " is "))

    _, after, table = await rewritten(
        text, *[answer] * 20, lines=(first, 99), path=path, prompt=prompt, is_tiny=True
    )
    return after, [request.messages[-1].content for request in table.model.requests]


async def test_only_prose_is_corrected_and_its_structure_kept() -> None:
    text = (
        "---\ntitle: it are here\n---\n\n# It are here\n\n- it are here  \n  1. it are here\n"
        "- [ ] it are here\n> > it are here\n\n```\nit are here\n```python\nit are here\n```\n\n"
        "    it are here\n\n| it are | here |\nit are | here\n[it]: http://x it are here\n"
        "<p>it are here\n~~~~\n~~~\nit are here\n~~~~\nIt are here\n---\n"
    )
    after, asked = await corrected(text)
    assert asked == [
        "It are here", "it are here", "it are here", "it are here", "it are here", "It are here",
    ]  # fmt: skip
    assert after == (
        "---\ntitle: it are here\n---\n\n# It is here\n\n- it is here  \n  1. it is here\n"
        "- [ ] it is here\n> > it is here\n\n```\nit are here\n```python\nit are here\n```\n\n"
        "    it are here\n\n| it are | here |\nit are | here\n[it]: http://x it are here\n"
        "<p>it are here\n~~~~\n~~~\nit are here\n~~~~\nIt is here\n---\n"
    )


async def test_a_rule_within_the_text_opens_no_front_matter() -> None:
    after, _ = await corrected("First.\n---\nit are here\n---\n", first=2)
    assert after == "First.\n---\nit is here\n---\n"


async def test_the_word_document_does_not_make_prose_code() -> None:
    after, _ = await corrected("It are here.\n", prompt="Correct the grammar of this document")
    assert after == "It is here.\n"


async def test_line_ends_and_trailing_space_stay() -> None:
    after, _ = await corrected("It are here. \t\r\nHe are there", path="/ws/a.txt")
    assert after == "It is here. \t\r\nHe is there"


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["Something else altogether", "It are\nhere now", ""])
async def test_an_answer_that_is_another_line_is_not_taken(answer: str) -> None:
    turn, after, _ = await rewritten(
        "It are here now\n",
        say(answer),
        lines=(1, 1),
        path="/ws/a.md",
        prompt="fix typos",
        is_tiny=True,
    )
    assert (turn.state, after) == (TurnState.FAILED, "It are here now\n")
    assert "unchanged" in turn.error


async def test_too_much_prose_is_refused_before_the_model_is_asked() -> None:
    turn, _, table = await rewritten(
        "It are here.\n" * 61,
        lines=(1, 61),
        path="/ws/a.md",
        prompt="fix typos",
        is_tiny=True,
    )
    assert "handles at most 60 at a time" in turn.error
    assert table.model.requests == []
