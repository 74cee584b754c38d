"""Meaning by an endpoint: texts go there in batches, each once, and the index keeps what comes
back.
"""

import asyncio
import dataclasses
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from stet.llm.embeddings import EmbeddingError, embed
from stet.lsp.index_adapters import EmbeddingPort
from stet.privacy.request_log import Recipient
from stet.search import remote_embedder as meanings
from stet.search.embedding import LocalEmbedder
from stet.settings.values import SearchSettings, Settings
from stet.system.system import System
from stet.workspace.workspace import Workspace
from tests.support.canaries import keys, private_key
from tests.support.http_server import HttpRequest
from tests.support.indexed_workspace import WAIT_SECONDS, IndexedWorkspace
from tests.support.web_server import WebReply, WebServer, found

pytestmark = pytest.mark.slow


class Embeddings(WebServer):
    """`POST /v1/embeddings` with the vectors of a real embedding, in any order, as it may."""

    def __init__(self) -> None:
        super().__init__({"/v1/embeddings": self._answer})
        self.status = 200
        self.is_refused: Callable[[str], bool] = lambda text: False
        self.altered: Callable[[str, list[object]], list[object]] = lambda text, vector: vector
        self._embedder = LocalEmbedder()

    @property
    def texts(self) -> list[str]:
        """All that was sent, in order."""
        return [text for asked in self.asked for text in asked.body["input"]]

    def _answer(self, asked: HttpRequest) -> WebReply:
        if self.status != 200:
            return found({"error": {"message": "no"}}, self.status)
        texts = asked.body["input"]
        if any(map(self.is_refused, texts)):
            return found({"error": {"message": "input is too long"}}, 400)
        vectors = self._embedder.embed(texts)
        data = [
            {
                "object": "embedding",
                "index": place,
                "embedding": self.altered(texts[place], vector.tolist()),
            }
            for place, vector in enumerate(vectors)
        ]
        return found({"object": "list", "data": data[::-1], "model": asked.body["model"]})


