"""The table of known kinds of secrets, with the patterns that recognise them. ``redaction`` applies it.

Most providers' patterns are those of detect-secrets. Patterns that it lacks, or whose form there takes more than linear
time, are written here on its base class. Every pattern must take linear time on hostile text.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from detect_secrets.plugins.artifactory import ArtifactoryDetector
from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.base import RegexBasedDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
from detect_secrets.plugins.mailchimp import MailchimpDetector
from detect_secrets.plugins.pypi_token import PypiTokenDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
from detect_secrets.plugins.twilio import TwilioKeyDetector

from . import assigned_secrets

_GROUP = "secret"  # the group that is replaced; without it, the whole match

# A token may begin only outside a word, or behind an escape such as \n or %3D.
_LEFT = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
_BEGINS = re.compile(_LEFT)
_TAIL = re.compile(r"[A-Za-z0-9_-]*+")
_TAIL_CHARACTER = re.compile(r"[A-Za-z0-9_-]")
_KEY_LINE = re.compile(r"(?:[A-Za-z0-9+/=]|\\/){20,}+")


# "token": may be longer than its pattern; "exact": of fixed length; "value": behind a name; "block": several lines.
Shape = Literal["token", "exact", "value", "block"]


@dataclass(frozen=True, slots=True)
class Span:
    """The position of a secret in a text: indexes of its first character and behind its last one."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of secret. ``anchors``: substrings of which every text with such a secret has one, in lower case if
    ``any_case``; a cheap test. ``is_one`` confirms a match of ``patterns``.
    """

    name: str
    anchors: tuple[str, ...]
    patterns: tuple[re.Pattern[str], ...]
    is_one: Callable[[re.Match[str], str], bool] = lambda match, secret: True
    shape: Shape = "token"
    any_case: bool = False

    def find(self, text: str, lowered: str) -> Iterator[Span]:
        """The secrets of this kind in a text; ``lowered`` is the text in lower case."""
        searched = lowered if self.any_case else text
        if not any(anchor in searched for anchor in self.anchors):
            return
        for pattern in self.patterns:
            group: str | int = _GROUP if _GROUP in pattern.groupindex else 0
            done = 0
            for match in pattern.finditer(text):
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
                if (self.shape == "block" or not assigned_secrets.is_placeholder(secret)) and self.is_one(
                    match, secret
                ):
                    yield Span(start, end, self.name)

    def _bounds(self, text: str, start: int, end: int) -> tuple[int, int] | None:
        """The bounds of the whole token around a match; None if the match is part of another word."""
        while start < end and text[start] in ' \t\r\n=:"':  # characters that detect-secrets' patterns include
            start += 1
        while end > start and text[end - 1] in ' \t\r\n"':
            end -= 1
        if _BEGINS.match(text, start) is None:
            return None
        if self.shape == "exact":  # one character decides; reading the whole tail each time would be quadratic
            return None if _TAIL_CHARACTER.match(text, end) else (start, end)
        tail = _TAIL.match(text, end)
        assert tail is not None  # it may match the empty string
        return start, tail.end()


def _own(kind: str, *expressions: str, flags: int = 0) -> tuple[re.Pattern[str], ...]:
    """Our own expressions, as a detector of detect-secrets."""

    class Detector(RegexBasedDetector):
        secret_type = kind
        denylist = tuple(re.compile(expression, flags) for expression in expressions)

    return Detector.denylist


def _of(detector: type[RegexBasedDetector]) -> tuple[re.Pattern[str], ...]:
    return tuple(cast(Iterable[re.Pattern[str]], detector.denylist))  # abstract in its base


def _is_mixed(_: re.Match[str], secret: str) -> bool:
    """Whether it has small letters, capital letters and digits, unlike most names in programs."""
    return all(re.search(wanted, secret) for wanted in ("[a-z]", "[A-Z]", "[0-9]"))


def _has_digit(_: re.Match[str], secret: str) -> bool:
    return re.search("[0-9]", secret) is not None


def _is_jwt(_: re.Match[str], secret: str) -> bool:
    """Whether the token's header is the beginning of a JSON object."""
    head = secret.partition(".")[0].rstrip("=")
    try:
        header = base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)).decode()
    except ValueError:
        return False
    return re.match(r'\{\s*"', header) is not None and '"' in header[2:]


def _is_key_body(match: re.Match[str], secret: str) -> bool:
    """Whether most of the body is lines of a key; prose may mention the BEGIN and END marks too."""
    body = match["body"]
    return sum(map(len, _KEY_LINE.findall(body))) * 3 > len("".join(body.split())) * 2 and _has_digit(match, body)


def _is_bearer(_: re.Match[str], secret: str) -> bool:
    return assigned_secrets.is_random(secret)


def _is_url_password(_: re.Match[str], secret: str) -> bool:
    return not re.fullmatch(r"\d{1,5}", secret)  # a port


def _is_assigned(match: re.Match[str], _: str) -> bool:
    return assigned_secrets.is_secret(match)


