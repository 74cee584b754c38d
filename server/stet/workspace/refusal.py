"""Why something may not be: a rule by its name, and a sentence."""

from dataclasses import dataclass

from stet.workspace.names import without_folders


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why something may not be shown, or not be changed.

    Attributes:
        rule: Short name of the rule, or the setting, as the user would search for it.
        message: One sentence for a person or a model.
    """

    rule: str
    message: str

    @property
    def for_model(self) -> str:
        """Return the sentence as a model may be told it: without absolute paths."""
        return without_folders(self.message)
