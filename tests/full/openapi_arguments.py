"""Arguments for the operations of an OpenAPI document, drawn from the schemas of their parameters and bodies."""

import random

# A text for each pattern that the documents have.
TEXTS = {
    r"^\d+\.\d+\.\d+$": "1.20.3",
    r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$": "aGkh",
    r"^ssh-(rsa|dss|ed25519) |^ecdsa-sha2-nistp(256|384|521) ": "ssh-rsa AAAA",
    r"^ssh-(rsa|dss|ed25519) |^ecdsa-sha2-nistp(256|384|521) |^(sk-ssh-ed25519|sk-ecdsa-sha2-nistp256)@openssh.com ": "ssh-rsa AAAA",
    r"github": "https://github.com/a",
    r"^[a-zA-Z0-9._-]+$": "a_b-1",
    r"^sha256:[a-f0-9]{64}$": "sha256:" + "a0" * 32,
    r"^https://": "https://example.com/a?b=c",
    r"^[A-Za-z0-9.\-_]+$": "a_b-1",
    r"^refs/": "refs/heads/a b",
    r"^refs/(heads|tags|pull)/.*$": "refs/heads/main",
    r"^([0-9a-fA-F]{40}(?:[0-9a-fA-F]{24})?)$": "a0" * 20,
}
FORMATS = {
    "date-time": "2026-11-27T12:00:00Z",
    "date": "2026-11-27",
    "uri": "https://example.com/a?b=c&d=e",
    "email": "ada@example.com",
    "uuid": "6fa459ea-ee8a-4ca4-894e-db77e160355e",
    "repo.nwo": "octo/hello",
    "ipv4": "192.0.2.1",
}
# Bodies whose argument is Base64.
BYTES = ("application/octet-stream", "application/pdf", "image/png")
# What a place must encode, or must not lose.
HARD = ["plain", "two words", "a/b", "a&b=c", "50%", "a+b", "é", "a,b", "#1", "a;b", "\"q\"", "x:y@z"]


class Generator:
    def __init__(self, document, seed=38):
        self.document = document
        self.random = random.Random(seed)

    def resolve(self, value):
        for _ in range(32):
            if not isinstance(value, dict) or "$ref" not in value:
                return value
            target = self.document
            for name in value["$ref"].removeprefix("#/").split("/"):
                target = target[name.replace("~1", "/").replace("~0", "~")]
            value = target
        raise ValueError("a reference leads back to itself")

    def merged(self, schema):
        """The schema with its `allOf` merged, and with one branch of a union."""
        schema = dict(self.resolve(schema))
        for part in schema.pop("allOf", []):
            for keyword, value in self.merged(part).items():
                if keyword == "properties":
                    schema.setdefault(keyword, {})
                    schema[keyword] = {**value, **schema[keyword]}
                elif keyword == "required":
                    schema[keyword] = [*schema.get(keyword, []), *value]
                else:
                    schema.setdefault(keyword, value)
        for union in ("oneOf", "anyOf"):
            branches = schema.pop(union, None)
            if branches:
                branch = self.merged(branches[0])
                if union == "oneOf":
                    # Members that another branch requires would make this one fit twice.
                    others = {name for other in branches[1:] for name in self.merged(other).get("required", [])}
                    others -= {*schema.get("required", []), *branch.get("required", [])}
                    properties = schema.get("properties", {})
                    schema["properties"] = {name: properties[name] for name in properties if name not in others}
                required = [*schema.get("required", []), *branch.get("required", [])]
                properties = {**schema.get("properties", {}), **branch.get("properties", {})}
                schema = {**branch, **schema}
                schema.pop("properties", None)
                if properties:
                    schema["properties"] = properties
                if required:
                    schema["required"] = required
        return schema

    def value(self, schema, depth=0):
        schema = self.merged(schema)
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            return self.random.choice([value for value in schema["enum"] if value is not None])
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = next(name for name in kind if name != "null")
        if kind == "array":
            least = schema.get("minItems", 0 if depth > 3 else 1)
            most = max(least, min(schema.get("maxItems", 3), 3 if depth < 3 else 1))
            items = [self.value(schema.get("items", {}), depth + 1) for _ in range(self.random.randint(least, most))]
            if schema.get("uniqueItems"):
                items = [item for index, item in enumerate(items) if item not in items[:index]]
            return items
        if kind == "object" or "properties" in schema or "additionalProperties" in schema:
            return self.object(schema, depth)
        if kind in ("integer", "number"):
            least = schema.get("minimum", 1)
            most = schema.get("maximum", least + 100)
            return self.random.randint(int(least), int(most))
        if kind == "boolean":
            return self.random.random() < 0.5
        if kind is None:
            return self.random.choice(HARD)
        return self.text(schema)

    def text(self, schema):
        if "pattern" in schema:
            if schema["pattern"] not in TEXTS:
                raise ValueError(f"no text for the pattern {schema['pattern']}")
            return TEXTS[schema["pattern"]]
        if schema.get("format") in FORMATS:
            return FORMATS[schema["format"]]
        text = self.random.choice(HARD)
        while len(text) < schema.get("minLength", 0):
            text += text
        return text[: schema.get("maxLength", 10_000)]

    def object(self, schema, depth):
        required = schema.get("required", [])
        chance = 0.7 if depth < 2 else 0.2
        members = {}
        for name, member in schema.get("properties", {}).items():
            if self.resolve(member).get("readOnly"):
                continue
            if name in required or (depth < 6 and self.random.random() < chance):
                members[name] = self.value(member, depth + 1)
        if not members and isinstance(schema.get("additionalProperties"), dict) and depth < 6:
            members["key 1"] = self.value(schema["additionalProperties"], depth + 1)
        return members

    def operations(self):
        for path, item in self.document["paths"].items():
            item = self.resolve(item)
            for method in ("get", "put", "post", "delete", "options", "head", "patch", "trace"):
                if method in item:
                    operation = item[method]
                    yield operation.get("operationId", f"{method.upper()} {path}"), method, path, item, operation

    def call(self, item, operation):
        """Values for an operation: a list of (place, name, value), and None or the body: its media
        type, its value, and the names of its members."""
        own = [self.resolve(parameter) for parameter in operation.get("parameters", [])]
        names = {(parameter["in"], parameter["name"]) for parameter in own}
        shared = [self.resolve(parameter) for parameter in item.get("parameters", [])]
        values = []
        for parameter in [*(p for p in shared if (p["in"], p["name"]) not in names), *own]:
            if parameter.get("required") or self.random.random() < 0.7:
                schema = parameter.get("schema")
                if schema is None:
                    schema = next(iter(parameter["content"].values()))["schema"]
                values.append((parameter["in"], parameter["name"], self.value(schema, 1)))
        body = self.resolve(operation.get("requestBody"))
        if not body or not (body.get("required") or self.random.random() < 0.8):
            return values, None
        media_type, content = next(iter(body["content"].items()))
        schema = content.get("schema", {})
        value = "aGkgdGhlcmU=" if media_type in BYTES else self.value(schema, 0)
        if value == {} and not body.get("required"):
            return values, None
        return values, (media_type, value, set(self.merged(schema).get("properties", {})))
