"""A small shop in a database of its own on a real MongoDB, with an account for it and calls of the database tools."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from clitool_tools.database import family
from contexts import make_context
from mariadb_world import hidden
from refusals import PASSWORD, SECRET, Refusals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pymongo.collection import Collection
    from pymongo.database import Database
    from services.mongod import Mongod

TOOLS: dict[str, type[Any]] = {tool.name.removeprefix("database_"): tool for tool in family.tools}
ALLOWED = ["customers", "orders", "things", "v_orders", "v_secret"]
SHOP: dict[str, list[dict[str, Any]]] = {
    "customers": [
        {"_id": 1, "name": "Ada", "email": "ada@example.org", "note": None},
        {"_id": 2, "name": "Bob", "note": "x"},
        {"_id": 3, "name": "Zoë", "note": 7, "tags": ["a", "b"]},
    ],
    "orders": [
        {"_id": 1, "customer": 1, "total": 10.5, "doc": {"a": [1, 2]}},
        {"_id": 2, "customer": 1, "total": 20, "doc": None},
        {"_id": 3, "customer": 2, "total": 3},
    ],
    "secret": [{"_id": 1, "k": SECRET}, {"_id": 2, "k": f"{SECRET}-2"}],
}
VIEWS = {"v_orders": ("orders", [{"$project": {"customer": 1}}]), "v_secret": ("secret", [])}


class Mongo(Refusals):
    """A database with one client's settings for it, to be left with `drop`.

    Args:
        server: where.
        settings: of the client, beside the usual ones.
    """

    def __init__(self, server: Mongod, **settings: object) -> None:
        self.server = server
        self.name = server.unused_name()
        self.folder = str(server.folder)
        self._client = server.client()
        if server.auth:
            self.database.command("createUser", self.name, pwd=PASSWORD, roles=["readWrite"])
        account = (self.name, PASSWORD) if server.auth else ("", "")
        self.settings: dict[str, Any] = {
            "type": "mongodb",
            "connection_string": server.address(self.name, *account),
            "allowed_tables": ALLOWED,
            **settings,
        }

    @property
    def database(self) -> Database[dict[str, Any]]:
        """The database as the owner of the server has it."""
        return self._client[self.name]

    def collection(self, name: str) -> Collection[dict[str, Any]]:
        """Return a collection as the owner of the server has it."""
        return self.database[name]

    def fill(self, content: Mapping[str, Sequence[Mapping[str, Any]]] | None = None) -> None:
        """Put documents into collections; the shop with its views and its unique index if none are given."""
        if content is None:
            self.collection("customers").create_index("name", unique=True)  # before there are documents: that is quick
            for name, (source, pipeline) in VIEWS.items():
                self.database.create_collection(name, viewOn=source, pipeline=pipeline)
        for name, documents in (SHOP if content is None else content).items():
            self.collection(name).insert_many([dict(document) for document in documents])

    def dump(self) -> dict[str, list[Any]]:
        """Return the whole content, to see that nothing was changed."""
        names = sorted(name for name in self.database.list_collection_names() if not name.startswith("system."))
        return {name: list(self.collection(name).find().sort("_id")) for name in names}

    def act_as(self, *privileges: Mapping[str, Any]) -> None:
        """Let the client's account have these privileges only, as ``(collection, actions)``."""
        role = f"only-{self.name}"
        self.database.command("createRole", role, privileges=list(privileges), roles=[])
        self.database.command("updateUser", self.name, roles=[role])

    @contextmanager
    def watched(self) -> Iterator[list[Any]]:
        """Give the list of what the server is asked about this database's collections meanwhile, filled at the end."""
        asked: list[Any] = []
        self.database.command("profile", 2)
        try:
            yield asked
        finally:
            self.database.command("profile", 0)
            entries = self.collection("system.profile").find({"command.profile": {"$exists": False}}).sort("ts")
            asked += [entry for entry in entries if not entry["ns"].endswith("system.profile")]
            self.collection("system.profile").drop()

    def drop(self) -> None:
        """Leave the database, which goes with the server: to remove one takes longer than most tests."""
        self._client.close()

    def context(self, seconds: float = 8.0) -> Any:
        return make_context(family, hidden(self.settings), folder=self.folder, seconds=seconds)

    def call(self, tool: str, **params: Any) -> Any:
        """Return the result of one call."""
        with self.connected() as call:
            return call(tool, **params)

    @contextmanager
    def connected(self) -> Iterator[Callable[..., Any]]:
        """Give what makes several calls over one connection, as a program does that stays."""
        context = self.context(60.0)
        try:
            yield lambda tool, **params: TOOLS[tool](context).execute(**params)
        finally:
            context.close()
