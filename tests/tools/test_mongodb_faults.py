"""What MongoDB's troubles are told as: one sentence and one reason each, never a value, an address or a password."""

from __future__ import annotations

import socketserver
import subprocess
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from clitool_tools.database import family
from clitool_tools.database.engine import Selection
from clitool_tools.database.mongodb.faults import Faults, unusable
from clitool_tools.database.mongodb.session import Session
from mariadb_world import hidden
from mongo_world import PASSWORD, Mongo
from pymongo.errors import AutoReconnect, ConfigurationError, OperationFailure, ServerSelectionTimeoutError
from services.certificates import Authority
from services.mongod import SET, Mongod
from services.process import free_port

from clitool.errors import ClitoolError
from clitool.family import Origin
from clitool.tool import Deadline

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

VALUE = "private-value"


def seen(document: dict[str, Any]) -> tuple[str, Any]:
    """Return reason and number of an error document, which tells no value and no address."""
    assert VALUE not in repr(document)
    assert "127.0.0.1" not in repr(document)
    assert "localhost" not in repr(document)
    return document["details"]["reason"], document["details"].get("vendor_code")


@contextmanager
def failing(world: Mongo, *commands: str, times: int = 1, **data: Any) -> Iterator[None]:
    """Let the server fail the client's next commands of these names."""
    point = {"failCommands": list(commands), "appName": "clitool", **data}
    with world.server.owner() as owner:
        owner.admin.command("configureFailPoint", "failCommand", mode={"times": times}, data=point)
        try:
            yield
        finally:
            owner.admin.command("configureFailPoint", "failCommand", mode="off")


@pytest.fixture(scope="module")
def shop(replica_set: Mongod) -> Iterator[Mongo]:
    """The shop for tests that change nothing in it."""
    world = Mongo(replica_set)
    world.fill()
    yield world
    world.drop()


def test_a_short_call_has_time_for_the_server_as_well_as_for_its_own_last_words() -> None:
    """The margin before the deadline is for long calls; it could leave nothing of a short one."""
    assert family.parse is not None
    settings = {"type": "mongodb", "connection_string": "mongodb://127.0.0.1/d", "allowed_tables": ["t"]}
    connection = family.parse(hidden(settings), Origin("/"))[""]

    assert 0.05 < Session(connection, Deadline(0.3)).seconds < 0.25


