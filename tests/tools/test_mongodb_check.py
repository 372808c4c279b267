"""`clitool check --connect` on MongoDB: what it says about the server and the account, and the role that it prints."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from clitool_tools.database import check, family
from mariadb_world import hidden
from mongo_world import ALLOWED, PASSWORD, Mongo
from services.mongod import Mongod

from clitool.family import Origin

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from services.certificates import Authority

    from clitool.family import Finding


def findings(world: Mongo, *, probe: bool = True, **settings: object) -> list[Finding]:
    parsed = family.parse({**hidden(world.settings), **settings}, Origin(world.folder)) if family.parse else {}
    return list(check(parsed, probe))


def said(found: list[Finding], level: str) -> list[str]:
    return [finding.message for finding in found if finding.level == level]


def statements(found: list[Finding], name: str) -> list[dict[str, Any]]:
    """Return the documents of the printed commands of this name."""
    begin = f'db.getSiblingDB("{name}").'
    commands = [message.removeprefix(begin) for message in said(found, "ok") if message.startswith(begin)]
    assert [command.partition("(")[0] for command in commands] == ["createRole", "createUser"]
    texts = [command.partition("(")[2].removesuffix(")") for command in commands]
    return [json.loads(text.replace("passwordPrompt()", json.dumps(PASSWORD))) for text in texts]


@pytest.fixture
def open_shop(mongod: Mongod) -> Iterator[Mongo]:
    """A shop on a standalone server that asks for no password."""
    world = Mongo(mongod)
    world.fill()
    yield world
    world.drop()


def test_nothing_is_asked_unless_that_is_wanted(mongo_shop: Mongo) -> None:
    with mongo_shop.watched() as asked:
        assert findings(mongo_shop, probe=False) == []

    assert asked == []


def test_an_unencrypted_connection_to_another_machine_is_a_warning(mongo_shop: Mongo) -> None:
    [warning] = findings(mongo_shop, probe=False, connection_string="mongodb://db.example.org/shop")

    assert "unencrypted" in warning.message
    assert findings(mongo_shop, probe=False, connection_string="mongodb://db.example.org/shop?tls=true") == []
    assert findings(mongo_shop, probe=False, connection_string="mongodb://%2Frun%2Fmongodb.sock/shop") == []


def test_files_of_certificates_are_looked_at(mongo_shop: Mongo, tmp_path: Path) -> None:
    """The file with the key must be readable, and for nobody else."""
    key = tmp_path / "key.pem"
    address = f"mongodb://127.0.0.1/shop?tls=true&tlsCertificateKeyFile={key}"

    [missing] = findings(mongo_shop, probe=False, connection_string=address)
    key.touch(0o644)
    [open_] = findings(mongo_shop, probe=False, connection_string=address)
    key.chmod(0o600)

    assert (missing.level, "tlsCertificateKeyFile does not exist" in missing.message) == ("error", True)
    assert (open_.level, "chmod o-r" in open_.message) == ("warning", True)
    assert findings(mongo_shop, probe=False, connection_string=address) == []


def test_the_server_is_described(mongo_shop: Mongo, open_shop: Mongo) -> None:
    assert "MongoDB 6" in said(findings(mongo_shop), "ok")[0]
    assert "a replica set; the connection is not encrypted" in said(findings(mongo_shop), "ok")[0]
    assert "a standalone server, without transactions" in said(findings(open_shop), "ok")[0]


def test_an_encrypted_connection_is_told(authority: Authority) -> None:
    server = Mongod(authority=authority)
    try:
        world = Mongo(server)
        world.fill()
        text = server.address(world.name, tls="true", tlsCAFile=str(authority.path))
        found = findings(world, connection_string=text, allowed_tables=["orders"])
        world.drop()
    finally:
        server.stop()

    assert "the connection is encrypted" in said(found, "ok")[0]
    assert said(found, "error") == []


def test_a_server_without_passwords_is_a_warning(open_shop: Mongo) -> None:
    """Where nobody is asked who he is, the whitelist is this program's alone."""
    [warning] = said(findings(open_shop), "warning")

    assert "asks for no password" in warning
    assert len(statements(findings(open_shop), open_shop.name)) == 2


