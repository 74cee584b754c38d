"""What the doctor finds."""

import importlib.util
import json
from pathlib import Path

import pytest

from stet.cli import doctor
from stet.cli.doctor import (
    check_all,
    check_completion,
    check_embedded,
    check_grammars,
    check_mcp_servers,
    check_model,
    check_search,
    check_settings,
    check_web,
)
from stet.cli.finding import Finding
from stet.llm.weights import model_folder
from stet.llm.weights.catalog import CATALOG
from stet.search.index_state import index_folder
from stet.search.index_store import IndexStore
from stet.settings.layers import MergedSettings, read_layers
from stet.settings.values import (
    CompletionSettings,
    McpServerSettings,
    ModelSettings,
    SearchSettings,
    Settings,
    WebSettings,
)
from stet.system.system import System
from stet.workspace.uris import uri_of
from tests.support.certificates import server_side
from tests.support.completion_server import completion_server, infill
from tests.support.openai_server import OpenAIServer, Reply, error

pytestmark = pytest.mark.slow


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "config" / "stet"
    folder.mkdir(parents=True)
    return folder / "config.toml"


def test_without_files_the_defaults_are_in_force(config: Path, tmp_path: Path) -> None:
    found = list(check_settings(read_layers(System().read_bytes, [tmp_path])))
    assert found == [Finding("ok", "settings", f"defaults ({config} does not exist)")]


def test_settings_errors_are_listed_with_their_file(config: Path, tmp_path: Path) -> None:
    config.write_text("[model]\nnam = 'x'\n")
    project = tmp_path / ".stet.toml"
    project.write_text("[model]\nbaseUrl = 'http://evil'\n")
    assert list(check_settings(read_layers(System().read_bytes, [tmp_path]))) == [
        Finding("ok", "settings", str(config)),
        Finding("ok", "settings", str(project)),
        Finding(
            "problem",
            "settings",
            f"{config}: unknown setting 'model.nam' is ignored: did you mean 'model.name'?",
            f"Fix it in {config}.",
        ),
        Finding(
            "problem",
            "settings",
            f"{project}: setting 'model.baseUrl' is ignored: a project can only restrict the "
            "user's settings",
            f"Fix it in {project}.",
        ),
    ]


def test_settings_file_that_is_too_large_is_reported(config: Path, tmp_path: Path) -> None:
    config.write_bytes(b"#" * 100_000)
    problems = read_layers(System().read_bytes, [tmp_path]).problems
    assert [problem.message for problem in problems] == [
        "the file is ignored: it is larger than 64 kB"
    ]


async def test_model_is_sent_a_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"text": "yes"}]))
    monkeypatch.setenv("STET_SCRIPTED_MODEL", str(script))
    marks = [finding.mark for finding in await check_model(ModelSettings(), System())]
    assert marks == ["ok", "ok"]
    script.write_text(json.dumps([{"error": "The provider is on fire."}]))
    assert (await check_model(ModelSettings(), System()))[1] == Finding(
        "problem", "reply", "none", "The provider is on fire."
    )


@pytest.mark.parametrize(
    ("reply", "reported"),
    [
        (Reply(status=401, body={"error": {"message": "no"}}), "OPENAI_API_KEY"),
        (Reply(status=404, body={"error": {"message": "no such model"}}), "model.name"),
        (Reply(status=407, body="login"), "HTTPS_PROXY"),
        (Reply(body="<html>Welcome</html>", content_type="text/html"), "model.baseUrl"),
    ],
    ids=["key", "model", "proxy", "address"],
)
async def test_failing_model_is_reported_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch, reply: Reply, reported: str
) -> None:
    async with OpenAIServer([reply] * 5) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "test-key")
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        chosen, reached = await check_model(ModelSettings(), System())
    assert (chosen.mark, reached.mark, reached.about) == ("ok", "problem", "reply")
    assert reported in reached.fix
    assert "test-key" not in f"{chosen} {reached}"


async def test_closed_port_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test-key")
    async with OpenAIServer([]) as server:
        base_url = server.base_url
    _, reached = await check_model(ModelSettings(base_url=base_url), System())
    assert reached.mark == "problem"
    assert "could not be reached" in reached.fix


async def test_untrusted_certificate_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test-key")
    tls = server_side("localhost", tmp_path / "authority.pem")
    async with OpenAIServer([], tls=tls) as server:
        base_url = server.base_url.replace("127.0.0.1", "localhost")
        _, reached = await check_model(ModelSettings(base_url=base_url), System())
    assert reached.mark == "problem"
    assert "certificate" in reached.fix


async def test_completion_model_completes_a_line_or_is_reported_with_a_remedy() -> None:
    assert await check_completion(CompletionSettings(), System()) == []
    async with completion_server(infill("a"), error(501, "Infill is not supported")) as server:
        settings = CompletionSettings(enabled=True, base_url=server.base_url)
        [good] = await check_completion(settings, System())
        [bad] = await check_completion(settings, System())
    assert (good.mark, good.about) == ("ok", "completion")
    assert "completes a line, in" in good.found
    assert (bad.mark, bad.found) == ("problem", "none")
    assert "choose one that can" in bad.fix
    [missing] = await check_completion(CompletionSettings(enabled=True), System())
    assert missing.fix == "Set completion.baseUrl."


async def test_missing_key_is_reported_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    [found] = await check_model(ModelSettings("openai"), System())
    assert (found.mark, found.found) == ("problem", "none")
    assert "OPENAI_API_KEY" in found.fix


