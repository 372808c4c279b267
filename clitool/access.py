"""What every command needs first: the token, the clients file, the enabled tools, and words for stderr."""

from __future__ import annotations

from clitool.clients_file import SYSTEM_PATH, ClientsFileError, locate, user_path
from clitool.errors import AuthFailed, ClitoolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from clitool.arguments import Request
    from clitool.catalog import Catalog
    from clitool.channel import Channel
    from clitool.clients import Clients
    from clitool.tokens import TokenLine


def read_token(request: Request) -> TokenLine:
    """Return the token line from where the request says; `verify` reads standard input unasked."""
    line = request.token_line
    if line is None:
        from clitool.tokens import read

        return read(request)
    if isinstance(line, AuthFailed):
        raise line
    return line


def find_clients(request: Request, environment: Mapping[str, str], seconds: float | None = None) -> Clients | None:
    """Return the clients, or None if there is no file in any of the usual places; reading may take `seconds`."""
    path = locate(request.clients, environment)
    if path is None:
        return None
    from clitool.clients import load  # `list` can do without, where there is no file

    return load(path, trust=request.trust_file, seconds=seconds)


def clients_path(request: Request, environment: Mapping[str, str]) -> str:
    """Return where the clients file lies; no file at all is an error: nobody can be let in."""
    path = locate(request.clients, environment)
    if path is None:
        places = " or ".join(filter(None, (user_path(environment), SYSTEM_PATH)))
        hint = f"give --clients PATH, set CLITOOL_CLIENTS, or write {places} (`clitool init DIR` makes one)"
        raise ClientsFileError([f"there is no clients file: {hint}"])
    return path


def clients_file(request: Request, environment: Mapping[str, str], seconds: float | None = None) -> Clients:
    """Return the clients; no file at all is an error, and so is one that takes more than `seconds` to read."""
    from clitool.clients import load

    return load(clients_path(request, environment), trust=request.trust_file, seconds=seconds)


def disable(catalog: Catalog, clients: Clients) -> None:
    """Switch off what `tools.disabled` says; a name that means nothing must not pass for switched off."""
    unknown = catalog.disable(clients.disabled)
    if unknown:
        where = ("tools", "disabled")
        raise ClientsFileError([clients.where(where, f"{name!r} is neither a tool nor a family") for name in unknown])


def explain(channel: Channel, error: BaseException, *, verbose: bool = False) -> None:
    """Tell the owner on stderr what the caller is not told; of an unforeseen error, the traceback if `verbose`."""
    if isinstance(error, ClientsFileError):
        for problem in error.problems:
            channel.note(problem)
    elif not isinstance(error, ClitoolError):
        channel.note(f"internal error: {type(error).__name__}")
        if verbose:
            from traceback import format_exception

            for line in "".join(format_exception(error)).splitlines():
                channel.note(line)
