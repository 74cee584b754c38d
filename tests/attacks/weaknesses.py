"""Rules of Stet that can be removed, one at a time, to prove that the suite notices.

`weakening` has the mechanism; import `weaken` from this module, which registers the rules.
"""

import importlib
import os
import re
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.attacks import weaknesses_of_doors, weaknesses_that_act
from tests.attacks.weakening import Put, weaken, weakened, weakness

__all__ = ["weaken", "weakened", "weaknesses_of_doors", "weaknesses_that_act"]

_NEVER = re.compile(r"(?!)")


def _nothing(*_: Any, **__: Any) -> None:
    return None


@weakness
def project_rules(put: Put) -> None:
    """Treat a project's settings like the user's."""
    layers = importlib.import_module("stet.settings.layers")

    def narrow(settings: Any, project: Any, path: str) -> Any:
        return project

    put(layers.__name__, "_narrow", narrow)


@weakness
def twins_unseen(put: Put) -> None:
    """Ignore the other hard links of a file."""
    policy = importlib.import_module("stet.review.policy.authorization")
    before = policy._warning
    put(policy.__name__, "_warning", lambda status: before(replace(status, has_hard_links=False)))


@weakness
def one_yes(put: Put) -> None:
    """Take a yes to one question as a yes to all that follow."""
    ctx = importlib.import_module("stet.tools.tool").ToolContext
    ask, message = ctx.ask_user, set()

    async def asked(self: Any, kind: str, text: str, choices: Any = ()) -> str:
        if kind in message:
            return str(choices[0])
        answer = str(await ask(self, kind, text, choices))
        if answer == choices[0]:
            message.add(kind)
        return answer

    put("stet.tools.tool", "ToolContext.ask_user", asked)


@weakness
def nothing_protected(put: Put) -> None:
    """Protect no file."""
    put("stet.review.policy.authorization", "is_protected", lambda name, **where: False)


@weakness
def spelling(put: Put) -> None:
    """Compare names letter by letter, even if they look alike."""
    names = importlib.import_module("stet.workspace.names")
    for module in ("names", "secret_files", "privacy_filter"):
        put(f"stet.workspace.{module}", "folded", lambda part: part)
    put("stet.review.policy.protected_files", "skeleton", lambda part: part)
    for module in ("stet.workspace.names", "stet.workspace.walk"):
        put(module, "has_odd_characters", lambda name: False)
    put("stet.workspace.names", "_check_part", _only_up)
    names.loosest.cache_clear()
    importlib.import_module("stet.workspace.names").is_version_control.cache_clear()
    importlib.import_module("stet.workspace.secret_files").is_secret.cache_clear()


def _only_up(part: str, name: str) -> None:
    names = importlib.import_module("stet.workspace.names")
    if part == "..":
        raise names.PathRefused("parent", name)


@weakness
def windows_names(put: Put) -> None:
    """Take names literally, on Windows too."""
    put("stet.workspace.names", "alias_fault", _nothing)
    put("stet.workspace.names", "windows_fault", _nothing)
    put("stet.workspace.path_status", "alias_fault", _nothing)


@weakness
def anywhere(put: Put) -> None:
    """Let a name lead anywhere."""
    paths = importlib.import_module("stet.workspace.paths")
    for name in ("_check_characters", "_check_form", "_check_part"):
        put("stet.workspace.names", name, _nothing)

    def checked(self: Any, path: Path, name: str) -> Any:
        path = Path(os.path.normpath(path))
        return paths.Located(path.as_uri(), path, name)

    put("stet.workspace.paths", "Locator._checked", checked)
    put("stet.workspace.privacy_filter", "PrivacyFilter.check", _nothing)
    put("stet.review.policy.rules", "_outside_refusal", _nothing)


@weakness
def links_followed(put: Put) -> None:
    """Judge a path without resolving its links."""
    system = importlib.import_module("stet.system.system").System
    put(
        "stet.system.system",
        "System.real_path",
        lambda self, path: Path(os.path.normpath(path)),
    )
    put("stet.system.system", "System.read_real", system.read_bytes)


@weakness
def links_are_files(put: Put) -> None:
    """Take a link for its target, and any file for text."""
    machine = importlib.import_module("stet.system.system")
    links_followed(put)

    def stat(self: Any, path: Path) -> Any:
        try:
            return machine._file_stat(path.stat())
        except (OSError, ValueError):
            return None

    def read(self: Any, path: Path, limit: int) -> bytes:
        with path.open("rb") as file:
            return file.read(limit).replace(b"\0", b" ")

    put(machine.__name__, "System.stat", stat)
    put(machine.__name__, "System.read_bytes", read)
    put(machine.__name__, "System.read_real", read)


