#!/usr/bin/env python3
"""Check what OpenAPI documents become, and print a table.

usage: openapi_documents.py DOCUMENT_TOOLS WIRE_DUMP FOLDER DOCUMENT [DOCUMENT ...]      exit 0 = all good

DOCUMENT_TOOLS and WIRE_DUMP are the built examples. Every operation must be a tool or an issue that EXPECTED_ISSUES names,
the losses in the API forms must be among LOSSES, and the SDKs must accept the definitions, except for SDK_ERRORS. GitHub's
document has its own limits of time and memory.
"""
import json, pathlib, re, subprocess, sys
import yaml

METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "trace", "query"}

# What the documents themselves get wrong, by the end of their path: a pattern for the issue, and how often it occurs.
CUT = (r"deep schemas were replaced by their types", None)
EXPECTED_ISSUES = {
    "@directus/specs/dist/openapi.json": [(r"requestBody/.*is no schema", 1)],
    "kubernetes-client/lib/specs/swagger-1.13.json": [CUT],
    "anthropic/official/openapi.yml": [CUT],
    "openai/official/openapi.yml": [CUT],
    "openai/azure-preview/openapi.json": [CUT],
}

# What an API cannot express. `defer` is how tools are sent, and the others are unions at the root, which are described.
UNIONS = {"anyOf", "oneOf", "allOf"}
LOSSES = {
    "openai_chat": UNIONS | {"defer"}, "openai_responses": UNIONS, "anthropic": UNIONS,
    # Gemini knows a subset of OpenAPI 3.0 only. `$ref` is recursion.
    "gemini": UNIONS | {"defer", "$ref", "additionalProperties", "contentEncoding", "dependentRequired", "deprecated",
        "enum", "examples", "exclusiveMaximum", "exclusiveMinimum", "format", "items", "not", "propertyNames", "required",
        "type", "uniqueItems", "multipleOf", "const"},
}

# The documents require these members, and declare them elsewhere or not at all.
SDK_ERRORS = [
    r"required '(call_id|request_id)' is no property",  # of OpenAI's `LocalShellToolCallOutput` and `MCPApprovalResponse`
    r"tools\[checks-update\]: #/properties/body/anyOf/0: required 'conclusion' is no property",
    r"#/\$defs/CreateConnectorOAuth: required '(clientId|clientSecret|authorizeUrl|tokenUrl)' is no property",
    r"cohere\.tools\[\d+\]: #/properties/body/anyOf/0: required 'conclusion' is no property",
]

LIMITS = {"api.github.com.json": {"operations": 1223, "seconds": 1.0, "peak_mib": 100}}


def operations(path):
    text = pathlib.Path(path).read_text("utf-8-sig")
    document = json.loads(text) if path.endswith(".json") else yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    def of(item):
        if "$ref" in item:
            target = document
            for part in item["$ref"].removeprefix("#/").split("/"):
                target = target[part.replace("~1", "/").replace("~0", "~")]
            item = target
        return len(METHODS & item.keys()) + len(item.get("additionalOperations") or {})
    return sum(of(item) for path, item in document["paths"].items() if path.startswith("/"))


def check(path, tools, folder, number):
    lines = folder / f"document_{number:02}.jsonl"
    run = subprocess.run([tools, "--lines", lines, "--issues", path], capture_output=True, text=True)
    if run.returncode:
        return None, [run.stderr.strip()]
    first, *issues = run.stdout.splitlines()
    found = json.loads(first) | {"operations": operations(path)}
    errors = []
    expected = next((rows for end, rows in EXPECTED_ISSUES.items() if path.endswith(end)), [])
    counts = [0] * len(expected)
    for issue in map(str.strip, issues):
        row = next((row for row, (pattern, _) in enumerate(expected) if re.search(pattern, issue)), None)
        if row is None:
            errors.append(f"unexpected issue {issue}")
        else:
            counts[row] += 1
    for (pattern, wanted), count in zip(expected, counts):
        if count != wanted and (wanted is not None or count == 0):
            errors.append(f"{count} issues with {pattern!r}")
    if found["tools"] != found["operations"]:
        errors.append(f"{found['operations']} operations became {found['tools']} tools")
    for form, lost in found["losses"].items():
        if more := set(lost) - LOSSES.get(form, set()):
            errors.append(f"{form} loses {', '.join(sorted(more))}")
    for name, limit in next((limits for end, limits in LIMITS.items() if path.endswith(end)), {}).items():
        if found[name] != limit if name == "operations" else found[name] > limit:
            errors.append(f"{name} is {found[name]}, not {limit}")
    return found, errors


def sdk_errors(wire_dump, folder):
    for lines in sorted(folder.glob("document_*.jsonl")):
        if lines.stat().st_size:
            subprocess.run([wire_dump, lines, folder / "forms"], check=True, stdout=subprocess.DEVNULL)
    forms = sorted((folder / "forms").glob("*.json"))
    checker = pathlib.Path(__file__).parents[1] / "sdk/sdk_check.py"
    run = subprocess.run([sys.executable, checker, *forms], capture_output=True, text=True)
    lines = [line.strip() for line in (run.stdout + run.stderr).splitlines() if not line.startswith(("ok", "FAIL"))]
    errors = [line for line in lines if line and not any(re.search(known, line) for known in SDK_ERRORS)]
    if run.returncode and not lines:
        errors.append("the check of the SDKs failed")
    return len(forms), errors


def main(tools, wire_dump, folder, *documents):
    folder = pathlib.Path(folder)
    subprocess.run(["rm", "-rf", folder], check=True)
    (folder / "forms").mkdir(parents=True)
    failures = []
    print(f"{'document':<58} {'operations':>10} {'tools':>6} {'issues':>6} {'seconds':>8} {'MiB':>5}")
    for number, path in enumerate(documents):
        found, errors = check(path, tools, folder, number)
        name = re.sub(r".*(node_modules|upstream|documents)/", "", path)
        if found:
            print(f"{name:<58} {found['operations']:>10} {found['tools']:>6} {found['issues']:>6} "
                  f"{found['seconds']:>8.3f} {found['peak_mib']:>5}")
        failures += [f"{name}: {error}" for error in errors]
    forms, errors = sdk_errors(wire_dump, folder)
    failures += errors
    print(f"{forms} documents of definitions checked with the SDKs, {len(errors)} errors")
    for failure in failures[:60]:
        print(f"FAULT {failure[:300]}")
    sys.exit(bool(failures))


main(*sys.argv[1:])
