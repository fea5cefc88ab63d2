"""Likely secrets are found and replaced, what only looks like one stays, and nothing takes more than linear time."""

import json
import string
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from harness import assert_linear
from hypothesis import given, strategies as st

from bridge.memory import Content, References, TimeScope
from bridge.privacy import redaction
from bridge.privacy.assigned_secrets import NAMES
from bridge.privacy.redaction import count_secrets, redact, redact_bytes, redact_value, total
from bridge.privacy.secret_kinds import KINDS

CASES = [
    json.loads(line) for line in (Path(__file__).parents[1] / "data" / "secrets.jsonl").read_text("utf-8").splitlines()
]
SECRETS = [("".join(case["text"]), "".join(case["secret"]), case["kind"]) for case in CASES if case["kind"]]
HARMLESS = ["".join(case["text"]) for case in CASES if not case["kind"]]
GITHUB = "ghp" + "_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
AWS = "AKIA" + "Q3EGXYZ7ABCDWXYZ"


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS])
def test_each_kind_is_found_and_the_secret_alone_goes(kind: str) -> None:
    mine = [(text, secret) for text, secret, name in SECRETS if name == kind]
    assert mine, f"there are cases of {kind}"
    for text, secret in mine:
        assert redact(text).text == text.replace(secret, f"[REDACTED:{kind}]")
        assert count_secrets(text) == {kind: 1}


def test_what_only_looks_like_a_secret_stays() -> None:
    assert len(HARMLESS) >= 150
    assert [text for text in HARMLESS if redact(text) != redaction.Redacted(text)] == []


def test_redacting_twice_equals_redacting_once() -> None:
    for text, _, _ in SECRETS:
        once = redact(text).text
        assert redact(once) == redaction.Redacted(once)


PIECES = [text for text, _, _ in SECRETS[::7]] + [secret for _, secret, _ in SECRETS[::5]] + HARMLESS[::9]


@given(
    st.lists(st.sampled_from([*PIECES, "", " ", "\n", '"', "'", "=", ":", "://", "@", "\\n", "[", "]", "password="]))
)
def test_however_texts_are_put_together_twice_equals_once(parts: list[str]) -> None:
    once = redact("".join(parts)).text
    assert redact(once) == redaction.Redacted(once)


HOSTILE = [
    "sk-", "eyJ", "\\neyJ", "eyJaaaaaaaa.", "password=", "token", "token: ", 'token="', "AKIA", "bearer ",
    "-AKIAABCDEFGHIJKLMNOP", "-----BEGIN RSA PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----\n\n\n\n", "-",
    "://", "://a:", "\\",
    '\\"', '"\\', "xoxb-1-", "1-", "glpat-", "pypi-AgEIcHlwaS5vcmc", "SG.", "M", "12345678:AA", " AKC", "AC", "0a",
    "private_shared_secret_", "_pass", "Private-Lines: 1\n", "authorization: basic ", f"{GITHUB} ",
    "secret=a1B2c3D4e5 ", 'secret=a1B2c3D4e5","\\n',
    "lsv2_pt_", "connect.sid=", "https://hooks.slack.com/services/T", " ",
    "token is ", "token | ", "password>", "--token ", "setx token ", "curl -u a:", "mysql -p", "identified by ",
    "token 'x", "token='a\"", '\\"token\\": \\"', "password=a;b", "password=a&b", "password=a,b c", "pw=a)",
    "pw=}}}", 'password=a"b', "pass=0;pass<", "password=x**", "token: str ",
    "MIIaaAIBA", f"MIIEpAIBAAK{'a' * 50}\n",
    "LS0tLS1CRUdJTi", "AGE-SECRET-KEY-1", "ZXlK", "1Q~", "sk-ant-A-", "${", "<a", "login a password ",
    "recovery code: a1-", "code de secours est a1b2c3d4 ", "login: a / a1B2", " / ", "Cookie: a=b; ", "sid=a1B2",
    "password for a b c ", "Passwort im Büro: a1B2c3D4 ", "密码是a1B2c3D4", "aB1#", "a:aB1#", " a1B2c3D4", "A=a1B2",
    "sk_a1B2.", " a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6", "user:pass", "seed", "a-b-c-d.",
    "https://hook", "https://a.hook/a1B2", "_eyJ", '"kty" "d":"', "zqpat_a1", " zqpat_a1b2c3d4e5f6g7h8", "p4ss",
    " A2B3-C4D5", " p4ssw0rd1", "password1234 ", "wrong", 'wrong = "', "ASt", "0.", "/B", "eyJ ", "x1-1-",
]  # fmt: skip


def test_hostile_text_takes_linear_time() -> None:
    for text in HOSTILE:
        for before in ("", f"api_key{text}"):
            assert_linear(partial(redact_hostile, before, text), 8192)


