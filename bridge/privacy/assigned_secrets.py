"""Recognises secrets by the name before them: ``password=…``, ``"api_key": "…"``, ``--token …``, "the API key is …".

The name alone is weak evidence: most such values are code, prose or placeholders. So the value must look random, or
look like a chosen password in a position that holds only a value. A value ends at the next blank or closing quote, or
where another name or the end of a clause begins.
"""

from __future__ import annotations

import re

from .evidence import is_dense, is_random

# (Kind, substrings of which a text with such a name has one in lower case, the names as an expression). A name may have
# any prefix.
NAMES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "password",
        ("passw", "passphrase", "pwd", "_pass", "pass=", "pass:", "pw:", "pw="),
        r"(?:passw(?:or)?d|passphrase|passwort|pwd|(?<=_)pass|\bpass(?=[=:])|(?<![a-z])pw(?=[=:]))",
    ),
    (
        "api-key",
        ("key",),
        r"(?:api|access|account|auth|signing|encryption|encrypt|master|private|shared|service|storage|secret)"
        r"[_ -]?(?:access[_-]?)?key",
    ),
    ("secret", ("secret", "credential"), r"(?:secret|credential)"),
    ("token", ("token",), r"token"),
)
PASSWORDS = NAMES[0][0]

_SUFFIX = r"(?:[_-]?(?:prod|production|dev|test|staging|live|value|base64|b64|[0-9]{1,2}))?"
_TYPE = r"(?P<type>\s{0,2}:?\s{1,2}[A-Za-z][\w.\[\]*&]{0,24}+(?=\s{0,4}=\s{0,4}[\"'`]))?"  # of a declared variable
# A quote may be escaped, in JSON inside JSON. No operator: "PASSWORD '…'".
_IS = (
    r"\\{0,4}+[\"'`\])*]{0,4}+\s{0,8}+"
    r"(?P<op>=>|:{1,3}=|[?.+|]?=|:|,|\||>|\b(?:is|was)(?:\s(?:now|set\sto))?(?=\s)|(?<=\s)(?=\\{0,4}[\"'`]))(?:\*\*(?=\s))?\s{0,8}+"
)
_QUOTE = r"(?P<quote>\\{0,4}+[\"'`])?"
_QUOTED = r"(?:[^\"'`\\\n]|(?!(?P=quote))(?:[\"'`]|\\[^\n])){4,512}+"
# Where a value without quotes ends, other than at a blank: before another name, or at the end of a clause.
_END = (
    r"&(?:amp;)?[A-Za-z_][\w.\[\]-]{0,40}+=|[;,](?:[A-Za-z_][\w .-]{0,40}[=:<>])|[)\]}>;,.:?|]{1,8}+(?:[\s\"'`\\]|\Z)"
    r"|\*\*(?:\s|\Z)|</|[;&|]{2}"
)
# A quote or backslash inside a word belongs to it.
_BARE = (
    rf"(?:[^\s\"'`\\&;,)\]}}>|<.:?*]++|(?!{_END})[&;,)\]}}>|<.:?*]"
    r"|(?<=\w)[\"'`](?=[A-Za-z0-9!#$%^&*@])|\\(?=[^\snrtux\"'`/\\]))++"
)
_VALUE = rf"{_QUOTE}(?P<secret>(?(quote){_QUOTED}|{_BARE}))(?(quote)(?P=quote))"


def expression(names: str) -> str:
    """The expression for an assignment to one of the names; its group ``secret`` is the value without quotes."""
    return rf"{names}{_SUFFIX}{_TYPE}{_IS}{_VALUE}"


def argument_expression(names: str) -> str:
    """The expression for a name in front of its value on a command line: ``--db-password …``, ``setx API_KEY …``.

    The value is only looked at: in prose it may begin another name.
    """
    return rf"{names}{_SUFFIX}(?P<op>[ \t]{{1,4}}+)(?={_VALUE})"


def attribute_expression(names: str) -> str:
    """The expression for a name and a value as two attributes: ``<add key="ApiKey" value="…"/>``."""
    return rf"{names}{_SUFFIX}[\"']\s{{1,8}}+(?:value|content)(?P<op>=){_VALUE}"


# (Anchor, expression): passwords as arguments of programs whose options do not name them.
PROGRAMS: tuple[tuple[str, str], ...] = (
    ("curl", rf"\s(?:-u|--user|--proxy-user|-U)[ =]{{0,3}}[\"']?[^\s:\"'/]{{0,64}}+:(?P<op>){_VALUE}"),
    ("sshpass", rf"\bsshpass\s{{1,4}}-p(?P<op>)\s{{0,4}}{_VALUE}"),
    ("mysql", rf"\s-p(?P<op>){_VALUE}"),
    ("redis-cli", rf"\s-a(?P<op>)\s{{1,4}}{_VALUE}"),
    ("login", rf"\blogin\s{{1,8}}+\S{{1,128}}+\s{{1,8}}+passw(?:or)?d(?P<op>)\s{{1,8}}+{_VALUE}"),  # .netrc
    ("identified", rf"\bidentified\s(?:with\s\S{{1,40}}\s)?by(?P<op>)\s{{1,4}}{_VALUE}"),  # SQL
    ("convertto-securestring", rf"convertto-securestring\s(?:-[a-z]{{1,12}}\s){{0,3}}(?P<op>){_VALUE}"),
)

