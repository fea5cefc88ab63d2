"""An exchange: what the person said and what the assistant did and said for it, before the person spoke again.

A subject changes when the person speaks, so a session is cut only before an exchange. Turns of side chains and
sub-agents are part of the exchange in which they ran: nobody spoke with them, and their text is about details of the
work, so they have no part in finding subjects and only their files and their counts of tools are kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from .sentences import sentences
from .session import Turn

_MAX_FILES = 200  # of a side chain; more of them say nothing about the subject
# Of what is compared: the beginnings of the question and of the answer, since an embedding reads some hundred words.
_QUESTION_CHARACTERS = 600
_ANSWER_CHARACTERS = 400


@dataclass(slots=True)
class Exchange:
    """Turns in order. ``spoken`` counts those that are no side chain, ``prose`` the characters of their sentences."""

    turns: list[Turn] = field(default_factory=list)
    characters: int = 0
    prose: int = 0
    spoken: int = 0

    @property
    def first(self) -> Turn:
        """The turn that it begins with."""
        return self.turns[0]

    def add(self, turn: Turn) -> None:
        """Appends a turn. All turns of one side chain become one."""
        if not turn.part:
            self.turns.append(turn)
            self.characters += len(turn.text)
            self.prose += prose(turn)
            self.spoken += 1
            return
        side = replace(turn, text="", files=turn.files[:_MAX_FILES], marker=None)
        for place, known in enumerate(self.turns):
            if known.part == turn.part:
                self.turns[place] = _merged(known, side)
                return
        self.turns.append(side)

    def subject(self) -> str:
        """The text by which its subject is compared; empty where it has no prose."""
        question = _beginning((turn for turn in self.turns if turn.speaker == "user"), _QUESTION_CHARACTERS)
        answer = _beginning((turn for turn in self.turns if turn.speaker != "user"), _ANSWER_CHARACTERS)
        return f"{question} {answer}".strip()


def begins_exchange(turn: Turn, current: Exchange) -> bool:
    """Whether a turn begins a new exchange: the person speaks, and the current one has begun."""
    return not turn.part and turn.speaker == "user" and current.spoken > 0


def prose(turn: Turn) -> int:
    """The characters of a turn's sentences."""
    return sum(len(sentence) + 1 for sentence in sentences(turn.text))


def _beginning(turns: Iterable[Turn], limit: int) -> str:
    """The first sentences of the turns, until there are ``limit`` characters."""
    found, length = [], 0
    for sentence in (each for turn in turns if not turn.part for each in sentences(turn.text)):
        found.append(sentence)
        length += len(sentence) + 1
        if length > limit:
            break
    return " ".join(found)[:limit]


def _merged(one: Turn, other: Turn) -> Turn:
    files = tuple(dict.fromkeys((*one.files, *other.files)))[:_MAX_FILES]
    return replace(one, files=files, tools=dict(Counter(one.tools) + Counter(other.tools)))
