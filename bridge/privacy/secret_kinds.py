"""The table of known kinds of secrets, with the patterns that recognise them. ``redaction`` applies it.

The forms of providers' tokens are in ``token_forms``, the names of assigned values in ``assigned_secrets``. Every
pattern must take linear time on hostile text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from ..pattern import pattern
from . import assigned_secrets, evidence, random_words, token_forms
from .evidence import Confirm

_GROUP = "secret"  # the group that is replaced; without it, the whole match
SHORTEST_TOKEN = 16  # characters; no shorter word is looked at for tokens

# A token may begin only outside a word, or behind an escape such as \n or %3D.
_LEFT = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
_BEGINS = re.compile(_LEFT)
_PLAIN_WORD = re.compile(r"[^\w\\]*+[A-Za-z]?[a-z]*+(?:[-'/.,][a-z]++)*[^\w\\]*+")
_TAIL = re.compile(r"[A-Za-z0-9_-]*+")
_TAIL_CHARACTER = re.compile(r"[A-Za-z0-9_-]")

# "token": may be longer than its pattern; "exact": of fixed length; "word": a whole word; "value": behind a name;
# "block": several lines.
Shape = Literal["token", "exact", "word", "value", "block"]


class Form(NamedTuple):
    """What a kind's secrets look like. ``anchors``: substrings of which every text with such a secret has one, in lower
    case if ``any_case``; a cheap test. ``is_one`` confirms a match."""

    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    is_one: Confirm
    shape: Shape
    any_case: bool = False

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """The bounds of each secret of this form in a text with one of its anchors."""
        group: str | int = _GROUP if _GROUP in self.pattern.groupindex else 0
        done = 0
        for match in self.pattern.finditer(text):
            start, end = match.span(group)
            if start < done:
                continue  # inside the previous token
            if self.shape in ("token", "exact"):
                bounds = self._bounds(text, start, end)
                if bounds is None:
                    continue
                start, end = bounds
                done = end
            secret = text[start:end]
            if not self.is_one(match, secret) or (self.shape != "block" and evidence.is_placeholder(secret)):
                continue
            if self.shape in ("block", "value") or not evidence.is_none(text, start, end):
                yield start, end

    def _bounds(self, text: str, start: int, end: int) -> tuple[int, int] | None:
        """The bounds of the whole token around a match; None if the match is part of another word."""
        if _BEGINS.match(text, start) is None:
            return None
        if self.shape == "exact":  # one character decides; reading the whole tail each time would be quadratic
            return None if _TAIL_CHARACTER.match(text, end) else (start, end)
        tail = _TAIL.match(text, end)
        assert tail is not None  # it may match the empty string
        return start, tail.end()


class Kind(NamedTuple):
    """A kind of secret, with the forms that its secrets have."""

    name: str
    forms: tuple[Form, ...]


# --- the table ---


def _tokens(kind: str, is_one: Confirm | None = None, exact: Confirm | None = None) -> tuple[Form, ...]:
    """The forms of ``token_forms`` for a kind. Without a confirmation of its own, a token must look drawn."""
    return tuple(
        Form((form.anchor,), pattern(form.expression, re.ASCII), own or evidence.drawn_behind(form.prefix), form.shape)
        for form in token_forms.tokens(kind)
        for own in [is_one if form.shape == "token" else exact or is_one]
    )


def _values(
    anchors: Sequence[str],
    *expressions: str,
    is_one: Confirm = evidence.has_digit,
    shape: Shape = "value",
    any_case: bool = False,
) -> tuple[Form, ...]:
    flags = re.IGNORECASE | re.ASCII if any_case else re.ASCII
    return tuple(Form(tuple(anchors), pattern(one, flags), is_one, shape, any_case) for one in expressions)


def _assigned(name: str, rows: Iterable[tuple[str, str]]) -> Kind:
    """The kind of the values of some names."""

    def is_one(match: re.Match[str], _: str) -> bool:
        return assigned_secrets.is_secret(match, name)

    forms: tuple[Form, ...] = ()
    for anchor, words in rows:
        expressions = assigned_secrets.expression(words), assigned_secrets.argument_expression(words)
        forms += _values([anchor], *expressions, is_one=is_one, any_case=True)
    if name == assigned_secrets.PASSWORDS:
        for anchor, expression in assigned_secrets.PROGRAMS:
            forms += _values([anchor], expression, is_one=assigned_secrets.is_argument, any_case=True)
        forms += _values([" / ", ", p"], assigned_secrets.LOGIN, is_one=assigned_secrets.is_login)
        forms += _values([], random_words.PASSWORD, is_one=random_words.is_password, shape="word")
    return Kind(name, forms)


_ARMOUR = r"-{4,5} ?BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_ARMOUR_END = r"-{4,5} ?END (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_LINE_END = r"(?:[\s\"'+,>|*#]|\\+[nrt])"
_HEADERS = rf"(?:{_LINE_END}+[A-Z][A-Za-z-]{{2,20}}+: [^\r\n\\]{{1,100}}+){{0,4}}"  # of an encrypted key, or PGP's

# If several kinds match, the first one gives the name.
KINDS: Sequence[Kind] = (
    Kind("private-key", (
        *_values(
            ["PRIVATE KEY"],
            rf"{_ARMOUR}(?P<body>(?:[^-]++|-(?!---))*){_ARMOUR_END}",
            # Without an END mark: as many lines as look like lines of a key.
            rf"{_ARMOUR}(?P<body>{_HEADERS}(?:{_LINE_END}+[A-Za-z0-9+/]{{20,}}+={{0,2}})+"
            rf"(?:{_LINE_END}+[A-Za-z0-9+/]+={{1,2}})?)",
            is_one=evidence.is_key_body, shape="block",
        ),
        *_values(
            ["Private-Lines"],
            r"Private-Lines: \d{1,4}(?P<secret>(?P<body>(?:(?:\s|\\+[nr])+[A-Za-z0-9+/]{20,}+={0,2})+))",
            is_one=evidence.is_key_body, shape="block",
        ),
        # A key or its block in base64, without the armour.
        *_values(
            ["LS0tLS1CRUdJTi"],
            r"(?<![\w+/])LS0tLS1CRUdJTi[A-Za-z0-9+/]{60,}+={0,2}",
            is_one=evidence.is_encoded_key, shape="block",
        ),
        *_values(
            ["MII", "MHcCAQEE", "MIGHAgEA"],
            r"(?<![\w+/])(?:MII[A-Za-z0-9+/]{2}[AQgw]IBA[A-Za-z]|MHcCAQEE|MIGHAgEA)[A-Za-z0-9+/]{40,}+={0,2}"
            r"(?:(?:\s|\\+[nr]){1,20}[A-Za-z0-9+/]{20,}+={0,2})*",
            shape="block",
        ),
        # The private members of a JSON Web Key, and such a key in base64.
        *_values(
            ['"kty"'], r"\"(?:d|p|q|dp|dq|qi|k)\"\s{0,8}:\s{0,8}\"(?P<secret>[\w-]{20,}+)\"", shape="block",
        ),
        *_values(
            ["eyJ", "ewog", "ewoJ"], r"(?<![\w+/.-])(?:eyJ|ewo[gJ])[A-Za-z0-9+/_-]{60,}+={0,2}(?!\.)",
            is_one=evidence.is_encoded_json_key, shape="block",
        ),
        *_values(
            ["AGE-SECRET-KEY-", "AGE-PLUGIN-"],
            r"AGE-(?:SECRET-KEY|PLUGIN-[A-Z0-9]{2,20})-(?:PQ-)?1[A-Z0-9]{50,}+", shape="block",
        ),
    )),
    Kind("aws-access-key", _tokens("aws-access-key")),
    Kind("azure-key", (
        *_tokens("azure-key", exact=evidence.is_mixed),
        *_values(
            ["AccountKey=", "SharedAccessKey=", "sig="],
            r"AccountKey=(?P<secret>[A-Za-z0-9+/=]{88})",
            r"SharedAccessKey=(?P<secret>[A-Za-z0-9+/]{43}=)",
            r"[?&]sig=(?P<secret>[A-Za-z0-9%+/]{40,100}+)",
        ),
    )),
    *(
        Kind(name, _tokens(name))
        for name in (
            "github-token", "gitlab-token", "anthropic-key", "openai-key", "google-key", "huggingface-token",
            "ai-provider-key", "slack-token", "stripe-key",
        )
    ),
    Kind("npm-token", (
        *_tokens("npm-token"),
        *_values(
            ["_authToken", "_password", "_auth"],
            r"_(?:authToken|password|auth)\s{0,4}=\s{0,4}[\"']?(?P<secret>[A-Za-z0-9_=+/-]{16,}+)",
        ),
    )),
    *(Kind(name, _tokens(name)) for name in ("pypi-token", "sendgrid-key", "square-secret", "mailchimp-key")),
    Kind("telegram-token", _tokens("telegram-token", exact=evidence.is_mixed)),
    Kind("twilio-key", _tokens("twilio-key", exact=evidence.has_digit)),
    Kind("discord-token", _tokens("discord-token", evidence.is_mixed)),
    Kind("artifactory-key", _tokens("artifactory-key", exact=evidence.is_mixed)),
    Kind("service-token", (
        *_tokens("service-token", exact=evidence.has_digits),
        *(
            Form(
                (first,), pattern(rf"(?<![\w+/=]){first}[A-Za-z0-9+/]{{43}}(?![\w+/=])", re.ASCII),
                evidence.is_numbered, "exact",
            )
            for first in "MNO"
        ),
    )),
    # Only the beginning of a header is proof; what follows may be cut off.
    Kind("jwt", (
        *_values(
            ["eyJ"], rf"{_LEFT}(?<![_-])eyJ[A-Za-z0-9_=-]{{8,}}+\.[A-Za-z0-9_=-]{{4,}}+(?:\.[A-Za-z0-9_.+/=-]*+)?",
            is_one=evidence.is_jwt,
        ),
        # Behind a provider's prefix; what follows the object is often a signature.
        *_values(["_eyJ"], rf"{_LEFT}[a-z]{{2,12}}_eyJ[\w+/=-]{{40,}}+"),
        *_values(["ZXlK"], r"(?<![\w+/=-])ZXlK[A-Za-z0-9+/]{40,}+={0,2}", is_one=evidence.is_encoded_jwt),
    )),
    Kind("authorization", _values(
        ["bearer", "authorization"],
        r"\bbearer\s{1,4}(?P<secret>[A-Za-z0-9._~+/=-]{16,}+)",
        r"\bauthorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:basic|token|digest|apikey|ntlm)\s{1,4}"
        r"(?P<secret>[A-Za-z0-9._~+/=-]{8,}+)",
        r"\bauthorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?P<secret>[A-Za-z0-9._~+/=-]{16,}+)",
        is_one=evidence.is_bearer, any_case=True,
    )),
    Kind("session-cookie", _values(
        ["sid=", "nid=", "_session="],
        r"(?:sess?id|sessionid|_session|\.sid)=(?P<secret>[A-Za-z0-9%._~+/=-]{16,}+)",
        is_one=evidence.is_bearer, any_case=True,
    ) + _values(
        ["cookie:"],
        r"cookie:\s{0,4}(?:[\w.-]{1,64}=[^\s;,\"']{0,256};\s){0,8}?[\w.-]{0,40}(?:auth|token|jwt)[\w.-]{0,24}="
        r"(?P<secret>[A-Za-z0-9%._~+/=-]{16,}+)",
        is_one=evidence.is_bearer, any_case=True,
    )),
    Kind("recovery-code", _values(
        ["code"], assigned_secrets.RECOVERY_CODES, is_one=assigned_secrets.is_recovery_code, any_case=True,
    )),
    Kind("url-password", _values(
        ["://"],
        r"://(?P<user>[^\s:/?#@\[\]\"'<>\\`]{0,128}+):(?P<secret>[^\s/?\"'<>\\`]{1,256})@(?=[\w.\[-]|\Z)",
        # No pages are behind these: a sign that ends a web address's host belongs to the password, unless a port is
        # before it.
        r"\b(?:postgres(?:ql)?|mysql|mariadb|mongodb|rediss?|amqps?|mssql|sqlserver|clickhouse)(?:\+\w{1,16})?://"
        r"(?P<user>[^\s:/?#@\[\]\"'<>\\`]{0,128}+):(?!\d{1,5}[/?,])"
        r"(?P<secret>(?:[^\s:=\"'<>\\`]|:(?!//)|(?<=\w)'(?=\w)){1,128})@(?=[\w.\[-]|\Z)",
        is_one=evidence.is_url_password,
    )),
    *(_assigned(name, rows) for name, rows in assigned_secrets.NAMES.items()),
    Kind("webhook", _values(
        ["hook"], r"https?://(?=[^\s\"'`<>]{0,80}hook)[^\s\"'`<>()]{24,256}+", is_one=random_words.is_hook,
    )),
    Kind("high-entropy", _values([], random_words.LONG_WORD, is_one=random_words.is_secret, shape="word")),
)  # fmt: skip


# --- searching ---


def find(text: str) -> Iterator[tuple[int, int, int]]:
    """Where each likely secret of a text begins and ends, and the rank of its kind in ``KINDS``. In no order; they may
    overlap."""
    for form, rank in _possible(text):
        for start, end in form.find(text):
            yield start, end, rank


def _possible(text: str) -> Iterator[tuple[Form, int]]:
    """The forms that a text may hold by cheaper tests, each with the rank of its kind."""
    words = dict.fromkeys(word for word in text.split() if len(word) >= random_words.SHORTEST_PASSWORD)
    # Few words are long and no plain ones: what is not in them is not searched for in the whole text.
    odd_words = [word for word in words if len(word) >= SHORTEST_TOKEN and not _PLAIN_WORD.fullmatch(word)]
    if odd_words:
        joined = " ".join(odd_words)
        for beginning in _TOKENS.keys() & {"", *map("".join, pairwise(joined))}:
            for anchor, form, rank in _TOKENS[beginning]:
                if anchor in joined and form.pattern.search(joined):
                    yield form, rank
    passwords = filter(random_words.POSSIBLE_PASSWORD.search, words)
    for searched_words, form, rank in ((odd_words, *_LONG_WORD), (passwords, *_PASSWORD)):
        # With a sign between, so that no word is taken for the name of the next one.
        if next(form.find("\0 ".join(["", *searched_words])), None):
            yield form, rank
    lowered = text.lower()
    for (anchors, any_case), forms in _ANCHORED.items():
        searched = lowered if any_case else text
        for anchor in anchors:
            if anchor in searched:
                yield from forms
                break


# What is searched for in the long words: by the first two characters of the anchor, "" if it has but one.
_TOKENS: dict[str, list[tuple[str, Form, int]]] = {}
_WORDS: list[tuple[Form, int]] = []
# The other forms, those that have the same anchors together.
_ANCHORED: dict[tuple[tuple[str, ...], bool], list[tuple[Form, int]]] = {}
for _rank, _kind in enumerate(KINDS):
    for _form in _kind.forms:
        if _form.shape == "word":
            _WORDS.append((_form, _rank))
        elif _form.shape in ("token", "exact"):
            _anchor = _form.anchors[0]
            _TOKENS.setdefault(_anchor[:2] if len(_anchor) > 1 else "", []).append((_anchor, _form, _rank))
        else:
            _ANCHORED.setdefault((_form.anchors, _form.any_case), []).append((_form, _rank))
_PASSWORD, _LONG_WORD = _WORDS