def redact_hostile(before: str, text: str, size: int) -> None:
    redact_bytes((before + text * (size // len(text))).encode())


@pytest.mark.parametrize("body", [
    "; it is read in src/components/authentication/keyloader2, where line 20 looks for",
    " was in the repository until commit 3f2a9c1d8e7b6a5f4e3d2c1b0a9f8e7d6c5b4a39, which took it out, with",
])  # fmt: skip
def test_prose_between_the_marks_of_a_key_stays(body: str) -> None:
    text = f"-----BEGIN PRIVATE KEY-----{body} -----END PRIVATE KEY-----, as decided."
    assert redact(text) == redaction.Redacted(text)


BODY = "\n".join(["9Y9i9DqJoUWS/L7LO3GsmyV4gbTG9m/aeFn8skizl0J5jG0RSQ/dOENcLndcJq/G"] * 3)
HEADERS = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,0123456789ABCDEF8635BC7F5044E74BC"


END = "\n-----END EC PRIVATE KEY-----"


KEYS_WITH_HEADERS = [
    (str, END),
    (json.dumps, END),
    (lambda text: json.dumps(text).replace("/", "\\/"), END),
    (str, ""),
    (json.dumps, ""),
]


@pytest.mark.parametrize(("write", "end"), KEYS_WITH_HEADERS)
def test_a_key_with_headers_is_found_however_it_is_written(write: Callable[[str], str], end: str) -> None:
    key = f"-----BEGIN EC PRIVATE KEY-----\n{HEADERS}\n\n{BODY}{end}"
    found = redact(f"before {write(key)} after")
    assert found.counts == {"private-key": 1}
    assert found.text.replace('"', "") == "before [REDACTED:private-key] after"


def test_secrets_that_overlap_are_one() -> None:
    found = redact(f"https://bot:{GITHUB}@git.test/x and password='{AWS}'")
    assert found.text == "https://bot:[REDACTED:github-token]@git.test/x and password='[REDACTED:aws-access-key]'"
    assert found.counts == {"github-token": 1, "aws-access-key": 1}


def test_no_rest_of_a_longer_token_stays() -> None:
    assert redact(f"{GITHUB}longer-than-known").text == "[REDACTED:github-token]"


def test_a_token_inside_a_word_is_none() -> None:
    assert count_secrets(f"x{AWS}") == count_secrets(f"{AWS}x") == {}


@pytest.mark.parametrize("before", ["\\n", "\\t", "%3D", "(", "_", "-"])
def test_a_token_behind_an_escape_or_a_sign_is_found(before: str) -> None:
    assert count_secrets(f"{before}{GITHUB}") == {"github-token": 1}


def test_in_a_value_all_texts_are_looked_at_but_those_that_point_at_something() -> None:
    value: dict[str, Any] = {
        "texts": [f"key {AWS}", 7, None],
        "path": f"in/{AWS}.txt",
        "paths": [AWS],
        "summary": {"topic": AWS, "topicId": AWS, "session_id": AWS},
    }
    clean, counts = redact_value(value)
    mark = "[REDACTED:aws-access-key]"
    assert clean == {
        "texts": [f"key {mark}", 7, None],
        "path": f"in/{AWS}.txt",
        "paths": [AWS],
        "summary": {"topic": mark, "topicId": AWS, "session_id": AWS},
    }
    assert counts == {"aws-access-key": 2}


def test_a_memorys_content_is_looked_at_whole() -> None:
    content = Content(AWS, AWS, (AWS,), (AWS,), (AWS,), (AWS,), References((AWS,)), TimeScope(AWS))
    clean, counts = redact_value(content)
    assert AWS not in repr(clean)
    assert counts == {"aws-access-key": 8}


# --- files ---


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_file_is_read_in_its_encoding_and_written_in_it(encoding: str) -> None:
    said = f'{{"summary": "Grüße, {GITHUB}, und mehr."}}'
    data, counts = redact_bytes(said.encode(encoding))
    assert data.decode(encoding) == said.replace(GITHUB, "[REDACTED:github-token]")
    assert counts == {"github-token": 1}


@pytest.mark.parametrize("before", [b"\0" * 300, b"\0" * 5000, b"\xff\xfe", b"\0a" * 200])
def test_bytes_that_look_like_utf_16_do_not_hide_a_secret_in_utf_8(before: bytes) -> None:
    data, counts = redact_bytes(before + b" " + GITHUB.encode() + b" end")
    assert data == before + b" [REDACTED:github-token] end"
    assert counts == {"github-token": 1}


SECRETLESS = [b"", b"\xff\xfe", b"\xff\x00\xfe\xfd", b"{\xc3\x28}", b'"\\', "Grüße".encode("utf-16"), bytes(range(256))]


@pytest.mark.parametrize("data", SECRETLESS)
def test_bytes_without_a_secret_stay_as_they_are(data: bytes) -> None:
    assert redact_bytes(data) == (data, {})


def test_bytes_that_are_no_text_stay_around_a_secret() -> None:
    expected = (b"\xff\xc3 [REDACTED:github-token] \x80", {"github-token": 1})
    assert redact_bytes(b"\xff\xc3 " + GITHUB.encode() + b" \x80") == expected


def test_an_escaped_secret_in_json_is_found_and_what_is_left_is_the_same_json() -> None:
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in GITHUB)
    data, counts = redact_bytes(f'{{"a": 1, "a": 2.50, "text": "line\\n{escaped}\\tend"}}'.encode())
    assert data == b'{"a": 1, "a": 2.50, "text": "line\\n[REDACTED:github-token]\\tend"}'
    assert counts == {"github-token": 1}


def test_broken_json_is_looked_at_as_well() -> None:
    data, _ = redact_bytes(f'{{"text": "line\\n{GITHUB}\\n and no en'.encode())
    assert GITHUB.encode() not in data
    data, _ = redact_bytes(b'{"password": "Winter2024!", ')
    assert data == b'{"password": "[REDACTED:password]", '


# --- the rest ---


def test_counts_are_added_up_by_kind() -> None:
    assert total({"b": 1, "a": 2}, None, {"a": 1}) == {"total": 4, "kinds": {"a": 3, "b": 1}}
    assert total() == {"total": 0, "kinds": {}}


def test_the_kinds_are_slugs_each_its_own() -> None:
    names = [kind.name for kind in KINDS]
    assert len(set(names)) == len(names)
    assert set("".join(names)) <= set(string.ascii_lowercase + "-")
    assert set(NAMES) <= set(names)


def test_every_kind_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "secrets.md").read_text("utf-8")
    assert [kind.name for kind in KINDS if f"`{kind.name}`" not in page] == []
