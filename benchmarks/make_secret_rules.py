"""Writes contextc/passes/secret_rules.json from the rules of Betterleaks. In: its configuration file (betterleaks.toml
of a release, or a binary of it, in which the file lies as text) and the release's version. Out: the JSON file.

    python benchmarks/make_secret_rules.py betterleaks.toml 2.0.0

Taken are the rules that Betterleaks calls surest, for values that are secret: not identifiers, host names and the like,
and not those that need a file's name. Go's regular expressions become Python's; what has no counterpart is left out,
and said. Its filters by entropy are kept; those by a model's vocabulary and by lists of words have no counterpart.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import tomllib

TARGET = Path(__file__).resolve().parent.parent / "contextc" / "passes" / "secret_rules.json"
# By name: what is no secret by itself; what is found by `contextc.passes.secrets` itself; what isn't Python.
_OTHER = re.compile(
    r"^(?:generic-|private-key$|mongodb-connection|kubernetes-|curl-|nuget-)"
    r"|-(?:id|url|domain|host|name|username|address|pub-key|public-key|client-key|webhook-url)(?:\.\d+)?$"
    r"|-pub-|-public-"
)
_LONGEST_RULE = 4_000
_ENTROPY = re.compile(r'entropy\(finding\["secret"\]\) <=? ([\d.]+)')


def read_rules(data: bytes) -> list[dict[str, Any]]:
    """The rules of a configuration file, or of a binary that holds one."""
    start = data.find(b'title = "betterleaks')
    text = data[max(0, start) :].decode("utf-8", "replace")
    parts = text.split("[[rules]]")
    last = parts[-1][:_LONGEST_RULE]  # in a binary all sorts of things follow
    for part in (last[: match.end()] for match in reversed(list(re.finditer("\n", last)))):
        try:
            rules: list[dict[str, Any]] = tomllib.loads("[[rules]]".join([*parts[:-1], part]))["rules"]
        except tomllib.TOMLDecodeError:
            continue
        return rules
    raise SystemExit("no configuration of Betterleaks in that file")


def convert(pattern: str) -> str:
    """A Go pattern as Python's. Flags in the middle hold to the end of their group; POSIX classes get their letters."""
    pattern = pattern.replace("[[:alnum:]]", "[0-9A-Za-z]").replace("[:alnum:]", "0-9A-Za-z").replace(r"\z", r"\Z")
    at = 1
    while (at := pattern.find("(?i)", at)) > 0:
        end, depth, inside = at + 4, 0, False
        while end < len(pattern):
            sign = pattern[end]
            if sign == "\\":
                end += 1
            elif inside:
                inside = sign != "]"
            elif sign == "[":
                inside = True
            elif sign == "(":
                depth += 1
            elif sign == ")":
                depth -= 1
                if depth < 0:
                    break
            end += 1
        pattern = f"{pattern[:at]}(?i:{pattern[at + 4 : end]}){pattern[end:]}"
        at += 4
    re.compile(pattern, re.ASCII)
    return pattern


def main() -> None:
    """Reads, converts, writes."""
    rules = []
    for rule in read_rules(Path(sys.argv[1]).read_bytes()):
        if rule.get("confidence") != "high" or "path" in rule or "regex" not in rule or _OTHER.search(rule["id"]):
            continue
        try:
            pattern = convert(rule["regex"])
        except re.error as fault:
            print(f"left out: {rule['id']}: {fault}")
            continue
        entropy = _ENTROPY.search(rule.get("filter", ""))
        kind = re.sub(r"\.\d+$", "", rule["id"])
        bits = float(entropy[1]) if entropy else 0
        rules.append([kind, pattern, sorted(rule["keywords"]), bits, rule.get("valueGroup", 0)])
    head = {
        "source": f"Betterleaks {sys.argv[2]}, https://github.com/betterleaks/betterleaks",
        "licence": "MIT, see secret_rules.LICENSE",
        "columns": ["kind", "pattern", "keywords", "entropy", "group"],
    }
    lines = [f'"{key}": {json.dumps(value)}' for key, value in head.items()]
    rows = ",\n".join(json.dumps(rule, ensure_ascii=True) for rule in sorted(rules, key=lambda r: (r[0], r[1])))
    TARGET.write_text("{\n" + ",\n".join(lines) + f',\n"rules": [\n{rows}\n]\n}}\n', encoding="utf-8")
    print(f"{len(rules)} rules")


if __name__ == "__main__":
    main()
