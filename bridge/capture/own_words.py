"""Own words: what of a turn the person typed. What a tool or an agent generated, what was pasted and what a product
writes before several prompts is nobody's.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..text import turn_words as words
from ..text.sections import newlines
from ..text.terms import STOP_WORDS
from .kept_turns import OPENING
from .sentences import Sentence, of_turn, sentences
from .session import ANSWERED, Turn

_LONG = 140  # characters; a longer paragraph that speaks to nobody was written elsewhere
_DOCUMENT = 800  # characters; a longer turn with headings or a list is a document
TALK = 400  # characters; in a longer turn, each paragraph is looked at
_LINES = 8  # as many breaks a person makes in a longer turn; what has more was written elsewhere
_PROSE = 0.75  # of the characters of a turn without code or logs
_STRUCTURE = re.compile(r"^[ \t]*(?:#{1,6} |[-*+] |\d{1,2}[.)] |\|)", re.MULTILINE)
_MOST_STRUCTURE = 3  # such lines in what a person writes
_PASTED = re.compile(r"\bline \d+|\b[\w/-]{1,200}\.\w{1,5}:\d+|^[^\w\n]*Consider\b|\((?:e\.g\.|i\.e\.)", re.MULTILINE)
# What a tool or an agent's activation says in the person's place: a template, or rules in capitals before a list.
_GENERATED = re.compile(
    r"\bImplement the plan as specified\b|^Please implement the code as described by the comment on "
    r"|^Generate a file named AGENTS\.md|\bcreate a CLAUDE\.md file\b"
    r"|\bThe following task has finished\. If you were already aware\b|^Issue reproduced, please proceed\."
    r"|^Please commit all of my changes so we can make a PR\."
)
_RULES = re.compile(r"\b(?:MUST|NEVER|CRITICAL|MANDATORY)\b")
_MINE = re.compile(
    r"(?<![\w'’])(?:i|i['’]\w+|my|me|we|our|us|let['’]?s|ich|wir|mir|mein\w*|uns|je|j['’]\w+|mon|mes|moi|nous|yo|mi|nos"
    r"|quiero|necesito|eu|meu|minha|quero|preciso|io|mio|voglio|я|мне|мой|мы|нам)(?![\w'’])|[我咱私僕저우]",
    re.I,
)
_ENGLISH = 0.15  # of the words of somebody who speaks it are words without a subject
_WORDS = re.compile(r"[^\W\d_\u0080-\uffff]+|[^\W\d_]")  # a letter that English has not is a word of its own
_LETTER = re.compile(r"[^\W\d_\x00-\x7f]")  # that English has not
_FOREIGN = re.compile(  # English for sure, which somebody who speaks another language hardly wrote
    r"(?:[\x00-\x7f]*\b(?:the|and|with|your?|is|are|not|can|this|that|of|to|have|has|be|it)\b){2}[\x00-\x7f]*", re.I
)
FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
ANSWER = re.compile(rf"^(\S.*[?？]){ANSWERED}(\S.*)$", re.MULTILINE)


def own_sentences(spoken: Sequence[Turn], prefix: str) -> dict[int, list[Sentence]]:
    """The number of each turn of the person -> the sentences that the person typed; of somebody who speaks another
    language, without those in English. ``prefix``: as ``prefix_of`` gives it."""
    own = {number: of_turn(_own(turn, prefix), number) for number, turn in enumerate(spoken) if turn.speaker == "user"}
    others = [number for number in own if _LETTER.search(spoken[number].text)]
    if not others or (2 * len(others) <= len(own) and is_english(one.text for said in own.values() for one in said)):
        return own
    return {number: [one for one in said if not _FOREIGN.fullmatch(one.text)] for number, said in own.items()}


def is_english(said: Iterable[str]) -> bool:
    """Whether somebody speaks English: of a few words alone, such as "bun test supports mocking", nobody can tell."""
    found = _WORDS.findall(" ".join(said).lower())
    return len([word for word in found if len(word) > 1 and word in STOP_WORDS]) > _ENGLISH * len(found)


def prefix_of(prompts: Sequence[str]) -> str:
    """The sentences that several prompts begin with word for word: a product wrote them. Empty if there are none."""
    starts = [prompt for prompt in prompts if len(prompt) > OPENING]
    for one, other in itertools.pairwise(starts):
        if one[:OPENING] == other[:OPENING]:
            alike = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
            same = "".join(character for character, _ in alike)
            return same[: max(same.rfind(stop) for stop in ("\n", ". ", "。")) + 1]
    return ""


def _own(turn: Turn, prefix: str) -> Turn:
    """A turn of the person without what was pasted into it; nothing of one that a tool or an agent generated."""
    has_structure = len(_STRUCTURE.findall(turn.text)) > _MOST_STRUCTURE
    if _GENERATED.search(turn.text) or (has_structure and _RULES.search(turn.text)):
        return replace(turn, text="")
    text = FENCED.sub("\n\n", ANSWER.sub("", newlines(turn.text.removeprefix(prefix))))
    is_talk, is_document = len(turn.text) <= TALK, len(turn.text) > _DOCUMENT and has_structure
    parts = re.split(r"\n\s*\n", (text if is_talk or is_document else _without_introduced(text)).strip())
    if is_document:
        parts = [part for part in parts[:1] if not _STRUCTURE.search(part)]
    elif sum(map(len, sentences(text))) < _PROSE * len(text) or (not is_talk and text.count("\n") > _LINES):
        parts = [*parts[:1], *parts[1:][-1:]]  # between them stands what is no prose, and what belongs to it
    most = _LONG if is_talk else 0
    own, is_own = [], True
    for at, part in enumerate(parts):
        is_order = not at and words.begins("orders", part) and not _PASTED.search(part)
        goes_on = is_own or _MINE.search(part) is not None  # a paste ends where somebody says "I"
        is_own = is_order or (goes_on and (len(part) <= most or not _is_paste(part)))
        own += [part] * is_own
    return replace(turn, text="\n\n".join(own))


def _without_introduced(text: str) -> str:
    """A text without what a line that ends in a colon introduces, up to where somebody says "I"."""
    kept, is_own = list[str](), True
    for line in text.split("\n"):
        if not is_own and _MINE.search(line):
            kept, is_own = [*kept, ""], True
        kept += [line] * is_own
        is_own = is_own and not line.rstrip().endswith((":", "："))
    return "\n".join(kept)


def _is_paste(part: str) -> bool:
    """Whether a paragraph was written elsewhere: full of places, or without a word to anybody."""
    return bool(_PASTED.search(part)) or not words.says("addresses", part)