# Prefixes of names that end like one of those above but hold no secret.
_HARMLESS_BEFORE = re.compile(
    r"(?:csrf|xsrf|page|next|prev|previous|continuation|sync|stop|start|end|eos|bos|pad|unk|mask|sep|cls|special|input"
    r"|output|prompt|max|min|num|per|public|primary|foreign|cache|partition|sort|idempotency|cancellation|design"
    r"|hashed?|public[_-]?key)[_-]?$|::[A-Za-z0-9]*$",
    re.IGNORECASE,
)
_NAMED_BEFORE = re.compile(r"[A-Za-z0-9_:-]\Z")  # a cheap test: without it, _HARMLESS_BEFORE cannot match
_LETTER, _DIGIT, _EVIDENCE = (re.compile(one) for one in ("[A-Za-z]", "[0-9]", "[0-9!#$%^*+@?~]|[a-z][A-Z]"))
_APART = re.compile(r"[ _/]|[a-z]\.[a-z]")
_CODE = re.compile(
    r"^(?:self|this|os|process|env|config|settings|args|request|ctx|vault|arn|sha\d+|md5|https?|file)[.:-]"
    r"|[A-Za-z](?:::|->)[A-Za-z]|\\[sSdDwWb]|\[\^"
)
_CALL = re.compile(r"[A-Za-z_$][\w.$]*(?P<open>[(\[{<])")
_ALGORITHM = re.compile(
    r"argon2|bcrypt|scrypt|pbkdf|sha-?\d|md5|[hre]s(?:256|384|512)|oauth|base64|utf-?8|x509|ed25519|aes", re.IGNORECASE
)
_CLOSES = {"(": ")", "[": "]", "{": "}"}
_ARGUMENT_OF = re.compile(
    r"(?:(?:^|[^\w-])--?|\b(?:setx|setenv|env|export|set(?:\s-[a-z]{1,3})?)\s{1,4})[\w-]{0,60}\Z", re.IGNORECASE
)
_ELEMENT_ENDS = re.compile(r"\s{0,40}</")
_CELL_ENDS = re.compile(r"[ \t`*]{0,40}(?:\||$)", re.MULTILINE)


def is_secret(match: re.Match[str], kind: str) -> bool:
    """Whether a match of one of the expressions above is a secret."""
    value, is_quoted, op = match["secret"], match["quote"] is not None, match["op"]
    if not _EVIDENCE.search(value) or len(value) < (4 if is_quoted else 6):
        return False  # the cheapest test first, since hostile text may be megabytes long
    value_start = match.start("quote" if is_quoted else "secret")
    before, after = (
        match.string[max(0, match.start() - 24) : match.start()],
        match.string[match.end() : match.end() + 1],
    )
    if _NAMED_BEFORE.search(before) and _HARMLESS_BEFORE.search(before):
        return False
    if op.isspace() and not _ARGUMENT_OF.search(match.string[max(0, match.start() - 80) : match.start()]):
        return False
    if _CODE.search(value) or (value.startswith("-") and not is_quoted and (op.isspace() or not is_random(value))):
        return False
    if op == ":" and before.endswith(":"):
        return False  # part of a name with colons, such as Amazon's
    if not is_quoted and (value[0] in "([{" or _is_call(value, match.string[match.end() : match.end() + 4])):
        return False
    is_password = kind == PASSWORDS
    if op == ",":
        return is_quoted and match.string[value_start - 1 : value_start] != "\n" and is_random(value)
    if op == "|" and not _CELL_ENDS.match(match.string, match.end()):
        return False
    if op == ">" and (is_quoted or not _ELEMENT_ENDS.match(match.string, match.end())):
        return False  # a comparison
    if is_random(value) or (is_dense(value) and (is_password or op not in ("|", ":"))):
        return True
    if op == "|" or op[:2] in ("is", "wa"):
        return False  # prose
    is_tight = match.end("op") == value_start and op != ":"
    is_value = is_quoted or (is_tight and after in ("", " ", "\n", "\r", "\t", "&", ";", ",", "<", '"', "'"))
    return is_password and is_value and _is_chosen(value)


def is_argument(match: re.Match[str], kind: str) -> bool:
    """Whether a match of ``PROGRAMS`` is a secret: its position says so, unless it is a word or a path."""
    value = match["secret"]
    return (
        len(value) >= 4
        and (is_random(value) or _is_chosen(value))
        and not _is_call(value, "")
        and value[0] not in "-/([{"
    )


def _is_call(value: str, after: str) -> bool:
    """Whether a value is code: a call, an indexed expression, a generic type."""
    call = _CALL.match(value)
    if call is None:
        return False
    is_name = call.end() > 4 and not _DIGIT.search(call[0])
    if is_name or call.end() == len(value):
        return True
    return call["open"] != "<" and _CLOSES[call["open"]] in value[call.end() :] + after


def _is_chosen(value: str) -> bool:
    """Whether a value looks like a password that a person chose."""
    has_both = _LETTER.search(value) and re.search("[0-9!#$%^*+@?]", value)
    return bool(has_both) and not _APART.search(value) and not _ALGORITHM.search(value)