@weakness
def opened_by_name(put: Put) -> None:
    """Open a judged file by its name, through any link made since."""
    system = importlib.import_module("stet.system.system").System
    put("stet.system.system", "System.read_real", system.read_bytes)
    put("stet.lsp.edits.edit_applier", "reauthorize", _nothing)


@weakness
def listed_by_name(put: Put) -> None:
    """List a folder by its name, through any link made since."""
    system = importlib.import_module("stet.system.system").System
    put("stet.system.system", "System.list_real", system.list_folder)


@weakness
def anything_opened(put: Put) -> None:
    """Read pipes, devices and files of any size."""
    system = importlib.import_module("stet.system.system")

    def stat(self: Any, path: Path) -> Any:
        try:
            found = path.lstat()
        except (OSError, ValueError):
            return None
        kind = system.FileKind.FOLDER if path.is_dir() else system.FileKind.FILE
        return system.FileStat(kind, min(found.st_size, 10), found.st_mtime)

    def read(self: Any, path: Path, limit: int) -> bytes:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            return os.read(descriptor, limit)
        finally:
            os.close(descriptor)

    put("stet.system.system", "System.stat", stat)
    put("stet.system.system", "System.read_bytes", read)
    put("stet.system.system", "System.read_real", read)


@weakness
def nothing_private(put: Put) -> None:
    """Let everything through the privacy filter."""
    for name in ("check", "check_folder", "check_level"):
        put("stet.workspace.privacy_filter", f"PrivacyFilter.{name}", _nothing)


@weakness
def private_networks(put: Put) -> None:
    """Read pages from any address."""
    put("stet.web.fetch", "check_name", _nothing)
    put("stet.web.address_policy", "check_name", _nothing)
    put("stet.web.address_policy", "check_ip", _nothing)


@weakness
def resolved_twice(put: Put) -> None:
    """Resolve a host's name again for the connection."""

    async def connect(self: Any, host: str, port: int, *args: Any, **more: Any) -> Any:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return await self._real.connect_tcp(str(found[0][4][0]), port)

    put("stet.web.http_connection", "_PinnedBackend.connect_tcp", connect)


@weakness
def hosts_not_asked(put: Put) -> None:
    """Request any host without asking the user."""
    put("stet.web.web_address", "KnownAddresses.why_ask", lambda self, *args, **more: "")


@weakness
def markdown_acts(put: Put) -> None:
    """Show the text of others as Markdown."""
    put("stet.lsp.presentation.serialize", "_MARKS", _NEVER)
    put("stet.lsp.presentation.serialize", "fence_for", lambda text: "")
    for name in ("_PICTURE", "_LINK", "_HTML"):
        put("stet.chat.chat_layout", name, _NEVER)
    put("stet.lsp.editor_client", "disable_links", lambda text: text)


@weakness
def places_unchecked(put: Put) -> None:
    """Show any path to the user."""
    anywhere(put)
    put("stet.tools.proposer", "check_open", _nothing)
    markdown_acts(put)


@weakness
def nothing_previewed(put: Put) -> None:
    """Hide the effect of a hunk."""
    put("stet.lsp.presentation.serialize", "diff_of", lambda hunk, limit: [])


@weakness
def hidden_text(put: Put) -> None:
    """Keep invisible characters in texts."""
    put("stet.review.policy.authorization", "describe_spoofing", lambda new, old, name: "")
    put("stet.text.spoofing", "escape_hidden", lambda text: text)


@weakness
def controls_act(put: Put) -> None:
    """Pass control characters to the editor and into the log."""
    put("stet.text.escape", "_ACTING", _NEVER)


@weakness
def tags_forged(put: Put) -> None:
    """Leave Stet's tags in the text of others unescaped."""
    put("stet.context.context_values", "_STET_TAG", _NEVER)


@weakness
def tokens_whole(put: Put) -> None:
    """Leave control tokens of chat templates in the text of others unbroken."""
    put("stet.agent.redacting_model", "escape_special_tokens", lambda text: text)


