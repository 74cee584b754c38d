"""The shell's commands and their options; each command's work is in the module of its name."""

import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import typer

from stet import __version__
from stet.cli import serve_command as serve_module
from stet.cli.files import parse_file_argument, workspace_folder
from stet.cli.serve_command import write_line
from stet.cli.terminal import CliError, Terminal

app = typer.Typer(
    help="Stet: a language server that is a coding and writing agent.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
model_app = typer.Typer(help="The models that can be asked.", no_args_is_help=True)
app.add_typer(model_app, name="model")

RootOption = Annotated[
    Path | None,
    typer.Option(help="The workspace folder; where you are by default.", show_default=False),
]
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
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which Stet.")
    ] = False,
) -> None:
    """Take the options before a command."""


@app.command()
def serve(
    *,
    stdio: Annotated[  # noqa: ARG001 - stdio is the only transport
        bool, typer.Option("--stdio", help="Accepted; changes nothing.")
    ] = False,
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"] | None,
        typer.Option(help="What is logged; the setting log.level by default."),
    ] = None,
) -> None:
    """Run the language server on stdio. Editors start this command."""
    finish(lambda: serve_module.run([f"--log-level={log_level}"] if log_level else []))


@app.command()
def ask(  # noqa: PLR0913 - the options are the signature
    prompt: Annotated[str, typer.Argument(metavar="PROMPT", help="What to ask for.")],
    *,
    file: Annotated[
        str, typer.Option(help="The file it is about, and its lines: PATH[:L1-L2].")
    ] = "",
    root: RootOption = None,
    mode: Annotated[
        Literal["agent", "ask", "rewrite"],
        typer.Option(help="With tools; only reading; or one rewrite of the lines."),
    ] = "agent",
    accept: Annotated[
        Literal["all", "none", "review"] | None,
        typer.Option(
            help="What becomes of the proposals. By default a terminal reviews, a script takes none.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Send even a large question (context.warnTokens).")
    ] = False,
) -> None:
    """Ask once: prints the answer and the proposals, saves what is accepted."""
    from stet.cli import ask_command as ask_module  # late: the session's parts are slow to import

    def work() -> int:
        if as_json and accept == "review":
            raise CliError("--json asks nobody: use --accept all or none with it", code=2)
        place = parse_file_argument(file) if file else None
        # The default never accepts a proposal that the user has not seen.
        is_reviewed = Terminal().is_interactive and not as_json
        accept_mode = accept or ("review" if is_reviewed else "none")
        folder = workspace_folder(root, place)
        request = ask_module.AskRequest(
            prompt, folder, place, mode, accept_mode, as_json, may_send=yes
        )
        return ask_module.run(request)

    finish(work)


@app.command()
def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for, in any words.")],
    *,
    root: RootOption = None,
    limit: Annotated[int, typer.Option(min=1, max=200, help="At most so many places.")] = 20,
    folder: Annotated[str, typer.Option(help="Only below this folder of the workspace.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON array.")] = False,
) -> None:
    """Search the workspace by words and by meaning, the best places first."""
    from stet.cli import search_command  # late, as above

    def work() -> int:
        where = workspace_folder(root, None)
        return search_command.run_search(query, where, folder, limit, as_json=as_json)

    finish(work)


@app.command()
def index(
    *,
    root: RootOption = None,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Make it anew.")] = False,
) -> None:
    """Bring the search index up to the files, and say how large it is."""
    from stet.cli import search_command  # late, as above

    finish(lambda: search_command.run_index(workspace_folder(root, None), rebuild=rebuild))


@app.command()
def demo() -> None:
    """Demonstrate the main task on a sample file, with any model that is found."""
    from stet.cli import demo as demo_module  # late, as above

    finish(demo_module.run)


@app.command()
def doctor() -> None:
    """Report what is configured, what works and how to fix the rest. The model is asked for a word."""
    from stet.cli import doctor as doctor_module  # late, as above

    finish(doctor_module.run)


@model_app.command("list")
def model_list() -> None:
    """List what can be asked here, and what would be asked."""
    from stet.cli import model_command  # late, as above

    finish(model_command.show)


@model_app.command("install")
def model_install(
    *, quiet: Annotated[bool, typer.Option(help="Say nothing if it is there already.")] = False
) -> None:
    """Fetch the small model that Stet can run itself."""
    from stet.cli import model_command  # late, as above

    finish(lambda: model_command.install(quiet=quiet))


@app.command()
def config(
    editor: Annotated[
        Literal["neovim", "vscode", "helix", "emacs"], typer.Argument(help="Which editor.")
    ],
    *,
    write: Annotated[
        bool, typer.Option("--write", help="Put it where the editor looks; for VS Code, install.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace files that you changed; keep a backup.")
    ] = False,
) -> None:
    """Print the client configuration of an editor, and see whether its version will do."""
    from stet.cli import config_command as config_module  # late, as above

    finish(lambda: config_module.run(editor, write=write, force=force))
