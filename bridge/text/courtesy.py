"""Words of courtesy around an English question, which say nothing about what is looked for.

``could you please tell me which database we chose, thank you`` asks for the same as ``which database we chose``. Left
in, they count as words and change the meaning that is compared; ``benchmarks/robustness.py`` measures how much.
"""

from __future__ import annotations

import re

from ..pattern import pattern

_LEAST_LETTERS = 8  # of what remains; a shorter rest may itself be what is looked for
# Only such a query is compared with the patterns, which take longer to compile than a question to answer.
_FIRST_WORDS = frozenset(
    "hi hello hey good please can could would will i i'd i’d i'm i’m do tell remind show explain let help".split()
)
_WANTED = (
    r"(?:(?:tell|remind|show|explain to) (?:me|us)|let (?:me|us) know"
    r"|help (?:me|us) (?:to )?(?:understand|remember|recall|find out))"
)
_KNOW = r"(?:know|understand|find out|hear|ask)"
_OPENING = pattern(
    r"(?:(?:hi|hello|hey|good (?:morning|afternoon|evening))(?: there| all| everyone)?[,!.]+"
    r"|please,?"
    rf"|(?:can|could|would|will) you (?:please |kindly |maybe )?{_WANTED}"
    rf"|i(?:['’]d| would) (?:really )?(?:like|love) to {_KNOW}|i (?:just )?(?:want|wanted|need) to {_KNOW}"
    r"|i(?:['’]m| am| was) (?:just )?wondering|do you (?:happen to )?(?:know|remember|recall)"
    rf"|{_WANTED}),?\s+",
    re.IGNORECASE,
)
_CLOSING = pattern(
    r"[,.!?;]\s*(?:please|(?:many )?thanks|thank you)(?: (?:so|very) much| a lot| in advance)?\s*[.!]*$", re.IGNORECASE
)


def without_courtesy(query: str) -> str:
    """The query without words of courtesy at its beginning and end; the query itself if it has none."""
    words = query.lower().split(None, 1)
    if not words or (words[0].rstrip(",!.") not in _FIRST_WORDS and not _may_close(query)):
        return query
    rest = _CLOSING.sub("", query)
    while found := _OPENING.match(rest):
        rest = rest[found.end() :]
    return rest if sum(map(str.isalnum, rest)) >= _LEAST_LETTERS else query


def _may_close(query: str) -> bool:
    ending = query[-30:].lower()
    return "please" in ending or "thank" in ending
