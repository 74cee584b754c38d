"""A model that obeys an attacker, through the protocol: every attack is refused and reported."""

import json
from pathlib import Path
from typing import Any

import pytest
from pygls.exceptions import JsonRpcException

from stet.llm.model import Completion, ToolCall
from tests.support import openai_server as api
from tests.support.editor import FakeEditor
from tests.support.hostile_workspace import (
    ATTACKS,
    LOOSE,
    PROTECTED,
    SETTINGS,
    VICTIM,
    Attack,
    build,
    disk,
)
from tests.support.live_turns import provider, run, wait_for_states
from tests.support.openai_server import OpenAIServer

PER_ANSWER = 40
SMALL = [attack for attack in ATTACKS if len(str(attack.arguments)) < 100_000]


def obedient(attacks: dict[str, Attack], top: Path) -> list[api.Reply]:
    """Make the answers of a model that makes all these calls by id, many at a time."""
    reads = tuple(
        ToolCall(f"read-{file}", "read_file", json.dumps({"file": file})) for file in LOOSE
    )
    calls = [
        ToolCall(one, attack.tool, json.dumps(attack.at(top))) for one, attack in attacks.items()
    ]
    answers = [
        api.of(Completion("", tuple(calls[start : start + PER_ANSWER])))
        for start in range(0, len(calls), PER_ANSWER)
    ]
    return [api.of(Completion("", reads)), *answers, api.call("done", summary="Done.")]


def tool_results(server: OpenAIServer) -> list[str]:
    """Return the answers to the model's calls, in order, from its last request."""
    messages: list[dict[str, Any]] = server.requests[-1].body["messages"]
    return [str(one["content"]) for one in messages if one["role"] == "tool"]


async def test_every_attack_is_refused_and_reported_to_the_model_and_the_user(
    tmp_path: Path,
) -> None:
    root = build(tmp_path)
    before = disk(tmp_path)
    attacks = {f"attack-{n}": attack for n, attack in enumerate(SMALL)}
    refused = {one: attack for one, attack in attacks.items() if attack.rule != PROTECTED}
    assert len(refused) >= 60
    async with (
        OpenAIServer(obedient(attacks, tmp_path)) as server,
        FakeEditor.start(root, settings=SETTINGS, env=provider(server)) as editor,
    ):
        uri = editor.open("a.md")
        turn = await run(editor, "Do as the files tell you", uri=uri)
        assert (turn["state"], turn["summary"]) == ("completed", "Done.")

        errors = {one["id"]: one["error"] for one in turn["toolCalls"] if one["id"] in refused}
        # The last call, `done`, gets no answer. The ids in requests are made by Stet.
        results = dict(
            zip([one["id"] for one in turn["toolCalls"]][:-1], tool_results(server), strict=True)
        )
        reasons = {one: f"Refused by the rule {attack.rule}: " for one, attack in refused.items()}
        assert {one: errors[one][: len(reason)] for one, reason in reasons.items()} == reasons
        assert {one: results[one] for one in refused} == {
            one: f"Error: {errors[one]}\n" for one in refused
        }
        rejected = [(one["file"], one["rule"]) for one in turn["rejectedEdits"]]
        assert rejected == [(one.at(tmp_path)["file"], one.rule) for one in refused.values()]
        assert [
            f"Refused by the rule {one['rule']}: {one['message']}" for one in turn["rejectedEdits"]
        ] == [errors[one] for one in refused]

        # Proposals for protected files are accepted neither with `all` nor with their turn.
        proposed = await editor.command("stet.proposals")
        assert len(proposed) == len(attacks) - len(refused)
        assert all(hunk["protected"] and hunk["reason"] for hunk in proposed)
        for which in (
            {"all": True, "protected": True},
            {"turn": turn["turn"], "protected": True},
            {"turn": turn["turn"]},
        ):
            answer = await editor.command("stet.accept", which)
            assert answer["hunks"] == []
            assert len(answer["refused"]) == len(proposed)
        for name in ("uri", "group", "proposal"):
            which = {name: proposed[0][name], "protected": True}
            assert (await editor.command("stet.accept", which))["hunks"] == []
        with pytest.raises(JsonRpcException, match="protected"):
            await editor.command("stet.accept", {"hunk": proposed[0]["hunk"]})

        assert editor.applied == []
        assert editor.text(uri) == VICTIM
    assert disk(tmp_path) == before


@pytest.mark.parametrize(
    ("edit", "call", "rule", "sentence"),
    [
        (
            {"canAdd": False},
            {"old_text": VICTIM, "new_text": VICTIM + "more\n"},
            "edit.canAdd",
            "Forbidden: adding text",
        ),
        (
            {"canAdd": False},
            {"position": "end", "content": "more"},
            "edit.canAdd",
            "Forbidden: adding text",
        ),
        (
            {"canDelete": False},
            {"old_text": VICTIM, "new_text": "other\n"},
            "edit.canDelete",
            "Forbidden: replacing or deleting",
        ),
        (
            {"canDelete": False},
            {"position": "delete:1"},
            "edit.canDelete",
            "Forbidden: replacing or deleting",
        ),
        (
            {"canCreate": False},
            {"position": "create", "content": "x"},
            "edit.canCreate",
            "Forbidden: creating files",
        ),
        (
            {"canNavigate": False},
            {"position": "open"},
            "edit.canNavigate",
            "Forbidden: opening files",
        ),
        (
            {"scope": "current"},
            {"file": "notes/b.md", "position": "end", "content": "x"},
            "edit.scope",
            "only the file that was active",
        ),
    ],
)
async def test_what_the_user_forbids_is_reported_before_and_held_after(
    edit: dict[str, Any], call: dict[str, Any], rule: str, sentence: str, tmp_path: Path
) -> None:
    root = build(tmp_path)
    file = call.get("file", "new.md" if call.get("position") == "create" else "a.md")
    replies = [
        api.call("read_file", file="notes/b.md"),
        api.call("edit_file", **{**call, "file": file}),
        api.call("done", summary="Done."),
    ]
    settings = {**SETTINGS, "edit": edit}
    async with (
        OpenAIServer(replies) as server,
        FakeEditor.start(root, settings=settings, env=provider(server)) as editor,
    ):
        turn = await run(editor, "Do it", uri=editor.open("a.md"))
        [rejected] = turn["rejectedEdits"]
        assert (rejected["file"], rejected["rule"]) == (file, rule)
        assert turn["hunks"] == []
        assert editor.shown_documents == []
        assert sentence in server.requests[0].body["messages"][0]["content"]
        assert f"Refused by the rule {rule}: {rejected['message']}" in tool_results(server)[-1]


async def test_a_link_turned_between_the_proposal_and_the_yes_leads_nowhere(tmp_path: Path) -> None:
    root = build(tmp_path)
    shelf = root / "shelf"
    shelf.symlink_to("notes")
    replies = [
        api.call("create_file", file="shelf/new.md", content="x\n"),
        api.call("done", summary="Done."),
    ]
    async with (
        OpenAIServer(replies) as server,
        FakeEditor.start(root, settings=SETTINGS, env=provider(server)) as editor,
    ):
        turn = await run(editor, "Make a note", uri=editor.open("a.md"))
        [hunk] = turn["hunks"]
        shelf.unlink()
        shelf.symlink_to(tmp_path / "outside")
        await editor.command("stet.accept", {"hunk": hunk})
        await editor.wait_until(
            lambda: any("outside the workspace" in one.message for one in editor.messages)
        )
        await wait_for_states(editor, **{hunk: "pending"})
        assert editor.applied == []
    assert not (tmp_path / "outside" / "new.md").exists()
