"""A small shop in a database of its own on a real MariaDB, with an account for it and calls of the database tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clitool_tools.database import family
from contexts import make_context
from mysql_wires import WITH_EXTENSION
from refusals import PASSWORD, SECRET, Refusals

from clitool.family import Secret

if TYPE_CHECKING:
    from services.mariadb import MariaDB

TOOLS: dict[str, type[Any]] = {tool.name.removeprefix("database_"): tool for tool in family.tools}
SECRETS = [key for key, schema in family.settings_schema["properties"].items() if schema.get("writeOnly")]
ALLOWED = ["customers", "orders", "visits", "v_orders", "v_secret"]

SHOP = f"""
CREATE TABLE customers (
    id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(50) NOT NULL UNIQUE, email VARCHAR(100) UNIQUE, note TEXT
) ENGINE=InnoDB;
CREATE TABLE orders (
    id INT PRIMARY KEY AUTO_INCREMENT, customer_id INT, total DECIMAL(10, 2), placed DATE, doc JSON,
    label VARCHAR(20) AS (CONCAT('#', customer_id)) VIRTUAL, FOREIGN KEY (customer_id) REFERENCES customers (id)
) ENGINE=InnoDB;
CREATE TABLE visits (day DATE, page VARCHAR(100), count INT DEFAULT 1, PRIMARY KEY (day, page)) ENGINE=InnoDB;
CREATE VIEW v_orders AS SELECT o.id, c.name FROM orders o JOIN customers c ON c.id = o.customer_id;
CREATE TABLE secret (id INT PRIMARY KEY, k VARCHAR(50)) ENGINE=InnoDB;
INSERT INTO secret VALUES (1, '{SECRET}'), (2, '{SECRET}-2');
CREATE VIEW v_secret AS SELECT k FROM secret;
INSERT INTO customers VALUES (1, 'Ada', 'ada@example.org', NULL), (2, 'Bob', NULL, 'x'), (3, 'Zoë', NULL, '7');
INSERT INTO orders (id, customer_id, total, placed, doc) VALUES
    (1, 1, 10.5, '2024-01-31', '{{"a": [1, 2]}}'), (2, 1, 20, '2024-02-29', NULL), (3, 2, 3, NULL, '[]');
"""
RIGHTS = "SELECT, INSERT, UPDATE, DELETE, SHOW VIEW, TRIGGER"  # on the whole database: what is refused, we refuse


class Maria(Refusals):
    """A database with one client's settings for it; `drop` removes it.

    Args:
        server: where.
        script: fills the database.
        settings: of the client, beside the usual ones.
    """

    def __init__(self, server: MariaDB, script: str = SHOP, **settings: object) -> None:
        self.server = server
        self.name = server.unused_name()
        self.folder = str(server.folder)
        self.settings: dict[str, Any] = {
            "type": "mysql",
            "socket": server.socket,
            "user": self.name,
            "password": PASSWORD,
            "database": self.name,
            "allowed_tables": ALLOWED,
            **settings,
        }
        if not WITH_EXTENSION:
            self.over_tcp()
        password = PASSWORD.replace("\\", "\\\\").replace("'", "''")
        server.run(
            f"CREATE DATABASE {self.name} CHARACTER SET utf8mb4;"
            f"CREATE USER {self.name}@'%' IDENTIFIED BY '{password}';"
            f"GRANT {RIGHTS} ON {self.name}.* TO {self.name}@'%'"
        )
        self.run(script)

    def over_tcp(self) -> Maria:
        """Have it reached at its port, for what a Unix socket has not."""
        self.settings.pop("socket", None)
        self.settings.update(host="127.0.0.1", port=self.server.port)
        return self

    def drop(self) -> None:
        """Remove the database and the account."""
        self.server.run(f"DROP DATABASE {self.name}; DROP USER {self.name}@'%'")

    def run(self, script: str) -> None:
        """Run statements, divided by semicolons, as the owner of the server, outside of the tools."""
        if script.strip():
            self.server.run(script, self.name)

    def rows(self, sql: str) -> list[Any]:
        """Return what the owner of the server reads."""
        return self.server.rows(sql, self.name)

    def context(self, seconds: float = 8.0) -> Any:
        return make_context(family, hidden(self.settings), folder=self.folder, seconds=seconds)

    def call(self, tool: str, **params: Any) -> Any:
        """Return the result of one call."""
        context = self.context()
        try:
            return TOOLS[tool](context).execute(**params)
        finally:
            context.close()


def hidden(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings with what their schema calls a secret wrapped, as the core does it."""
    found = {
        key: Secret(value) if key in SECRETS and isinstance(value, str) else value for key, value in settings.items()
    }
    if "connections" in found:
        found["connections"] = {name: hidden(each) for name, each in found["connections"].items()}
    return found
