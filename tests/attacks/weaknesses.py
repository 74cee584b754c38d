"""Rules of Stet taken away, one at a time: proof that the suite would notice.

`weakening` says how; whoever wants to weaken imports it from here, where the rules are entered.
"""

import importlib
import os
import re
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.attacks import weaknesses_that_act
from tests.attacks.weakening import Put, weaken, weakened, weakness

__all__ = ["weaken", "weakened", "weaknesses_that_act"]

_NEVER = re.compile(r"(?!)")


def _nothing(*_: Any, **__: Any) -> None:
    return None


@weakness
def project_rules(put: Put) -> None:
    """A project's settings count like the user's."""
    layers = importlib.import_module("stet.settings.layers")

    def narrow(settings: Any, project: Any, path: str) -> Any:
        return project

    put(layers.__name__, "_narrow", narrow)


@weakness
def twins_unseen(put: Put) -> None:
    """A file with another name on the disk is like any other."""
    policy = importlib.import_module("stet.review.policy.authorization")
    before = policy._warning
    put(policy.__name__, "_warning", lambda status: before(replace(status, has_hard_links=False)))


@weakness
def one_yes(put: Put) -> None:
    """A yes to one question is a yes to all that follow."""
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
    """No file tells a machine what to do."""
    put("stet.review.policy.authorization", "is_protected", lambda name, **where: False)


@weakness
def spelling(put: Put) -> None:
    """Names are compared letter by letter, whatever they look like."""
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
    """Names are what they say, on Windows too."""
    put("stet.workspace.names", "alias_fault", _nothing)
    put("stet.workspace.names", "windows_fault", _nothing)
    put("stet.workspace.path_status", "alias_fault", _nothing)


@weakness
def anywhere(put: Put) -> None:
    """A name may lead anywhere."""
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
    """Links are not resolved before a place is judged."""
    system = importlib.import_module("stet.system.system").System
    put(
        "stet.system.system",
        "System.real_path",
        lambda self, path: Path(os.path.normpath(path)),
    )
    put("stet.system.system", "System.read_real", system.read_bytes)


@weakness
def links_are_files(put: Put) -> None:
    """A link is taken for what it leads to, and what is read for text."""
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
    """What was judged is opened by its name, through whatever link has come in."""
    system = importlib.import_module("stet.system.system").System
    put("stet.system.system", "System.read_real", system.read_bytes)
    put("stet.lsp.edits.edit_applier", "reauthorize", _nothing)


@weakness
def listed_by_name(put: Put) -> None:
    """What is in a folder is listed by its name, through whatever link has come in."""
    system = importlib.import_module("stet.system.system").System
    put("stet.system.system", "System.list_real", system.list_folder)


@weakness
def anything_opened(put: Put) -> None:
    """Pipes and devices are read like files, and files of any size."""
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
    """The privacy filter lets everything through."""
    for name in ("check", "check_folder", "check_level"):
        put("stet.workspace.privacy_filter", f"PrivacyFilter.{name}", _nothing)


@weakness
def private_networks(put: Put) -> None:
    """Pages are read from anywhere."""
    put("stet.web.fetch", "check_name", _nothing)
    put("stet.web.address_policy", "check_name", _nothing)
    put("stet.web.address_policy", "check_ip", _nothing)


@weakness
def resolved_twice(put: Put) -> None:
    """A host's name is resolved again for the connection."""

    async def connect(self: Any, host: str, port: int, *args: Any, **more: Any) -> Any:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return await self._real.connect_tcp(str(found[0][4][0]), port)

    put("stet.web.http_connection", "_PinnedBackend.connect_tcp", connect)


@weakness
def hosts_not_asked(put: Put) -> None:
    """Any host may be asked without the user."""
    put("stet.web.web_address", "KnownAddresses.why_ask", lambda self, *args, **more: "")


@weakness
def markdown_acts(put: Put) -> None:
    """What others wrote is Markdown."""
    put("stet.lsp.presentation.serialize", "_MARKS", _NEVER)
    put("stet.lsp.presentation.serialize", "fence_for", lambda text: "")
    for name in ("_PICTURE", "_LINK", "_HTML"):
        put("stet.chat.chat_layout", name, _NEVER)
    put("stet.lsp.editor_client", "disable_links", lambda text: text)


@weakness
def places_unchecked(put: Put) -> None:
    """Anything may be shown in front of the user."""
    anywhere(put)
    put("stet.tools.proposer", "check_open", _nothing)
    markdown_acts(put)


