"""The least that reads a collection of MongoDB as relaxed Extended JSON: argv is the address, database and rows."""

import json
import sys

from bson import json_util
from pymongo import MongoClient

options = json_util.RELAXED_JSON_OPTIONS
client = MongoClient(sys.argv[1])
rows = client[sys.argv[2]].orders.find(sort=[("_id", 1)], limit=int(sys.argv[3]))
json.dump({"rows": list(rows)}, sys.stdout, default=lambda value: json_util.default(value, options))
client.close()