@weakness
def every_tool(put: Put) -> None:
    """Offer all tools, and answer all questions with yes."""
    toolbox = importlib.import_module("stet.agent.toolbox")

    async def asked(self: Any, kind: str, text: str, choices: Any = ()) -> str:
        return str(choices[0]) if choices else "yes"

    def tools(*_: Any, **__: Any) -> Any:
        return toolbox.ALL_TOOLS

    put("stet.agent.toolbox", "tools_for", tools)
    put("stet.agent.turn_pipeline", "tools_for", tools)
    put("stet.tools.tool", "ToolContext.ask_user", asked)


@weakness
def untyped(put: Put) -> None:
    """Take arguments as the model wrote them."""

    def construct(cls: Any, arguments: Any) -> Any:
        fields = {
            name: each.get_default(call_default_factory=True)
            for name, each in cls.model_fields.items()
        }
        return cls.model_construct(**{**fields, **arguments})

    base = importlib.import_module("stet.tools.tool")
    base.Params.model_validate = classmethod(construct)


@weakness
def options_passed(put: Put) -> None:
    """Let arguments of the model become options and separate elements."""
    line = importlib.import_module("stet.system.command_line")

    def expand(command: Any, arguments: Any) -> tuple[str, ...]:
        parts = [
            line._PLACEHOLDER.sub(lambda found: arguments.get(found[1], ""), part)
            for part in command.argv
        ]
        return tuple(word for part in parts for word in part.replace("\0", " ").split(" "))

    put("stet.system.command_line", "expand", expand)
    put("stet.tools.execute_command", "expand", expand)


@weakness
def no_limits(put: Put) -> None:
    """Let a turn run without limits."""
    put("stet.agent.limits", "Limits.exceeded_reason", lambda self, *args: "")
    put("stet.agent.limits", "Limits.last_round_reason", lambda self, *args: "")
    put("stet.agent.tool_executor", "LoopDetector.take_warning", lambda self: "")


@weakness
def searches_for_ever(put: Put) -> None:
    """Let a regular expression run without a time limit."""
    put("stet.workspace.grep", "SECONDS", 3600.0)


@weakness
def bombs_unpacked(put: Put) -> None:
    """Let a page unpack to any size."""
    put("stet.web.fetch", "MAX_UNPACKED", 1_000_000_000)


@weakness
def open_to_all(put: Put) -> None:
    """Let every user of the machine read Stet's files."""
    os_open, mkdir = os.open, os.mkdir
    put("os", "open", lambda path, flags, mode=0o666, **more: os_open(path, flags, 0o666, **more))
    put("os", "mkdir", lambda path, mode=0o777, **more: mkdir(path, 0o777, **more))


@weakness
def no_shares(put: Put) -> None:
    """Let one file fill the result of a search."""
    put("stet.tools.search_workspace", "join_bounded", lambda lines, *_: "\n".join(lines))
    put("stet.tools.search_workspace", "_quoted", lambda line, *_: line)


@weakness
def floods_win(put: Put) -> None:
    """Take a ranking as it is, even if one file fills it."""
    put("stet.search.search_engine", "diversify", lambda found, *_: found)


@weakness
def anything_shown(put: Put) -> None:
    """Take every file for text, of any size and content."""
    for module in ("stet.workspace.walk", "stet.workspace.snapshot"):
        put(module, "is_binary", lambda head: False)
        put(module, "MAX_FILE_BYTES", 1_000_000_000)


@weakness
def hashes_ignored(put: Put) -> None:
    """Accept a hunk without comparing it with what the user saw."""
    text = importlib.import_module("stet.lsp.arguments").CommandArguments.text

    def read(self: Any, name: str) -> Any:
        found = text(self, name)
        return None if name == "hash" else found

    put("stet.lsp.arguments", "CommandArguments.text", read)


@weakness
def redirects_followed(put: Put) -> None:
    """Follow redirects to any host, and send the key there."""
    httpx = importlib.import_module("httpx2")
    init = httpx.AsyncClient.__init__

    def made(self: Any, *args: Any, **more: Any) -> None:
        init(self, *args, **{**more, "follow_redirects": True})

    put("httpx2", "AsyncClient.__init__", made)


@weakness
def nothing_redacted(put: Put) -> None:
    """Redact no secret."""
    redaction = importlib.import_module("stet.privacy.redactor")
    put(redaction.__name__, "Redactor.redact", lambda self, text, **_: redaction.RedactedText(text))


@weakness
def guesses_reported(put: Put) -> None:
    """Search files with their secrets included."""
    put("stet.privacy.redactor", "Redactor.known", lambda self: None)
    put("stet.search.word_search", "_redact_document", lambda document, redactor: document)
    put("stet.links.file_query", "_redact", lambda text, redactor: text)
