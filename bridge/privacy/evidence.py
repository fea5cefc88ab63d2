"""What tells a secret from what only looks like one: placeholders, randomness, and proofs by what a token contains."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from itertools import pairwise

# Confirms a match of a pattern, given with the secret that it holds.
Confirm = Callable[[re.Match[str], str], bool]

_PLACEHOLDER_BEGINS = re.compile(
    # Variables of shells, templates and SQL; hashes; references of YAML; the armour of a key.
    r"\$(?:(?-i:[A-Z_][A-Z0-9_]*|[a-z_][a-z0-9_]*|[a-z]+(?:[A-Z][a-z]+)+)(?![A-Za-z0-9])|[{(]|\w{1,8}\$)"
    r"|%(?:\w+%|[sdr]$|\()|#?\{[{%]?\s?[A-Za-z_$][\w.$ -]*[}|(]|<[A-Za-z][A-Za-z _:.-]*[0-9]{0,2}(?:>|$)"
    r"|[*@:&!][A-Za-z_]+$"
    r"|\.{2,}|\*+$|-----BEGIN|&(?:#\w{1,6}|lt);"
    r"|(?:your|my|the|some|any|this|insert|enter|put|replace)[ _-]"
    r"|(?:null|none|true|false|undefined|password|passwd|pass|pwd|secret|token|user|test|foo|bar)[0-9]{0,3}$",
    re.IGNORECASE,
)
_PLACEHOLDER_HAS = re.compile(
    r"\[REDACTED(?::[a-z-]+)?\]|\{\{|example|changeme|change[_-]me|placeholder|redacted|dummy|sample|fake|x{4,}|\.{3}|…|\*{3}"
    r"|1234567890?$|abcdef123456|abcdefghijkl|wJalrXUtnFEMI/K7MDENG",
    re.IGNORECASE,
)
# What stands around a token that is shown in part, or that its name says is none.
_CUT_OFF = re.compile(r"[#*•x]{4}|\.{3}|…")
_NAMED_NONE = re.compile(
    r"(?:fake|dummy|mock|bogus|invalid|wrong|non_?matching)[\w-]{0,40}[\"'`]{0,2}\s{0,4}(?::?=|:|=>)\s{0,4}[\"'`]?\Z",
    re.IGNORECASE,
)
# The commonest pairs of letters in English, German, French and Spanish. Of the pairs of a name in
# a program 30 in a hundred or more are such, with few exceptions; of letters drawn at random, 12.
_COMMON_PAIRS = frozenset(
    "th he in er an re on at en nd ti es or te of ed is it al ar st to nt ng se ha as ou io le ve co me de hi ri ro ic"
    " ne ea ra ce li ch ll be ma si om ur ta et el la ho us ns ec ut ct il di ot em ac un rs pe ge ie ei sc ss tr pr lo"
    " po id".split()
)
_PAIR = re.compile("(?=([A-Za-z]{2}))")
_LONG_PART = re.compile("[A-Za-z0-9]{7,}")
_RUN = re.compile("[A-Z]?[a-z]+|[A-Z]+|[0-9]+")  # what reads as one piece of a name
# Letters, possibly with a few digits: words, versions, names of algorithms, numbers.
_WORD = re.compile(r"[A-Za-z]*[0-9]{0,6}[A-Za-z]{0,3}|[0-9]+|[0-9]{1,2}[A-Z]?[a-z]{4,}")
_PARTS = re.compile(r"[^A-Za-z0-9]+")
_LETTER, _DIGIT = re.compile("[A-Za-z]"), re.compile("[0-9]")
_SIGN = re.compile(r"[!#$%^&*@~?+=|<>]")
_ALONE = re.compile(r"(?<=[A-Z0-9])[a-z](?=[A-Z0-9])")
_CAMEL_CASE = re.compile(r"[A-Z]?[a-z]+(?:[A-Z][a-z]+)*")
_NAME_PART = re.compile(r"[A-Z]?[a-z]+(?:[A-Z][a-z]+)*|[A-Z]*|[0-9]{1,6}|[a-z]+[0-9]{1,3}")
_BETWEEN = re.compile("[-_.]")
_CONSONANTS = re.compile("[b-df-hj-np-tv-xz]{5}", re.IGNORECASE)
_KEY_LINE = re.compile(r"(?:[A-Za-z0-9+/=]|\\/){20,}")

# --- of any value ---


def is_placeholder(value: str) -> bool:
    """Whether a value is a placeholder for a secret: a variable, an example, or our own mark."""
    return (
        _PLACEHOLDER_BEGINS.match(value) is not None
        or _PLACEHOLDER_HAS.search(value) is not None
        or (len(value) >= 16 and len(set(value[8:])) < 4)
    )


def is_none(text: str, start: int, end: int) -> bool:
    """Whether what stands around a likely token says that it is none: its name, or that a part is hidden."""
    return _CUT_OFF.match(text, end) is not None or _NAMED_NONE.search(text[max(0, start - 64) : start]) is not None


def counts_up(value: str) -> bool:
    """Whether most characters repeat the one before or are its neighbour in the alphabet, as in ``abc123``."""
    codes = value[:256].lower().encode("utf-8", "surrogatepass")
    return sum(-1 <= after - before <= 1 for before, after in pairwise(codes)) * 2 > len(codes)


def is_random(value: str) -> bool:
    """Whether a value looks random: it mixes letters and digits, and does not consist of words and numbers; or single
    small letters stand between capitals, as in no name; or its letters are those of no language."""
    if len(value) < 8 or not _LETTER.search(value):
        return False
    if _DIGIT.search(value) and not all(_WORD.fullmatch(part) for part in _PARTS.split(value)):
        return True
    if len(value) >= 16 and len(_ALONE.findall(value)) >= 2:
        return True
    return has_random_letters(value) or any(map(has_random_letters, _LONG_PART.findall(value)))


def has_random_letters(value: str) -> bool:
    """Whether the letters of a value's longer parts look drawn: few of their pairs are common ones, or not many are
    and their case changes as in no name."""
    parts = _LONG_PART.findall(value)
    pairs = [pair for part in parts for pair in _PAIR.findall(part)]
    if len(pairs) < 8:
        return False
    common = _common_share(pairs)
    if common < (0.2 if len(pairs) < 20 else 0.3):
        return True
    return common < 0.35 and run_length("".join(parts)) < 3


def reads_as_drawn(value: str) -> bool:
    """Whether a word of both cases and digits changes between them more often than a name, with few common pairs."""
    has_all = len(value) >= 10 and value.isalnum() and is_mixed(None, value)
    return has_all and run_length(value) <= 3 and _common_share(_PAIR.findall(value)) < 0.3


def _common_share(pairs: list[str]) -> float:
    return sum(pair.lower() in _COMMON_PAIRS for pair in pairs) / max(1, len(pairs))


def run_length(value: str) -> float:
    """The mean number of letters or digits that read as one piece: 5 and more in names, 2 in what was drawn."""
    runs = _RUN.findall(value)
    return sum(map(len, runs)) / max(1, len(runs))


def is_dense(value: str) -> bool:
    """Whether a value has small letters, capitals, and digits and signs, or several signs, all in one word."""
    if len(value) < 8 or value.islower() or value.isupper() or not _LETTER.search(value) or " " in value:
        return False
    signs = len(_SIGN.findall(value))
    return signs > 0 and (_DIGIT.search(value) is not None or signs > 1)


# --- of what matched a pattern ---


def drawn_behind(prefix: str) -> Confirm:
    """Whether what follows a token's prefix was drawn at random: it has a digit, mixes small and capital letters, or
    has no vowels; and it is neither a name, nor words with signs between them, nor the alphabet."""

    def is_drawn(match: re.Match[str], secret: str) -> bool:
        body = secret[len(prefix) :]
        parts = _BETWEEN.split(body)
        if len(parts) > 2 and all(_NAME_PART.fullmatch(part) for part in parts):
            return False
        if has_digit(match, body):
            return True
        if body.islower() or body.isupper():
            return _CONSONANTS.search(body) is not None
        return _CAMEL_CASE.fullmatch(body) is None

    return is_drawn


def is_mixed(_: object, secret: str) -> bool:
    """Whether it has small letters, capital letters and digits, unlike most names in programs."""
    return all(re.search(wanted, secret) for wanted in ("[a-z]", "[A-Z]", "[0-9]"))


def has_digits(_: re.Match[str], secret: str) -> bool:
    """Whether several of its characters are digits, or it has digits and letters of both cases."""
    digits = sum(map(str.isdigit, secret))
    return digits >= 3 or (digits > 0 and not secret.islower() and not secret.isupper())


def has_digit(_: re.Match[str], secret: str) -> bool:
    """Whether one of its characters is a digit."""
    return re.search("[0-9]", secret) is not None


def is_jwt(_: re.Match[str], secret: str) -> bool:
    """Whether the token's header is the beginning of a JSON object."""
    head = secret.partition(".")[0].rstrip("=")
    try:
        header = base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)).decode(errors="replace")
    except ValueError:
        return False
    return re.match(r'\{\s*"', header) is not None and '"' in header[2:]


