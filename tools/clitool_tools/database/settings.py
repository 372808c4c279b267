"""The settings of one client: its databases, what it may touch in them, and how much one call may take."""

from __future__ import annotations

from clitool.errors import InvalidParams, SettingsError
from clitool_tools.database.engine import module
from clitool_tools.database.names import fold, listed, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping
    from typing import Any

    from clitool.family import Origin
    from clitool_tools.database.interface import Module

_CONNECTION: dict[str, Any] = {
    "type": {"type": "string", "enum": ["sqlite", "mysql", "mongodb"], "description": "the database engine"},
    "connection_string": {
        "type": "string",
        "minLength": 1,
        "writeOnly": True,
        "description": "sqlite:///shop.db (beside the clients file), sqlite:////absolute/path.db,"
        " mysql://user:password@host/database?ssl-mode=VERIFY_IDENTITY, mongodb://user:password@host/database",
    },
    "host": {
        "type": "string",
        "minLength": 1,
        "description": "mysql: instead of connection_string, like the next ones",
    },
    "port": {"type": "integer", "minimum": 1, "maximum": 65535, "description": "mysql: 3306 if left out"},
    "socket": {
        "type": "string",
        "minLength": 1,
        "description": "mysql: path of the server's Unix socket, instead of host",
    },
    "user": {"type": "string", "minLength": 1, "description": "mysql: the account"},
    "password": {"type": "string", "writeOnly": True, "description": "mysql: its password"},
    "database": {"type": "string", "minLength": 1, "description": "mysql: the one database that is used"},
    "ssl_mode": {
        "type": "string",
        "enum": ["DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"],
        "description": "mysql: whether to encrypt, and what of the server's certificate to check",
    },
    "ssl_ca": {"type": "string", "minLength": 1, "description": "mysql: file with the authorities to trust"},
    "ssl_cert": {"type": "string", "minLength": 1, "description": "mysql: file with the client's own certificate"},
    "ssl_key": {"type": "string", "minLength": 1, "description": "mysql: file with its key"},
    "charset": {"type": "string", "minLength": 1, "description": "mysql: utf8mb4, the only one"},
    "allowed_tables": {
        "type": ["array", "string"],
        "items": {"type": "string", "minLength": 1},
        "minItems": 1,
        "description": "tables and views that the client may reach; the word `all` for every one",
    },
    "allow_side_effects": {
        "type": "array",
        "items": {"type": "string", "minLength": 1},
        "default": [],
        "description": "tables that triggers and cascades may read and change although the client may not",
    },
    "max_rows": {
        "type": "integer",
        "minimum": 1,
        "maximum": 1_000_000,
        "default": 1000,
        "description": "rows in one answer",
    },
    "max_bytes": {
        "type": "integer",
        "minimum": 1,
        "maximum": 67_108_864,
        "default": 1_048_576,
        "description": "size of the rows in one answer; the first row always comes",
    },
    "timeout": {"type": "number", "minimum": 0.01, "maximum": 3600, "default": 5, "description": "seconds for a query"},
}
_REQUIRED = ("type", "allowed_tables")
_COMMON = frozenset(("type", "allowed_tables", "max_rows", "max_bytes", "timeout"))

SETTINGS_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        **_CONNECTION,
        "connections": {
            "type": "object",
            "minProperties": 1,
            "description": "several databases by name, instead of the settings above",
            "propertyNames": {"pattern": "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"},
            "additionalProperties": {
                "type": "object",
                "properties": _CONNECTION,
                "required": list(_REQUIRED),
                "additionalProperties": False,
            },
        },
    },
    "additionalProperties": False,
}


