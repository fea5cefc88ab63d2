"""Random texts that an expression matches, to try rules about tokens without anybody's tokens."""

import random
import string
from re import _constants as sre, _parser as parser  # type: ignore[attr-defined]
from typing import Any

_CATEGORIES = {
    sre.CATEGORY_DIGIT: string.digits,
    sre.CATEGORY_WORD: string.ascii_letters + string.digits + "_",
    sre.CATEGORY_SPACE: " ",
    sre.CATEGORY_NOT_SPACE: string.ascii_letters + string.digits,
}
_MORE = 8  # repetitions beyond the least, where an expression allows more


def draw(expression: str, source: random.Random) -> str:
    """A text of ASCII characters that the expression matches. What it says about the text around is not kept to.

    Raises ValueError for an expression that cannot be drawn.
    """
    return "".join(_draw(node, source) for node in parser.parse(expression))


def _draw(node: tuple[Any, Any], source: random.Random) -> str:
    operation, value = node
    if operation in (sre.AT, sre.ASSERT, sre.ASSERT_NOT):
        return ""
    if operation is sre.LITERAL:
        return chr(value)
    if operation is sre.NOT_LITERAL:
        return source.choice([letter for letter in string.ascii_letters if ord(letter) != value])
    if operation is sre.ANY:
        return source.choice(string.ascii_letters)
    if operation is sre.IN:
        return source.choice(_characters(value))
    if operation in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        least, most, inside = value
        times = source.randint(least, min(most, least + _MORE))
        return "".join(_draw(one, source) for _ in range(times) for one in inside)
    if operation is sre.BRANCH:
        return "".join(_draw(one, source) for one in source.choice(value[1]))
    if operation is sre.SUBPATTERN:
        return "".join(_draw(one, source) for one in value[3])
    raise ValueError(f"cannot draw {operation}")


def _characters(choices: list[tuple[Any, Any]]) -> str:
    found: set[str] = set()
    negated = False
    for operation, value in choices:
        if operation is sre.NEGATE:
            negated = True
        elif operation is sre.LITERAL:
            found.add(chr(value))
        elif operation is sre.RANGE:
            found.update(map(chr, range(value[0], value[1] + 1)))
        elif operation is sre.CATEGORY and value in _CATEGORIES:
            found.update(_CATEGORIES[value])
        else:
            raise ValueError(f"cannot draw {operation} {value}")
    if negated:
        found = set(string.ascii_letters + string.digits) - found
    if not found:
        raise ValueError("cannot draw from no letters or digits")
    return "".join(sorted(found))
