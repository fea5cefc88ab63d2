"""Tells which tokens of another program's rules are not found here: ``python -m tools.secret_rules gitleaks.toml``.

Takes gitleaks' configuration (MIT, config/gitleaks.toml of its repository) as a file. From each rule that recognises a
token by itself it draws tokens, puts them into a sentence, and counts those that stay. Nothing of the rules is kept:
they are the measure of ``bridge.privacy.token_forms``, not its source. Run it when a new release of gitleaks is out.
"""

from __future__ import annotations

import random
import re
import sys
import tomllib
from pathlib import Path

from bridge.privacy.redaction import redact

from .drawing import draw

DRAWS = 40
_SENTENCE = "The staging box uses {} since March."


def main() -> None:
    rules = tomllib.loads(Path(sys.argv[1]).read_text("utf-8"))["rules"]
    found: dict[str, float] = {}
    for rule in rules:
        share = share_found(rule.get("regex", ""), rule.get("secretGroup", 0))
        if share is not None:
            found[rule["id"]] = share
    print(f"{len(found)} of {len(rules)} rules know a token by itself")
    print(f"{sum(found.values()) / max(1, len(found)):.1%} of their drawn tokens are found; in part or not at all:")
    for name, share in sorted(found.items(), key=lambda item: (item[1], item[0])):
        if share < 1:
            print(f"  {share:4.0%} {name}")


def share_found(expression: str, group: int) -> float | None:
    """The share of a rule's drawn tokens that are found; None if the rule needs more than the token, or is not
    readable."""
    try:
        expression = as_python(expression)
        rule = re.compile(expression)
        group = group or min(1, rule.groups)
        source = random.Random(7)
        tokens = [draw(expression, source, group) for _ in range(DRAWS)]
    except (re.error, ValueError, KeyError):
        return None
    alone = [token for token in tokens if (match := rule.search(_SENTENCE.format(token))) and match[group] == token]
    if len(alone) < DRAWS // 2:
        return None
    return sum(token not in redact(_SENTENCE.format(token)).text for token in alone) / len(alone)


def as_python(expression: str) -> str:
    """An expression of Go's syntax in Python's: flags in the middle become groups up to the end of their group."""
    expression = expression.replace(r"\z", r"\Z").replace("[[:alnum:]]", "[A-Za-z0-9]")
    if expression.startswith("(?i)"):
        return "(?i:" + as_python(expression[4:]) + ")"
    while (found := re.search(r"\(\?i\)", expression)) is not None:
        start, depth, end = found.end(), 0, len(expression)
        in_class = False
        for index in range(start, len(expression)):
            letter = expression[index]
            if expression[index - 1] == "\\" and expression[index - 2] != "\\":
                continue
            if in_class or letter == "[":
                in_class = letter != "]"
            elif letter == "(":
                depth += 1
            elif letter == ")":
                depth -= 1
                if depth < 0:
                    end = index
                    break
        expression = f"{expression[: found.start()]}(?i:{expression[start:end]}){expression[end:]}"
    return expression


if __name__ == "__main__":
    main()
