"""What the documents say in sentences, where neither a block nor a table is compared with the program."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest
from command import TOKEN, client, environment, run, write_clients

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from command import Result

DATABASE = {"type": "sqlite", "connection_string": "sqlite:///values.db", "allowed_tables": ["t", "child"]}
TABLES = """
CREATE TABLE t (id INTEGER PRIMARY KEY, flag BOOLEAN, free, price DECIMAL(10, 2), doc JSON, text TEXT, data BLOB);
CREATE TABLE child (id INTEGER PRIMARY KEY, t INTEGER REFERENCES t (id));
"""


@pytest.fixture
def call(tmp_path: Path) -> Callable[..., Result]:
    """Call a tool of the database family for a client with one small database."""
    document = {"clients": {"a": client("database:*", tools={"database": DATABASE})}}
    path = write_clients(tmp_path / "c", document)
    with sqlite3.connect(path.parent / "values.db") as database:
        database.executescript(TABLES)
    database.close()

    def run_tool(tool: str, **params: Any) -> Result:
        words = ["--clients", str(path), "call", tool, "--token-stdin", "--params", json.dumps(params)]
        return run(*words, stdin=TOKEN.encode())

    return run_tool


# docs/tools.md, values


@pytest.mark.parametrize(
    ("column", "value", "returned"),
    [
        pytest.param("flag", True, 1, id="a boolean"),
        pytest.param("free", False, 0, id="a boolean in a column of any type"),
        pytest.param("price", "12.30", 12.3, id="a decimal"),
        pytest.param("price", "123456789012345", 123456789012345, id="a decimal of 15 digits"),
        pytest.param("price", "1234567890123456789", "1234567890123456789", id="a whole decimal of 64 bits"),
        pytest.param("doc", {"a": [1, True]}, {"a": [1, True]}, id="a document"),
        pytest.param("doc", '{ "a" : 1 }', {"a": 1}, id="the text of a document"),
        pytest.param("doc", '{"a":9007199254740993}', '{"a":9007199254740993}', id="a large number in a document"),
        pytest.param("doc", '{"a":0.1234567890123456}', '{"a":0.1234567890123456}', id="many digits in a document"),
        pytest.param("doc", '{"a":1,"a":2}', '{"a":1,"a":2}', id="a key twice in a document"),
        pytest.param("doc", '"text"', '"text"', id="no object or array"),
    ],
)
def test_what_an_insert_wrote_a_query_returns(
    call: Callable[..., Result], column: str, value: object, returned: object
) -> None:
    assert call("database_insert", table="t", rows=[{column: value}]).document["ok"]

    [row] = call("database_query", table="t", columns=[column]).document["result"]["rows"]

    assert json.dumps(row[column]) == json.dumps(returned)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        pytest.param("text", True, id="a boolean as text"),
        pytest.param("data", True, id="a boolean as bytes"),
        pytest.param("doc", True, id="a boolean as a document"),
        pytest.param("price", "1234567890123456.5", id="a decimal of too many digits"),
        pytest.param("price", "12345678901234567890", id="a whole decimal beyond 64 bits"),
        pytest.param("doc", "no document", id="a text that is not JSON"),
    ],
)
def test_a_value_that_would_not_come_back_is_refused(call: Callable[..., Result], column: str, value: object) -> None:
    found = call("database_insert", table="t", rows=[{column: value}])

    assert found.verdict == ("invalid_params", "bad_value")


def test_a_decimal_is_stored_as_a_float(call: Callable[..., Result]) -> None:
    call("database_insert", table="t", rows=[{"price": "12.30"}])

    rows = call("database_sql", sql="SELECT typeof(price) AS kind FROM t").document["result"]["rows"]

    assert rows == [{"kind": "real"}]


def test_a_document_is_asked_for_null_only_and_is_text_in_a_statement(call: Callable[..., Result]) -> None:
    call("database_insert", table="t", rows=[{"doc": [1, 2]}])

    assert call("database_query", table="t", where={"doc": {"$null": False}}).document["result"]["rows"]
    assert call("database_query", table="t", where={"doc": "[1,2]"}).verdict == ("invalid_params", "bad_filter")
    assert call("database_sql", sql="SELECT doc FROM t").document["result"]["rows"] == [{"doc": "[1,2]"}]


@pytest.mark.parametrize(
    "value", [{"$rawText": {"base64": "/w=="}}, {"a": 1}, [1]], ids=["raw text", "object", "array"]
)
def test_a_parameter_of_a_statement_is_none_of_these(call: Callable[..., Result], value: object) -> None:
    assert call("database_sql", sql="SELECT ? AS a", params=[value]).verdict == ("invalid_params", "bad_value")


def test_a_text_that_is_not_utf_8_goes_into_a_statement_as_bytes(call: Callable[..., Result]) -> None:
    found = call("database_sql", sql="SELECT CAST(? AS TEXT) AS a", params=[{"$binary": {"base64": "/w=="}}])

    assert found.document["result"]["rows"] == [{"a": {"$rawText": {"base64": "/w=="}}}]


def test_foreign_keys_are_enforced(call: Callable[..., Result]) -> None:
    assert call("database_insert", table="child", rows=[{"t": 7}]).verdict == ("execution_error", "constraint")


# README.md, clients.yaml


def test_relative_paths_start_at_the_folder_of_the_link(tmp_path: Path) -> None:
    settings = {"file": {"root_path": "files"}}
    path = write_clients(tmp_path / "real", {"clients": {"a": client("file:read", tools=settings)}})
    (tmp_path / "link" / "files").mkdir(parents=True)
    (tmp_path / "link" / "files" / "here.txt").touch()
    (tmp_path / "link" / "clients.yaml").symlink_to(path)

    words = ["--clients", str(tmp_path / "link" / "clients.yaml"), "call", "file_list", "--token-stdin"]
    found = run(*words, stdin=TOKEN.encode())

    assert [entry["path"] for entry in found.document["result"]["entries"]] == ["here.txt"]


@pytest.mark.parametrize(
    ("scopes", "settings", "status"),
    [
        pytest.param([], {}, 1, id="scopes"),
        pytest.param(["database:read"], {"database": {**DATABASE, "allowed_tables": []}}, 1, id="allowed_tables"),
        pytest.param(["database:read"], {"database": {**DATABASE, "allow_side_effects": []}}, 0, id="side effects"),
        pytest.param(["file:read"], {"file": {"root_path": "files", "allowed_extensions": []}}, 0, id="extensions"),
    ],
)
def test_an_empty_list_allows_nothing_or_is_an_error(
    tmp_path: Path, scopes: list[str], settings: dict[str, Any], status: int
) -> None:
    path = write_clients(tmp_path / "c", {"clients": {"a": client(*scopes, tools=settings)}})
    (tmp_path / "c" / "files").mkdir()
    sqlite3.connect(tmp_path / "c" / "values.db").close()
    (tmp_path / "c" / "values.db").touch()

    found = run("--clients", str(path), "check")

    assert found.status == status, found.stdout
    assert (b"so this client may use no file" in found.stdout) == ("file" in settings)


# docs/deployment.md, logs


@pytest.mark.parametrize("by", ["LOGS_DIRECTORY", "HOME"])
def test_what_is_wrong_with_the_clients_file_is_logged_where_the_environment_says(tmp_path: Path, by: str) -> None:
    document = {"clients": {"a": client("file:read")}, "log": {"directory": "logs"}, "nonsense": 1}
    path = write_clients(tmp_path / "c", document)
    folder = tmp_path / "elsewhere"

    words = ["--clients", str(path), "call", "file_list", "--token-stdin"]
    found = run(*words, stdin=TOKEN.encode(), env=environment(**{by: str(folder)}))

    assert found.verdict == ("execution_error", "clients_file")
    [log] = folder.rglob("core.log")
    assert "nonsense: unknown key" in log.read_text()
    assert not (tmp_path / "c" / "logs").exists()
