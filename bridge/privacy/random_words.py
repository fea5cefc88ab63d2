"""Recognises secrets that have neither a known form nor a name: long words that look drawn at random.

Hashes, ids and data look drawn too. So a word stays if it is hexadecimal or base64 of a text or file, if it is a line
of a block of such lines, if it is part of a URL, path or address, or if the word before it says what it is. Shorter
words count behind a prefix that says what they are (``acme_sk_…``) or is no word (``glrt-…``), as base64 of
``user:password``, as the seed of one-time passwords, and as a password that a person chose (``passW0rd!``).
"""

from __future__ import annotations

import base64
import re

from .evidence import counts_up, has_random_letters, run_length

SHORTEST = 30  # letters and digits: ids of programs and services have up to 28
SHORTEST_PASSWORD = 8
_SHORTEST_DRAWN_PASSWORD = 10
_SHORTEST_BEHIND_PREFIX = 16
_LENGTHS_OF_KEYS = (32, 40, 48, 64, 128)  # in hexadecimal: 16 to 64 bytes
_LONG = 23  # characters; a shorter word has a digit
_LONGEST = 256  # characters; longer ones are mostly data

# A word that begins behind a blank, quote or bracket, or is the value of a variable of the environment.
# No group repeats possessively: before Python 3.11.5 such a repetition may match nothing.
LONG_WORD = (
    r"(?:(?<![^\s\"'`(\[{>])|(?<=[A-Z]=))[A-Za-z0-9_]"
    r"(?:[\w+/~-]|\.(?=\w)){15,}(?![\w+/~-]|\.\w)={0,2}+(?![=@:%(\\&$#{\[])"
)

# A word with a sign as only passwords have inside, or with digits; behind a user's name also one of letters alone.
_SIGNED = r"[\w$%@.-]{1,40}[!#&?^~](?=\w)(?:[\w!#$%&?@^~-]|\.(?=\w)){1,40}(?![\w#$%&@^~-]|\.\w)"
_WITH_DIGITS = r"(?=[A-Za-z$@]{1,20}[0-9])[A-Za-z0-9$@]{8,24}+(?![\w-])"
PASSWORD = (
    r"(?:(?<![^\s\"'`(])|(?<=[A-Z]=)|(?<=\s[\"']:))(?P<user>[A-Za-z][\w.-]{1,30}+:[\"']?)?"
    rf"(?P<secret>(?(user)(?:[A-Za-z0-9]{{12,40}}+(?!\w)|{_SIGNED})|(?:{_SIGNED}|{_WITH_DIGITS})))"
    r"(?=[.,;:?!)]{0,2}(?:[\s\"'`]|\Z))"
)

# Without this, a word holds no match of PASSWORD.
POSSIBLE_PASSWORD = re.compile(r"[0-9!#&?^~]|:[\"']?\w")