def with_address(world: Mongo, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setitem(world.settings, "connection_string", address)


def test_a_server_that_is_not_there_is_told_in_time(shop: Mongo, monkeypatch: pytest.MonkeyPatch) -> None:
    with_address(shop, monkeypatch, f"mongodb://u:{VALUE}@127.0.0.1:{free_port()}/db")
    monkeypatch.setitem(shop.settings, "timeout", 0.4)
    document = shop.refusal("query", table="customers")
    assert seen(document) == ("unreachable", None)
    assert "nothing answers" in document["error"]


def test_so_is_a_socket_that_is_not_there(shop: Mongo, monkeypatch: pytest.MonkeyPatch) -> None:
    with_address(shop, monkeypatch, "mongodb://%2Fnowhere%2Fm.sock/db")
    monkeypatch.setitem(shop.settings, "timeout", 0.4)
    assert seen(shop.refusal("query", table="customers")) == ("unreachable", None)


def test_a_socket_works(shop: Mongo, monkeypatch: pytest.MonkeyPatch) -> None:
    from urllib.parse import quote

    login, path = f"{shop.name}:{quote(PASSWORD, '')}", quote(shop.server.socket, "")
    with_address(shop, monkeypatch, f"mongodb://{login}@{path}/{shop.name}?directConnection=true")
    assert len(shop.call("query", table="customers")["rows"]) == 3


@pytest.mark.parametrize(
    ("user", "password"),
    [("", VALUE), ("nobody", PASSWORD), ("", "")],
    ids=["wrong password", "unknown user", "no login"],
)
def test_a_login_that_is_refused(shop: Mongo, monkeypatch: pytest.MonkeyPatch, user: str, password: str) -> None:
    login = (user or shop.name, password) if password else ("", "")
    with_address(shop, monkeypatch, shop.server.address(shop.name, *login))
    assert seen(shop.refusal("query", table="customers")) == (
        ("login_failed", 18) if password else ("login_failed", 13)
    )


def test_an_account_of_another_database_needs_its_name(shop: Mongo, monkeypatch: pytest.MonkeyPatch) -> None:
    with_address(shop, monkeypatch, shop.server.address(shop.name, shop.name, PASSWORD, authSource="admin"))
    document = shop.refusal("query", table="customers")
    assert seen(document) == ("login_failed", 18)
    assert "authSource" in document["error"]


def test_a_database_that_the_account_may_not_use_is_empty(shop: Mongo, monkeypatch: pytest.MonkeyPatch) -> None:
    address = shop.server.address("elsewhere", shop.name, PASSWORD, authSource=shop.name)
    with_address(shop, monkeypatch, address)
    assert shop.reason("query", table="customers") in ("not_found", "permission")


def test_a_missing_right_is_told(mongo_shop: Mongo) -> None:
    resource = {"db": mongo_shop.name, "collection": "customers"}
    mongo_shop.act_as({"resource": resource, "actions": ["find"]})
    document = mongo_shop.refusal("insert", table="customers", rows=[{"name": VALUE}])
    assert seen(document) == ("permission", 13)
    assert "check --connect" in document["error"]


def test_another_replica_set_is_not_taken(shop: Mongo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(shop.settings, "timeout", 0.6)
    for options in ({}, {"directConnection": "true"}):
        address = shop.server.address(shop.name, shop.name, PASSWORD, replicaSet="other", **options)
        with_address(shop, monkeypatch, address)
        document = shop.refusal("query", table="customers")
        assert seen(document) == ("unreachable", None)
        assert "replica set" in document["error"]
    with_address(shop, monkeypatch, shop.server.address(shop.name, shop.name, PASSWORD, replicaSet=SET))
    monkeypatch.setitem(shop.settings, "timeout", 5)
    assert len(shop.call("query", table="customers")["rows"]) == 3


@pytest.mark.parametrize(
    "greeting", [b"J\0\0\0\n8.0.33\0" + b"x" * 60, b"HTTP/1.1 400 Bad Request\r\n\r\n", b"SSH-2.0-x\r\n" * 4], ids=repr
)
def test_another_kind_of_server_is_told(mongo: Mongo, monkeypatch: pytest.MonkeyPatch, greeting: bytes) -> None:
    class Greeting(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.sendall(greeting)
            self.request.recv(4096)

    monkeypatch.setitem(mongo.settings, "timeout", 0.6)
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Greeting) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,)).start()
        with_address(mongo, monkeypatch, f"mongodb://127.0.0.1:{server.server_address[1]}/db")
        document = mongo.refusal("query", table="things")
        server.shutdown()
    assert seen(document) == ("unreachable", None)
    assert "no MongoDB" in document["error"]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (AutoReconnect("presets.example.org:27017: [Errno 111] Connection refused"), "nothing answers"),
        (AutoReconnect("disclosed.certificates.org:27017: timed out"), "nothing answers"),
        (TimeoutError(), "nothing answers"),
        (None, "no primary"),
    ],
    ids=["reset in a name", "closed and certificate in a name", "no word yet", "another role"],
)
def test_the_name_of_a_host_decides_nothing(error: Exception | None, words: str) -> None:
    found = Faults(1, lambda: [error]).translated(ServerSelectionTimeoutError("nobody"))
    assert words in str(found)


def test_a_server_that_is_no_primary_is_not_taken() -> None:
    """A secondary may be behind; one that a connection string names directly is looked at first."""
    server = Mongod("--replSet", "waiting")  # whose set was never made
    world = Mongo(server, timeout=1)
    try:
        for options in ({"directConnection": "true"}, {}):
            world.settings["connection_string"] = server.address(world.name, **options)
            assert seen(world.refusal("query", table="things")) == ("unreachable", None)
    finally:
        world.drop()
        server.stop()


# Changes


def test_a_duplicate_key_names_the_row_and_the_index_but_no_value(mongo_shop: Mongo) -> None:
    mongo_shop.collection("customers").update_one({"_id": 1}, {"$set": {"name": VALUE}})
    document = mongo_shop.refusal("insert", table="customers", rows=[{"name": "new"}, {"name": VALUE}])
    assert seen(document) == ("duplicate_key", 11000)
    assert document["details"]["row"] == 1
    assert document["error"].startswith("rows[1]: ")
    assert "(name)" in document["error"]
    document = mongo_shop.refusal("insert", table="customers", rows=[{"_id": 1}])
    assert (document["details"]["row"], "(_id)" in document["error"]) == (0, True)


def test_a_duplicate_key_of_an_update_is_told(mongo_shop: Mongo) -> None:
    document = mongo_shop.refusal("update", table="customers", where={"_id": 1}, values={"name": "Bob"})
    assert seen(document) == ("duplicate_key", 11000)
    assert "Bob" not in repr(document)