class Connection:
    """One database of a client.

    Attributes:
        name: what a call names it by; empty if the client has one without a name.
        type: the engine.
        address: what the engine opens, of the engine's own type; may hold a secret, so never in an error.
        tables: allowed names by what the engine's `fold` makes of them, or None for all.
        side_effects: folded names that triggers and cascades may reach.
        listed_tables, listed_effects: both as they are written, for an engine that asks again, exactly.
        max_rows, max_bytes: of one answer.
        timeout: seconds for one statement.
        protected: absolute paths that no tool may reach.
    """

    __slots__ = (
        "_module",
        "address",
        "listed_effects",
        "listed_tables",
        "max_bytes",
        "max_rows",
        "name",
        "protected",
        "side_effects",
        "tables",
        "timeout",
        "type",
    )

    def __init__(self, name: str, values: Mapping[str, Any], origin: Origin, prefix: str) -> None:
        self.name = name
        self.type: str = values["type"]
        self._module = module(self.type)
        _require_own_keys(self.type, self._module, values, prefix)
        self.protected = origin.protected
        self.tables = _allowed(values["allowed_tables"], prefix + "allowed_tables", self._module)
        effects = _names(values.get("allow_side_effects", []), prefix + "allow_side_effects", self._module)
        self.side_effects = effects.keys()
        self.listed_tables: tuple[str, ...] = () if self.tables is None else tuple(values["allowed_tables"])
        self.listed_effects: tuple[str, ...] = tuple(values.get("allow_side_effects", ()))
        self.max_rows: int = values.get("max_rows", 1000)
        self.max_bytes: int = values.get("max_bytes", 1_048_576)
        self.timeout: float = values.get("timeout", 5)
        self.address: Any = self._module.locate(values, origin, prefix)

    def allows(self, table: str) -> bool:
        """Return whether the table is allowed; the database's own tables never are."""
        if self._module.is_reserved(table):
            return False
        return self.tables is None or self._module.fold(table) in self.tables

    def may_reach(self, table: str) -> bool:
        """Return whether triggers and cascades may reach the table."""
        return self.allows(table) or self._module.fold(table) in self.side_effects

    def require(self, table: str) -> None:
        """Raise `InvalidParams` (table_not_allowed) unless the table is allowed."""
        if not self.allows(table):
            raise InvalidParams(
                f"the table {shown(table)} is not in allowed_tables{self._offer()}", "table_not_allowed"
            )

    def _offer(self) -> str:
        return "" if self.tables is None else f": {listed(self.tables.values())}"


def parse(settings: Mapping[str, Any], origin: Origin) -> dict[str, Connection]:
    """Return the client's databases by name; the name is empty if the settings describe one without a name."""
    if "connections" not in settings:
        return {"": _connection("", settings, origin, "")}
    if len(settings) > 1:
        other = next(key for key in settings if key != "connections")
        raise SettingsError(other, f"give either 'connections' or {other!r} and its like, not both")
    connections = settings["connections"]
    return {name: _connection(name, values, origin, f"connections.{name}.") for name, values in connections.items()}


def _connection(name: str, values: Mapping[str, Any], origin: Origin, prefix: str) -> Connection:
    for key in _REQUIRED:
        if key not in values:
            raise SettingsError(prefix + key, f"{key!r} is missing")
    return Connection(name, values, origin, prefix)


def _require_own_keys(kind: str, engine: Module, values: Mapping[str, Any], prefix: str) -> None:
    for key in values:
        if key not in _COMMON and key not in engine.KEYS:
            raise SettingsError(prefix + key, f"{key!r} is not a setting of type {kind}")


def _allowed(value: object, key: str, engine: Module) -> dict[Hashable, str] | None:
    if value == "all":
        return None
    if isinstance(value, str) or not value:
        raise SettingsError(key, "must be a list of table names with at least one name, or the word all")
    return _names(value, key, engine)


def _names(value: object, key: str, engine: Module) -> dict[Hashable, str]:
    if not isinstance(value, list):
        raise SettingsError(key, "must be a list of table names")
    for name in value:
        _check(name, key, engine)
    return {engine.fold(name): name for name in value}


def _check(name: object, key: str, engine: Module) -> None:
    if not isinstance(name, str) or not name.strip() or name != name.strip():
        raise SettingsError(key, "every entry must be the name of a table, without blanks around it")
    if "*" in name or "${" in name or not name.isprintable():
        raise SettingsError(key, f"{shown(name)} is not the name of a table; the word all stands for every table")
    if fold(name) == b"all":
        raise SettingsError(key, "to allow every table, write the word all instead of the list")
    if engine.is_reserved(name):
        raise SettingsError(key, f"{shown(name)} belongs to the database itself and can never be allowed")
