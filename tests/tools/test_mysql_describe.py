"""database_describe on MariaDB: what there is, without the names of what the client may not reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from clitool_tools.database.mysql.charset import holds, length
from clitool_tools.database.mysql.definition import tables_of
from clitool_tools.database.mysql.textual import members
from mariadb_world import Maria

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services.mariadb import MariaDB


def test_a_table_is_described(maria: Maria) -> None:
    assert maria.call("describe", table="orders") == {
        "name": "orders",
        "type": "table",
        "columns": [
            {**PLAIN, "name": "id", "type": "int(11)", "kind": "integer", "nullable": False, "primary_key": 1}
            | {"auto_increment": True},
            {**PLAIN, "name": "customer_id", "type": "int(11)", "kind": "integer"},
            {**PLAIN, "name": "total", "type": "decimal(10,2)", "kind": "decimal"},
            {**PLAIN, "name": "placed", "type": "date", "kind": "text"},
            {**PLAIN, "name": "doc", "type": "longtext", "kind": "json"},
            {**PLAIN, "name": "label", "type": "varchar(20)", "kind": "text", "generated": True}
            | {"collation": "utf8mb4_general_ci"},
        ],
        "indexes": [
            {"name": "PRIMARY", "columns": ["id"], "unique": True, "primary_key": True, "partial": False},
            {
                "name": "customer_id",
                "columns": ["customer_id"],
                "unique": False,
                "primary_key": False,
                "partial": False,
            },
        ],
        "foreign_keys": [
            {
                "columns": ["customer_id"],
                "table": "customers",
                "references": ["id"],
                "on_update": "RESTRICT",
                "on_delete": "RESTRICT",
            }
        ],
        "engine": "InnoDB",
    }


PLAIN: dict[str, Any] = {"nullable": True, "default": None, "primary_key": 0, "generated": False}

SCRIPT = """
CREATE TABLE parent (a INT, b INT, c VARCHAR(40) UNIQUE, PRIMARY KEY (b, a));
CREATE TABLE t (
    id INT PRIMARY KEY, x INT, y INT, c VARCHAR(40), d VARCHAR(9) DEFAULT 'it''s', n INT DEFAULT 5,
    w DATETIME DEFAULT CURRENT_TIMESTAMP, s VARCHAR(90) COMMENT 'what it says', h INT INVISIBLE,
    FOREIGN KEY two (x, y) REFERENCES parent (b, a) ON DELETE CASCADE,
    FOREIGN KEY one (c) REFERENCES parent (c) ON UPDATE SET NULL,
    UNIQUE whole (d, n), UNIQUE part (s(5)), INDEX plain (n)
);
CREATE TABLE other (id INT);
CREATE VIEW v1 AS SELECT t.id FROM t JOIN parent p ON p.a = t.x WHERE t.id IN (SELECT id FROM other);
CREATE VIEW v2 AS SELECT v1.id, EXTRACT(YEAR FROM q.w) AS y FROM v1 JOIN t AS q ON q.id = v1.id;
CREATE VIEW v3 AS WITH parent AS (SELECT 1 AS a) SELECT a FROM parent UNION SELECT id FROM other;
CREATE VIEW v4 AS SELECT COUNT(*) AS n FROM information_schema.TABLES;
"""


@pytest.fixture(scope="module")
def described(mariadb: MariaDB) -> Iterator[Maria]:
    world = Maria(mariadb, SCRIPT, allowed_tables=["t", "parent", "v1", "v2", "v3", "v4"])
    yield world
    world.drop()


def test_keys_of_several_columns_and_of_parts_are_told(described: Maria) -> None:
    table = described.call("describe", table="t")

    assert [(key["columns"], key["table"], key["references"]) for key in table["foreign_keys"]] == [
        (["c"], "parent", ["c"]),
        (["x", "y"], "parent", ["b", "a"]),
    ]
    assert [(key["on_update"], key["on_delete"]) for key in table["foreign_keys"]] == [
        ("SET NULL", "RESTRICT"),
        ("RESTRICT", "CASCADE"),
    ]
    indexes = {index["name"]: (index["columns"], index["unique"], index["partial"]) for index in table["indexes"]}
    assert indexes["whole"] == (["d", "n"], True, False)
    assert indexes["part"] == (["s"], True, True)
    assert indexes["plain"] == (["n"], False, False)
    columns = described.call("describe", table="parent")["columns"]
    assert [(column["name"], column["primary_key"]) for column in columns] == [("a", 2), ("b", 1), ("c", 0)]


def test_defaults_and_comments_are_told(described: Maria) -> None:
    columns = {column["name"]: column for column in described.call("describe", table="t")["columns"]}

    assert columns["d"]["default"] == "'it''s'"
    assert columns["n"]["default"] == "5"
    assert columns["w"]["default"] == "current_timestamp()"
    assert columns["x"]["default"] is None
    assert columns["s"]["comment"] == "what it says"
    assert "comment" not in columns["x"]


@pytest.mark.parametrize(
    ("view", "tables"),
    [
        pytest.param("v1", ["parent", "t", None], id="one of them hidden"),
        pytest.param("v2", ["parent", "t", "v1", None], id="through another view"),
        pytest.param("v3", [None], id="a table expression called like a table"),
        pytest.param("v4", [None], id="another database"),
    ],
)
def test_a_view_tells_what_it_reads(described: Maria, view: str, tables: list[str | None]) -> None:
    """A table that is not listed is null."""
    found = described.call("describe", table=view)

    assert found["base_tables"] == tables
    assert "other" not in repr(found)
    assert "engine" not in found
    assert all(column["default"] is None for column in found["columns"])


def test_without_the_right_to_see_it_what_a_view_reads_is_not_known(maria: Maria) -> None:
    maria.server.run(f"REVOKE SHOW VIEW ON {maria.name}.* FROM {maria.name}@'%'")

    assert maria.call("describe", table="v_orders")["base_tables"] is None


def test_a_foreign_key_to_an_unlisted_table_is_null(maria: Maria) -> None:
    maria.settings["allowed_tables"] = ["orders"]

    (key,) = maria.call("describe", table="orders")["foreign_keys"]
    assert (key["columns"], key["table"], key["references"]) == (["customer_id"], None, [None])
    assert "customers" not in repr(maria.call("describe", table="orders"))


def test_a_reading_account_sees_the_same_but_the_rules(maria: Maria) -> None:
    """The server hides the rules of foreign keys from an account that may only read."""
    before = maria.call("describe", table="orders")
    maria.server.run(f"REVOKE ALL ON {maria.name}.* FROM {maria.name}@'%'")
    maria.server.run(f"GRANT SELECT ON {maria.name}.orders TO {maria.name}@'%'")
    (key,) = before["foreign_keys"]

    after = maria.call("describe", table="orders")

    assert after == {**before, "foreign_keys": [{**key, "on_update": None, "on_delete": None}]}


KINDS = {
    "integer": ["TINYINT", "BOOLEAN", "SMALLINT", "MEDIUMINT", "INT UNSIGNED", "BIGINT", "BIT(9)", "YEAR"],
    "real": ["FLOAT", "DOUBLE", "REAL", "FLOAT(7, 4)"],
    "decimal": ["DECIMAL(9, 2)", "NUMERIC"],
    "text": [
        *("CHAR(3)", "VARCHAR(3)", "TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT", "ENUM('a')", "SET('a')"),
        *("DATE", "DATETIME(3)", "TIMESTAMP", "TIME", "UUID", "INET4", "INET6"),
    ],
    "binary": ["BINARY(3)", "VARBINARY(3)", "TINYBLOB", "BLOB", "LONGBLOB", "GEOMETRY", "POINT", "POLYGON"],
    "json": ["JSON", "LONGTEXT CHECK (JSON_VALID(`{name}`))"],
}


def test_kinds_follow_the_types(mariadb: MariaDB) -> None:
    columns = [(kind, type_) for kind, types in KINDS.items() for type_ in types]
    declared = ", ".join(f"c{at} {type_.replace('{name}', f'c{at}')}" for at, (_, type_) in enumerate(columns))
    world = Maria(mariadb, f"CREATE TABLE t ({declared})", allowed_tables=["t"])

    found = world.call("describe", table="t")["columns"]

    assert [column["kind"] for column in found] == [kind for kind, _ in columns]
    world.drop()


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        pytest.param("enum('a','b')", ["a", "b"], id="plain"),
        pytest.param("set('it''s')", ["it's"], id="a quote"),
        pytest.param("enum('a,b',')')", ["a,b", ")"], id="commas and brackets"),
        pytest.param(r"enum('a\\b','x\ny')", ["a\\b", "x\ny"], id="escapes"),
        pytest.param("enum('')", [""], id="nothing"),
        pytest.param("enum('a", ["a"], id="broken off"),
        pytest.param("enum('a\\", ["a"], id="broken off in an escape"),
    ],
)
def test_members_are_read_from_the_declaration(declared: str, expected: list[str]) -> None:
    assert members(declared) == expected


@pytest.mark.parametrize(
    ("definition", "tables"),
    [
        pytest.param("select `h`.`t`.`a` AS `a` from `h`.`t`", {"t"}, id="one"),
        pytest.param("select 1 from (`h`.`t` join `h`.`u`)", {"t", "u"}, id="in brackets"),
        pytest.param(
            "select 1 from ((`h`.`t` `x` left join `h`.`u` `y` on(`x`.`u` = `y`.`u`)))", {"t", "u"}, id="aliases"
        ),
        pytest.param("select '`h`.`t` from `h`.`u`' AS `x` from `h`.`v`", {"v"}, id="in a text"),
        pytest.param("select 1 from `o`.`t`", {None}, id="another database"),
        pytest.param("select extract(year from `x`.`d`) AS `y` from `h`.`t` `x`", {"t"}, id="a column behind FROM"),
        pytest.param("select 1 from `h`.`a``b`", {"a`b"}, id="a quote in a name"),
        pytest.param("with `t` as (select 1)select 1 from `t`", set(), id="a table expression"),
    ],
)
def test_what_a_view_reads_is_told_from_its_definition(definition: str, tables: set[str | None]) -> None:
    assert tables_of(definition, "h") == tables


def test_character_sets_have_the_characters_that_the_server_says(mariadb: MariaDB) -> None:
    """But for a handful in all: of these the server itself says that they do not fit."""
    letters = [chr(code) for code in (*range(32, 0x500), 0x20AC, 0x3042, 0x4E2D, 0xAC00, 0xFF21, 0x1F600)]
    letters = [letter for letter in letters if letter.isprintable()]
    rare = {"armscii8", "dec8", "geostd8", "keybcs2", "swe7"}  # ASCII only, as far as we know
    sets = {row[0] for row in mariadb.rows("SELECT CHARACTER_SET_NAME FROM information_schema.CHARACTER_SETS")}
    for charset in sets - rare - {"binary", "filename"}:
        converted = f"CONVERT(_utf8mb4 X'{''.join(letters).encode().hex()}' USING {charset})"
        ((back,),) = mariadb.rows(f"SELECT HEX(CONVERT({converted} USING utf8mb4))")
        kept = {one for one, two in zip(letters, bytes.fromhex(back).decode(), strict=True) if one == two}
        held = {letter for letter in letters if holds(charset, letter)}
        assert len(held ^ kept) <= 5, charset
        both = "".join(sorted(held & kept))
        ((octets,),) = mariadb.rows(f"SELECT LENGTH(CONVERT(_utf8mb4 X'{both.encode().hex()}' USING {charset}))")
        assert 0 <= octets - length(charset, both) <= (charset == "sjis"), charset  # there a backslash takes two bytes
