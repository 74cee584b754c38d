"""Model requests in tests: short time-outs, no jitter, recorded output."""

from dataclasses import dataclass, field

from stet.llm.model import Completion, Message, Model, Request, ToolDefinition
from stet.llm.model_endpoint import ModelEndpoint, Sampling, Timeouts
from stet.llm.openai_model import OpenAIModel
from stet.llm.retry import RetryPolicy
from stet.system.system import System
from tests.support.openai_server import OpenAIServer

KEY = "sk-secret-0123456789"
QUICK = RetryPolicy(tries=3, base=0.01, cap=0.02, longest_wait=1.0)
SHORT = Timeouts(connect=2.0, first=2.0, idle=2.0, total=5.0)
READ_FILE = ToolDefinition(
    "read_file",
    "Read a file.",
    {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)


def question(text: str = "Hello?", *tools: ToolDefinition) -> Request:
    """Make a request with a system message and a user message."""
    return Request((Message("system", "Be brief."), Message("user", text)), tools)


def model_at(
    server: OpenAIServer,
    *,
    timeouts: Timeouts = SHORT,
    retry: RetryPolicy = QUICK,
    sampling: Sampling | None = None,
    name: str = "gpt-test",
) -> OpenAIModel:
    """Make the adapter for a test's server."""
    endpoint = ModelEndpoint("openai", server.base_url, name, api_key=KEY, key_env="OPENAI_API_KEY")
    return OpenAIModel(endpoint, System(), timeouts=timeouts, retry=retry, sampling=sampling)


@dataclass
class ModelOutput:
    """Everything that a model has reported while it answered."""

    pieces: list[str] = field(default_factory=list)
    waits: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Return the text streamed since the round was last restarted."""
        return "".join(self.pieces)

    def wait(self, sentence: str) -> None:
        """Record a restart of the round: the text streamed before is void."""
        self.waits.append(sentence)
        self.pieces.clear()

    async def ask(self, model: Model, request: Request | None = None) -> Completion:
        """Ask, and record the streamed text."""
        return await model.complete(request or question(), self.pieces.append, self.wait)