@weakness
def nothing_previewed(put: Put) -> None:
    """What a hunk does is not shown."""
    put("stet.lsp.presentation.serialize", "diff_of", lambda hunk, limit: [])


@weakness
def hidden_text(put: Put) -> None:
    """Characters that nobody sees are taken as they are."""
    put("stet.review.policy.authorization", "describe_spoofing", lambda new, old, name: "")
    put("stet.text.spoofing", "escape_hidden", lambda text: text)


@weakness
def controls_act(put: Put) -> None:
    """Control characters go to the editor and into the log as they are."""
    put("stet.text.escape", "_ACTING", _NEVER)


@weakness
def tags_forged(put: Put) -> None:
    """Tags of Stet are not escaped in the text of others."""
    put("stet.context.context_values", "_STET_TAG", _NEVER)


@weakness
def tokens_whole(put: Put) -> None:
    """Control tokens of chat templates are not broken in the text of others."""
    put("stet.agent.redacting_model", "escape_special_tokens", lambda text: text)


@weakness
def every_tool(put: Put) -> None:
    """All tools are offered, and all questions are answered with yes."""
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
    """Arguments are taken as the model wrote them."""

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
    """Arguments of the model become options, and elements of their own."""
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
    """A turn goes on for ever."""
    put("stet.agent.limits", "Limits.exceeded_reason", lambda self, *args: "")
    put("stet.agent.limits", "Limits.last_round_reason", lambda self, *args: "")
    put("stet.agent.tool_executor", "LoopDetector.take_warning", lambda self: "")


@weakness
def searches_for_ever(put: Put) -> None:
    """A regular expression may take as long as it likes."""
    put("stet.workspace.grep", "SECONDS", 3600.0)


@weakness
def bombs_unpacked(put: Put) -> None:
    """A page may unpack to any size."""
    put("stet.web.fetch", "MAX_UNPACKED", 1_000_000_000)


@weakness
def open_to_all(put: Put) -> None:
    """What Stet keeps can be read by every user of the machine."""
    os_open, mkdir = os.open, os.mkdir
    put("os", "open", lambda path, flags, mode=0o666, **more: os_open(path, flags, 0o666, **more))
    put("os", "mkdir", lambda path, mode=0o777, **more: mkdir(path, 0o777, **more))


@weakness
def no_shares(put: Put) -> None:
    """One file may fill the answer of a search."""
    put("stet.tools.search_workspace", "join_bounded", lambda lines, *_: "\n".join(lines))
    put("stet.tools.search_workspace", "_quoted", lambda line, *_: line)


@weakness
def floods_win(put: Put) -> None:
    """A ranking is taken as it is, whoever fills it."""
    put("stet.search.search_engine", "diversify", lambda found, *_: found)


@weakness
def anything_shown(put: Put) -> None:
    """Every file is text, of whatever size and with whatever in it."""
    for module in ("stet.workspace.walk", "stet.workspace.snapshot"):
        put(module, "is_binary", lambda head: False)
        put(module, "MAX_FILE_BYTES", 1_000_000_000)


@weakness
def hashes_ignored(put: Put) -> None:
    """What was looked at is not compared with what is accepted."""
    text = importlib.import_module("stet.lsp.arguments").CommandArguments.text

    def read(self: Any, name: str) -> Any:
        found = text(self, name)
        return None if name == "hash" else found

    put("stet.lsp.arguments", "CommandArguments.text", read)


@weakness
def redirects_followed(put: Put) -> None:
    """Whoever answers a request may say where it goes next, key and all."""
    httpx = importlib.import_module("httpx2")
    init = httpx.AsyncClient.__init__

    def made(self: Any, *args: Any, **more: Any) -> None:
        init(self, *args, **{**more, "follow_redirects": True})

    put("httpx2", "AsyncClient.__init__", made)


@weakness
def nothing_redacted(put: Put) -> None:
    """Secrets are no secrets."""
    redaction = importlib.import_module("stet.privacy.redactor")
    put(redaction.__name__, "Redactor.redact", lambda self, text, **_: redaction.RedactedText(text))


@weakness
def guesses_reported(put: Put) -> None:
    """Files are searched with their secrets."""
    put("stet.privacy.redactor", "Redactor.known", lambda self: None)
    put("stet.search.word_search", "_redact_document", lambda document, redactor: document)
    put("stet.links.file_query", "_redact", lambda text, redactor: text)