def test_a_server_that_cannot_be_reached_is_one_error(mongo_shop: Mongo) -> None:
    [*_, error] = findings(mongo_shop, connection_string="mongodb://127.0.0.1:1/shop", timeout=0.5)

    assert (error.level, error.key) == ("error", "connection_string")
    assert "cannot be reached" in error.message


def test_a_wrong_password_is_one_error_without_it(mongo_shop: Mongo) -> None:
    text = mongo_shop.server.address(mongo_shop.name, mongo_shop.name, "wr0ng-passw0rd")
    found = findings(mongo_shop, connection_string=text)

    [error] = said(found, "error")
    assert "refuses the user or the password" in error
    assert "wr0ng" not in repr([finding.message for finding in found])


def test_a_collection_that_does_not_exist_is_an_error(mongo_shop: Mongo) -> None:
    found = findings(mongo_shop, allowed_tables=["orders", "ordres"])

    assert said(found, "error") == ["the database has no collection 'ordres', or the account may not use it"]
    assert {finding.key for finding in found if finding.level == "error"} == {"allowed_tables"}


def test_the_key_of_a_named_connection_is_told(mongo_shop: Mongo) -> None:
    values = hidden({**mongo_shop.settings, "allowed_tables": ["nothing"]})
    assert family.parse is not None
    found = list(check(family.parse({"connections": {"shop": values}}, Origin("/")), probe=True))

    assert {finding.key for finding in found} == {
        "connections.shop.connection_string",
        "connections.shop.allowed_tables",
    }


def test_a_view_is_shown_with_what_it_reads(mongo_shop: Mongo) -> None:
    mongo_shop.database.create_collection(
        "v_wide",
        viewOn="orders",
        pipeline=[
            {"$lookup": {"from": "secret", "pipeline": [{"$unionWith": "customers"}], "as": "s"}},
            {"$facet": {"f": [{"$unionWith": {"coll": "things", "pipeline": []}}]}},
        ],
    )
    told = said(findings(mongo_shop, allowed_tables=["orders", "v_orders", "v_secret", "v_wide"]), "ok")

    assert "the view 'v_orders' reads orders" in told
    assert "the view 'v_secret' reads secret, though secret is not in allowed_tables" in told
    assert (
        "the view 'v_wide' reads orders, secret, customers, things, though secret, customers, things is not in"
        " allowed_tables" in told
    )


EXCESS = [
    pytest.param("readWrite", "{db}", "on every collection of its database", id="the whole database"),
    pytest.param("readWrite", "other", "in the database 'other'", id="another database"),
    pytest.param("dbAdmin", "{db}", "on every collection of its database", id="an administrator of the database"),
    pytest.param("userAdmin", "{db}", "on every collection of its database", id="one who makes accounts"),
    pytest.param("readAnyDatabase", "admin", "in every database", id="every database"),
    pytest.param("clusterMonitor", "admin", "on the whole server", id="one who watches the server"),
    pytest.param("root", "admin", "on the whole server", id="one who may do everything"),
]


@pytest.mark.parametrize(("role", "database", "where"), EXCESS)
def test_an_account_that_may_do_more_is_a_warning(mongo_shop: Mongo, role: str, database: str, where: str) -> None:
    """The role of the server is the boundary that holds also for who has the password."""
    roles = [{"role": role, "db": database.format(db=mongo_shop.name)}]
    mongo_shop.database.command("updateUser", mongo_shop.name, roles=roles)

    warnings = said(findings(mongo_shop), "warning")

    assert any(where in warning for warning in warnings)
    assert all(warning.startswith("the account may do more than the tools need ") for warning in warnings)
    assert len(statements(findings(mongo_shop), mongo_shop.name)) == 2


ONE_TOO_MUCH = [
    pytest.param("orders", ["find", "dropCollection"], "on 'orders': dropCollection", id="an action"),
    pytest.param("v_orders", ["find", "insert"], "on 'v_orders': insert", id="an action on a view"),
    pytest.param("secret", ["find"], "on collections that are not in allowed_tables: find", id="a collection"),
    pytest.param(
        "system.js", ["find"], "on collections that are not in allowed_tables: find", id="one of the server's"
    ),
    pytest.param("", ["find"], "on every collection of its database: find", id="every collection"),
]


