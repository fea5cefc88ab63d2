"""Recognises secrets by the name that they are assigned to: ``password=…``, ``"api_key": "…"``.

The name alone is weak evidence: most such values are code, prose or placeholders. So the value must look random, or
look like a chosen password in a position that holds only a value.
"""

from __future__ import annotations

import re

# (Kind, substrings of which a text with such a name has one in lower case, the names as an expression). A name may have
# any prefix.
NAMES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "password",
        ("passw", "passphrase", "pwd", "_pass", "pass="),
        r"(?:passw(?:or)?d|passphrase|passwort|pwd|(?<=_)pass|\bpass(?==))",
    ),
    (
        "api-key",
        ("key",),
        r"(?:api|access|account|auth|signing|encryption|encrypt|master|private|shared|service|storage|secret)"
        r"[_-]?(?:access[_-]?)?key",
    ),
    ("secret", ("secret",), r"secret"),
    ("token", ("token",), r"token"),
)

_SUFFIX = r"(?:[_-]?(?:prod|production|dev|test|staging|live|value|base64|b64|[0-9]{1,2}))?"
# A quote may be escaped, in JSON inside JSON.
_IS = r"\\{0,4}+[\"'\]]{0,2}+\s{0,8}+(?P<op>=>|:=|[:=])\s{0,8}+"
_QUOTE = r"(?P<quote>\\{0,4}+[\"'`])?"
_QUOTED = r"[^\"'`\\\n]{4,512}"
_BARE = r"[^\s\"'`(){}\[\]<>,;&|\\]{6,}+"


def expression(names: str) -> str:
    """The expression for an assignment to one of the names; its group ``secret`` is the value without quotes."""
    return rf"{names}{_SUFFIX}{_IS}{_QUOTE}(?P<secret>(?(quote){_QUOTED}|{_BARE}))(?(quote)(?P=quote))"


# Prefixes of names that end like one of those above but hold no secret.
_HARMLESS_BEFORE = re.compile(
    r"(?:csrf|xsrf|page|next|prev|previous|continuation|sync|stop|start|end|eos|bos|pad|unk|mask|sep|cls|special|input"
    r"|output|prompt|max|min|num|per|public|primary|foreign|cache|partition|sort|idempotency|cancellation|design"
    r"|hashed?|public[_-]?key)[_-]?$|::[A-Za-z0-9]*$",
    re.IGNORECASE,
)
_NAMED_BEFORE = re.compile(r"[A-Za-z0-9_:-]\Z")  # a cheap test: without it, _HARMLESS_BEFORE cannot match
_PLACEHOLDER = re.compile(
    r"\[REDACTED(?::[a-z-]+)?\]"
    r"|^\$|^%[A-Za-z_(]|^\{|\{\{|^<|>$|^\*|^\.{2,}|^@|^:"
    r"|^(?:your|my|the|some|any|this|insert|enter|put|replace)[ _-]"
    r"|example|changeme|change[_-]me|placeholder|redacted|dummy|sample|x{4,}|\.{3}|…|\*{3}|1234567890?$|abcdef123456"
    r"|^(?:null|none|true|false|undefined|password|passwd|pass|pwd|secret|token|user|test|foo|bar)[0-9]{0,3}$",
    re.IGNORECASE,
)
# Letters, possibly with a few digits: words, versions, names of algorithms, numbers.
_WORD = re.compile(r"[A-Za-z]*[0-9]{0,6}[A-Za-z]{0,3}|[0-9]+")
_PARTS = re.compile(r"[^A-Za-z0-9]+")
_LETTER, _DIGIT, _DIGIT_OR_SIGN = (re.compile(one) for one in ("[A-Za-z]", "[0-9]", "[0-9!#$%^*+@?]"))
_APART = re.compile(r"[ _/]|[a-z]\.[a-z]")
_CODE = re.compile(
    r"^(?:self|this|os|process|env|config|settings|args|request|ctx|vault|arn|sha\d+|md5|https?|file)[.:-]|::|->"
)
_ALGORITHM = re.compile(
    r"argon2|bcrypt|scrypt|pbkdf|sha-?\d|md5|[hre]s(?:256|384|512)|oauth|base64|utf-?8|x509|ed25519|aes", re.IGNORECASE
)


def is_placeholder(value: str) -> bool:
    """Whether a value is a placeholder for a secret: a variable, an example, or our own mark."""
    return _PLACEHOLDER.search(value) is not None or (len(value) >= 12 and len(set(value[8:])) < 4)


def is_random(value: str) -> bool:
    """Whether a value looks random: it mixes letters and digits, and does not consist of words and numbers."""
    if len(value) < 8 or not (_LETTER.search(value) and _DIGIT.search(value)):
        return False
    return not all(_WORD.fullmatch(part) for part in _PARTS.split(value))


def is_secret(match: re.Match[str]) -> bool:
    """Whether a match of ``expression`` is a secret."""
    value, is_quoted = match["secret"], match["quote"] is not None
    if not _DIGIT_OR_SIGN.search(value):
        return False  # the cheapest test first, since hostile text may be megabytes long
    value_start = match.start("quote" if is_quoted else "secret")
    before, after = (
        match.string[max(0, match.start() - 24) : match.start()],
        match.string[match.end() : match.end() + 1],
    )
    if _NAMED_BEFORE.search(before) and _HARMLESS_BEFORE.search(before):
        return False
    if _CODE.search(value) or value.startswith("-"):
        return False
    if match["op"] == ":" and before.endswith(":"):
        return False  # part of a name with colons, such as Amazon's
    if not is_quoted and after in ("(", "[", "{"):
        return False  # a call or an indexed expression
    if is_random(value):
        return True
    is_tight = match["op"] == "=" and match.end("op") == value_start
    is_value = is_quoted or (is_tight and after in ("", " ", "\n", "\r", "\t", "&", ";", '"', "'"))
    return match.re.pattern.startswith(NAMES[0][2]) and is_value and _is_chosen(value)


def _is_chosen(value: str) -> bool:
    """Whether a value looks like a password that a person chose."""
    has_both = _LETTER.search(value) and _DIGIT_OR_SIGN.search(value)
    return bool(has_both) and not _APART.search(value) and not _ALGORITHM.search(value)
