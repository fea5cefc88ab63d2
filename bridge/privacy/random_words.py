"""Recognises secrets that have neither a known form nor a name: long words that look drawn at random.

Hashes, ids and data look drawn too. So a word stays if it is hexadecimal or base64 of a text or file, if it is a line
of a block of such lines, if it is part of a URL, path or address, or if the word before it says what it is. Shorter
words count behind a prefix that says what they are (``acme_sk_…``), or as base64 of ``user:password``.
"""

from __future__ import annotations

import base64
import re

from .evidence import counts_up, has_random_letters, run_length

SHORTEST = 30  # letters and digits: ids of programs and services have up to 28
SHORTEST_PASSWORD = 10
_SHORTEST_BEHIND_PREFIX = 20
_LONGEST = 256  # characters; longer ones are mostly data

# A word that begins behind a blank, quote or bracket, or is the value of a variable of the environment.
LONG_WORD = r"(?:(?<![^\s\"'`(\[{>])|(?<=[A-Z]=))[A-Za-z0-9_](?:[\w+/~-]|\.(?=\w)){22,}+={0,2}+(?![=@:%(\\&$#{\[])"

# A word with a sign as only passwords have inside; behind a user's name also one of letters and digits alone.
_SIGNED = r"[\w$%@.-]{1,40}[!#&?^~](?=\w)(?:[\w!#$%&?@^~-]|\.(?=\w)){1,40}+"
PASSWORD = (
    r"(?<![^\s\"'`(])(?P<user>[A-Za-z][\w.-]{1,30}+:[\"']?)?"
    rf"(?P<secret>(?(user)(?:[A-Za-z0-9]{{12,40}}+(?!\w)|{_SIGNED})|{_SIGNED}))(?=[.,;:?!)]{{0,2}}(?:[\s\"'`]|\Z))"
)

_TELLING_PREFIX = re.compile(
    r"(?:[A-Za-z0-9]{1,20}[_-]){0,3}?(?:sk|rk|ak|pat|tok|tkn|token|sec|secret|oauth|apikey|key|live|prod|priv|admin)"
    r"[_-](?:[A-Za-z0-9]{1,6}[_-])?(?=[A-Za-z0-9])",
    re.IGNORECASE,
)
_PREFIX = re.compile(r"[A-Za-z][a-z0-9]{0,11}[_-]")
_PASSWORD_HAS = tuple(re.compile(one) for one in ("[a-z]", "[A-Z]", "[0-9]"))
_NO_PASSWORD = re.compile(r"[aA0]-[zZ9]|^[!#$%&@^~]|%[0-9A-F]{2}")
_PIECE = re.compile("[A-Za-z0-9]{12}")
_NOT_ALPHANUMERIC = re.compile("[^A-Za-z0-9]+")
_HEXADECIMAL = re.compile(r"[a-fA-F0-9]{16}")
# How digests, keys and certificates that are public, and files in base64 begin.
_NO_SECRET = re.compile(
    r"(?:sha-?\d+|md5|h1|blake\w{1,3})[-_=]|AAAA[BCE][23]N|M[A-I]|eyJ|iVBORw0KGg|R0lGOD|UklGR|JVBERi|UEsDB|H4sI|/9j/"
    r"|Qm[1-9A-HJ-NP-Za-km-z]{44}$|bafy|0x|_[ZR]|PHN2|PD94|pk_(?:live|test)_",
)
_NAMED_HARMLESS = re.compile(
    r"(?:id|ids|id-\d|hash|hashes|digest|checksum|sum|sha-?\d{0,3}|md5|etag|integrity|commit|revision|rev|version|build|cid"
    r"|address|wallet|account|thumbprint|fingerprint|nonce|cursor|next|cache|public[ _-]?key|pub|certificate|cert"
    r"|bytes|base64|encoded)[\"'`*]{0,2}[\s:=(>]{0,4}(?:(?:is|was|of|ist|est|es)\s)?[\"'`(<\[]{0,2}\Z",
    re.IGNORECASE,
)
_LINES_BEFORE = re.compile(r"[A-Za-z0-9+/=]{40}[\"',+\s\\nr]{1,24}\Z")
_LINES_AFTER = re.compile(r"[\"',+\s\\nr]{1,24}[A-Za-z0-9+/=]{40}")
_PATH_PART = re.compile(r"(?:^|/)[a-z]{3,}(?:/|$)")
_BASE64 = re.compile(r"[A-Za-z0-9+/]{20,}={0,2}")
_CREDENTIALS = re.compile(rb"[A-Za-z0-9][\w.@+-]{1,63}:[!-~]{6,128}")
_PRINTABLE = re.compile(rb"[\t\n\r -~]{15,}")


def is_secret(match: re.Match[str], word: str) -> bool:
    """Whether a match of ``LONG_WORD`` is a secret."""
    if _NO_SECRET.match(word) or len(word) > _LONGEST:
        return False
    text = decoded(word)
    if text is not None:
        return _CREDENTIALS.fullmatch(text) is not None
    if not is_drawn(word):
        return False
    before = match.string[max(0, match.start() - 64) : match.start()]
    after = match.string[match.end() : match.end() + 64]
    return not (_NAMED_HARMLESS.search(before) or _LINES_BEFORE.search(before) or _LINES_AFTER.match(after))


def is_password(_: re.Match[str], word: str) -> bool:
    """Whether a match of ``PASSWORD`` is a password: letters of both cases, digits, signs, and no name. Without signs,
    its case changes more often, or its letters are those of no language."""
    runs = run_length(word)
    if len(word) < SHORTEST_PASSWORD or runs >= 3 or _NO_PASSWORD.search(word) or counts_up(word):
        return False
    *both_cases, digits = (wanted.search(word) is not None for wanted in _PASSWORD_HAS)
    return all(both_cases) and (has_random_letters(word) or (digits and (runs < 2 or not word.isalnum())))


def is_drawn(word: str) -> bool:
    """Whether a part of a word between dots looks drawn, by its length, the pairs of its letters, and how often their
    case changes."""
    return any(map(_is_drawn, word.split(".")))


def _is_drawn(part: str) -> bool:
    telling = _TELLING_PREFIX.match(part)
    prefix = telling or _PREFIX.match(part)
    body = part[prefix.end() :] if prefix else part
    characters = _NOT_ALPHANUMERIC.sub("", body)
    if len(characters) < (_SHORTEST_BEHIND_PREFIX if telling else SHORTEST):
        return False
    digits, runs = sum(map(str.isdigit, characters)), run_length(body)
    return (
        _PIECE.search(body) is not None
        and digits < len(characters) / 2
        and runs < (4 if digits else 3.5)
        and has_random_letters(body)
        and not _HEXADECIMAL.search(characters)
        and not _PATH_PART.search(part)
        and not counts_up(body)
        and decoded(body) is None
    )


def decoded(word: str) -> bytes | None:
    """The text that a word is in base64; None if it is none."""
    if _BASE64.fullmatch(word) is None:
        return None
    try:
        text = base64.b64decode(word + "=" * (-len(word) % 4))
    except ValueError:
        return None
    return text if _PRINTABLE.fullmatch(text) else None
