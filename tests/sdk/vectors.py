"""Prints the tool definitions of recorded outputs, one `{"tools": [...], "calls": []}` a line.

A definition is any object with a name and the JSON Schema of its parameters; a schema that stands alone
becomes the parameters of a tool named after its row.
"""

import json
import pathlib
import re
import sys

FILES = {
    "toolops_definitions.json": ("definitions", "ir"),
    "schemas_toolregistry.json": ("schemas", None),
    "kosong.json": ("deref_and_types", None),
}


def tool(row, key):
    if key:
        return row[key]
    parameters = row.get("parameters", row.get("schema"))
    return {"name": re.sub(r"\W", "_", row["id"]), "description": "", "parameters": parameters}


for file, (rows, key) in FILES.items():
    path = pathlib.Path(sys.argv[1]) / file
    for row in json.loads(path.read_text())[rows]:
        print(json.dumps({"tools": [tool(row, key)], "calls": []}))
