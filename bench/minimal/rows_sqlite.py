"""The least that reads a table of SQLite as JSON: argv is the path and how many rows."""

import json
import sqlite3
import sys

database = sqlite3.connect(sys.argv[1])
rows = database.execute(
    "SELECT id, customer, total, amount, placed, note FROM orders ORDER BY id LIMIT ?", [sys.argv[2]]
)
names = [description[0] for description in rows.description]
json.dump({"rows": [dict(zip(names, row, strict=True)) for row in rows]}, sys.stdout)
