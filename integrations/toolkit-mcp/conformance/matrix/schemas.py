"""Compares the schemas that a provider receives with the schema of the server: by values, not by their text."""

from jsonschema.validators import validator_for

SCHEMAS = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema")
DRAFT = "https://json-schema.org/draft/2020-12/schema"


def definitions(value):
    """Returns the definitions in the JSON of any API: name and schema, in their order."""
    if isinstance(value, list):
        return [found for item in value for found in definitions(item)]
    if not isinstance(value, dict):
        return []
    if isinstance(value.get("name"), str):
        # A function without parameters may have no schema.
        nothing = {"type": "object", "additionalProperties": False}
        schema = next((value[key] for key in SCHEMAS if key in value), nothing)
        return [(value["name"], schema["json"] if "json" in schema else schema)]
    return [found for item in value.values() for found in definitions(item)]


def plain(schema):
    """Returns a schema of Gemini's subset as a JSON Schema."""
    if isinstance(schema, list):
        return [plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    schema = dict(schema)
    for key in ("properties", "$defs", "definitions", "patternProperties"):
        if isinstance(schema.get(key), dict):
            schema[key] = {name: plain(field) for name, field in schema[key].items()}
    for key in ("items", "prefixItems", "anyOf", "oneOf", "allOf", "additionalProperties", "not", "if", "then", "else"):
        if key in schema:
            schema[key] = plain(schema[key])
    # Its objects have no other members than those with a name.
    if schema.get("properties"):
        schema.setdefault("additionalProperties", False)
    if schema.pop("nullable", False) is True:
        schema = {"anyOf": [schema, {"type": "null"}]}
    return schema


def spelled(value, spellings):
    if isinstance(value, list):
        return [spelled(item, spellings) for item in value]
    if isinstance(value, dict):
        return {spellings.get(name, name): spelled(field, spellings) for name, field in value.items()}
    return value


def differences(form, schema, spellings, valid, spoiled):
    """Returns how the schema that a provider receives differs from the server's for these values."""
    schema = plain(schema) if form == "gemini" else schema
    validator = validator_for(schema, default=validator_for({"$schema": DRAFT}))(schema)
    refused = [value for value in valid if not validator.is_valid(spelled(value, spellings))]
    accepted = [value for value in spoiled if validator.is_valid(spelled(value, spellings))]
    found = [f"refuses {value}" for value in refused[:1]]
    return found + [f"accepts {value}" for value in accepted[:1]]