_ARMOUR = r"-{4,5} ?BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_ARMOUR_END = r"-{4,5} ?END (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_LINE_END = r"(?:[\s\"'+,>|*#]|\\+[nrt])"
_HEADERS = rf"(?:{_LINE_END}++[A-Z][A-Za-z-]{{2,20}}+: [^\r\n\\]{{1,100}}+){{0,4}}+"  # of an encrypted key, or PGP's

# If several kinds match, the first one gives the name.
KINDS: Sequence[Kind] = (
    Kind(
        "private-key",
        ("PRIVATE KEY", "Private-Lines"),
        _own(
            "Private Key Block",
            rf"{_ARMOUR}(?P<body>(?:[^-]++|-(?!---))*+){_ARMOUR_END}",
            # Without an END mark: as many lines as look like lines of a key.
            rf"{_ARMOUR}(?P<body>{_HEADERS}(?:{_LINE_END}++[A-Za-z0-9+/]{{20,}}+={{0,2}})++(?:{_LINE_END}++[A-Za-z0-9+/]+={{1,2}})?)",
            r"Private-Lines: \d{1,4}(?P<secret>(?P<body>(?:(?:\s|\\+[nr])++[A-Za-z0-9+/]{20,}+={0,2})++))",
            r"()AGE-SECRET-KEY-1(?P<body>[A-Z0-9]{50,}+)",
        ),
        _is_key_body,
        shape="block",
    ),
    Kind("aws-access-key", ("AKIA", "ASIA", "ABIA", "ACCA", "A3T"), _of(AWSKeyDetector)[:1], _has_digit, "exact"),
    Kind(
        "azure-key",
        ("AccountKey=", "SharedAccessKey=", "sig="),
        _own(  # the pattern of detect-secrets also matches the name
            "Azure Access Key",
            r"AccountKey=(?P<secret>[A-Za-z0-9+/=]{88})",
            r"SharedAccessKey=(?P<secret>[A-Za-z0-9+/]{43}=)",
            r"[?&]sig=(?P<secret>[A-Za-z0-9%+/]{40,100}+)",
        ),
        shape="value",
    ),
    Kind("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"), (
        *_of(GitHubTokenDetector), *_own("GitHub Fine-Grained Token", r"github_pat_[A-Za-z0-9_]{22,}+"),
    )),
    Kind(
        "gitlab-token",
        ("glpat-", "gldt-", "glft-", "glsoat-", "glrt-", "GR13", "glcbt-", "glimt-", "glptt-", "glagent-", "gloas-"),
        _of(GitLabTokenDetector),
        _has_digit,
    ),
    Kind("anthropic-key", ("sk-ant-",), _own("Anthropic Key", r"sk-ant-[A-Za-z0-9_-]{20,}+"), _has_digit),
    Kind(
        "openai-key",
        ("sk-",),
        # The present form, and the earlier one, which others have adopted. The pattern of detect-secrets backtracks.
        _own("OpenAI Key", r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}+", r"sk-[A-Za-z0-9]{32,}+"),
        _has_digit,
    ),
    Kind(
        "google-key",
        ("AIza", "GOCSPX-", "ya29."),
        _own("Google Key", r"AIza[A-Za-z0-9_-]{35}", r"GOCSPX-[A-Za-z0-9_-]{24,}+", r"ya29\.[A-Za-z0-9_-]{20,}+"),
        _has_digit,
    ),
    Kind(
        "huggingface-token",
        ("hf_", "api_org_"),
        _own("Hugging Face Token", r"hf_[A-Za-z0-9]{30,}+", r"api_org_[A-Za-z0-9]{30,}+"),
        lambda _, secret: re.search("[a-z]", secret[3:]) is not None and re.search("[A-Z]", secret) is not None,
    ),
    Kind(
        "ai-provider-key",
        ("gsk_", "xai-", "pplx-", "r8_", "nvapi-", "tvly-", "lsv2_", "pcsk_", "sk-or-", "sk-lf-", "fw_", "dapi"),
        _own(
            "Key of an AI Provider",
            r"gsk_[A-Za-z0-9]{40,}+", r"xai-[A-Za-z0-9]{40,}+", r"pplx-[A-Za-z0-9]{40,}+", r"r8_[A-Za-z0-9]{37}",
            r"nvapi-[A-Za-z0-9_-]{40,}+", r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{20,}+", r"lsv2_(?:pt|sk)_[a-f0-9_]{40,}+",
            r"pcsk_[A-Za-z0-9_]{40,}+", r"sk-or-v1-[a-f0-9]{32,}+", r"sk-lf-[a-f0-9-]{32,}+", r"fw_[A-Za-z0-9]{22,}+",
            r"dapi[a-f0-9]{32}(?![a-f0-9])",
        ),
        _has_digit,
    ),
    Kind(
        "slack-token",
        ("xox", "xapp-", "hooks.slack.com"),
        (
            *_of(SlackDetector),
            *_own("Slack Token", r"xox[a-z]-[A-Za-z0-9-]{20,}+", r"xapp-\d-[A-Za-z0-9-]{20,}+"),
        ),
        _has_digit,
        any_case=True,
    ),
    Kind("stripe-key", ("k_live_", "k_test_", "whsec_"), (
        *_of(StripeDetector),
        *_own("Stripe Key", r"[sr]k_test_[A-Za-z0-9]{24,}+", r"whsec_[A-Za-z0-9+/]{30,}+"),
    ), _has_digit),
    Kind("npm-token", ("npm_", "_authToken"), _own(
        # The pattern of detect-secrets looks back from each // of a line.
        "npm Token", r"npm_[A-Za-z0-9]{36}", r"_authToken\s{0,4}=\s{0,4}(?P<secret>[A-Za-z0-9_=+/-]{20,}+)",
    ), _has_digit),
    Kind("pypi-token", ("pypi-AgE",), _of(PypiTokenDetector)),
    Kind("sendgrid-key", ("SG.",), _of(SendGridDetector), _has_digit),
    Kind("square-secret", ("sq0csp-", "sq0atp-"), (
        *_of(SquareOAuthDetector), *_own("Square Access Token", r"sq0atp-[A-Za-z0-9_-]{22,}+"),
    )),
    Kind("mailchimp-key", ("-us",), _of(MailchimpDetector), _has_digit, shape="exact"),
    Kind("telegram-token", (":AA",), _of(TelegramBotTokenDetector), _is_mixed, shape="exact"),
    Kind("twilio-key", ("SK", "AC"), _of(TwilioKeyDetector), _has_digit, shape="exact"),
    Kind("discord-token", (".",), _of(DiscordBotTokenDetector), _is_mixed),
    Kind("artifactory-key", ("AKC", "AP"), (
        *_of(ArtifactoryDetector), *_own("Artifactory Key", r"AKC[A-Za-z0-9]{30,}+"),
    ), _is_mixed, "exact"),
    Kind(
        "service-token",
        (
            "shpat_", "shpca_", "shppa_", "shpss_", "ATATT3", "PMAK-", "NRAK-", "glsa_", "glc_", "dckr_pat_", "sbp_",
            "rubygems_", "dop_v1_", "doo_v1_", "dor_v1_", "hvs.", "dp.pt.", "dp.st.", "lin_api_", "ntn_", "sb_secret_",
            "sntrys_",
        ),
        _own(
            "Token of a Service",
            r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}", r"ATATT3[A-Za-z0-9_=-]{50,}+", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}",
            r"NRAK-[A-Z0-9]{27}", r"gl(?:sa|c)_[A-Za-z0-9_+/=]{32,}+", r"dckr_pat_[A-Za-z0-9_-]{20,}+",
            r"rubygems_[a-f0-9]{48}", r"do[opr]_v1_[a-f0-9]{64}", r"hvs\.[A-Za-z0-9_-]{24,}+",
            r"dp\.[ps]t\.(?:[a-z]{1,20}\.)?[A-Za-z0-9]{40,}+", r"lin_api_[A-Za-z0-9]{40}", r"ntn_[A-Za-z0-9]{40,}+",
            r"sbp_[a-f0-9]{40}", r"sb_secret_[A-Za-z0-9_-]{20,}+", r"sntrys_[A-Za-z0-9_=+/]{40,}+",
        ),
        _has_digit,
    ),
    Kind(
        "jwt",
        ("eyJ",),
        # The pattern of detect-secrets omits the signature.
        _own(
            "JSON Web Token",
            rf"{_LEFT}(?<![_-])eyJ[A-Za-z0-9_=-]{{8,}}+\.[A-Za-z0-9_=-]{{4,}}+(?:\.[A-Za-z0-9_.+/=-]*+)?",
        ),
        _is_jwt,
        shape="value",
    ),
    Kind(
        "authorization",
        ("bearer", "authorization"),
        _own(
            "Authorization Header",
            r"\bbearer\s{1,4}(?P<secret>[A-Za-z0-9._~+/=-]{16,}+)",
            r"\bauthorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:basic|token|digest|apikey)\s{1,4}(?P<secret>[A-Za-z0-9._~+/=-]{8,}+)",
            flags=re.IGNORECASE | re.ASCII,
        ),
        _is_bearer,
        shape="value",
        any_case=True,
    ),
    Kind("session-cookie", ("SID=", "SESSIONID=", "connect.sid=", "_session="), _own(
        "Session Cookie",
        r"\b(?:PHPSESSID|JSESSIONID|connect\.sid|laravel_session|_gitlab_session)=(?P<secret>[A-Za-z0-9%._~+/=-]{16,}+)",
    ), _has_digit, shape="value"),
    Kind(
        "url-password",
        ("://",),
        # The pattern of detect-secrets knows neither passwords without a user nor most special characters.
        _own("Password in a URL", r"://[^\s:/?#@\[\]\"'<>\\`]{0,128}+:(?P<secret>[^\s/?\"'<>\\`]{1,256})@(?=[\w.\[-]|\Z)"),
        _is_url_password,
        shape="value",
    ),
    *(
        Kind(name, anchors, _own("Assigned Secret", assigned_secrets.expression(words), flags=re.IGNORECASE | re.ASCII),
             _is_assigned, shape="value", any_case=True)
        for name, anchors, words in assigned_secrets.NAMES
    ),
)  # fmt: skip
