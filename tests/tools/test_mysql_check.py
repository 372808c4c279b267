"""What `clitool check` says about a MySQL database; and that the account which it proposes is the whitelist."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from clitool_tools.database import family
from clitool_tools.database.mysql.grants import Grant
from clitool_tools.database.mysql.privileges import Whitelist, excess, recipe
from command import TOKEN, client, environment, run, write_clients
from mariadb_world import PASSWORD, SECRET, Maria
from mysql.connector import Error

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from services.certificates import Authority
    from services.mariadb import MariaDB

    Findings = list[tuple[str, str, str]]

OURS = "a new one"
DEFINERS = "with its definer's rights"


def findings(world: Maria, *, probe: bool = True) -> Findings:
    assert family.check is not None
    found = [(each.level, each.key, each.message) for each in family.check(world.context().settings, probe)]
    for private in (SECRET, PASSWORD, world.folder, "IDENTIFIED BY PASSWORD"):
        assert private not in repr(found)
    assert all("\n" not in message for _, _, message in found)
    return found


def messages(found: Findings, level: str, key: str = "allowed_tables") -> list[str]:
    return [message for its_level, its_key, message in found if (its_level, its_key) == (level, key)]


def statements(found: Findings) -> list[str]:
    return [message for message in messages(found, "ok") if message.startswith(("CREATE", "GRANT"))]


def adopt(world: Maria, script: list[str]) -> None:
    """Run the statements as the owner would, with a password put in, and let the client use the account."""
    for statement in script:
        world.server.run(statement.replace("<password>", f"'{OURS}'"))
    user = script[0].split("`")[1]
    world.settings.update(user=user, password=OURS)


@pytest.fixture
def maria(maria: Maria) -> Maria:
    """Most of what is looked at is where the server is, and whether it is known for who it is."""
    return maria.over_tcp()


@pytest.fixture(scope="module")
def limited(mariadb: MariaDB) -> Iterator[Maria]:
    """A world that is used by the account which check proposes."""
    world = Maria(mariadb).over_tcp()
    adopt(world, statements(findings(world)))
    yield world
    mariadb.run(f"DROP USER `{world.settings['user']}`@'%'")
    world.drop()


def test_the_server_and_its_encryption_are_told(maria: Maria, mariadb: MariaDB) -> None:
    version = mariadb.rows("SELECT @@version")[0][0]

    assert findings(maria)[0] == (
        "ok",
        "connection_string",
        f"MariaDB {version} answers; the connection is encrypted with TLSv1.3",
    )
    maria.settings["ssl_mode"] = "DISABLED"
    assert "is not encrypted" in findings(maria)[0][2]


def test_the_server_is_only_asked_if_that_is_asked_for(maria: Maria) -> None:
    maria.settings["port"] = 1

    assert findings(maria, probe=False) == []
    assert [(level, key) for level, key, _ in findings(maria)] == [("error", "connection_string")]


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"port": 1}, "cannot be reached"),
        ({"password": "wrong"}, "refuses the account"),
        ({"database": "nowhere"}, "may not use the database"),
        ({"ssl_mode": "VERIFY_IDENTITY"}, "certificate"),
    ],
)
def test_a_server_that_cannot_be_used_is_an_error(maria: Maria, change: dict[str, Any], part: str) -> None:
    maria.settings.update(change)

    ((level, key, message),) = findings(maria)

    assert (level, key) == ("error", "connection_string")
    assert part in message


@pytest.mark.parametrize(
    ("mode", "part"), [("DISABLED", "not encrypted"), ("PREFERRED", "anyone"), ("REQUIRED", "anyone")]
)
def test_a_distant_server_that_need_not_show_who_it_is_is_a_warning(maria: Maria, mode: str, part: str) -> None:
    maria.settings.update(host="db.example.org", ssl_mode=mode)

    ((level, key, message),) = findings(maria, probe=False)

    assert (level, key) == ("warning", "ssl_mode")
    assert part in message
    del maria.settings["ssl_mode"]
    assert findings(maria, probe=False) == []


def test_files_for_the_encryption_are_looked_at(maria: Maria, tmp_path: Path, authority: Authority) -> None:
    client = authority.issue("checked")
    client.key.chmod(0o644)
    maria.settings.update(ssl_cert=str(client.path), ssl_key=str(client.key), ssl_mode="REQUIRED")

    assert [(level, key) for level, key, _ in findings(maria, probe=False)] == [("warning", "ssl_key")]
    maria.settings.update(ssl_mode="VERIFY_CA", ssl_ca=str(tmp_path / "missing"))
    found = findings(maria, probe=False)
    assert [(level, key) for level, key, _ in found] == [("error", "ssl_ca"), ("warning", "ssl_key")]
    assert str(tmp_path) not in repr(found)


def test_tables_that_are_not_there_are_errors(maria: Maria) -> None:
    maria.settings["allowed_tables"] = ["customers", "gone", "Orders"]

    assert messages(findings(maria), "error") == [
        "the database has no table 'gone', or the account may not use it",
        "the database has no table 'Orders', or the account may not use it",
    ]


def test_what_stands_behind_a_view_and_whose_rights_count_is_told(maria: Maria) -> None:
    maria.run("CREATE SQL SECURITY INVOKER VIEW v_plain AS SELECT id FROM orders")
    maria.settings["allowed_tables"] = ["orders", "v_orders", "v_secret", "v_plain"]

    assert [message for message in messages(findings(maria), "ok") if "view" in message] == [
        f"the view 'v_orders' reads customers, orders {DEFINERS}, though customers is not in allowed_tables",
        "the view 'v_plain' reads orders",
        f"the view 'v_secret' reads secret {DEFINERS}, though secret is not in allowed_tables",
    ]


def test_a_view_that_is_broken_is_an_error_of_its_own(maria: Maria) -> None:
    maria.run("DROP TABLE secret")

    (message,) = messages(findings(maria), "error")

    assert message.startswith("'v_secret' cannot be used: the view cannot be read")
    assert maria.call("query", table="customers")["rows"]


def test_a_table_without_transactions_is_a_warning(maria: Maria) -> None:
    maria.run("ALTER TABLE visits ENGINE=MyISAM")

    (message,) = [each for each in messages(findings(maria), "warning") if "transaction" in each]

    assert "'visits'" in message
    assert "MyISAM" in message


def test_side_effects_that_would_be_refused_are_told(maria: Maria) -> None:
    """The owner learns it before a client does."""
    maria.run(
        "CREATE TABLE audit (a INT); CREATE TABLE child (c INT, FOREIGN KEY (c) REFERENCES customers (id)"
        " ON DELETE CASCADE);"
        "CREATE TRIGGER t AFTER UPDATE ON visits FOR EACH ROW INSERT INTO audit VALUES (1)"
    )
    found = findings(maria)

    warnings = messages(found, "warning", "allow_side_effects")
    assert [warning.partition(":")[0] for warning in warnings] == [
        "deleting from 'customers' is refused",
        "updating 'visits' is refused",
    ]
    assert "'child'" in warnings[0]
    assert "'audit'" in warnings[1]
    maria.settings["allow_side_effects"] = ["audit", "child"]
    assert messages(findings(maria), "warning", "allow_side_effects") == []


def test_changes_that_the_account_may_not_make_are_not_looked_at(maria: Maria, mariadb: MariaDB) -> None:
    maria.run("ALTER TABLE visits ENGINE=MyISAM")
    mariadb.run(f"REVOKE ALL ON {maria.name}.* FROM {maria.name}@'%'")
    for name in maria.settings["allowed_tables"]:
        mariadb.run(f"GRANT SELECT ON {maria.name}.{name} TO {maria.name}@'%'")

    found = findings(maria)

    assert {level for level, _, _ in found} == {"ok"}
    assert "the account may do what the tools need and nothing else, says the server" in messages(found, "ok")
    assert statements(found) == []


@pytest.mark.parametrize(
    ("grant", "part"),
    [
        pytest.param("FILE ON *.*", "on the whole server: FILE", id="files"),
        pytest.param("SUPER, PROCESS ON *.*", "on the whole server: PROCESS, SUPER", id="administration"),
        pytest.param("SELECT ON *.*", "on the whole server: SELECT", id="every database"),
        pytest.param("ALL ON *.*", "on the whole server: ALL", id="everything"),
        pytest.param("SELECT ON mysql.*", "in the database 'mysql': SELECT", id="another database"),
        pytest.param("SELECT ON mysql.user", "in the database 'mysql': SELECT", id="a table of another database"),
        pytest.param("SELECT ON `%`.*", "in the database '%': SELECT", id="a pattern"),
        pytest.param("DROP ON {}.orders", "on the table 'orders': DROP", id="more on an allowed table"),
        pytest.param("SELECT ON {}.secret", "on the table 'secret': SELECT", id="another table"),
        pytest.param("SELECT (k) ON {}.secret", "on the table 'secret': SELECT", id="a column of another table"),
        pytest.param("CREATE ROUTINE, EXECUTE ON {}.*", "CREATE ROUTINE, DELETE, EXECUTE, INSERT", id="routines"),
        pytest.param("EXECUTE ON FUNCTION {}.f", "with routines of the database", id="one routine"),
        pytest.param("INSERT ON {}.orders", None, id="what the tools need"),
    ],
)
def test_what_the_account_may_do_beyond_the_whitelist_is_a_warning(
    maria: Maria, mariadb: MariaDB, grant: str, part: str | None
) -> None:
    maria.run("CREATE FUNCTION f() RETURNS INT RETURN 1")
    before = messages(findings(maria), "warning")
    mariadb.run(f"GRANT {grant.format(maria.name)} TO {maria.name}@'%'")
    found = [each for each in messages(findings(maria), "warning") if each not in before]

    assert [message for message in found if part is not None and part in message] == found
    assert len(found) == (part is not None)
    assert len(before) == 1  # of the world's own account, which may use every table


def test_an_account_that_may_give_its_rights_away_is_a_warning(maria: Maria, mariadb: MariaDB) -> None:
    mariadb.run(f"GRANT SELECT ON {maria.name}.orders TO {maria.name}@'%' WITH GRANT OPTION")

    assert "the account may give its rights on the table 'orders' to others (GRANT OPTION)" in messages(
        findings(maria), "warning"
    )


# The account that is the whitelist


def test_the_proposed_account_is_what_it_should_be(limited: Maria) -> None:
    found = findings(limited)

    assert {level for level, _, _ in found} == {"ok"}
    assert "the account may do what the tools need and nothing else, says the server" in messages(found, "ok")
    assert statements(found) == []


TOOLS: list[tuple[str, dict[str, Any]]] = [
    ("tables", {}),
    ("describe", {"table": "customers"}),
    ("describe", {"table": "v_orders"}),
    ("query", {"table": "customers", "where": {"id": 1}}),
    ("query", {"table": "v_secret"}),
    ("query", {"table": "orders", "limit": 1}),
    ("insert", {"table": "visits", "rows": [{"day": "2024-01-01", "page": "/", "count": 1}]}),
    ("insert", {"table": "orders", "rows": [{"customer_id": 1}, {"customer_id": 2}]}),
    ("upsert", {"table": "visits", "key": ["day", "page"], "rows": [{"day": "2024-01-01", "page": "/", "count": 2}]}),
    ("upsert", {"table": "customers", "key": ["id"], "rows": [{"id": 9, "name": "New"}, {"id": 1, "note": "x"}]}),
    ("update", {"table": "orders", "where": {"id": 1}, "values": {"total": "2.50"}}),
    ("delete", {"table": "orders", "where": {"id": 3}}),
    ("sql", {"sql": "SELECT c.name, COUNT(*) FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.name"}),
]


@pytest.mark.parametrize(("tool", "params"), TOOLS, ids=[f"{tool} {at}" for at, (tool, _) in enumerate(TOOLS)])
def test_every_tool_works_with_the_proposed_account(limited: Maria, tool: str, params: dict[str, Any]) -> None:
    assert limited.call(tool, **params) is not None


REFUSED = [
    "SELECT * FROM secret",
    "SELECT * FROM mysql.user",
    "INSERT INTO secret VALUES (3, 'x')",
    "DELETE FROM secret",
    "CREATE TABLE made (id INT)",
    "DROP TABLE orders",
    "ALTER TABLE orders ADD x INT",
    "TRUNCATE orders",
    "SELECT 1 INTO OUTFILE '/tmp/never'",
    "SET GLOBAL max_connections = 1",
    "GRANT SELECT ON orders TO someone",
    "CREATE USER someone",
    "INSERT INTO v_orders VALUES (1, 'x')",
]


@pytest.mark.parametrize("sql", REFUSED)
def test_the_server_itself_refuses_the_proposed_account_everything_else(limited: Maria, sql: str) -> None:
    """Whatever slips through every check of ours."""
    from mysql.connector import connect

    handle = connect(
        host="127.0.0.1", port=limited.settings["port"], user=limited.settings["user"], password=OURS,
        database=limited.name, use_pure=True, autocommit=True,
    )  # fmt: skip
    try:
        with pytest.raises(Error) as caught:
            handle.cmd_query(sql)
    finally:
        handle.close()

    assert caught.value.errno in (1044, 1045, 1142, 1143, 1227, 1410)
    assert limited.rows("SELECT COUNT(*) FROM secret") == [(2,)]


def test_an_account_only_for_reading_is_the_same_without_the_other_rights(maria: Maria) -> None:
    script = [line.replace(", INSERT, UPDATE, DELETE", "") for line in statements(findings(maria))]
    adopt(maria, script)
    try:
        for tool, params in TOOLS:
            if tool in ("tables", "describe", "query", "sql"):
                maria.call(tool, **params)
            else:
                assert maria.reason(tool, **params) == "permission"
        assert {level for level, _, _ in findings(maria)} == {"ok"}
    finally:
        maria.server.run(f"DROP USER `{maria.settings['user']}`@'%'")


def test_a_list_of_all_tables_is_one_statement(maria: Maria) -> None:
    maria.settings["allowed_tables"] = "all"
    maria.server.run(f"GRANT DROP ON {maria.name}.* TO {maria.name}@'%'")
    found = findings(maria)
    script = statements(found)

    assert [line.partition(" ON ")[0] for line in script][1:] == [
        "GRANT SELECT, INSERT, UPDATE, DELETE, TRIGGER, SHOW VIEW"
    ]
    assert messages(found, "warning") == [
        "the account may do more than the tools need on all tables of the database: DROP"
    ]
    adopt(maria, script)
    try:
        for tool, params in TOOLS:
            maria.call(tool, **params)
        assert {level for level, _, _ in findings(maria)} == {"ok"}
    finally:
        maria.server.run(f"DROP USER `{maria.settings['user']}`@'%'")


def test_as_they_stand_the_statements_make_no_account(maria: Maria) -> None:
    """A password that everyone knows would be worse than none."""
    first, *_ = statements(findings(maria))
    with pytest.raises(Error) as caught:
        maria.server.run(first)

    assert caught.value.errno == 1064


NAMES = ["a`b", "a b", "ä'\"\\", "a;b", "100%", "my_table", "select", "x" * 64, "a-- b"]


def test_names_of_every_kind_are_quoted(mariadb: MariaDB, maria: Maria) -> None:
    from clitool_tools.database.mysql.literal import quoted

    database = "od%d`_'na;me"
    mariadb.run(f"CREATE DATABASE {quoted(database)}")
    try:
        with mariadb.owner(database) as owner:
            for name in NAMES:
                owner.cmd_query(f"CREATE TABLE {quoted(name)} (id INT PRIMARY KEY) ENGINE=InnoDB")
        maria.settings.update(database=database, allowed_tables=NAMES)
        mariadb.run(f"GRANT ALL ON {quoted(database)}.* TO {maria.name}@'%'")
        script = statements(findings(maria))
        with mariadb.owner() as owner:
            for statement in script:
                owner.cmd_query(statement.replace("<password>", f"'{OURS}'"))
            owner.cmd_query("SELECT CURRENT_USER()")
            owner.get_rows()
        maria.settings.update(user=f"clitool_{database}"[:32], password=OURS)

        assert {level for level, _, _ in findings(maria)} == {"ok"}
        for name in NAMES:
            assert maria.call("insert", table=name, rows=[{"id": 1}])["inserted"] == 1
    finally:
        mariadb.run(f"DROP DATABASE {quoted(database)}; DROP USER IF EXISTS {quoted(f'clitool_{database}'[:32])}@'%'")


def test_the_command_itself_prints_them_and_a_call_answers(maria: Maria, tmp_path: Path) -> None:
    """From the clients file on, with the password from the environment; nothing of it is printed."""
    settings = {**maria.settings, "password": "${DB_PASSWORD}"}
    clients = {"clients": {"shop": client("database:read", tools={"database": settings})}}
    path = str(write_clients(tmp_path / "conf", clients))
    env = environment(DB_PASSWORD=PASSWORD)

    checked = run("--clients", path, "check", "--connect", env=env)
    called = run(
        "--clients", path, "call", "database_query", "--token-stdin", "--params", '{"table": "v_orders"}',
        stdin=TOKEN.encode(), env=env,
    )  # fmt: skip
    failed = run(
        "--clients", path, "call", "database_query", "--token-stdin", "--params", '{"table": "v_orders"}',
        stdin=TOKEN.encode(), env=environment(DB_PASSWORD="wr0ng@pass"),
    )  # fmt: skip

    output = checked.stdout + checked.stderr + called.stdout + called.stderr + failed.stdout + failed.stderr
    assert PASSWORD.encode() not in output
    assert b"wr0ng@pass" not in output
    assert (checked.status, called.status, failed.status) == (0, 0, 1)
    assert f"GRANT SELECT, INSERT, UPDATE, DELETE, TRIGGER ON `{maria.name}`.`orders` TO".encode() in checked.stdout
    assert len(called.document["result"]["rows"]) == 3
    assert failed.verdict == ("execution_error", "login_failed")


# Rights as other servers list them


def exactly(one: str, other: str) -> bool:
    return one == other


def grant(rights: str, database: str, table: str, *, may_grant: bool = False) -> Grant:
    return Grant(frozenset(rights.split(", ")), database, table, may_grant=may_grant)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param([grant("USAGE", "*", "*")], [], id="nothing"),
        pytest.param([grant("SELECT", "my\\_shop", "*")], ["tables of the database, beyond t, v: SELECT"], id="all"),
        pytest.param([grant("SELECT, SHOW VIEW", "my_shop", "t")], [], id="an allowed table"),
        pytest.param([grant("REFERENCES", "my_shop", "*")], [], id="sight of what refers to what"),
        pytest.param([grant("XA_RECOVER_ADMIN, SYSTEM_USER", "*", "*")], ["SYSTEM_USER, XA_RECOVER_ADMIN"], id="MySQL"),
        pytest.param([grant(", ".join(f"R{n}" for n in range(12)), "*", "*")], ["and 4 more"], id="many"),
        pytest.param([grant("USAGE", "*", "*", may_grant=True)], ["on the whole server to others"], id="giving"),
    ],
)  # fmt: skip
def test_rights_are_held_against_the_whitelist(found: list[Grant], expected: list[str]) -> None:
    sentences = list(excess(found, Whitelist("my_shop", {"t": False, "v": True}, is_all=False), exactly))

    assert len(sentences) == len(expected)
    assert all(part in sentence for part, sentence in zip(expected, sentences, strict=True))


def test_the_recipe_is_bounded_by_the_longest_name_of_an_account() -> None:
    first, *_ = recipe(Whitelist("d" * 64, {}, is_all=True), "10.0.%")

    assert first == f"CREATE USER `clitool_{'d' * 24}`@`10.0.%` IDENTIFIED BY <password>"