def test_the_rules_of_a_collection_refuse_a_document(mongo: Mongo) -> None:
    mongo.database.create_collection("things", validator={"n": {"$type": "int"}})
    document = mongo.refusal("insert", table="things", rows=[{"n": 1}, {"n": VALUE}])
    assert seen(document) == ("constraint", 121)
    assert document["details"]["row"] == 1
    assert mongo.collection("things").count_documents({}) == 0


BAD: list[Any] = [
    pytest.param("insert", {"rows": [{"_id": [1]}]}, "bad_value", id="array as an _id"),
    pytest.param("insert", {"rows": [{"_id": {"$literal": {"$x": 1}}}]}, "bad_value", id="dollar in an _id"),
    pytest.param(
        "insert",
        {"rows": [{"_id": {"$regularExpression": {"pattern": "a", "options": ""}}}]},
        "bad_value",
        id="regular expression",
    ),
    pytest.param("insert", {"rows": [{"t": VALUE * 1_300_000}]}, "too_large", id="large document"),
    pytest.param("update", {"where": {"_id": 1}, "values": {"_id": VALUE}}, "bad_value", id="new _id"),
    pytest.param("update", {"where": {"_id": 1}, "values": {"n.x": VALUE}}, "bad_value", id="path through a number"),
    pytest.param("update", {"where": {"_id": 1}, "values": {"t": VALUE * 1_300_000}}, "too_large", id="large value"),
]


@pytest.mark.parametrize(("tool", "params", "reason"), BAD)
def test_a_value_that_mongodb_cannot_store_is_the_callers_fault(
    mongo: Mongo, tool: str, params: dict[str, Any], reason: str
) -> None:
    mongo.fill({"things": [{"_id": 1, "n": 5}]})
    document = mongo.refusal(tool, table="things", **params)
    assert seen(document)[0] == reason
    assert document["code"] == "invalid_params"
    assert list(mongo.collection("things").find()) == [{"_id": 1, "n": 5}]


INDEXED: list[Any] = [
    pytest.param({"plane": [200, 500]}, id="a place beyond the map"),
    pytest.param({"plane": ["x", "y"]}, id="a place of texts"),
    pytest.param({"plane": [1]}, id="a place of one number"),
    pytest.param({"globe": {"type": "Point", "coordinates": [500, 500]}}, id="a place beyond the globe"),
    pytest.param({"globe": VALUE}, id="a text as a place"),
    pytest.param({"hash": [VALUE]}, id="an array to hash"),
    pytest.param({"text": VALUE, "language": VALUE}, id="a language that is none"),
    pytest.param({"text": VALUE, "language": 5}, id="a number as a language"),
    pytest.param({"one": [1], "other": [2]}, id="two arrays"),
]


@pytest.fixture(scope="module")
def indexed(replica_set: Mongod) -> Iterator[Mongo]:
    """A collection whose indexes want something of values."""
    world = Mongo(replica_set)
    things = world.collection("things")
    for keys in ([("plane", "2d")], [("globe", "2dsphere")], [("hash", "hashed")], [("text", "text")]):
        things.create_index(keys)
    things.create_index(["one", "other"])
    things.insert_one({"_id": 1})
    yield world
    world.drop()


@pytest.mark.parametrize("values", INDEXED)
def test_a_value_that_an_index_does_not_take_is_the_callers_fault(indexed: Mongo, values: dict[str, Any]) -> None:
    for tool, params in (("insert", {"rows": [values]}), ("update", {"where": {"_id": 1}, "values": values})):
        document = indexed.refusal(tool, table="things", **params)
        assert seen(document)[0] == "bad_value"
        assert "an index of the collection" in document["error"]


def test_a_place_far_behind_the_end_of_an_array_is_the_callers_fault(mongo: Mongo) -> None:
    mongo.fill({"things": [{"_id": 1, "a": [1]}]})
    document = mongo.refusal("update", table="things", where={"_id": 1}, values={"a.2000000": 1})
    assert seen(document)[0] == "bad_value"


# In the middle