async def test_check_that_fails_is_a_finding_and_the_others_run(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"text": "yes"}]))
    monkeypatch.setenv("STET_SCRIPTED_MODEL", str(script))
    monkeypatch.setenv("PATH", str(tmp_path))

    def broken(*arguments: object) -> Finding:
        raise RuntimeError("odd")

    monkeypatch.setattr("stet.cli.doctor.check_search", broken)
    found = await check_all(System())
    [odd] = [one for one in found if "could not be checked" in one.found]
    assert (odd.mark, odd.about, odd.found[-17:]) == ("problem", "search", "RuntimeError: odd")
    assert {"settings", "model", "reply", "history", "log"} <= {one.about for one in found}


def test_a_missing_extra_for_grammars_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    [found] = check_grammars()
    assert (found.mark, found.fix) == ("note", "Install Stet with the extra `grammars`.")


def test_a_search_api_is_named_with_where_its_key_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert list(check_web(WebSettings(), System())) == []
    assert list(check_web(WebSettings("brave"), System())) == [
        Finding(
            "problem",
            "web",
            "brave, without an API key",
            "Set BRAVE_SEARCH_API_KEY or BRAVE_API_KEY in the editor's environment, or another "
            "variable in web.apiKeyEnv.",
        )
    ]
    monkeypatch.setenv("BRAVE_API_KEY", "secret")
    ready = Finding(
        "ok",
        "web",
        "brave, https://api.search.brave.com/res/v1, with the key in BRAVE_API_KEY",
    )
    assert list(check_web(WebSettings("brave"), System())) == [ready]
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert list(check_web(WebSettings("brave"), System())) == [
        ready,
        Finding(
            "note",
            "web",
            "can't read HTML pages: trafilatura is not installed",
            "Install Stet with the extra `web`.",
        ),
    ]


def test_no_settings_at_all_are_no_layers(tmp_path: Path, config: Path) -> None:
    assert read_layers(System().read_bytes, [tmp_path]) == MergedSettings(Settings())


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the index of `tmp_path`."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = index_folder(System().cache_folder(), [uri_of(tmp_path)])
    folder.mkdir(parents=True)
    return folder


def index_findings(root: Path) -> list[Finding]:
    return list(check_search(SearchSettings(embeddings="off"), System(), root))[1:]


def test_the_index_is_counted_and_a_missing_one_is_a_note(kept: Path, tmp_path: Path) -> None:
    fix = "Run `stet index`, or open the folder in an editor."
    assert index_findings(tmp_path) == [
        Finding("note", "index", f"{tmp_path} is not indexed yet", fix)
    ]
    with IndexStore(kept / "index.db"):
        counted = f"0 files, 0 passages in {tmp_path}"
        assert index_findings(tmp_path) == [Finding("ok", "index", counted)]


def test_a_broken_index_is_a_problem_with_its_way_out(kept: Path, tmp_path: Path) -> None:
    (kept / "index.db").write_bytes(b"no database" * 100)
    [found] = index_findings(tmp_path)
    assert (found.mark, found.fix) == ("problem", "Run `stet index --rebuild`.")
    assert "not a database" in found.found


@pytest.mark.parametrize(
    ("settings", "mark", "found"),
    [
        (SearchSettings(embeddings="off"), "ok", "by words only: search.embeddings is off"),
        (SearchSettings("endpoint"), "problem", "use another variable in search.apiKeyEnv"),
        (
            SearchSettings("endpoint", "bge", "http://127.0.0.1:8080/v1"),
            "ok",
            "by meaning through 127.0.0.1:8080 with bge",
        ),
    ],
)
def test_kind_of_search_is_reported(
    kept: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    settings: SearchSettings,
    mark: str,
    found: str,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    first = next(check_search(settings, System(), tmp_path))
    assert (first.mark, first.about) == (mark, "search")
    assert first.found.endswith(found)


def test_missing_search_extra_is_reported_with_a_remedy(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    first = next(check_search(SearchSettings(), System(), tmp_path))
    fix = "Install Stet with the extra `search`, or set search.embeddings to off."
    assert first == Finding("note", "search", "by words only: wordllama is not installed", fix)


@pytest.mark.parametrize(
    ("free", "mark", "fix"),
    [
        (16 * 10**9, "ok", ""),
        (
            3 * 10**9,
            "note",
            "Qwen2.5-Coder-1.5B-Instruct needs about 2.2 GB of memory; 3.0 GB are free.",
        ),
    ],
)
async def test_installed_local_models_are_listed_with_what_they_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, mark: str, fix: str
) -> None:
    monkeypatch.setattr(model_folder, "RUNTIME", "json")
    monkeypatch.setattr(model_folder, "default_folder", lambda: tmp_path)
    assert await check_embedded(System()) == Finding(
        "note", "embedded", "not available", "Run `stet model install`."
    )
    monkeypatch.setattr(doctor, "free_memory", lambda: free)
    for one in CATALOG:
        with (tmp_path / one.weights.file).open("wb") as file:
            file.truncate(one.weights.size)
    paths = ", ".join(f"{one.weights.name}, {tmp_path / one.weights.file}" for one in CATALOG)
    assert await check_embedded(System()) == Finding(mark, "embedded", paths, fix)


def test_programs_of_mcp_servers_are_looked_for_and_not_started(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
    program.chmod(0o755)
    servers = [
        McpServerSettings("good", (str(program),)), McpServerSettings("gone", ("no-such-program",)),
        McpServerSettings("none", ()), McpServerSettings("a__b", (str(program),)),
    ]  # fmt: skip
    found = [(one.mark, one.found) for one in check_mcp_servers(servers)]
    assert found[:3] == [
        ("ok", f"good: {program}"),
        ("problem", "gone: the program 'no-such-program' was not found"),
        ("problem", "none: the program '' was not found"),
    ]
    assert found[3][0] == "problem"
    assert "'a__b' is not used" in found[3][1]
    assert not (tmp_path / "started").exists()
