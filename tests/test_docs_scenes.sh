#!/usr/bin/env bash
# docs/scenes.md against the schema: every key is there, with its default.
. "$(dirname "$0")/common.sh"
python3 - "$PLIANT_SOURCE/docs/scene.schema.json" "$PLIANT_SOURCE/docs/scenes.md" <<'END' || fail "docs/scenes.md"
import json
import re
import sys

schema, page = json.load(open(sys.argv[1])), open(sys.argv[2], encoding="utf-8").read()
known = {}  # key -> the defaults it has in the schema's objects, as JSON


def walk(node):
    for key, value in node.get("properties", {}).items():
        required = key in node.get("required", []) and "oneOf" not in node
        default = json.dumps(value["default"]) if "default" in value else "required" if required else ""
        known.setdefault(key, set()).add(default)
        walk(value)
    for part in ([node["items"]] if "items" in node else []) + node.get("oneOf", []) + node.get("anyOf", []):
        walk(part)


def as_json(text):
    try:
        return json.dumps(json.loads(text))
    except ValueError:
        return text


walk(schema)
said, head = {}, []
for line in page.splitlines():
    cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
    head = cells if len(cells) == 3 and not head else head if cells else []
    if len(cells) == 3 and cells != head and head[1] == "default":
        for key in re.findall(r"`([^`]+)`", cells[0]):
            said.setdefault(key, set()).add(as_json(cells[1]))
wrong = []
for key, defaults in sorted(known.items()):
    if f"`{key}`" not in page and f'"{key}"' not in page:
        wrong.append(f"{key} is not mentioned")
    for default in defaults - said.get(key, set()):
        if default not in ("", "required") and key != "vertices":
            wrong.append(f"{key}: default {default} is not given; {said.get(key)}")
for key, defaults in sorted(said.items()):
    key = key.split("`")[0]
    if key in known and not defaults <= known[key]:
        wrong.append(f"{key}: {defaults - known[key]} is not a default, which are {known[key]}")
print("\n".join(wrong))
sys.exit(1 if wrong or len(known) < 60 else 0)
END
