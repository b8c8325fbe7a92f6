"""Valid and spoiled arguments for a JSON Schema, from a fixed seed. What counts as valid is what `jsonschema` accepts."""

import copy
import itertools
import random

from jsonschema.validators import validator_for
from rstr import Rstr

WORDS = ["Oslo", "a", "42", "two words", "naïve ☃", "x-y_z", "main"]
FORMATS = {
    "date-time": "2026-01-02T03:04:05Z", "date": "2026-01-02", "time": "03:04:05Z", "email": "a@example.com",
    "uri": "https://example.com/", "uuid": "3f2b8c1e-9d4a-4f6b-8c2d-1a2b3c4d5e6f", "hostname": "example.com",
    "ipv4": "127.0.0.1",
}
DEPTH = 6
SPOILED = 60


class Values:
    """The values of one tool. `preferred` are values for parameters of these names."""

    def __init__(self, schema, name, preferred=None):
        self.schema = schema
        kind = validator_for(schema, default=validator_for({"$schema": "https://json-schema.org/draft/2020-12/schema"}))
        self.kind = kind
        self.validator = kind(schema)
        self.random = random.Random(f"seed 1 {name}")
        self.texts = Rstr(self.random)
        self.preferred = preferred or {}

    def is_valid(self, value):
        return self.validator.is_valid(value)

    def resolved(self, schema):
        for _ in range(20):
            reference = schema.get("$ref") if isinstance(schema, dict) else None
            if reference is None or not reference.startswith("#"):
                return schema
            target = self.schema
            for step in reference[1:].strip("/").split("/") if reference != "#" else []:
                step = step.replace("~1", "/").replace("~0", "~")
                target = target[int(step)] if isinstance(target, list) else target[step]
            rest = {key: field for key, field in schema.items() if key != "$ref"}
            schema = {**target, **rest} if isinstance(target, dict) else target
        return schema

    def value(self, schema, depth=0, optional=0.5):
        schema = self.resolved(schema)
        if not isinstance(schema, dict):
            return self.random.choice(WORDS)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.random.choice(schema["enum"])
        for union in ("anyOf", "oneOf"):
            if schema.get(union):
                rest = {key: field for key, field in schema.items() if key != union}
                branch = self.resolved(self.random.choice(schema[union]))
                merged = {**rest, **branch} if isinstance(branch, dict) else rest
                for key in ("properties",):
                    if key in rest and isinstance(branch, dict) and key in branch:
                        merged[key] = {**rest[key], **branch[key]}
                if isinstance(branch, dict) and ("required" in rest or "required" in branch):
                    merged["required"] = [*rest.get("required", []), *branch.get("required", [])]
                return self.value(merged, depth, optional)
        if schema.get("allOf"):
            merged = {key: field for key, field in schema.items() if key != "allOf"}
            for part in schema["allOf"]:
                part = self.resolved(part)
                merged = {**part, **merged} if isinstance(part, dict) else merged
            return self.value(merged, depth, optional)
        kinds = schema.get("type")
        if kinds is None:
            kinds = "object" if "properties" in schema else "array" if "items" in schema else "string"
        kind = self.random.choice(kinds) if isinstance(kinds, list) else kinds
        return getattr(self, f"a_{kind}")(schema, depth, optional)

    def a_null(self, *_):
        return None

    def a_boolean(self, *_):
        return self.random.random() < 0.5

    def a_integer(self, schema, *_):
        low = schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
        high = schema.get("maximum", schema.get("exclusiveMaximum", max(low, 0) + 21) - 1)
        step = schema.get("multipleOf", 1)
        number = self.random.randint(int(low), max(int(low), min(int(high), 2**53)))
        return int(number // step * step) if step else number

    def a_number(self, schema, *_):
        number = self.a_integer(schema)
        return number if self.random.random() < 0.5 else min(number + 0.5, schema.get("maximum", number + 0.5))

    def a_string(self, schema, *_):
        if schema.get("format") in FORMATS:
            return FORMATS[schema["format"]]
        if "pattern" in schema:
            return self.texts.xeger(schema["pattern"])
        word = self.random.choice(WORDS)
        word = word * (schema.get("minLength", 0) // len(word) + 1)
        return word[: schema.get("maxLength", 10_000)]

    def a_array(self, schema, depth, optional):
        low = schema.get("minItems", 0)
        high = min(schema.get("maxItems", low + 2), low + 2)
        count = low if depth > DEPTH else self.random.randint(low, max(low, high))
        first = schema.get("prefixItems", [])
        items = [*first[:count], *[schema.get("items", {})] * max(0, count - len(first))]
        return [self.value(item, depth + 1, optional) for item in items]

    def a_object(self, schema, depth, optional):
        required = schema.get("required", [])
        value = {}
        for name, field in schema.get("properties", {}).items():
            if name in required or (depth < DEPTH and self.random.random() < optional):
                value[name] = copy.deepcopy(self.preferred[name]) if name in self.preferred else self.value(field, depth + 1, optional)
        for name in required:
            value.setdefault(name, self.random.choice(WORDS))
        more = schema.get("additionalProperties")
        if isinstance(more, dict) and more and depth < DEPTH and self.random.random() < optional:
            value["extra"] = self.value(more, depth + 1, optional)
        return value

    def valid(self, count, optional=0.5):
        """Returns distinct valid objects, at most `count`."""
        found = []
        for attempt in range(count * 12):
            root = self.schema if "type" in self.schema else {"type": "object", **self.schema}
            value = self.value(root, optional=0 if attempt == 0 else optional)
            if isinstance(value, dict) and value not in found and self.is_valid(value):
                found.append(value)
                if len(found) == count:
                    break
        return found

    def spoiled(self, values):
        """Returns objects that the schema refuses, each one step away from a valid one, at most `SPOILED`."""
        changes = [change for value in values for change in self.changes(value)]
        self.random.shuffle(changes)
        return list(itertools.islice((change for change in changes if not self.is_valid(change)), SPOILED))

    def changes(self, value):
        for name in list(value):
            yield {other: field for other, field in value.items() if other != name}
            for wrong in ([], {}, 7, "wrong", None, -(10**9), 10**9, "", [None]):
                yield {**value, name: wrong}
            if isinstance(value[name], list) and value[name]:
                yield {**value, name: [{"no": 1}, *value[name][1:]]}
                yield {**value, name: value[name] * 200}
            if isinstance(value[name], dict):
                yield from ({**value, name: inner} for inner in self.changes(value[name]))
        yield {**value, "noSuchParameter": 1}
