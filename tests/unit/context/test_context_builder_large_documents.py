"""What is asked about a very long document is answered from its lines: it is never joined or read
through.
"""

from stet.context.context_builder import EditorLocation, build_context
from stet.text.large_document import LARGE, LargeDocument
from stet.text.position import Position, Range
from tests.support.canaries import keys, private_key
from tests.support.workspaces import change, insertion, make_workspace

LINE = "def handler_{n:06d}(request): return respond(request, {n})\n"
N_LINES = LARGE // 50
MIDDLE = N_LINES // 2
URI = "file:///ws/a.py"
KEY = keys()["Stripe key"]
FAR = keys(2)["Stripe key"]


def text() -> str:
    """Lines of code, with a key at the caret and another one far from it."""
    lines = [LINE.format(n=n) for n in range(N_LINES)]
    lines[MIDDLE + 3], lines[10] = f"key = '{KEY}'\n", f"key = '{FAR}'\n"
    return "".join(lines)


def test_a_context_has_the_lines_at_the_caret_and_looks_at_no_others() -> None:
    world = make_workspace({"/ws/a.py": "x\n"}, opened={"/ws/a.py": text()})
    _ = world.apply(change(insertion(MIDDLE, 0, "typed_"), uri=URI))
    snapshot = world.snapshot()
    # What is typed after the question is no part of it.
    _ = world.apply(change(insertion(0, 0, "later\n"), insertion(MIDDLE + 2, 0, "later "), uri=URI))
    place = Position(MIDDLE, 2)
    context = build_context(
        snapshot, EditorLocation(URI, Range(place, Position(MIDDLE + 1, 0))), "Why?"
    )
    assert f"\ttyped_def handler_{MIDDLE:06d}" in context.text
    assert "later" not in context.text
    [document] = context.shown
    assert isinstance(document, LargeDocument)
    assert document.n_lines == N_LINES
    for stretch in context.line_ranges:
        snapshot.learn_around(*stretch)
    known = [secret for secret, _ in snapshot.redactor.known()]
    assert (KEY in known, FAR in known) == (True, False)
    assert snapshot.show_and_learn(URI) == document
    # Joined it would take as much memory again, and hold everything up meanwhile.
    assert "text" not in vars(document)


def test_a_private_key_anywhere_in_a_very_long_document_is_known() -> None:
    pem = private_key(5, n_lines=40)
    lines = text().splitlines(keepends=True)
    lines[500:500] = pem.splitlines(keepends=True)
    world = make_workspace({"/ws/a.py": "x\n"}, opened={"/ws/a.py": "".join(lines)})
    snapshot = world.snapshot()
    _ = snapshot.show(URI)
    known = {secret for secret, _ in snapshot.redactor.known()}
    assert set(pem.splitlines()[1:-1]) <= known


def test_a_very_long_line_is_learnt_as_far_as_it_can_be_shown() -> None:
    line = "x = 1; " * 20_000
    world = make_workspace(
        {"/ws/a.py": "x\n"}, opened={"/ws/a.py": f"{line}k = '{KEY}'; " + line * 20}
    )
    snapshot = world.snapshot()
    context = build_context(snapshot, EditorLocation(URI), "Why?")
    for stretch in context.line_ranges:
        snapshot.learn_around(*stretch)
    assert KEY in [secret for secret, _ in snapshot.redactor.known()]
