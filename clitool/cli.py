"""The command line for people: options to one call of the core, whose text is then printed.

`list`, `verify` and `call` are declared here for their help; arguments.py reads them.
"""

from __future__ import annotations

import os
from typing import Annotated

import typer

from clitool.admin import answers, help_texts
from clitool.admin.door import INTERRUPTED, REFUSED, Door, usage
from clitool.arguments import DEFAULT_TIMEOUT, MAX_TIMEOUT, Request, UsageError, parse

CHECK_TIMEOUT = 300.0  # it may reach many servers, one after the other, or look at 100 000 clients

# Typer carries a copy of Click or depends on it, by its version; in both, this is the class of all usage errors.
_UsageProblem: type[Exception] = typer.BadParameter.__mro__[1]

app = typer.Typer(
    name="clitool",
    help=help_texts.TOP,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"], "terminal_width": 80},
)
token = typer.Typer(rich_markup_mode=None, help=help_texts.OF_TOKENS)
app.add_typer(token, name="token")
resident = typer.Typer(rich_markup_mode=None, help=help_texts.OF_RESIDENT)
app.add_typer(resident, name="resident")

_Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
_TokenStdin = Annotated[bool, typer.Option("--token-stdin", help="The token is the first line of standard input.")]
_TokenFile = Annotated[
    str | None, typer.Option("--token-file", metavar="FILE", help=("The token is the first line of the file."))
]
_Params = Annotated[
    str | None,
    typer.Option(
        "--params",
        metavar="JSON|@FILE|@-",
        help=("Parameters as a JSON object, from a file, or from standard input after the token line."),
    ),
]
_Tool = Annotated[str, typer.Argument(metavar="TOOL", help="Name of the tool; see 'clitool list'.")]
_Client = Annotated[str, typer.Argument(metavar="CLIENT", help="Name of the client.")]


class _Session:
    """One command line: its words, and what the global options say."""

    def __init__(self, words: list[str]) -> None:
        self.words = words
        self.request = Request()
        self.seconds: float | None = None

    def door(self, *, json: bool = False) -> Door:
        """Return the way out of a command that answers with a document if `json`."""
        return Door(json=json, verbose=self.request.verbose)


def run(words: list[str]) -> int:
    """Do what the command line says and return the exit status; whatever happens, nothing is raised.

    Args:
        words: the command line without the program.
    """
    try:
        with typer.main.get_command(app).make_context("clitool", list(words), obj=_Session(words)) as context:
            status = context.command.invoke(context)
    except typer.Exit as ending:
        return ending.exit_code
    except _UsageProblem as problem:
        return _refuse(problem)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except BrokenPipeError:  # nobody reads the help any more
        return REFUSED
    except Exception as error:  # noqa: BLE001 - the door's last way out
        return Door().fail(error)
    return status if isinstance(status, int) else 0


@app.callback(invoke_without_command=True)
def options(  # noqa: PLR0913, PLR0917 - the options that there are
    context: typer.Context,
    clients: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help=(
                "The clients file; else $CLITOOL_CLIENTS, else ~/.config/clitool/clients.yaml, "
                "else /etc/clitool/clients.yaml."
            ),
        ),
    ] = None,
    empty_token_client: Annotated[
        str | None,
        typer.Option(metavar="NAME", help=("The client that stands for an empty token, from a host that sends none.")),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help=(f"When to give up a call; {DEFAULT_TIMEOUT:g} if not given.")),
    ] = None,
    trust_file: Annotated[
        bool,
        typer.Option(
            "--trust-file", help=("Accept a clients file of another owner or readable by others, as in containers.")
        ),
    ] = False,
    pretty: Annotated[bool, typer.Option("--pretty", help="Indent JSON.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show where an internal error comes from.")] = False,
    version: Annotated[bool, typer.Option("--version", help="Print the version; with --json as JSON.")] = False,
    json: Annotated[bool, typer.Option("--json", hidden=True)] = False,
) -> int:
    """Take in the global options."""
    session: _Session = context.obj
    session.seconds = timeout
    request = session.request
    request.clients, request.empty_token_client = clients, empty_token_client
    request.trust_file, request.pretty, request.verbose = trust_file, pretty, verbose
    if version:
        raise typer.Exit(Door(verbose=verbose).here(lambda: answers.version(json=json)))
    if json:
        context.fail("--json goes after the command")
    if timeout is not None and not 0 < timeout <= MAX_TIMEOUT:
        context.fail(f"--timeout takes seconds, more than 0 and at most {MAX_TIMEOUT:g}")
    if context.invoked_subcommand is None:
        context.fail("name a command: list, verify, call, init, check, explain, schema, token or resident")
    return 0


@app.command("list", help=help_texts.LIST)
def list_tools(context: typer.Context) -> int:
    """Hand over to the door for machines."""
    return _hand_over(context)


@app.command(help=help_texts.VERIFY)
def verify(context: typer.Context, token_stdin: _TokenStdin = False, token_file: _TokenFile = None) -> int:
    """Hand over to the door for machines."""
    del token_stdin, token_file
    return _hand_over(context)


@app.command(help=help_texts.CALL)
def call(
    context: typer.Context,
    tool: _Tool,
    token_stdin: _TokenStdin = False,
    token_file: _TokenFile = None,
    params: _Params = None,
) -> int:
    """Hand over to the door for machines."""
    del tool, token_stdin, token_file, params
    return _hand_over(context)


