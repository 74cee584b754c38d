"""What a tool is, and the desk it works at."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

from stet.review.drafts import CreateDraft, EditDraft
from stet.review.errors import ReviewError
from stet.review.ledger import ReviewLedger
from stet.review.proposal import Hunk
from stet.review.rules import EditRules, Refused, RejectedEdit, check_open
from stet.text.change import TextChange
from stet.text.diff import changes_between
from stet.text.document import TextDocument
from stet.text.edit import TextEdit
from stet.workspace.paths import Located, PathRefused
from stet.workspace.snapshot import NotShown, Snapshot
from stet.workspace.uris import canonical, path_of, uri_of
from stet.workspace.workspace import Workspace


class ToolGroup(StrEnum):
    """What can be switched as a whole."""

    WORKSPACE = "workspace"
    ACTION = "action"


class ToolKind(Enum):
    """What a tool does to the world."""

    READ = "read"
    WRITE = "write"
    CONTROL = "control"
    """It steers the turn itself; it can't be disabled."""


class ToolError(Exception):
    """The call failed; the message tells the model its next step."""


class Params(BaseModel):
    """Arguments of a tool: what a model wrote, so nothing unknown and nothing of a wrong type."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(slots=True)
class Desk:
    """What the tools of one turn share: the world, the ledger, and what the model has seen of it.

    Attributes:
        workspace: Documents over the disk.
        ledger: Where proposals go.
        rules: What this turn may propose.
        turn: Its id.
        author: The model's name.
        asked: The file the question is about (see `stet.workspace.privacy`).
        shown: The text of every file as the model was shown it last, by canonical URI.
        files_read: Names of files read, in order, without repeats.
        rejected: Edits that the gate refused.
        opened: URIs the model wants the user to see, until the loop has passed them on.
        summary: What `done` said, or None while the turn goes on.
    """

    workspace: Workspace
    ledger: ReviewLedger
    rules: EditRules
    turn: str
    author: str
    asked: str | None = None
    shown: dict[str, TextDocument] = field(default_factory=dict)
    files_read: list[str] = field(default_factory=list)
    rejected: list[RejectedEdit] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    summary: str | None = None

    def snapshot(self) -> Snapshot:
        """The world as it is now, for this turn's question."""
        return self.workspace.snapshot().asked_about(self.asked)

    def locate(self, name: str) -> Located:
        """The file a model means.

        Raises:
            ToolError: If the name leads out of the workspace or is none.
        """
        try:
            return self.snapshot().locate(name)
        except PathRefused as refused:
            raise ToolError(str(refused)) from refused

    async def show(self, name: str) -> TextDocument:
        """The text of a file as it is now, unsaved text included, noted as shown to the model.

        Raises:
            ToolError: If there is no such file or it may not be shown.
        """
        located = self.locate(name)
        document = await self._look(located.uri)
        self.shown[canonical(document.uri)] = document
        if located.name not in self.files_read:
            self.files_read.append(located.name)
        return document

    async def create(self, file: str, content: str) -> Hunk:
        """Propose a new file.

        Raises:
            ToolError: If it exists, or may not be created.
        """
        located = self.locate(file)
        if await asyncio.to_thread(self.snapshot().exists, located.uri):
            raise ToolError(f"{file!r} exists already. Change it with `edit_file`.")
        return self.propose_create(located, content, f"Create {located.name}")

    async def open(self, file: str) -> None:
        """Have the editor show a file.

        Raises:
            ToolError: If it is not there, or the user wants no files opened.
        """
        located = self.locate(file)
        if refusal := check_open(self.rules, located.name):
            raise self._refused(located.name, "open", Refused(refusal))
        if not await asyncio.to_thread(self.snapshot().exists, located.uri):
            raise ToolError(f"There is no file {file!r}. `list_files` gives the names.")
        self.opened.append(located.uri)

    async def live(self, name: str) -> TextDocument:
        """The text of a file as it is now, for resolving an edit.

        It is the current text as long as the caller awaits nothing.

        Raises:
            ToolError: If there is no such file or it may not be shown.
        """
        return await self._look(self.locate(name).uri)

    async def live_at(self, uri: str) -> TextDocument:
        """As `live`, for a file that Stet names itself."""
        return await self._look(uri)

    async def _look(self, uri: str) -> TextDocument:
        while True:
            try:
                # The snapshot is taken here: the workspace belongs to the event loop.
                found = await asyncio.to_thread(self.snapshot().show, uri)
            except NotShown as refused:
                raise ToolError(str(refused)) from refused
            # The user went on typing while the disk was asked.
            now = self.workspace.document(uri)
            if now is not None or found.version is None:
                return now or found

    def was_shown(self, uri: str) -> TextDocument | None:
        """The text of a file as the model was shown it last; None if it never was."""
        return self.shown.get(canonical(uri))

    def changes_since_shown(self, live: TextDocument) -> tuple[TextChange, ...]:
        """What the user has done to a file since the model saw it; nothing if it never did."""
        shown = self.was_shown(live.uri)
        if shown is None or shown.text == live.text:
            return ()
        changes = self.workspace.changes_since(live.uri, shown.revision)
        return changes_between(shown.text, live.text) if changes is None else changes

    def propose(
        self, live: TextDocument, name: str, edit: TextEdit, summary: str, *, position: str
    ) -> tuple[Hunk, ...]:
        """Propose an edit of `live`; the one way for a tool to change a file.

        `position` says where, for the user who is told of a refusal.

        Raises:
            ToolError: If the gate or the ledger refuses.
        """
        draft = EditDraft(
            turn=self.turn,
            author=self.author,
            document=live,
            name=name,
            edit=edit,
            summary=summary,
            real_name=self._real_name(live.uri),
        )
        try:
            return self.ledger.propose_edit(draft, self.rules)
        except Refused as refused:
            raise self._refused(name, position, refused) from refused
        except ReviewError as error:
            raise ToolError(f"{name!r}: {error}.") from error

    def propose_create(self, located: Located, text: str, summary: str) -> Hunk:
        """Propose a new file.

        Raises:
            ToolError: If the gate refuses.
        """
        draft = CreateDraft(
            turn=self.turn,
            author=self.author,
            uri=located.uri,
            name=located.name,
            text=text,
            summary=summary,
            real_name=self._real_name(located.uri),
        )
        try:
            return self.ledger.propose_create(draft, self.rules)
        except Refused as refused:
            raise self._refused(located.name, "create", refused) from refused
        except ReviewError as error:
            raise ToolError(f"{located.name!r}: {error}.") from error

    def _real_name(self, uri: str) -> str:
        """What a file is called where every link is resolved."""
        path = path_of(uri)
        snapshot = self.snapshot()
        real = None if path is None else snapshot.system.real_path(path)
        return "" if real is None else snapshot.name_of(uri_of(real))

    def _refused(self, name: str, position: str, refused: Refused) -> ToolError:
        refusal = refused.refusal
        self.rejected.append(RejectedEdit(name, position, refusal.rule, refusal.message))
        return ToolError(f"Refused by the rule {refusal.rule}: {refusal.message}")


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool.

    Attributes:
        name: As the model calls it.
        group: What it is switched with.
        kind: What it does to the world.
        params: Its arguments; the docstring is the description for the model.
        run: Does it and gives the text for the model.
    """

    name: str
    group: ToolGroup
    kind: ToolKind
    params: type[Params]
    run: Callable[[Any, Desk], Awaitable[str]]

    @property
    def description(self) -> str:
        """What the model is told."""
        lines = (self.params.__doc__ or "").strip().splitlines()
        return "\n".join(line.strip() for line in lines)

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON schema of the arguments, without the noise a model has no use for."""
        schema = self.params.model_json_schema()
        schema.pop("title", None)
        schema.pop("description", None)
        for prop in schema.get("properties", {}).values():
            _simplify(prop)
        return schema


def _simplify(prop: dict[str, Any]) -> None:
    """Leave out the title, and that a parameter which may be left out may also be null."""
    prop.pop("title", None)
    if "default" in prop and prop["default"] is None:
        del prop["default"]
        (kind,) = (each for each in prop.pop("anyOf") if each != {"type": "null"})
        prop.update(kind)
