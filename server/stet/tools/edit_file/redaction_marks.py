"""Marks of redacted secrets in what a model writes of a file: each becomes the secret again.

Only a secret that stands in that very file is put back, so an edit can keep or move a key that the
model has never seen, and can carry none anywhere else. Everything behind this works with the text as
it is, so a quote with a mark is found as leniently as any other.
"""

from stet.tools.edit_file.edit_file_call import EditFile
from stet.tools.tool_errors import ToolError
from stet.workspace.redactor import MARK_PREFIX, Redactor, UnknownMark


def has_marks(call: EditFile) -> bool:
    """Whether anything in the call looks like a mark."""
    return any(MARK_PREFIX in text for text in (call.old_text, call.new_text, call.content) if text)


def restore_secrets(call: EditFile, file: str, redactor: Redactor) -> EditFile:
    """The call with what its marks stand for.

    Args:
        call: By the model.
        file: All that the model may mean: the text as it is, and with what is pending.
        redactor: Knows the marks.

    Raises:
        ToolError: If a mark stands for nothing in that file.
    """
    texts = {"old_text": call.old_text, "new_text": call.new_text, "content": call.content}
    try:
        n_restored = {
            name: redactor.restore(text, file) for name, text in texts.items() if text is not None
        }
    except UnknownMark as error:
        raise ToolError(f"{call.file!r}: {error}") from error
    if all(n_restored[name] == texts[name] for name in n_restored):
        return call
    return call.model_copy(update=n_restored)
