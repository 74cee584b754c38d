import pytest
from lsprotocol import types as lsp

from stet.lsp.capabilities import ClientCapabilities, resolve_capabilities
from tests.support.editor_profiles import PROFILES

FILES = frozenset({"create", "rename", "delete"})
EXPECTED = {
    "neovim": ClientCapabilities(
        name="neovim",
        version="0.11.4+v0.11.4",
        apply_edit=True,
        document_changes=True,
        resource_operations=FILES,
        progress=True,
        show_document=True,
        configuration=True,
        workspace_folders=True,
        message_requests=True,
        hover_markdown=True,
    ),
    "helix": ClientCapabilities(
        name="helix",
        selects_cursor=True,
        focuses_shown=True,
        covers_messages=True,
        cuts_messages=True,
        version="25.01.1",
        apply_edit=True,
        document_changes=True,
        resource_operations=FILES,
        progress=True,
        show_document=True,
        configuration=True,
        watches_files=True,
        workspace_folders=True,
        hover_markdown=True,
        overtakes=True,
    ),
    "eglot": ClientCapabilities(
        name="eglot",
        version="1.17.30",
        apply_edit=True,
        document_changes=True,
        progress=True,
        show_document=True,
        configuration=True,
        watches_files=True,
        workspace_folders=True,
        draws_hunks=True,
    ),
    "vscode": ClientCapabilities(
        name="code-server",
        version="1.139.1",
        apply_edit=True,
        document_changes=True,
        resource_operations=FILES,
        progress=True,
        show_document=True,
        configuration=True,
        configuration_dynamic=True,
        watches_files=True,
        workspace_folders=True,
        message_requests=True,
        hover_markdown=True,
        lens_refresh=True,
        previews_edits=True,
        llm_tag=True,
        draws_hunks=True,
        opens_chat=True,
        inline_completion=True,
        inline_completion_dynamic=True,
    ),
    "kakoune": ClientCapabilities(
        name="kakoune-lsp",
        selects_cursor=True,
        version="21.0.0",
        apply_edit=True,
        document_changes=True,
        progress=True,
        configuration=True,
        workspace_folders=True,
        message_requests=True,
        hover_markdown=True,
    ),
    "kate": ClientCapabilities(
        apply_edit=True,
        progress=True,
        workspace_folders=True,
        message_requests=True,
        hover_markdown=True,
    ),
    "sublime": ClientCapabilities(
        name="sublime text lsp",
        version="2.13.0",
        apply_edit=True,
        document_changes=True,
        resource_operations=FILES,
        progress=True,
        show_document=True,
        configuration=True,
        configuration_dynamic=True,
        workspace_folders=True,
        message_requests=True,
        llm_tag=True,
        hover_markdown=True,
        lens_refresh=True,
    ),
}


@pytest.mark.parametrize("client", EXPECTED)
def test_capabilities_follow_from_the_declaration_and_the_name_of_the_editor(client: str) -> None:
    assert resolve_capabilities(PROFILES[client].params()) == EXPECTED[client]


def test_editor_without_a_declaration_has_no_capabilities() -> None:
    assert (
        resolve_capabilities(lsp.InitializeParams(lsp.ClientCapabilities())) == ClientCapabilities()
    )
