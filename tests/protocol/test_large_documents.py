"""A question about a very long open document: the part around the caret, and no secret of it."""

import json
from pathlib import Path

from tests.support import openai_server as api
from tests.support.canaries import keys, private_key
from tests.support.editor import FakeEditor
from tests.support.live_turns import provider, run
from tests.support.openai_server import OpenAIServer

LINE = "def handler_{n:06d}(request): return respond(request, {n})\n"
N_LINES = 40_000
MIDDLE = N_LINES // 2
KEY = keys()["GitHub token"]
PEM = private_key(3, n_lines=60)
EDGE = MIDDLE - 200 - 30
"""Where the private key begins: above what is shown."""
SETTINGS = {"context": {"warnTokens": 1_000_000, "currentFileLines": 400}}


def text() -> str:
    """More than two million characters, with a key near the caret, and a private key of which the caret sees half."""
    lines = [LINE.format(n=n) for n in range(N_LINES)]
    lines[MIDDLE + 10] = f"token = '{KEY}'\n"
    key = PEM.splitlines(keepends=True)
    lines[EDGE : EDGE + len(key)] = key
    return "".join(lines)


async def test_a_question_about_a_very_long_document_is_about_the_part_at_the_caret(
    tmp_path: Path,
) -> None:
    (tmp_path / "big.py").write_text("other\n")
    read = api.call("read_file", file="big.py", start_line=MIDDLE - 210, end_line=MIDDLE + 20)
    async with (
        OpenAIServer([read, api.call("done", summary="It is long.")]) as server,
        FakeEditor.start(tmp_path, env=provider(server), settings=SETTINGS) as editor,
    ):
        uri = editor.open("big.py", text())
        turn = await run(editor, "What is this?", uri=uri, line=MIDDLE + 1)
        assert (turn["state"], turn["summary"]) == ("completed", "It is long.")
        told = "".join(json.dumps(one.body) for one in server.requests)
        assert f"def handler_{MIDDLE:06d}" in told
        assert f"Lines: {MIDDLE - 199}-{MIDDLE + 200} of" in told
        assert f"handler_{MIDDLE + 5_000:06d}" not in told
        assert KEY not in told
        for line in PEM.splitlines()[1:-1]:
            assert line not in told
