"""What a question would send, as a document: for editors that show no answers of commands."""

import asyncio
from collections.abc import Mapping
from hashlib import sha256

from stet.lsp.editor_client import Client
from stet.lsp.presentation.generated_documents import GeneratedDocuments
from stet.system.system import System
from stet.text.escape import escape_line
from stet.text.render import fence_for
from stet.workspace.uris import canonical
from stet.workspace.workspace import Workspace

_MAX_PROMPT = 200
"""Characters of the question that are repeated in the head."""


class ContextDocument:
    """Writes the page into the state folder and has the editor show it. Touched on the event loop only."""

    def __init__(
        self, workspace: Workspace, client: Client, system: System, generated: GeneratedDocuments
    ) -> None:
        self._workspace = workspace
        self._client = client
        self._system = system
        self._generated = generated

    async def open(self, prompt: str, answer: Mapping[str, object]) -> str:
        """Write and show what `stet.showContext` answers; gives the document's URI.

        Raises:
            OSError: If it can't be written.
        """
        text = render_context_document(prompt, answer)
        roots = "\n".join(canonical(root.path.as_uri()) for root in self._workspace.roots)
        stem = f"context-{sha256(roots.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
        name = self._generated.free_name(stem, ".md", text)
        uri = (await asyncio.to_thread(self._system.write_generated, name, text)).as_uri()
        self._client.start(self._client.show_document(uri), "show what would be sent")
        return uri


def render_context_document(prompt: str, answer: Mapping[str, object]) -> str:
    """Return the page in Markdown: each part in a fence that it can't close.

    Args:
        prompt: The question.
        answer: `tokens`, and `sections` with `name`, `text` and `tokens` each.
    """
    sections = answer["sections"]
    assert isinstance(sections, list), "it is the answer of the command"
    parts = [
        f"# What this question would send\n\n{escape_line(prompt)[:_MAX_PROMPT]}\n\n"
        f"About {answer['tokens']} tokens, your words included. Nothing was sent.\n"
    ]
    for section in sections:
        text = str(section["text"])
        fence = fence_for(text)
        end = "" if text.endswith("\n") else "\n"
        head = f"## {escape_line(str(section['name']))} ({section['tokens']} tokens)"
        parts.append(f"{head}\n\n{fence}\n{text}{end}{fence}\n")
    # Half a character can't be written.
    return "\n".join(parts).encode("utf-8", "replace").decode()
