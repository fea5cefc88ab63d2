"""Recognises secrets by the name before them: ``password=…``, ``"api_key": "…"``, ``--token …``, "the API key is …".

The name alone is weak evidence: most such values are code, prose or placeholders. So the value must look random, or
look like a chosen password in a position that holds only a value. A value ends at the next blank or closing quote, or
where another name or the end of a clause begins.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from .evidence import has_random_letters, is_dense, is_random, reads_as_drawn

# {kind: (substring in lower case of every text with such a name, the name as an expression)}, in the languages of the
# program's texts and of others that memories are written in. A name may have any prefix. Each begins with letters that
# are no choice, since such an expression is searched five times as fast; what stands before them is looked at behind.
NAMES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "password": (
        ("pass", r"pass(?:w(?:or)?[dt]|phrase|e(?<=mot de passe)|(?<=_pass)|(?<![a-z]pass)(?=[=:]))"),
        ("storepass", "storepass"), ("keypass", "keypass"),
        ("pwd", "pwd"), ("pw", "pw(?:(?<![a-z]pw)|(?<=bindpw)|(?<=rootpw))(?![a-z])"),
        ("kennwort", "kennwort"), ("mdp", r"mdp\b(?<![a-z]mdp)"), ("contrase", "contrase[ñn]a"),
        ("clave", r"clave\b(?<![a-z]clave)(?!\sde\sapi)"), ("senha", r"senha\b(?<![a-z]senha)"), ("парол", "парол[ья]"),
        ("密码", "密码"), ("密碼", "密碼"), ("口令", "口令"), ("パスワード", "パスワード"), ("비밀번호", "비밀번호"),
        ("รหัสผ่าน", "รหัสผ่าน"),
    ),
    "api-key": (
        (
            "key",
            r"(?:api|access|account|auth|signing|encryption|encrypt|master|private|shared|service|storage|secret|client)"
            r"[_ -]?(?:access[_-]?)?key",
        ),
        ("api-schl", "api-schl(?:ü|ue)ssel"), ("clé", r"clé\s(?:d['’])?api"), ("clave de api", "clave de api"),
        ("ключ", r"ключ\sapi"), ("密钥", "密钥"), ("apiキー", "apiキー"),
    ),
    "secret": (
        ("secret", "secret"), ("credential", "credential"), ("geheimnis", "geheimnis"),
        ("seed", r"seed(?:(?<=otp[ _-]seed)|(?<=[2m]fa[ _-]seed))"),
    ),
    "token": (
        ("token", "token"), ("jeton", "jeton"), ("令牌", "令牌"), ("トークン", "トークン"), ("токен", "токен"),
        ("토큰", "토큰"),
    ),
}  # fmt: skip
PASSWORDS = "password"

_SUFFIX = r"(?:[_-]?(?:prod|production|dev|test|staging|live|value|base|data|base64|b64|[0-9]{1,2}))?"
_TYPE = r"(?P<type>\s{0,2}:?\s{1,2}[A-Za-z][\w.\[\]*&]{0,24}+(?=\s{0,4}=\s{0,4}[\"'`]))?"  # of a declared variable
# A quote may be escaped, in JSON inside JSON. No operator: "PASSWORD '…'".
_VERB = (
    r"(?:\b(?:is|was|are|ist|war|lautet|est|es|era)|(?<=\s)[éè])(?:\s(?:now|set\sto|jetzt|neu))?:?(?=\s)"
    r"|是|为|為|は|：|[–—](?=\s)"
)
# What the name is for: "the password for the box is …", "Passwort im Büro: …".
_FOR = (
    r"(?P<far>\s(?:(?:for|of|on|in|at|to|from|used|f[uü]r|im|am|vom|von|zum|zur|der|des|auf|bei|pour|du|de|sur|para|del"
    r"|en)(?:\s[^\s:=|,;.!?(){}<>\"'`]{1,24}+){1,5}?|\([^()\n]{1,40}+\)))?"
)
_IS = (
    # An attribute of its own: <add key="ApiKey" value="…"/>.
    r"\\{0,4}+[\"'`\])*]{0,4}+(?:\s{1,8}+(?:value|content)(?==)|" + _FOR + r"\s{0,8}+)"
    rf"(?P<op>(?(far)(?::(?=\s)|{_VERB})|(?:=>|:{{1,3}}=|[?.+|]?=|:|,|\||>|{_VERB}|(?<=\s)(?=\\{{0,4}}[\"'`]))))"
    r"(?:\*\*(?=\s))?\s{0,8}+"
)
_QUOTE = r"(?P<quote>\\{0,4}+[\"'`])?"
_QUOTED = r"(?:[^\"'`\\\n]|(?!(?P=quote))(?:[\"'`]|\\[^\n])){4,512}"
# Where a value without quotes ends, other than at a blank: before another name, or at the end of a clause.
_END = (
    r"&(?:amp;)?[A-Za-z_][\w.\[\]-]{0,40}+=|[;,](?:[A-Za-z_][\w .-]{0,40}[=:<>])|[)\]}>;,.:?|]{1,8}+(?:[\s\"'`\\]|\Z)"
    r"|\*\*(?:\s|\Z)|</|[;&|]{2}"
)
# A quote or backslash inside a word belongs to it.
_BARE = (
    rf"(?:[^\s\"'`\\&;,)\]}}>|<.:?*，。、；）」]++|(?!{_END})[&;,)\]}}>|<.:?*]"
    r"|(?<=\w)[\"'`](?=[A-Za-z0-9!#$%^&*@])|\\(?=[^\snrtux\"'`/\\]))+"
)
_VALUE = rf"{_QUOTE}(?P<secret>(?(quote){_QUOTED}|{_BARE}))(?(quote)(?P=quote))"


def expression(names: str) -> str:
    """The expression for an assignment to a name; its group ``secret`` is the value without quotes."""
    return rf"{names}{_SUFFIX}{_TYPE}{_IS}{_VALUE}"


def argument_expression(names: str) -> str:
    """The expression for a name in front of its value on a command line: ``--db-password …``, ``setx API_KEY …``.

    The value is only looked at: in prose it may begin another name.
    """
    return rf"{names}{_SUFFIX}(?P<op>[ \t]{{1,4}}+)(?={_VALUE})"


# (Anchor, expression): passwords as arguments of programs whose options do not name them.
PROGRAMS: tuple[tuple[str, str], ...] = (
    ("curl", rf"\s(?:-u|--user|--proxy-user|-U)[ =]{{0,3}}[\"']?[^\s:\"'/]{{0,64}}+:(?P<op>){_VALUE}"),
    ("sshpass", rf"\bsshpass\s{{1,4}}-p(?P<op>)\s{{0,4}}{_VALUE}"),
    ("mysql", rf"\s-p(?P<op>){_VALUE}"),
    ("redis-cli", rf"\s-a(?P<op>)\s{{1,4}}{_VALUE}"),
    (
        "login",  # "docker login -u ci -p …": nothing stands between but options, and a registry's name or address
        r"\blogin(?:[\s\\]{1,8}+(?!-p)(?:--?[a-z][\w-]{0,40}+(?:[ =](?!-)\S{1,128}+)?"
        rf"|(?=[^\s@]{{0,64}}[.:/])[^\s@]{{1,128}}+)){{0,6}}[\s\\]{{1,8}}+-p(?P<op>)[ =]?{_VALUE}",
    ),
    (
        "nmcli",
        r"\bnmcli\s[^\n]{1,80}?\b(?:connect|modify|add|hotspot)\s[^\n]{1,80}?(?:\spassword|[ .-]psk)"
        rf"(?P<op>)\s{{1,4}}{_VALUE}",
    ),
    ("/user:", rf"\bnet\s{{1,4}}use\s[^\n]{{1,160}}?\s/user:\S{{1,64}}+(?P<op>)\s{{1,4}}{_VALUE}"),
    ("/user:", rf"\bnet\s{{1,4}}use\s[^\n]{{0,8}}?\\\\\S{{1,128}}+(?P<op>)\s{{1,4}}{_VALUE}(?=\s{{1,4}}/user:)"),
    ("login", rf"\blogin\s{{1,8}}+\S{{1,128}}+\s{{1,8}}+passw(?:or)?d(?P<op>)\s{{1,8}}+{_VALUE}"),  # .netrc
    ("identified", rf"\bidentified\s(?:with\s\S{{1,40}}\s)?by(?P<op>)\s{{1,4}}{_VALUE}"),  # SQL
    ("convertto-securestring", rf"convertto-securestring\s(?:-[a-z]{{1,12}}\s){{0,3}}(?P<op>){_VALUE}"),
)

# A user and a password in one line: "credentials for the router: admin / …", "the user is anna, pass …".
LOGIN = rf"(?: / |, (?:pass|pw|password) ){_VALUE}(?!\s/)"
_LOGIN_BEFORE = re.compile(
    r"(?:credential|login|account|zugang|anmelde?daten|identifiant|credencial|benutzer|user)"
    r"(?:\sis|[^\n:=|]{0,40}+[:=])\s{1,4}[\w.@+-]{1,40}\Z",
    re.IGNORECASE,
)

# One-time codes that stand for a lost second factor, one or several.
_CODE_WORD = r"(?=[A-Za-z-]{0,12}[0-9])[A-Za-z0-9]{3,12}+(?:-[A-Za-z0-9]{3,12}+){0,5}"
RECOVERY_CODES = (
    r"code(?:(?:(?<=recovery[ _-]code)|(?<=backup[ _-]code)|(?<=wiederherstellungscode))s?"
    r"|s?\sde\s(?:secours|r[ée]cup[ée]ration))[\"'*`]{0,3}"
    r"(?::|=|\s(?:are|is|ist|sind|laute[nt]|est|sont):?(?=\s))\s{0,4}[\"'`]?"
    rf"(?P<secret>{_CODE_WORD}(?:[\s,;]{{1,4}}+{_CODE_WORD}){{0,19}})(?![\w-])"
)

# Prefixes of names that end like one of those above but hold no secret.
_HARMLESS_BEFORE = re.compile(
    r"(?:csrf|xsrf|page|next|prev|previous|continuation|sync|stop|start|end|eos|bos|pad|unk|mask|sep|cls|special|input"
    r"|output|prompt|max|min|num|per|public|primary|foreign|cache|partition|sort|idempotency|cancellation|design"
    r"|hashed?|public[_-]?key|fake|dummy|mock|sample|example|invalid|wrong|bogus)[_-]?$"
    r"|(?-i:non[A-Z_][A-Za-z_]*)$|::[A-Za-z0-9]*$",
    re.IGNORECASE,
)
_NAMED_BEFORE = re.compile(r"[A-Za-z0-9_:-]\Z")  # a cheap test: without it, _HARMLESS_BEFORE cannot match
_LETTER, _DIGIT = re.compile("[A-Za-z]"), re.compile("[0-9]")
_EVIDENCE = re.compile("[0-9!#$%^*+@?~]|[a-z][A-Z]|(?i:[b-df-hj-np-tv-z]{4})")
_SIGNS = re.compile(r"\W*", re.ASCII)
_CONSTANT = re.compile("[A-Z0-9_]+")
_NUMBER = re.compile("[0-9]{20,}")
_LONG_WITH_DIGIT = re.compile("(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{20,}")
_DIGEST = re.compile("[0-9a-f-]{7,}")
_MIXED = tuple(re.compile(one) for one in ("[a-z]", "[A-Z]", "[0-9]", r"\w[!#$%^&+?_-]\w", r"\A[^\s/.()]*\Z"))
_BETWEEN_CODES = re.compile(r"[\s,;]+")
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
    r"(?:(?:^|[^\w-])--?|\b(?:with|using|mit|avec|con)\s(?:the\s)?"
    r"|\b(?:setx|setenv|env|export|set(?:\s-[a-z]{1,3})?)\s{1,4})[\w-]{0,60}\Z",
    re.IGNORECASE,
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
    if op.isspace() and not (
        has_random_letters(value)
        or (kind == PASSWORDS and is_dense(value))
        or _ARGUMENT_OF.search(match.string[max(0, match.start() - 80) : match.start()])
    ):
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
    if match.groupdict().get("far") and _DIGEST.fullmatch(value):
        return False  # "the key in commit: …"
    if is_random(value) or (is_dense(value) and (is_password or op not in ("|", ":"))):
        return True
    if is_password and op not in ("|", "=") and (_is_mixed(value) or reads_as_drawn(value)):
        return True
    if op == "=" and _NUMBER.fullmatch(value):
        return True
    if op == "|" or not _SIGNS.fullmatch(op):
        return False  # prose
    if op == "=" and not is_quoted and _CONSTANT.fullmatch(match[0][: match.start("op") - match.start()]):
        # A variable of the environment.
        return match.end("op") == value_start and (_is_chosen(value) or _LONG_WITH_DIGIT.fullmatch(value) is not None)
    is_tight = match.end("op") == value_start and op != ":"
    is_value = is_quoted or (is_tight and after in ("", " ", "\n", "\r", "\t", "&", ";", ",", "<", '"', "'"))
    return is_password and is_value and _is_chosen(value)


def is_argument(_: re.Match[str], value: str) -> bool:
    """Whether a match of ``PROGRAMS`` is a secret: its position says so, unless it is a word or a path."""
    return (
        len(value) >= 4
        and (is_random(value) or _is_chosen(value))
        and not _is_call(value, "")
        and value[0] not in "-/([{"
    )


def is_login(match: re.Match[str], value: str) -> bool:
    """Whether a match of ``LOGIN`` is a password, not a path: a user stands before it, and it looks random."""
    before = match.string[max(0, match.start() - 128) : match.start()]
    is_name = "/" in value or _ALGORITHM.search(value)
    return (is_random(value) or is_dense(value)) and not is_name and _LOGIN_BEFORE.search(before) is not None


def is_recovery_code(_: re.Match[str], codes: str) -> bool:
    """Whether a match of ``RECOVERY_CODES`` is codes, not a version or a date: each has letters and is long enough."""
    return all(len(code) >= 8 and _LETTER.search(code) and _DIGIT.search(code) for code in _BETWEEN_CODES.split(codes))


def _is_call(value: str, after: str) -> bool:
    """Whether a value is code: a call, an indexed expression, a generic type."""
    call = _CALL.match(value)
    if call is None:
        return False
    is_name = call.end() > 4 and not _DIGIT.search(call[0])
    if is_name or call.end() == len(value):
        return True
    return call["open"] != "<" and _CLOSES[call["open"]] in value[call.end() :] + after


def _is_mixed(value: str) -> bool:
    """Whether a value has small letters, capitals, digits and signs, as no word of a sentence has but an algorithm."""
    return len(value) >= 8 and all(one.search(value) for one in _MIXED) and not _ALGORITHM.search(value)


def _is_chosen(value: str) -> bool:
    """Whether a value looks like a password that a person chose."""
    has_both = _LETTER.search(value) and re.search("[0-9!#$%^*+@?]", value)
    return bool(has_both) and not _APART.search(value) and not _ALGORITHM.search(value)
