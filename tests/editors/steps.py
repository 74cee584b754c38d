"""The twelve steps of a review that each editor shows on screens written by hand.

Nothing here depends on an editor. An editor's test performs the steps in one session, with the
editor's own keys, and compares each step's screen with a file of `screens/<editor>/steps`. Those
files are written by hand before the step is run, and no run can renew them.

| step | what the user does | what the screen shows |
|---|---|---|
| 1 | asks `RENAME` in `pet.txt` | a hunk of one word |
| 2 | asks `CALM` in `wind.md` | the changed sentence of a long paragraph |
| 3 | asks `SHORTEN` in `old.txt`, goes to the hunk | a deletion of 40 lines and its count |
| 4 | asks `CAPITALS` in `many.txt` | 30 hunks |
| 5 | asks `FILES`, answers "Delete" | a new file, a moved file, a deleted file |
| 6 | accepts the hunk of `pet.txt` | the new text, without a mark |
| 7 | rejects the hunk of `wind.md` with `REASON` | the old text, without a mark |
| 8 | undoes the accept, with the editor's undo | the hunk, pending again |
| 9 | types over the word that the hunk replaces | a conflict |
| 10 | asks `EXPLAIN` | the long answer beside the code, the focus in the code |
| 11 | writes `GO_ON` in the chat, steers with `SHORTER` | tool calls, both messages, the answer |
| 12 | quits, starts the editor again in `many.txt` | the hunks in their places |
"""

from typing import Any

from tests.editors.scripts import edit

CAT, DOG = "The cat sat on the mat.\n", "The dog sat on the mat.\n"
PET = f"alpha\n{CAT}omega\n"
WIND = (
    "The first sentence stays here exactly as it was, yes. "
    "The second one stays too, and it is in the next line. "
    "Here a tremendous wind was blowing from the far hill. "
    "After it there comes the fourth, which does not move. "
    "And the fifth ends what is one long line of the text.\n"
)
LINES = "".join(f"old {n:02}\n" for n in range(1, 41))
MANY = "".join(f"a {n:02}\nb {n:02}\nc {n:02}\n" for n in range(1, 31))
TEXTS = {
    "pet.txt": PET,
    "wind.md": f"# Wind\n\n{WIND}",
    "old.txt": f"head\n{LINES}tail\n",
    "many.txt": MANY,
    "name.txt": "a name\n",
    "gone.txt": "no longer needed\n",
}
"""The workspace: relative path to text."""

RENAME, CALM, SHORTEN, CAPITALS = "name the dog", "calm the wind", "shorten it", "use capitals"
FILES, EXPLAIN, GO_ON, SHORTER = "tidy the files", "explain it", "and the wind?", "in one line"
REASON = "it was tremendous"
ANSWER = (
    "# The pets\n\n"
    "The file names one animal. It sits on a mat.\n\n"
    "- The cat is in the old text.\n"
    "- The dog is in the new text.\n\n"
    "Nothing else changes.\n"
)
"""A Markdown answer of more than three lines."""
SHORT_ANSWER = "It blows from the hill."


def script(hold: str) -> list[dict[str, Any]]:
    """Return the model script of all steps.

    Args:
        hold: The path whose file lets the model go on in step 11, after the user has steered.
    """
    capitals = [edit("many.txt", f"b {n:02}\n", f"B {n:02}\n", f"Line {n}") for n in range(1, 31)]
    return [
        *_turn("Named the dog.", edit("pet.txt", CAT, DOG, "Name the dog")),
        *_turn(
            "Calmed the wind.",
            edit("wind.md", WIND, WIND.replace("tremendous", "strong"), "Calm the wind"),
        ),
        *_turn("Dropped the old lines.", edit("old.txt", LINES, "", "Drop the old lines")),
        *_turn("Wrote capitals.", *capitals),
        {"tool_calls": [_call("read_file", file="name.txt")]},
        *_turn(
            "Tidied the files.",
            _call("read_file", file="gone.txt"),
            _call("create_file", file="new.txt", content="first\nsecond\n"),
            _call("move_file", file="name.txt", to="title.txt"),
            _call("delete_file", file="gone.txt", reason="nobody reads it"),
        ),
        {"text": ANSWER},
        {"tool_calls": [_call("read_file", file="wind.md")], "hold": hold},
        {"text": SHORT_ANSWER},
    ]


def _call(name: str, **arguments: str) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def _turn(summary: str, *calls: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"tool_calls": [*calls]}, {"tool_calls": [_call("done", summary=summary)]}]