def test_an_account_without_rights_is_told_which_it_needs(mongo_shop: Mongo) -> None:
    mongo_shop.database.command("updateUser", mongo_shop.name, roles=[])

    found = findings(mongo_shop)

    assert any("the account has not the right" in error for error in said(found, "error"))
    assert len(statements(found, mongo_shop.name)) == 2


@pytest.mark.parametrize(("collection", "actions", "sentence"), ONE_TOO_MUCH)
def test_one_right_too_much_is_found(mongo_shop: Mongo, collection: str, actions: list[str], sentence: str) -> None:
    mongo_shop.act_as(
        {"resource": {"db": mongo_shop.name, "collection": "customers"}, "actions": ["find", "insert"]},
        {"resource": {"db": mongo_shop.name, "collection": collection}, "actions": actions},
    )

    assert said(findings(mongo_shop), "warning") == [f"the account may do more than the tools need {sentence}"]


def test_an_account_with_the_very_rights_is_no_warning_and_needs_no_commands(mongo_shop: Mongo) -> None:
    mongo_shop.collection("things").insert_one({"_id": 1})
    mongo_shop.act_as(*statements(findings(mongo_shop), mongo_shop.name)[0]["privileges"])

    found = findings(mongo_shop)

    assert said(found, "warning") == []
    assert said(found, "error") == []
    assert said(found, "ok")[-1].startswith("the account may do what the tools need and nothing else")


def test_the_word_all_asks_for_a_role_on_the_whole_database(mongo_shop: Mongo) -> None:
    role, _ = statements(findings(mongo_shop, allowed_tables="all"), mongo_shop.name)

    assert [privilege["resource"] for privilege in role["privileges"]] == [{"db": mongo_shop.name, "collection": ""}]


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("tables", {}),
    ("describe", {"table": "customers"}),
    ("describe", {"table": "v_orders"}),
    ("query", {"table": "customers", "where": {"name": "Ada"}, "order_by": ["-name"]}),
    ("query", {"table": "v_orders"}),
    ("aggregate", {"table": "orders", "pipeline": [{"$unionWith": "v_secret"}, {"$count": "n"}]}),
    ("insert", {"table": "orders", "rows": [{"_id": 8}, {"_id": 9}]}),
    ("upsert", {"table": "customers", "key": "name", "rows": [{"name": "Ada", "note": 1}, {"name": "New"}]}),
    ("update", {"table": "orders", "where": {"_id": {"$gte": 8}}, "values": {"total": 5}}),
    ("update", {"table": "orders", "where": {"_id": 1}, "values": {"total": 5}, "dry_run": True}),
    ("delete", {"table": "orders", "where": {"_id": {"$gte": 8}}}),
]


def test_every_tool_works_with_the_printed_account_and_the_server_refuses_the_rest(mongo_shop: Mongo) -> None:
    """What `check` prints is the same whitelist, enforced by the server."""
    mongo_shop.collection("things").insert_one({"_id": 1})
    role, user = statements(findings(mongo_shop), mongo_shop.name)
    mongo_shop.database.command("createRole", role.pop("role"), **role)
    name = user.pop("user")
    mongo_shop.database.command("createUser", name, **user)
    mongo_shop.settings["connection_string"] = mongo_shop.server.address(mongo_shop.name, name, PASSWORD)

    for tool, params in CALLS:
        assert mongo_shop.call(tool, **params) is not None
    assert [table["name"] for table in mongo_shop.call("tables")["tables"]] == sorted(ALLOWED)

    mongo_shop.settings["allowed_tables"] = "all"  # so that only the server is left to refuse
    assert mongo_shop.reason("query", table="secret") == "not_found"
    assert mongo_shop.reason("aggregate", table="orders", pipeline=[{"$unionWith": "secret"}]) == "permission"
    assert mongo_shop.reason("insert", table="v_secret", rows=[{"_id": 5}]) == "table_not_allowed"