_TELLING_PREFIX = re.compile(
    r"(?:[A-Za-z0-9]{1,20}[_-]){0,3}?(?:sk|rk|ak|pat|tok|tkn|token|sec|secret|oauth|apikey|key|live|prod|priv|admin)"
    r"[_-](?:[A-Za-z0-9]{1,6}[_-])?(?=[A-Za-z0-9])",
    re.IGNORECASE,
)
# Letters that begin or end no word: ``glrt-…``, ``shpat_…``, ``xoxb-123-…``.
_OWN_PREFIX = re.compile(
    r"(x[a-z]{2,7}|[b-df-hj-np-tv-z]{3,6}|(?!sch|scr|shr|spl|spr|str|thr|chr|phr)[b-df-hj-np-tvwz]{3}[a-z0-9]{1,6}"
    r"|[a-z]{1,3}[0-9][a-z])[_-](?:[0-9]+[_-]){0,4}(?=[A-Za-z0-9])",
    re.IGNORECASE,
)
_ABBREVIATIONS = frozenset(
    "bps cbtxn cdn cfg cmd css ctx dbg dns dpl grp hdr html http https img jpg jwt lbl lnk lst mgr mp4 msg msgbatch nbr"
    " pdf pkg plc pmc png prd prj prm prr prrc prs prv pst ptr pts qty rcv rpc rsp rst rtb rtn sbj sbx scr sdk snd spc"
    " sql src srv srvtoolu ssh std stg stp str svc svg tbl tcp tgt tgw thr thrd tml tmp trk txn txr vgw vpc wfr wnd wrk"
    " xfer xhr xlsx xml xmp xpath xref xsd xsl".split()
)
_PREFIX = re.compile(r"[A-Za-z][a-z0-9]{0,11}[_-]")
_CHANGE = re.compile("(?<=[0-9])[A-Za-z]|(?<=[A-Za-z])[0-9]")
_HEXADECIMAL_ONLY = re.compile("[a-fA-F0-9]+")
# Words about secrets, as they stand or with signs in place of letters, and what people put around them.
_SPELLED = re.compile(
    r"p[a4@][s5$]{2}|w[o0]rd|[s5$][e3]cr[e3]t|[s5$][e3]cur[e3]?|c[o0]mpl[e3]x|[a4@]dm[i1]n|w[e3]lc[o0]me?"
    r"|l[e3]tm[e3][i1]n|qw[e3]rty|k[e3]y|pwd",
    re.IGNORECASE,
)
_WORD_AND_NUMBER = re.compile(r"[A-Za-z]{0,8}(?i:secret|pass|passwo?rd|passwd|pwd)[A-Za-z]{0,6}[0-9]{3,4}[!@#$]{0,2}")
_AS_LETTER = re.compile("(?<=[A-Za-z])[013457](?=[A-Za-z])")
_SIGN, _DIGIT = re.compile("[!#&?^~]"), re.compile("[0-9]")
# The seed of one-time passwords, in base32; a key in hexadecimal, as no program writes a digest.
_SEED = re.compile("(?=[A-Z2-7]*[A-Z][2-7]+[A-Z])(?:[A-Z2-7]{16}|[A-Z2-7]{32})")
_MIXED_HEXADECIMAL = re.compile("(?=[a-f0-9]*[A-F])(?=[A-F0-9]*[a-f])[a-fA-F0-9]{64}")
# Capitals and digits, in one word or in groups as of a licence; not the ids that begin with their time.
_CAPITALS = re.compile("(?!0[0-9A-Z]{25}$)[A-Z0-9]{20,40}|[A-Z0-9]{2,12}(?:-[A-Z0-9]{4,12}){3,7}")
_PASSWORD_HAS = tuple(re.compile(one) for one in ("[a-z]", "[A-Z]", "[0-9]"))
_NO_PASSWORD = re.compile(r"[aA0]-[zZ9]|^[!#$%&@^~]|%[0-9A-F]{2}")
_PIECE, _LONG_PIECE = re.compile("[A-Za-z0-9]{12}"), re.compile("[A-Za-z0-9]{14}")
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
    if len(word) > _LONGEST or (len(word) < _LONG and not _DIGIT.search(word)) or _NO_SECRET.match(word):
        return False
    text = decoded(word)
    if text is not None:
        return _CREDENTIALS.fullmatch(text) is not None
    is_seed = _SEED.fullmatch(word) is not None and (len(_CHANGE.findall(word)) > 2 or has_random_letters(word))
    if not (is_seed or _MIXED_HEXADECIMAL.fullmatch(word) or _is_drawn_in_capitals(word) or is_drawn(word)):
        return False
    before = match.string[max(0, match.start() - 64) : match.start()]
    after = match.string[match.end() : match.end() + 64]
    return not (_NAMED_HARMLESS.search(before) or _LINES_BEFORE.search(before) or _LINES_AFTER.match(after))


