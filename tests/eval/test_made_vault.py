"""The link graph of a vault of thousands of notes, compared with the known links."""

import posixpath
from pathlib import Path

from stet.links.dead_links import DeadLinkChecker
from stet.links.link_scan import scan_links
from stet.notes.note_content import tags_in
from stet.system.system import System
from stet.workspace.workspace import Workspace
from tests.support.vault import make_vault

N_NOTES = 2000


def test_links_backlinks_dead_links_and_tags_of_a_large_vault_are_right(tmp_path: Path) -> None:
    vault = make_vault(N_NOTES, seed=5)
    for name, text in vault.texts.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    workspace = Workspace(System())
    workspace.add_root(tmp_path.as_uri())
    snapshot = workspace.snapshot()
    scan = scan_links(snapshot)
    uris = {posixpath.relpath(path, tmp_path): uri for path, uri in scan.uris.items()}
    names = {uri: name for name, uri in uris.items()}
    assert uris.keys() == vault.texts.keys()
    dead = DeadLinkChecker(snapshot, scan)
    for name, expected in vault.links.items():
        edges = scan.outgoing(uris[name])
        found = [names[edge.targets[0]] if edge.targets else None for edge in edges]
        assert found == expected, name
        assert [dead.is_dead(edge) for edge in edges] == [each is None for each in expected], name
    backlinks = {
        name: sorted(names[edge.source] for edge in scan.backlinks(uri))
        for name, uri in uris.items()
    }
    assert backlinks == vault.backlinks
    tags = {name: tuple(sorted(tags_in(text))) for name, text in vault.texts.items()}
    assert tags == {name: tuple(sorted(each)) for name, each in vault.tags.items()}