def test_a_query_that_takes_too_long_is_stopped(shop: Mongo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(shop.settings, "timeout", 0.5)
    with failing(shop, "find", blockConnection=True, blockTimeMS=1200):
        document = shop.refusal("query", table="customers")
    assert seen(document)[0] == "timeout"
    assert "0.5 s" in document["error"]


def test_the_server_stops_a_query_itself(shop: Mongo, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit goes to the server with every command, so that no work is left behind there."""
    monkeypatch.setitem(shop.settings, "timeout", 1.5)
    with shop.watched() as asked:
        shop.call("query", table="customers", where={"note": "x"})
    (entry,) = [entry for entry in asked if entry["op"] == "query"]
    assert 0 < entry["command"]["maxTimeMS"] <= 1500


def test_the_calls_own_deadline_counts_too(shop: Mongo) -> None:
    context = shop.context(0.2)
    try:
        with (
            failing(shop, "listCollections", blockConnection=True, blockTimeMS=1200),
            pytest.raises(ClitoolError) as caught,
        ):
            context.connection("").tables()
    finally:
        context.close()
    assert caught.value.reason in ("timeout", "unreachable")


CODES = [
    pytest.param(18, "login_failed", id="login"),
    pytest.param(13, "permission", id="right"),
    pytest.param(50, "timeout", id="time limit"),
    pytest.param(112, "locked", id="write conflict"),
    pytest.param(175, "locked", id="collection dropped"),
    pytest.param(292, "database", id="memory"),
    pytest.param(388, "database", id="cache"),
    pytest.param(26, "not_found", id="no collection"),
    pytest.param(14031, "no_space", id="disk full"),
    pytest.param(8000, "login_failed", id="Atlas"),
    pytest.param(9_999_999, "database", id="unknown"),
    pytest.param(1, "database", id="internal"),
]


@pytest.mark.parametrize(("code", "reason"), CODES)
def test_an_error_of_the_server_has_its_reason_and_number(shop: Mongo, code: int, reason: str) -> None:
    with failing(shop, "find", times=5, errorCode=code):
        found = seen(shop.refusal("query", table="customers"))
    assert found == (reason, None if reason == "timeout" else code)


def test_a_connection_that_ends_is_tried_once_more_for_a_read(shop: Mongo) -> None:
    with failing(shop, "find", times=1, closeConnection=True):
        assert len(shop.call("query", table="customers")["rows"]) == 3


def test_a_connection_that_ends_in_the_middle_is_lost(mongo: Mongo) -> None:
    mongo.fill({"things": [{"_id": number} for number in range(1200)]})
    mongo.settings["max_rows"] = 1100
    with failing(mongo, "getMore", closeConnection=True):
        assert seen(mongo.refusal("query", table="things", limit=1100)) == ("connection_lost", None)


def test_the_end_of_the_server_in_the_middle_is_told_at_once() -> None:
    server = Mongod()
    world = Mongo(server, max_rows=3000)
    try:
        world.fill({"things": [{"_id": number, "t": "x" * 10_000} for number in range(3000)]})
        world.drop()
        context = world.context()
        engine = context.connection("")
        rows = engine.select(Selection(engine.table("things"), [], None, [], 3000, is_total=False))
        next(rows)
        server.process.kill()
        with pytest.raises(ClitoolError) as caught:
            list(rows)
        assert caught.value.reason == "connection_lost"
        context.close()
    finally:
        server.stop()


def test_an_error_that_carries_values_is_not_repeated() -> None:
    """The server's own sentences hold values of documents."""
    details = {"code": 17, "codeName": "Strange", "errmsg": f"cannot do that to {{ a: '{VALUE}' }}"}
    found = Faults(1, list).translated(OperationFailure(details["errmsg"], 17, details))  # type: ignore[arg-type]
    assert VALUE not in str(found)
    assert "17 (Strange)" in str(found)


def test_a_cluster_that_the_dns_does_not_know_is_told() -> None:
    found = unusable(ConfigurationError(f"The DNS query name does not exist: _mongodb._tcp.{VALUE}."))
    assert (found.reason, VALUE in str(found)) == ("unreachable", False)
    assert "DNS" in str(found)


# Encryption


@pytest.fixture(scope="module")
def encrypted(authority: Authority) -> Iterator[Mongo]:
    """A standalone server that speaks TLS only."""
    server = Mongod(authority=authority)
    world = Mongo(server)
    world.fill({"things": [{"_id": 1}]})
    yield world
    world.drop()
    server.stop()


def tls(world: Mongo, monkeypatch: pytest.MonkeyPatch, **options: Any) -> None:
    with_address(world, monkeypatch, world.server.address(world.name, **options))
    monkeypatch.setitem(world.settings, "timeout", 0.8)


def test_a_certificate_of_a_trusted_authority_is_taken(
    encrypted: Mongo, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    tls(encrypted, monkeypatch, tls="true", tlsCAFile=authority.path)
    monkeypatch.setitem(encrypted.settings, "timeout", 5)
    assert encrypted.call("query", table="things")["rows"] == [{"_id": 1}]


def test_a_certificate_of_another_authority_is_not(
    encrypted: Mongo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tls(encrypted, monkeypatch, tls="true", tlsCAFile=Authority(tmp_path, "stranger").path)
    assert seen(encrypted.refusal("query", table="things")) == ("tls", None)


def test_a_certificate_for_another_name_is_not(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> None:
    server = Mongod(authority=authority, certificate=authority.issue("elsewhere", ["DNS:elsewhere.example"]))
    world = Mongo(server)
    try:
        tls(world, monkeypatch, tls="true", tlsCAFile=authority.path)
        assert seen(world.refusal("query", table="things")) == ("tls", None)
    finally:
        world.drop()
        server.stop()


def test_a_login_by_certificate_works(authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = Mongod(auth=True, authority=authority)
    world = Mongo(server)
    try:
        world.fill({"things": [{"_id": 1}]})
        certificate, both = authority.issue("client"), tmp_path / "both.pem"
        both.write_bytes(certificate.path.read_bytes() + certificate.key.read_bytes())
        with server.owner() as owner:
            owner["$external"].command("createUser", "CN=client", roles=[{"role": "read", "db": world.name}])
        options = {"tls": "true", "tlsCAFile": authority.path, "tlsCertificateKeyFile": both}
        with_address(world, monkeypatch, server.address(world.name, authMechanism="MONGODB-X509", **options))
        assert world.call("query", table="things")["rows"] == [{"_id": 1}]
        with_address(world, monkeypatch, server.address(world.name, **options))
        assert seen(world.refusal("query", table="things")) == ("login_failed", 13)
    finally:
        world.drop()
        server.stop()


def test_a_server_that_wants_encryption_is_told_from_one_that_is_not_there(
    encrypted: Mongo, monkeypatch: pytest.MonkeyPatch
) -> None:
    tls(encrypted, monkeypatch)
    document = encrypted.refusal("query", table="things")
    assert seen(document) == ("tls", None)
    assert "tls=true" in document["error"]


def test_a_server_without_encryption_gets_no_password(
    shop: Mongo, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = shop.server.address(shop.name, shop.name, PASSWORD, tls="true", tlsCAFile=authority.path)
    with_address(shop, monkeypatch, address)
    monkeypatch.setitem(shop.settings, "timeout", 0.8)
    assert seen(shop.refusal("query", table="customers")) == ("tls", None)


@pytest.mark.parametrize("content", [None, b"", b"no certificate"], ids=["missing", "empty", "another file"])
@pytest.mark.parametrize("option", ["tlsCAFile", "tlsCertificateKeyFile", "tlsCRLFile"])
def test_a_file_of_certificates_that_cannot_be_used_is_told(
    shop: Mongo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, content: bytes | None
) -> None:
    path = tmp_path / "file.pem"
    if content is not None:
        path.write_bytes(content)
    tls(shop, monkeypatch, tls="true", **{option: path})
    document = shop.refusal("query", table="customers")
    assert seen(document)[0] == "tls"
    assert str(tmp_path) not in repr(document)


# The driver


def test_a_missing_driver_is_told_with_what_to_install() -> None:
    script = (
        "import sys; sys.modules['pymongo'] = None\n"
        "from clitool_tools.database import connect\n"
        "from clitool_tools.database.settings import parse\n"
        "from clitool.errors import DriverMissing\n"
        "from clitool.family import Origin\n"
        "from clitool.tool import Deadline\n"
        "given = {'type': 'mongodb', 'connection_string': 'mongodb://h/db', 'allowed_tables': 'all'}\n"
        "try: connect(parse(given, Origin('/')), '', Deadline(1))\n"
        "except DriverMissing as error: print(error)\n"
    )
    program = [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}\n{script}"]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("run: pip install 'clitool-convention[mongodb]'")


def test_nothing_of_the_driver_is_left_behind_after_a_call(shop: Mongo) -> None:
    before = {thread for thread in threading.enumerate() if "pymongo" in thread.name}
    shop.call("query", table="customers")
    for thread in set(threading.enumerate()) - before:
        if "pymongo" in thread.name:
            thread.join(5)
            assert not thread.is_alive()


def test_a_connection_that_was_never_used_is_closed(shop: Mongo) -> None:
    context = shop.context()
    context.connection("")
    context.close()


def test_the_server_knows_who_asks(shop: Mongo, monkeypatch: pytest.MonkeyPatch) -> None:
    for option, name in (({}, "clitool"), ({"appName": "reports"}, "reports")):
        with_address(shop, monkeypatch, shop.server.address(shop.name, shop.name, PASSWORD, **option))
        with shop.watched() as asked:
            shop.call("query", table="customers")
        assert {entry.get("appName") for entry in asked} == {name}
