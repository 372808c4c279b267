"""`call`: one tool, one answer."""

from __future__ import annotations

import os

from clitool import answer, params, pipeline
from clitool.access import clients_file, disable, explain, read_token
from clitool.catalog import Catalog
from clitool.errors import AuthFailed, ClitoolError
from clitool.journal import Journal
from clitool.machine import STDERR, STDIN, STDOUT, error_document
from clitool.tokens import read_chunk
from clitool.tool import Deadline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from clitool.arguments import Request
    from clitool.channel import Channel
    from clitool.clients import Clients
    from clitool.pipeline import Connections
    from clitool.tokens import TokenLine

DOOR = "call"
_NOT_SENT = "no token was sent: pipe it into standard input and say --token-stdin"
_NOT_FORWARDED = (  # the only text that the owner of such a host will see
    "the token is empty: is the variable set that holds it? "
    "If this host does not forward its callers' tokens, see --empty-token-client in the documentation"
)


def work(
    request: Request,
    environment: Mapping[str, str],
    channel: Channel,
    connections: Connections = pipeline.closed_with_the_call,
) -> tuple[Sequence[bytes], int]:
    """Return the tool's result, or the first refusal on the way to it.

    Args:
        request: the command line.
        environment: the caller's.
        channel: to whoever waits for the answer.
        connections: see `pipeline.Surroundings`.
    """
    journal = Journal(request.tool, environment)
    try:
        result = _result(request, environment, channel, journal, connections)
        data = answer.pieces({"ok": True, "result": result}, pretty=request.pretty)
    except BaseException as error:  # noqa: BLE001 - this door's one way out: whatever happens becomes a document
        explain(channel, error, verbose=request.verbose)
        journal.outcome(error)
        return [error_document(request, error, journal.logged_under())], 1
    journal.outcome(None)
    return data, 0


def _result(
    request: Request,
    environment: Mapping[str, str],
    channel: Channel,
    journal: Journal,
    connections: Connections,
) -> Any:  # noqa: ANN401 - any JSON value
    try:
        line = _token_line(request)
    except AuthFailed:
        _try_to_open(journal, request, environment, channel)
        raise
    clients = clients_file(request, environment, channel.remaining())
    journal.open(clients)
    _lead_output_to(journal)
    caller = _authenticate(request, clients, line.token, journal)
    journal.caller(caller)
    channel.about(journal.facts())
    catalog = Catalog()
    disable(catalog, clients)
    around = pipeline.Surroundings(clients, catalog, environment, _deadline(request, channel), journal, connections)
    try:
        return pipeline.call(caller, request.tool, lambda: _params(request, line), around)
    finally:
        for warning in catalog.warnings:
            channel.note(warning)


def _token_line(request: Request) -> TokenLine:
    line = read_token(request)
    if not line.token and request.empty_token_client is None:
        raise AuthFailed(_NOT_FORWARDED if request.token_stdin else _NOT_SENT, "token_missing")
    return line


def _try_to_open(journal: Journal, request: Request, environment: Mapping[str, str], channel: Channel) -> None:
    # Only for the audit line of a call without a token: it tells the owner of a host what his host does not send.
    try:
        journal.open(clients_file(request, environment, channel.remaining()))
    except ClitoolError:
        return


def _authenticate(request: Request, clients: Clients, token: bytes, journal: Journal) -> pipeline.Caller:
    if token:
        try:
            return pipeline.authenticate(clients, token, DOOR)
        except AuthFailed:
            journal.rejected(clients, token)
            raise
    return pipeline.empty_token_caller(clients, request.empty_token_client or "", DOOR)


def _params(request: Request, line: TokenLine) -> dict[str, Any]:
    values = params.read(request.params, lambda limit: rest_of_stdin(line, limit))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, STDIN)  # neither a tool nor its children read what a host might still send
    os.close(null)
    return values


def rest_of_stdin(line: TokenLine, limit: int) -> bytes:
    """Return what follows the token line on standard input, at most `limit` bytes and one more."""
    data = bytearray(line.rest)
    while len(data) <= limit and (chunk := read_chunk(STDIN)):
        data += chunk
    return bytes(data[: limit + 1])


def _lead_output_to(journal: Journal) -> None:
    # What a tool or its children print is no answer, and a pipe of the host's in their hands would hold it up.
    sink = journal.sink()
    os.dup2(sink, STDOUT)
    os.dup2(sink, STDERR)
    os.close(sink)


def _deadline(request: Request, channel: Channel) -> Deadline:
    # A little before the supervisor's, so that a tool that watches its deadline can answer with its own words.
    return Deadline(channel.remaining() - min(0.25, request.timeout / 10))