def is_hook(_: re.Match[str], address: str) -> bool:
    """Whether the address of a webhook has a part that looks drawn, and so is its key."""
    parts = re.split("[/?=&]", address)[3:]
    return any(
        _LONG_PIECE.search(part)
        and not _HEXADECIMAL_ONLY.fullmatch(part)
        and (_is_mixed(part) or has_random_letters(part))
        for part in parts
    )


def is_password(match: re.Match[str], word: str) -> bool:
    """Whether a match of ``PASSWORD`` is a password: letters of both cases, digits, signs, and no name. Without signs,
    its case changes more often, or its letters are those of no language. Or it is a word about secrets, with digits in
    place of letters or at its end."""
    if is_chosen(word):
        return True
    runs = run_length(word)
    if len(word) < _SHORTEST_DRAWN_PASSWORD or runs >= 3 or _NO_PASSWORD.search(word) or counts_up(word):
        return False
    if match["user"] is None and not _SIGN.search(word):
        return False
    if match["user"] and len(_AS_LETTER.findall(word)) > 1 and not word.isalnum():
        return True
    *both_cases, digits = (wanted.search(word) is not None for wanted in _PASSWORD_HAS)
    return all(both_cases) and (has_random_letters(word) or (digits and (runs < 2 or not word.isalnum())))


def is_chosen(word: str) -> bool:
    """Whether a word is a password as people choose them: ``compl3xPwd``, ``mySecret2024``."""
    if _WORD_AND_NUMBER.fullmatch(word):
        return True
    spelled = _SPELLED.findall(word)
    return sum(map(len, spelled)) >= 6 and any(not each.isalpha() for each in spelled)


def is_drawn(word: str) -> bool:
    """Whether a part of a word between dots looks drawn, by its length, the pairs of its letters, and how often their
    case changes."""
    return any(map(_is_drawn, word.split(".")))


def _is_drawn(part: str) -> bool:
    telling = _telling_prefix(part)
    prefix = telling or _PREFIX.match(part)
    body = part[prefix.end() :] if prefix else part
    characters = _NOT_ALPHANUMERIC.sub("", body)
    count, digits = len(characters), sum(map(str.isdigit, characters))
    if count < (_SHORTEST_BEHIND_PREFIX if telling else SHORTEST) or _PATH_PART.search(part) or counts_up(body):
        return False
    if telling and _LONG_PIECE.search(body) and digits > 2 and _is_mixed(body):
        is_hexadecimal = _HEXADECIMAL_ONLY.fullmatch(characters) is not None
        return (not is_hexadecimal or count in _LENGTHS_OF_KEYS) and decoded(body) is None
    runs = run_length(body)
    return (
        (count >= 20 or not telling)
        and _PIECE.search(body) is not None
        and digits < count / 2
        and runs < (4 if digits else 3.5)
        and has_random_letters(body)
        and not _HEXADECIMAL.search(characters)
        and decoded(body) is None
    )


def _is_mixed(word: str) -> bool:
    """Whether letters and digits change as often as in what was drawn."""
    return len(_CHANGE.findall(word)) >= len(word) / 5


def _is_drawn_in_capitals(word: str) -> bool:
    if _CAPITALS.fullmatch(word) is None:
        return False
    digits = sum(map(str.isdigit, word))
    return 2 < digits < len(word) / 2 and _is_mixed(word) and not _HEXADECIMAL_ONLY.fullmatch(word.replace("-", ""))


def _telling_prefix(part: str) -> re.Match[str] | None:
    """The prefix of a token: it says what it is, or is no word and no usual abbreviation."""
    telling = _TELLING_PREFIX.match(part)
    if telling is not None:
        return telling
    own = _OWN_PREFIX.match(part)
    return own if own is not None and own[1].lower() not in _ABBREVIATIONS else None


def decoded(word: str) -> bytes | None:
    """The text that a word is in base64; None if it is none."""
    if _BASE64.fullmatch(word) is None:
        return None
    try:
        text = base64.b64decode(word + "=" * (-len(word) % 4))
    except ValueError:
        return None
    return text if _PRINTABLE.fullmatch(text) else None
