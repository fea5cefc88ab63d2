"""The words of which a time phrase has at least one: a question without them needs no further look. Light to import."""

from __future__ import annotations

from typing import Literal

Language = Literal["en", "de", "fr"]

# Longer texts are pasted logs or prompts, where dates have many meanings.
_MAX_CHARS = 400

_WORDS: dict[Language, frozenset[str]] = {
    "en": frozenset(
        "yesterday today night ago day days week weeks weekend month months quarter year years hour hours"
        " monday tuesday wednesday thursday friday saturday sunday january february march april may june july august"
        " september october november december jan feb mar apr jun jul aug sep sept oct nov dec"
        " spring summer autumn fall winter q1 q2 q3 q4 last latest recent recently newest first earliest originally"
        " initially beginning release launch migration incident outage rewrite upgrade meeting offsite holidays freeze"
        " kickoff kick audit".split()
    ),
    "de": frozenset(
        "gestern vorgestern woche wochen monat monaten jahr jahren tag tagen montag dienstag mittwoch donnerstag"
        " freitag samstag sonntag januar februar märz april mai juni juli august september oktober november dezember"
        " zuletzt ersten".split()
    ),
    "fr": frozenset(
        "hier semaine semaines mois an ans année jour jours lundi mardi mercredi jeudi vendredi samedi dimanche"
        " janvier février mars avril mai juin juillet août septembre octobre novembre décembre"
        " première dernière".split()
    ),
}
_SIGNS = str.maketrans(dict.fromkeys("?!.,;:()'’\"-/", " "))


def time_languages(question: str) -> list[Language]:
    """The languages in which the question may have a time phrase. None for most questions, and for long texts."""
    if len(question) > _MAX_CHARS:
        return []
    words = set(question.casefold().translate(_SIGNS).split())
    found = [language for language, known in _WORDS.items() if not known.isdisjoint(words)]
    if "en" not in found and any(len(word) == 4 and word.startswith("20") and word.isdigit() for word in words):
        found.insert(0, "en")
    return found