@app.command(help=help_texts.INIT)
def init(
    context: typer.Context,
    folder: Annotated[str, typer.Argument(metavar="DIR", help="A folder; made if missing.")],
    json: _Json = False,
) -> int:
    """Write the sample folder."""
    if not folder:
        context.fail("DIR must not be empty")
    session: _Session = context.obj
    return session.door(json=json).here(lambda: answers.init(folder, session.request, json=json))


@app.command(help=help_texts.CHECK)
def check(
    context: typer.Context,
    connect: Annotated[bool, typer.Option("--connect", help="Reach the servers that settings name.")] = False,
    json: _Json = False,
) -> int:
    """Print what a check of everything finds."""
    session: _Session = context.obj
    return session.door(json=json).supervised(
        lambda: answers.check(session.request, os.environ, connect=connect, json=json), session.seconds or CHECK_TIMEOUT
    )


@app.command(help=help_texts.EXPLAIN)
def explain(
    context: typer.Context,
    tool: _Tool,
    params: _Params = None,
    token_stdin: _TokenStdin = False,
    token_file: _TokenFile = None,
    client: Annotated[str | None, typer.Option(metavar="NAME", help="This client, without a token.")] = None,
    json: _Json = False,
) -> int:
    """Print the steps of a call."""
    session: _Session = context.obj
    request = session.request
    if [token_stdin, token_file is not None, client is not None].count(True) != 1:
        context.fail("say who calls: one of --token-stdin, --token-file FILE and --client NAME")
    request.tool, request.params = tool, params
    request.token_stdin, request.token_file = token_stdin, token_file
    request.timeout = session.seconds or DEFAULT_TIMEOUT
    return session.door(json=json).supervised(
        lambda: answers.explain(request, os.environ, client or "", json=json), request.timeout
    )


@app.command(help=help_texts.SCHEMA)
def schema(
    context: typer.Context,
    what: Annotated[str, typer.Argument(metavar="TOOL|clients", help="A tool's name, or 'clients'.")],
) -> int:
    """Print a schema."""
    session: _Session = context.obj
    return session.door().supervised(lambda: answers.schema(what), session.seconds or DEFAULT_TIMEOUT)


@token.command("issue", help=help_texts.ISSUE)
def token_issue(
    context: typer.Context,
    client: _Client,
    token_id: Annotated[
        str, typer.Option("--id", metavar="ID", help=("Names the token; today's date if not given."))
    ] = "",
    expires: Annotated[
        str, typer.Option(metavar="DATE", help=("The last day on which it is valid (UTC), like 2027-06-30."))
    ] = "",
    create: Annotated[bool, typer.Option("--create", help="Make a new client; needs --scope.")] = False,
    scope: Annotated[
        list[str] | None,
        typer.Option(metavar="SCOPE", help=("What the new client may do, like file:read; may be repeated.")),
    ] = None,
) -> int:
    """Print a new token."""
    if create != bool(scope):
        context.fail("--create and --scope go together: they make a new client")
    from clitool.admin.token_list import Wish

    session: _Session = context.obj
    wish = Wish(client, token_id, expires, scope or ())
    return session.door().here(lambda: answers.issue(wish, session.request, os.environ))


@token.command("list", help=help_texts.LIST_TOKENS)
def token_list(
    context: typer.Context,
    client: Annotated[str, typer.Argument(metavar="[CLIENT]", help="Name of the client; all if not given.")] = "",
    json: _Json = False,
) -> int:
    """Print the tokens there are."""
    session: _Session = context.obj
    return session.door(json=json).here(lambda: answers.tokens(session.request, os.environ, client, json=json))


@token.command("revoke", help=help_texts.REVOKE)
def token_revoke(
    context: typer.Context,
    client: _Client,
    token_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the token.")],
) -> int:
    """Remove a token."""
    session: _Session = context.obj
    return session.door().here(lambda: answers.revoke(session.request, os.environ, client, token_id))


@resident.command("start", help=help_texts.START_RESIDENT)
def resident_start(
    context: typer.Context,
    foreground: Annotated[bool, typer.Option("--foreground", help="Do not return; for service managers.")] = False,
) -> int:
    """Start the resident worker."""
    from clitool.admin import residence

    session: _Session = context.obj
    return session.door().here(lambda: (residence.run if foreground else residence.start)(os.environ))


@resident.command("stop", help=help_texts.STOP_RESIDENT)
def resident_stop(context: typer.Context) -> int:
    """End the resident worker."""
    from clitool.admin import residence

    session: _Session = context.obj
    return session.door().here(lambda: residence.stop(os.environ))


@resident.command("status", help=help_texts.STATUS_OF_RESIDENT)
def resident_status(context: typer.Context) -> int:
    """Describe the resident worker."""
    from clitool.admin import residence

    session: _Session = context.obj
    return session.door().here(lambda: residence.status(os.environ))


def _hand_over(context: typer.Context) -> int:
    from clitool.machine import refuse
    from clitool.machine import run as answer

    try:
        request = parse(context.obj.words)
    except UsageError as problem:
        return refuse(problem)
    if request is None:
        raise TypeError("a command for machines that its own reader does not know")
    return answer(request, os.environ)


def _refuse(problem: Exception) -> int:
    """Tell a usage error of Typer's; of words that nobody asked for it would repeat the text, which may be a secret."""
    context: typer.Context | None = getattr(problem, "ctx", None)
    message: str = problem.format_message()  # type: ignore[attr-defined]  # every usage error has it
    if message.startswith("Got unexpected extra argument"):
        message = "there is a word too many"
    if message == "Missing command.":
        message = "name a command; see --help"
    return usage(context.get_usage() if context else "Usage: clitool [OPTIONS] COMMAND [ARGS]...", message)
