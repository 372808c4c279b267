"""What each command for people answers: one call of the core, as text or as a document."""

from __future__ import annotations

from clitool import answer
from clitool.admin.door import DONE, REFUSED, Output

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clitool.admin.token_list import Wish
    from clitool.arguments import Request

    Environment = Mapping[str, str]


def version(*, json: bool) -> Output:
    """Name the program and its version."""
    from importlib.metadata import version as installed

    from clitool.catalog import OWN_DISTRIBUTION

    number = installed(OWN_DISTRIBUTION)
    return Output(answer.encode({"name": "clitool", "version": number}) if json else f"clitool {number}\n")


def init(folder: str, request: Request, *, json: bool) -> Output:
    """Write the sample folder; tell its token, and what to try."""
    from clitool.admin import sample
    from clitool.admin.sample_folder import make

    path, token = make(folder)
    if json:
        return _document({"clients": path, "token": token, "client": sample.CLIENT}, request)
    return Output(sample.introduction(path, token))


def check(request: Request, environment: Environment, *, connect: bool, json: bool) -> Output:
    """Tell what a check of everything finds."""
    from clitool.admin.checkup import check as find

    remarks = find(request, environment, connect=connect)
    status = DONE if remarks.ok else REFUSED
    if json:
        findings = [{"level": each.level, "where": each.where, "message": each.message} for each in remarks.all]
        return _document({"ok": remarks.ok, "findings": findings}, request, status)
    return Output("".join(f"{line}\n" for line in (*remarks.all, remarks.summary())), status)


def explain(request: Request, environment: Environment, client: str, *, json: bool) -> Output:
    """Tell the steps of a call."""
    from clitool.admin.explanation import explain as walk

    explanation = walk(request, environment, client)
    status = DONE if explanation.error is None else REFUSED
    return _document(explanation.document(), request, status) if json else Output(explanation.text(), status)


def schema(what: str) -> Output:
    """Return the schema of a tool's parameters, or of the clients file."""
    from clitool.catalog import Catalog

    catalog = Catalog()
    if what == "clients":
        from clitool.admin.clients_schema import clients_schema

        return Output(answer.encode(clients_schema(catalog), pretty=True), hints=catalog.warnings)
    return Output(answer.encode(catalog.find(what)[1].input_schema, pretty=True))


def issue(wish: Wish, request: Request, environment: Environment) -> Output:
    """Make a token; only the token goes to standard output."""
    from clitool.access import clients_path
    from clitool.admin.token_list import issue as make

    token, token_id = make(clients_path(request, environment), wish, trust=request.trust_file)
    until = f", valid through {wish.expires}" if wish.expires else ""
    hint = f"the token {token_id!r} of client {wish.client!r}{until}; it is shown this once"
    return Output(f"{token}\n", hints=[hint])


def tokens(request: Request, environment: Environment, client: str, *, json: bool) -> Output:
    """List the tokens of all clients, or of one."""
    from clitool.access import clients_path
    from clitool.admin.token_list import listing
    from clitool.clients_yaml import load_all

    entries = listing(load_all(clients_path(request, environment), trust=request.trust_file), client)
    if json:
        return _document(entries, request)
    rows = [("CLIENT", "ID", "LAST DAY", "STATUS")]
    rows += [(entry["client"], entry["id"], entry["expires"] or "-", entry["status"]) for entry in entries]
    return Output(_table(rows))


def revoke(request: Request, environment: Environment, client: str, token_id: str) -> Output:
    """Remove a token."""
    from clitool.access import clients_path
    from clitool.admin.token_list import revoke as remove

    left = remove(clients_path(request, environment), client, token_id, trust=request.trust_file)
    have = "it has no token left" if not left else f"it has {left} left"
    return Output(f"The token {token_id!r} of client {client!r} is gone; {have}.\n")


def _document(value: object, request: Request, status: int = DONE) -> Output:
    return Output(answer.encode(value, pretty=request.pretty), status)


def _table(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "".join(f"{line}\n" for line in lines)
