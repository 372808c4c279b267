"""What `clitool init` writes to begin with: a clients file, a folder of files, a shop as a SQLite database.

The core knows no tool. The names of families below are text in a settings file for people, and they stand in this
module only.
"""

from __future__ import annotations

CLIENT = "demo"
CLIENTS_FILE = "clients.yaml"
FILES_FOLDER = "files"
DATABASE_FILE = "shop.db"

_CLIENTS = """\
# Who may call, with which scopes, and which settings apply to whom. After a change: clitool check
# Every key is shown in clients.yaml.example; for editors: clitool schema clients

clients:
  {client}:
    # Only the digest of a token is kept here. Lost tokens are replaced: token issue, token revoke.
    tokens:
      - {{id: "first", sha256: "{digest}"}}
    # One scope for each kind of action. Deleting (file:delete, database:delete) is left out.
    scopes: [calculator:use, file:read, file:write, database:read, database:write, database:sql]
    tools:
      file:
        root_path: files             # beside this file; nothing outside it can be reached
        allow_write: true
        allowed_extensions: [.txt, .md, .csv]
      database:
        type: sqlite
        connection_string: sqlite:///shop.db   # three slashes and a path; relative ones start beside this file
        # The table 'staff' exists as well. It is not listed, so that no call can see it.
        allowed_tables: [customers, products, orders, order_totals]

log:
  directory: logs
  keep_days: 30

state:
  directory: state
"""

_INTRODUCTION = """\
This is now a folder to try clitool with:

  {folder}
    clients.yaml   one client, '{client}', and what it may do
    files/         sample files
    shop.db        a sample SQLite database

The token of '{client}', shown this once (only its digest is kept):

  {token}

Try:

  export CLITOOL_CLIENTS={path}
  TOKEN={token}
  echo "$TOKEN" | clitool verify
  echo "$TOKEN" | clitool call file_list --token-stdin
  echo "$TOKEN" | clitool call database_query --token-stdin \\
    --params '{{"table": "orders", "where": {{"status": "open"}}, "limit": 3}}'

And what is refused, with the reason:

  echo "$TOKEN" | clitool call database_query --token-stdin \\
    --params '{{"table": "staff"}}'
  echo "$TOKEN" | clitool call file_read --token-stdin \\
    --params '{{"path": "../clients.yaml"}}'
  echo "$TOKEN" | clitool call file_delete --token-stdin \\
    --params '{{"path": "welcome.txt"}}'

Is everything right?  clitool check
"""

FILES = {
    "welcome.txt": """\
Welcome.

This folder is all that the client 'demo' can see of this machine's files.
It may read and write here, and only .txt, .md and .csv files.
""",
    "notes.md": """\
# Notes

- Ask Ines about the open orders of March.
- The new seed packets arrive on Monday.
- TODO: thank everyone who ordered twice.
""",
    "reports/stock.csv": """\
product,counted_on,stock
Apple tree,2026-03-31,14
Bird table,2026-03-31,9
Watering can,2026-03-31,31
""",
}

_TABLES = """\
CREATE TABLE customers (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE, city TEXT NOT NULL, since DATE NOT NULL);
CREATE TABLE products (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, price DECIMAL(8,2) NOT NULL, stock INTEGER NOT NULL);
CREATE TABLE orders (
  id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers,
  product_id INTEGER NOT NULL REFERENCES products,
  quantity INTEGER NOT NULL CHECK (quantity > 0), status TEXT NOT NULL, ordered_on DATE NOT NULL, note TEXT);
CREATE INDEX orders_of_customer ON orders (customer_id);
CREATE TABLE staff (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, salary DECIMAL(8,2) NOT NULL);
CREATE VIEW order_totals AS
  SELECT orders.id AS order_id, customers.name AS customer, products.name AS product, quantity,
         round(quantity * price, 2) AS total, status
  FROM orders JOIN customers ON customers.id = customer_id JOIN products ON products.id = product_id;
"""

_FIRST = ("Ada", "Bo", "Chiara", "Dario", "Emre", "Freya", "Goran", "Hana", "Ines", "Jon", "Kaja", "Luis")
_LAST = ("Okafor", "Lindqvist", "Moreau", "Tanaka")
_CITIES = ("Porto", "Graz", "Aarhus", "Lviv", "Zürich")
_STATUS = ("paid", "shipped", "shipped", "open", "shipped", "cancelled")
_PRODUCTS = (
    ("Apple tree", 39.0),
    ("Bird table", 24.5),
    ("Compost bin", 59.9),
    ("Garden gloves", 7.95),
    ("Hand fork", 11.2),
    ("Hose, 20 m", 34.0),
    ("Lavender", 4.5),
    ("Plant pot", 6.75),
    ("Rake", 18.9),
    ("Seed packet", 2.2),
    ("Sun hat", 15.0),
    ("Watering can", 21.0),
)
_STAFF = (("Ines Tanaka", 4100.0), ("Bo Moreau", 3650.0), ("Kaja Okafor", 3900.0))


def clients_yaml(digest: str) -> str:
    """Return the text of a clients file with one client, whose token has this digest."""
    return _CLIENTS.format(client=CLIENT, digest=digest)


def introduction(path: str, token: str) -> str:
    """Return what the folder of the clients file at `path` holds, its token, and commands to try in a shell."""
    from shlex import quote

    folder = path.removesuffix("/" + CLIENTS_FILE)
    return _INTRODUCTION.format(path=quote(path), folder=folder, client=CLIENT, token=token)


def build_database(path: str) -> None:
    """Write the shop to a new SQLite file at `path`: 24 customers, 12 products, 60 orders, 3 of the staff, a view."""
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(_TABLES)
        connection.executemany("INSERT INTO customers VALUES (?, ?, ?, ?, ?)", _customers())
        connection.executemany(
            "INSERT INTO products (name, price, stock) VALUES (?, ?, ?)",
            [(name, price, 7 * place % 40) for place, (name, price) in enumerate(_PRODUCTS, 2)],
        )
        connection.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?, ?)", _orders())
        connection.executemany("INSERT INTO staff (name, salary) VALUES (?, ?)", _STAFF)


def _customers() -> list[tuple[object, ...]]:
    people = [(first, last) for last in _LAST[:2] for first in _FIRST]
    return [
        (
            place,
            f"{first} {last}",
            f"{first}.{last}@example.org".lower(),
            _CITIES[place % len(_CITIES)],
            f"{2021 + place % 5}-{1 + place % 12:02}-{1 + 7 * place % 28:02}",
        )
        for place, (first, last) in enumerate(people, 1)
    ]


def _orders() -> list[tuple[object, ...]]:
    return [
        (
            place,
            1 + 5 * place % 24,
            1 + 7 * place % len(_PRODUCTS),
            1 + place % 4,
            _STATUS[place % len(_STATUS)],
            f"2026-{1 + place // 20:02}-{1 + 11 * place % 28:02}",
            "gift wrapping" if place % 9 == 0 else None,
        )
        for place in range(1, 61)
    ]
