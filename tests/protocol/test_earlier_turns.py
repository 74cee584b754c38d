"""`stet.turn` for a turn of an earlier server: answered from the stored turn, or refused."""

from pathlib import Path

import pytest
from pygls.exceptions import JsonRpcException

from tests.support import openai_server as api
from tests.support.editor import FakeEditor
from tests.support.live_turns import ask, provider, run
from tests.support.openai_server import End, OpenAIServer, Reply
from tests.support.restarts import until_killed

EDIT = api.call("edit_file", file="a.txt", old_text="two", new_text="2")


async def test_a_turn_of_a_killed_server_is_answered_from_what_was_kept(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.txt").write_text("one\ntwo\n")
    replies = [api.say("It has two lines."), EDIT, Reply([], End.HANG), Reply([], End.HANG)]
    async with OpenAIServer(replies) as server:
        env = {**provider(server), "XDG_STATE_HOME": str(tmp_path / "state")}
        async with until_killed(root, env) as editor:
            uri = editor.open("a.txt")
            ended = await run(editor, "What is in it?", uri=uri)
            proposing = await ask(editor, "Edit it", uri=uri, chat="two")
            await server.asked(3)
            silent = await ask(editor, "Say something", uri=uri, chat="three")
            await server.asked(4)
        async with FakeEditor.start(root, env=env) as editor:
            # The answer waits until the stored turns are loaded.
            assert await editor.command("stet.turn", ended["turn"]) == ended
            cut = await editor.command("stet.turn", proposing)
            assert (cut["state"], cut["success"], len(cut["hunks"])) == ("failed", False, 1)
            assert cut["error"] == (
                "Stet was stopped during this turn. Ask again to continue. Its proposals are "
                "still pending."
            )
            nothing = await editor.command("stet.turn", silent)
            assert (nothing["state"], nothing["hunks"]) == ("failed", [])
            assert "proposed" not in nothing["error"]
            with pytest.raises(JsonRpcException, match="turns of earlier runs are stored"):
                await editor.command("stet.turn", "t99")
