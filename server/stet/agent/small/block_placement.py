"""The file that each code block of an answer is about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stet.agent.small.code_blocks import PATH, CodeBlock, block_edits
from stet.agent.small.import_merge import LineEdit
from stet.agent.tool_offer import tools_called_for
from stet.text.document import TextDocument, ending_of
from stet.workspace.names import PathRefused
from stet.workspace.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class BlockTarget:
    """A file and the edits of it that a block means.

    Attributes:
        file: The name of the file; "" for no file.
        edits: The edits. An edit of line 0 creates the file; None: the block fits no place.
    """

    file: str
    edits: tuple[LineEdit, ...] | None


class BlockPlacement:
    """A search of the files that blocks are about.

    Args:
        snapshot: The workspace.
        files: The shown files by name, that of the question first.
        request: The user's request.
        may_create: Whether new files may be proposed.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        files: Mapping[str, TextDocument],
        request: str,
        *,
        may_create: bool,
    ) -> None:
        self._snapshot = snapshot
        self._files = files
        self._request = request
        self._may_create = may_create
        self._wants_file = "create_file" in tools_called_for(request)

    def place(self, blocks: Sequence[CodeBlock]) -> list[tuple[CodeBlock, BlockTarget]]:
        """Return each block with its file and edits. Blocks on the disk."""
        return [(block, self._target(block)) for block in blocks]

    def _target(self, block: CodeBlock) -> BlockTarget:
        named = [name for name in self._files if _is_named(name, block.path)]
        # The words before a block may be something else than a path, such as `math.ceil`.
        if block.path and not named and self._wants_file:
            return self._creation(self._new_file(block.path), block)
        for name in named or self._files:
            document = self._files[name]
            edits = block_edits(block.text, document.text, ending_of(document.uri), self._request)
            if edits is not None:
                return BlockTarget(name, edits)
        return self._creation(self._requested_file(), block)

    def _creation(self, name: str, block: CodeBlock) -> BlockTarget:
        if not name or not self._may_create:
            return BlockTarget("", None)
        return BlockTarget(name, (LineEdit(0, 0, block.text),))

    def _requested_file(self) -> str:
        """Return the name of the one new file that the request asks for, or ""."""
        if not self._wants_file:
            return ""
        wanted = set(filter(None, map(self._new_file, PATH.findall(self._request))))
        return wanted.pop() if len(wanted) == 1 else ""

    def _new_file(self, path: str) -> str:
        """Return the name of the new file at a path; "" if something is there, or may not be."""
        try:
            located = self._snapshot.locate(path)
        except PathRefused:
            return ""
        return "" if self._snapshot.show_or_none(located.uri) is not None else located.name


def _is_named(name: str, path: str) -> bool:
    return bool(path) and (name == path or name.endswith(f"/{path}"))