def is_encoded_jwt(match: re.Match[str], secret: str) -> bool:
    """Whether it is base64 of a JSON Web Token."""
    try:
        return is_jwt(match, base64.b64decode(secret[: len(secret) // 4 * 4]).decode("latin-1"))
    except ValueError:
        return False


def is_numbered(_: re.Match[str], secret: str) -> bool:
    """Whether it is base64 of a number, a colon and random bytes, as Atlassian's data centre products issue."""
    return re.match(rb"\d{9,13}:", base64.b64decode(secret)) is not None


def is_encoded_key(_: re.Match[str], secret: str) -> bool:
    """Whether base64 begins with the armour of a private key."""
    return b"PRIVATE KEY-----" in base64.b64decode(secret[:80])


def is_encoded_json_key(_: re.Match[str], secret: str) -> bool:
    """Whether it is base64 of a private JSON Web Key."""
    text = base64.urlsafe_b64decode(secret.replace("+", "-").replace("/", "_")[: len(secret) // 4 * 4])
    return b'"kty"' in text and re.search(rb'"(?:d|k)"\s*:', text) is not None


def is_key_body(match: re.Match[str], secret: str) -> bool:
    """Whether most of the body is lines of a key; prose may mention the BEGIN and END marks too."""
    body = match["body"]
    return sum(map(len, _KEY_LINE.findall(body))) * 3 > len("".join(body.split())) * 2 and has_digit(match, body)


def is_bearer(_: re.Match[str], secret: str) -> bool:
    """Whether it looks random; prose mentions bearer tokens too."""
    return is_random(secret)


def is_url_password(match: re.Match[str], secret: str) -> bool:
    """Whether it is neither a port, perhaps with a ``#`` behind, nor the user's name again, which is a placeholder."""
    return not re.fullmatch(r"\d{1,5}|\d{2,5}#.*", secret) and match["user"] != secret