def context_for(
    tmp_path: Path, server: Embeddings, monkeypatch: pytest.MonkeyPatch
) -> IndexedWorkspace:
    """A workspace whose settings name the endpoint."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("EMBED_KEY", "canary-key")
    root = tmp_path / "ws"
    root.mkdir()
    (root / "tides.md").write_text("# Tides\n\nThe moon pulls the water.\n")
    (root / "poem.txt").write_text("A ship sails out.\n")
    (root / ".env").write_text("SECRET=canary-secret\n")
    workspace = IndexedWorkspace(root, EmbeddingPort(System(), Workspace(System())))
    search = SearchSettings(
        "endpoint", model="m", base_url=server.url("/v1"), api_key_env="EMBED_KEY"
    )
    workspace.workspace.with_settings(dataclasses.replace(Settings(), search=search))
    return workspace


async def test_texts_are_embedded_in_one_request_each_once_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Embeddings() as server:
        workspace = context_for(tmp_path, server, monkeypatch)
        await workspace.ready()
        await workspace.until(lambda state: state.chunks == 2 and state.unread == 0)
        assert len(server.asked) == 1
        assert server.asked[0].headers["authorization"] == "Bearer canary-key"
        assert server.asked[0].body["model"] == "m"
        assert sorted("moon" in text for text in server.texts) == [False, True]
        assert not any("canary" in text for text in server.texts)
        answer = await workspace.ask("ocean and lunar gravity")
        assert server.texts[2:] == ["ocean and lunar gravity"]
        assert answer.used_vectors
        assert answer.passages[0].name == "tides.md"
        assert answer.passages[0].lexical_rank is None
        await workspace.close()

        again = IndexedWorkspace(workspace.root, workspace.endpoint)
        again.workspace.with_settings(workspace.workspace.settings)
        await again.ready()
        (again.root / "poem.txt").write_text("A ship sails home.\n")
        again.index.changed([(again.root / "poem.txt").as_uri()])
        await again.ask("home")
        await again.until(
            lambda state: state.unread == 0 and any("sails home" in text for text in server.texts)
        )
        new = [text for text in server.texts[3:] if text != "home"]
        assert len(new) == 1
        assert "home" in new[0]
        await again.close()


async def test_refusing_endpoint_is_reported_once_and_words_are_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meanings, "RETRY_SECONDS", 0.01)
    async with Embeddings() as server:
        server.status = 401
        workspace = context_for(tmp_path, server, monkeypatch)
        await workspace.ready()
        assert await workspace.find("moon") == ["tides.md"]
        while not workspace.reported:  # the texts are sent beside the questions
            assert await workspace.find("moon") == ["tides.md"]
        server.status = 200
        await workspace.until(lambda state: state.chunks == 2 and state.unread == 0)
        assert [message for message in workspace.reported if "words only" in message] == [
            f"Stet: search uses words only: 127.0.0.1:{server.port} refused to embed (HTTP 401): "
            "check the key in EMBED_KEY."
        ]
        await workspace.close()


@pytest.mark.parametrize(
    "odd", [None, float("nan"), 10**400, "much", {"a": 1}, []], ids=lambda odd: repr(odd)[:9]
)
async def test_invalid_vectors_are_reported_once_and_their_texts_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: object
) -> None:
    monkeypatch.setattr(meanings, "RETRY_SECONDS", 0.01)
    async with Embeddings() as server:
        server.altered = lambda text, vector: [odd, *vector[1:]]
        workspace = context_for(tmp_path, server, monkeypatch)
        await workspace.ready()
        while len(server.asked) < 8:  # the texts are sent beside the questions
            assert await workspace.find("moon") == ["tides.md"]
        assert [message for message in workspace.reported if "words only" in message] == [
            f"Stet: search uses words only: 127.0.0.1:{server.port} can't be reached: its "
            "response is not a vector."
        ]
        server.altered = lambda text, vector: vector
        await workspace.until(lambda state: state.chunks == 2 and state.unread == 0)
        assert (await workspace.ask("ocean and lunar gravity")).used_vectors
        await workspace.close()


@pytest.mark.parametrize(
    "response",
    [
        {"object": "list", "data": None},
        {"object": "list", "data": [None]},
        {"object": "list", "data": [{"index": 0}]},
        {"object": "list", "data": [{"embedding": [1.0]}]},
        {"object": "list", "data": [{"index": 0, "embedding": "12"}]},
        {"object": "list", "data": [{"index": 0, "embedding": []}]},
        {"object": "list", "data": [{"index": [], "embedding": [1.0]}]},
        {"object": "list", "data": [{"index": 1, "embedding": [1.0]}]},
        {},
    ],
    ids=str,
)
async def test_an_answer_of_another_shape_is_refused_with_the_name_of_the_host(
    response: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBED_KEY", "canary-key")
    async with WebServer({"/v1/embeddings": lambda asked: found(response)}) as server:
        search = SearchSettings(
            "endpoint", model="m", base_url=server.url("/v1"), api_key_env="EMBED_KEY"
        )
        with pytest.raises(
            EmbeddingError, match=f"^127.0.0.1:{server.port} can't be reached"
        ) as fault:
            await embed(["moon"], search, System())
        assert "canary" not in str(fault.value)


@pytest.mark.parametrize("how", ["refused", "null"])
async def test_passage_without_a_vector_does_not_block_others(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    how: str,
) -> None:
    async with Embeddings() as server:
        if how == "refused":
            server.is_refused = lambda text: "poison" in text
        else:
            server.altered = lambda text, vector: [None] if "poison" in text else vector
        workspace = context_for(tmp_path, server, monkeypatch)
        for number in range(70):
            about = "poison" if number in (3, 4, 50) else "gulls"
            (workspace.root / f"n{number}.md").write_text(
                f"# Note {number}\n\nOf {about} {number}.\n"
            )
        await workspace.ready()
        await workspace.until(lambda state: state.chunks == 72 and state.unread == 3)
        assert workspace.reported == []
        n_logged = caplog.text.count("a passage goes without its meaning")
        n_sent = sum("poison" in text for text in server.texts)
        (workspace.root / "poem.txt").write_text("A ship sails home.\n")
        workspace.index.changed([(workspace.root / "poem.txt").as_uri()])
        async with asyncio.timeout(WAIT_SECONDS):
            while not any("sails" in text and "home" in text for text in server.texts):
                await workspace.ask("gulls")
        await workspace.until(lambda state: state.unread == 3)
        assert n_logged == 3
        assert sum("poison" in text for text in server.texts) == n_sent
        assert (await workspace.ask("birds of the sea")).used_vectors
        await workspace.close()


async def test_without_the_key_nothing_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Embeddings() as server:
        workspace = context_for(tmp_path, server, monkeypatch)
        monkeypatch.delenv("EMBED_KEY")
        await workspace.ready()
        assert await workspace.find("moon") == ["tides.md"]
        assert server.asked == []
        assert any("set EMBED_KEY" in message for message in workspace.reported)
        await workspace.close()


async def test_no_secret_is_sent_to_be_embedded_and_what_is_sent_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = keys()["GitHub token"]
    parts = [part.lower() for part in re.findall(r"[A-Za-z]+|[0-9]+", key) if len(part) > 3]
    async with Embeddings() as server:
        workspace = context_for(tmp_path, server, monkeypatch)
        (tmp_path / "ws" / "login.py").write_text(
            f"token = '{key}'\npassword = 'tr0ub4dor&3x'\n{private_key()}"
        )
        port = EmbeddingPort(System(), workspace.workspace)
        workspace.endpoint = port
        await workspace.ready()
        await workspace.until(lambda state: state.chunks == 3 and state.unread == 0)
        [text] = [one for one in server.texts if "login" in one]
        assert [part for part in [*parts, "tr0ub4dor", "ub"] if part in text.split()] == []
        assert "password" in text
        await port.embed([f"where is {key}"], workspace.workspace.settings.search)
        assert server.texts[-1] == "where is [redacted: GitHub token #1]"
        noted = workspace.workspace.request_log.latest[-1]
        assert (noted.to, noted.host, noted.model, noted.kinds) == (
            Recipient.EMBEDDINGS,
            f"127.0.0.1:{server.port}",
            "m",
            (("GitHub token", 1),),
        )
        await workspace.close()


@pytest.mark.parametrize("is_embedded", [True, False])
async def test_vectors_that_are_nearly_alike_do_not_outrank_a_unique_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_embedded: bool
) -> None:
    def alike(text: str, vector: list[object]) -> list[object]:
        return [*([1.0] * 63), 0.9 if "zirconium" in text else 1.0 + len(text) % 7 / 100]

    async with Embeddings() as server:
        server.altered = alike
        server.is_refused = lambda text: not is_embedded and "zirconium ore" in text
        workspace = context_for(tmp_path, server, monkeypatch)
        for at in range(40):
            (workspace.root / f"sample{at}.md").write_text(
                f"# Where it is kept\n\nOre {at} in the hall.\n"
            )
        (workspace.root / "unique.md").write_text(
            "# Notes\n\nLong ago somebody sold zirconium ore.\n"
        )
        await workspace.ready()
        n_left = 0 if is_embedded else 1
        await workspace.until(lambda state: state.chunks == 43 and state.unread == n_left)
        answer = await workspace.ask("where is the zirconium kept", limit=40)
        assert answer.passages[0].name == "unique.md"
        await workspace.close()


async def test_a_passage_without_a_vector_is_found_by_its_unique_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def positive(text: str, vector: list[object]) -> list[object]:
        return [3.0, 3.0, len(text) % 5 / 2, len(text) % 3 / 2]

    async with Embeddings() as server:
        server.altered = positive
        server.is_refused = lambda text: "zirconium ore" in text
        workspace = context_for(tmp_path, server, monkeypatch)
        for at in range(40):
            text = f"# Where it is kept\n\nOre {at} in the hall{'s' * (at % 15)}.\n"
            (workspace.root / f"sample{at}.md").write_text(text)
        (workspace.root / "unique.md").write_text(
            "# Notes\n\nLong ago somebody sold zirconium ore.\n"
        )
        await workspace.ready()
        await workspace.until(lambda state: state.chunks == 43 and state.unread == 1)
        answer = await workspace.ask("zirconium", limit=40)
        assert answer.passages[0].name == "unique.md"
        await workspace.close()
