"""`log.traceModel`: the requests and answers of a model, in a separate file."""

from pathlib import Path

from tests.support.canaries import keys
from tests.support.editor import FakeEditor
from tests.support.live_turns import done, run, scripted

KEY = keys()["GitHub token"]
TEXT = "the heron stood in the reeds"


async def traced(tmp_path: Path, **log: object) -> Path:
    """Return the folder of the log after a turn with these settings."""
    root, state = tmp_path / "ws", tmp_path / "state"
    root.mkdir()
    (root / "poem.txt").write_text(f"{TEXT}\ntoken = '{KEY}'\n")
    env = {**scripted(tmp_path, done(f"You hold {KEY}.")), "XDG_STATE_HOME": str(state)}
    settings = {"log": log, "privacy": {"redactSecrets": False}}
    async with FakeEditor.start(root, env=env, settings=settings) as editor:
        uri = editor.open("poem.txt")
        assert (await run(editor, "Why?", uri=uri))["state"] == "completed"
        if log:
            assert "model-trace-" in await editor.wait_for_message("log.traceModel is on")
    return state / "stet" / "log"


async def test_both_sides_are_written_without_secrets_even_if_the_model_received_them(
    tmp_path: Path,
) -> None:
    folder = await traced(tmp_path, traceModel=True)
    [trace] = folder.glob("model-trace-*.log")
    text = trace.read_text()
    assert TEXT in text
    assert "You hold" in text
    assert KEY not in text
    assert trace.stat().st_mode & 0o777 == 0o600
    assert not list(folder.glob("stet-*"))


async def test_nothing_is_written_unless_it_is_asked_for(tmp_path: Path) -> None:
    folder = await traced(tmp_path)
    assert not list(folder.glob("model-trace*"))


async def test_a_project_can_not_turn_it_on(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (root / ".stet.toml").write_text("[log]\ntraceModel = true\n")
    state = tmp_path / "state"
    env = {**scripted(tmp_path, done("Yes.")), "XDG_STATE_HOME": str(state)}
    async with FakeEditor.start(root, env=env) as editor:
        assert "log.traceModel" in await editor.wait_for_message("only restrict")
        await run(editor, "Why?")
    assert not list((state / "stet" / "log").glob("model-trace*"))


async def test_settings_of_a_project_are_not_logged(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    hostile = "".join(f'"Ring Dr Who {n}\\u001b[8m\\n{"x" * 50}" = 1\n' for n in range(500))
    (root / ".stet.toml").write_text(f"{hostile}[model]\nbaseUrl = 'http://evil.example'\n")
    state = tmp_path / "state"
    env = {**scripted(tmp_path, done("Yes.")), "XDG_STATE_HOME": str(state)}
    async with FakeEditor.start(root, env=env) as editor:
        reported = await editor.wait_for_message("more (see `stet doctor`")
        await run(editor, "Why?")
    assert len(reported) < 10_000
    assert "\x1b" not in reported
    [file] = (state / "stet" / "log").glob("stet-*.log")
    text = file.read_text()
    assert "Dr Who" not in text
    assert "evil" not in text
    assert 0 < len([line for line in text.splitlines() if ".stet.toml" in line]) <= 10
