"""The least that reads a table of MariaDB as JSON, decimals and times as text: argv is port, database and rows."""

import json
import sys

import mysql.connector

database = mysql.connector.connect(
    host="127.0.0.1",
    port=int(sys.argv[1]),
    user=sys.argv[2],
    password="bench",
    database=sys.argv[2],
    use_pure=True,
    ssl_disabled=True,
)
rows = database.cursor(raw=True)
rows.execute(f"SELECT id, customer, total, amount, placed, note FROM orders ORDER BY id LIMIT {int(sys.argv[3])}")
names = rows.column_names
readers = (int, bytes.decode, float, bytes.decode, bytes.decode, bytes.decode)


shown = (
    {name: None if raw is None else read(bytes(raw)) for name, raw, read in zip(names, row, readers, strict=True)}
    for row in rows
)
json.dump({"rows": list(shown)}, sys.stdout)
