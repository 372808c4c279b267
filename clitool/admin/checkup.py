"""What `clitool check` finds: everything that would make calls fail, and what is odd."""

from __future__ import annotations

from clitool.access import clients_path
from clitool.admin.checkup_clients import check_clients
from clitool.admin.checkup_folders import check_folders
from clitool.admin.index_upkeep import check_index, settle
from clitool.admin.remarks import Remarks
from clitool.catalog import Catalog
from clitool.clients_file import ClientsFileError
from clitool.clients_yaml import load_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from clitool.arguments import Request
    from clitool.clients_yaml import ParsedClients


def check(request: Request, environment: Mapping[str, str], *, connect: bool) -> Remarks:
    """Look at everything a call depends on: the clients file, the families, each client's settings, the folders.

    Args:
        request: where the clients file is, and whether its owner and readers matter.
        environment: as calls will have it.
        connect: whether families may reach their servers.
    """
    remarks = Remarks()
    catalog = Catalog()
    for name in catalog.names():
        catalog.family(name)
    try:
        path = clients_path(request, environment)
        settle(path)
        clients = load_all(path, trust=request.trust_file)
        remarks.about(clients)
        check_clients(clients, catalog, environment, remarks, connect=connect)
        check_folders(clients, environment, remarks)
        _check_empty_token_client(request, clients, remarks)
        check_index(clients, remarks)
    except ClientsFileError as error:
        for problem in error.problems:
            remarks.problem(problem)
    for warning in catalog.warnings:
        remarks.error("", warning)
    return remarks


def _check_empty_token_client(request: Request, clients: ParsedClients, remarks: Remarks) -> None:
    name = request.empty_token_client
    if name is not None and (name not in clients.by_name or not clients.by_name[name].empty_token):
        remarks.error("", f"--empty-token-client: no client {name!r} says 'empty_token: true'; its calls are refused")
