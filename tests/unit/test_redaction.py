"""Likely secrets are found and replaced, what only looks like one stays, and nothing takes more than linear time."""

import base64
import json
import random
import re
import string
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from harness import assert_linear
from hypothesis import given, strategies as st
from token_drawing import draw

from bridge.memory import Content, References, TimeScope
from bridge.privacy import redaction, token_forms
from bridge.privacy.assigned_secrets import NAMES
from bridge.privacy.redaction import Redacted, redact, redact_bytes, redact_value, total
from bridge.privacy.secret_kinds import KINDS, SHORTEST_TOKEN

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
        assert redact(text).counts == {kind: 1}


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
    assert redact(f"x{AWS}").counts == redact(f"{AWS}x").counts == {}


@pytest.mark.parametrize("before", ["\\n", "\\t", "%3D", "(", "_", "-"])
def test_a_token_behind_an_escape_or_a_sign_is_found(before: str) -> None:
    assert redact(f"{before}{GITHUB}").counts == {"github-token": 1}


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
    assert counts == {"aws-access-key": 1}


def test_a_memorys_content_is_looked_at_whole() -> None:
    content = Content(AWS, AWS, (AWS,), (AWS,), (AWS,), (AWS,), References((AWS,)), TimeScope(AWS))
    clean, counts = redact_value(content)
    assert AWS not in repr(clean)
    assert counts == {"aws-access-key": 1}


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


# --- tokens by their form ---


SENTENCE = "The staging box uses {} since March."
FORMS = [
    (kind, form) for kind in sorted({*token_forms.FORMS, *token_forms.EXACT_FORMS}) for form in token_forms.tokens(kind)
]
DRAWS = 8


@pytest.mark.parametrize("kind", sorted({kind for kind, _ in FORMS}))
def test_a_token_of_each_form_is_found_by_itself_and_goes_whole(kind: str) -> None:
    for form in token_forms.tokens(kind):
        source, found = random.Random(form.expression), 0  # of its own, so that a new form changes no other's tokens
        for _ in range(DRAWS):
            token = draw(form.expression, source)
            assert form.anchor in token
            assert len(token) >= SHORTEST_TOKEN
            text = redact(SENTENCE.format(token)).text
            found += re.fullmatch(r"The staging box uses \[REDACTED:[a-z-]+\] since March\.", text) is not None
        # Some draws have too little that is random, such as no digit.
        assert found >= DRAWS - 1, (form.expression, found)


UNLIKELY_TOKENS = [
    "AKIA" + "KZQWBVNTPLMXCDFG",
    "glpat" + "-tP_ggKcZdPoSdaJdTzgG",
    "sk_live" + "_aBcQwXyZpLmNrTvKjHgFdStQ",
    "npm" + "_aQwErTyXzVbNmKlPoJhGfDsCaQwErTyXzVbN",
    "AGE-SECRET" + "-KEY-1KZYHJJGJ5DEC3RXGPEUA97WG99HU4Z3Z9ZK69GHAFZWJ08SFVF0QZ3WFSS",
    "hooks.slack.com" + "/workflows/T016M3G1GHZ/A04J3BAF7AA/442660231806210747/F6Vm03reCkhPmQWx",
    "LS0tLS1CRUdJTi" + "BSU0EgUFJJVkFURSBLRVktLS0tLQpNSUlFb2dJQkFBS0NBUUVBb3kxWFh1VkFRcHFIYlFFMDVta2",
    "MIIEpAIBAAK" + "CAQEAm3VqQw7bTz0Lk1sYh8XcR5nVd2JpFg6uEo9iKaWx4MtZyBsHrC",
    "OTI2NjA3NjU1NTI2" + "Oh2DOnASdOHoIhEGyqIuYrdkYaQZ",
]


@pytest.mark.parametrize("token", UNLIKELY_TOKENS)
def test_a_token_without_a_digit_or_armour_is_found(token: str) -> None:
    redacted = redact(SENTENCE.format(token))
    assert sum(redacted.counts.values()) == 1
    assert re.fullmatch(r"The staging box uses \[REDACTED:[a-z-]+\] since March\.", redacted.text)


LIKE_TOKENS = [  # names and words that begin like a token
    "hf_requiredCharacteristicTypesForDisplayMetadata",
    "sk-ant-naming-convention-of-keys-in-2024",
    "glpat-naming-convention-2-of-the-team",
    "xoxe.xoxp-1-SlackAppConfigurationAccessTokenHere",
    "pat.some.module.of.the.program",
    "ASIAPACIFICREGIONALX",
    "sk-proj-migration-plan-2024-draft",
    "glsa_" + "x" * 40,
    "gsk_" + string.ascii_lowercase + "0123456789" * 3,
]


def test_forms_are_searched_in_linear_time() -> None:
    """What each form begins with, and words with signs behind it."""
    for beginning in sorted({form.prefix or form.anchor for _, form in FORMS}):
        for head, part, end in (("", beginning, ""), (beginning, "A-", "!"), (beginning, "aB1.", "")):
            assert_linear(partial(redact_hostile_forms, head, part, end), 1024)


def redact_hostile_forms(head: str, part: str, end: str, size: int) -> None:
    redact(head + part * (size // len(part)) + end)


def test_every_provider_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "secrets.md").read_text("utf-8")
    assert sorted(name for name in token_forms.providers() if name not in page) == []


def test_the_docs_hold_no_likely_secret() -> None:
    for page in sorted((Path(__file__).parents[2] / "docs").glob("*.md")):
        assert redact(page.read_text("utf-8")).counts == {}, page


NO_TOKENS = [  # each says that it is none, or is cut off
    'wrongLength := "glpat' + '-tP_ggKcZdPoSdaJdTzgG"',
    'invalidToken = "glpat' + '-tP_ggKcZdPoSdaJdTzgG"',
    "glpat" + "-tP_ggKcZdPoSdaJdTzgG############",
    "glpat" + "-tP_ggKcZdPoSdaJdTzgG...",
    "hf_" + "FakeFakeFake1FakeFakeFakeFakeFakeFa",
]


# --- random words ---


LETTERS_AND_DIGITS = string.ascii_letters + string.digits
WORD_DRAWS = 200


DRAWN = [
    (LETTERS_AND_DIGITS, 32, "the staging box uses {} since March", 0.97),
    (LETTERS_AND_DIGITS + "-_", 43, "the staging box uses {}.", 0.95),
    (LETTERS_AND_DIGITS + "+/", 40, "we rotated `{}`, as agreed", 0.9),
    (string.ascii_lowercase + string.digits, 40, "the staging box uses {} since March", 0.9),
    (string.ascii_letters, 34, "the staging box uses {} since March", 0.9),
    (LETTERS_AND_DIGITS, 24, "the staging box uses acme_sk_{} since March", 0.95),
    (LETTERS_AND_DIGITS, 32, "MISTRAL={}", 0.97),
]


@pytest.mark.parametrize(("alphabet", "length", "write", "share"), DRAWN)
def test_a_drawn_word_goes_whole(alphabet: str, length: int, write: str, share: float) -> None:
    source, found = random.Random(23), 0
    for _ in range(WORD_DRAWS):
        secret = "".join(source.choices(alphabet, k=length))
        text = redact(write.format(secret)).text
        found += secret[:8] not in text and secret[-8:] not in text
    assert found >= share * WORD_DRAWS


def test_base64_of_a_user_and_a_password_goes_and_of_other_text_stays() -> None:
    def write(text: str) -> str:
        return f'{{"registry.test": {{"auth": "{base64.b64encode(text.encode()).decode()}"}}}}'

    assert redact(write("robot:b1QffZ5r7Yup93l")).counts == {"high-entropy": 1}
    for text in ("just a sentence, with blanks: many", "name: value\nname: other", "<p>not: secret at all</p>"):
        assert redact(write(text)) == Redacted(write(text))


NAMED_OTHERWISE = ["spreadsheetId: ", "sha256 ", "the fingerprint is ", '"etag": "', "commit ", "cursor="]


IDS_AND_PATHS = [
    "https://docs.test/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit",
    "pi_3MtwBwLkdIwHu7ix28a3tqPa and toolu_01T1x1fJ34qAmk2tNTrN7Up6",
    "getUserByIdReturns404WhenTheUserDoesNotExistInTheDatabaseV2",
    "javax/net/ssl/DTLSv10/DTLSv10NotEnabledRC4Test.java",
    "\n".join(["9Y9i9DqJoUWS/L7LO3GsmyV4gbTG9m/aeFn8skizl0J5jG0RSQ/dOENcLndcJq/G"] * 3),
    "the regex a-zA-Z0-9!#$%& and HEAD~2^2:src/Foo1",
    "foo:HashMapIteratorFactory ns:createXMLHttpRequestV2 sha1:9f86d081884c7d659a2feaa0",
    '{"accessor":"rA1wk0Y45YCufyfq"}',
]


PREFIXED = [
    (string.ascii_lowercase + string.digits, 20, "the staging box uses glzt-{} since March"),
    (LETTERS_AND_DIGITS, 24, "the staging box uses xoxq-781236542736-2364535789652-{} since March"),
    ("0123456789abcdef", 40, "the staging box uses zqpat_{} since March"),
    (LETTERS_AND_DIGITS, 32, "the staging box uses b7k_{} since March"),
    (string.ascii_lowercase + string.digits, 16, "the staging box uses sm_pat_{} since March"),
]


@pytest.mark.parametrize(("alphabet", "length", "write"), PREFIXED)
def test_a_drawn_word_goes_behind_a_prefix_that_is_no_word(alphabet: str, length: int, write: str) -> None:
    source, found = random.Random(29), 0
    for _ in range(WORD_DRAWS):
        secret = "".join(source.choices(alphabet, k=length))
        found += secret[:8] not in redact(write.format(secret)).text
    assert found >= 0.85 * WORD_DRAWS


PREFIXED_IDS = [
    "msg_01T1x1fJ34qAmk2tNTrN7Up6", "img-5f6278f46c0697b8ce6a07cfaabf363b", "run_3MtwBwLkdIwHu7ix28a3tqPa",
    "sha1-5f6278f46c0697b8ce6a07cfaabf363b5a97a984", "vpc-0a1b2c3d4e5f67890", "bloomz-7b1-4b-xp3ru",
    "py311h06a4308_0", "cpython-311-x86_64-linux-gnu", "5eb4223e-5008-46e5-be67-c7b8f2732305",
]  # fmt: skip


NAMES_OF_SECRETS = [
    "passwordField2", "resetPassword", "secretKey1", "pass2vec", "keyword123", "bypass1", "md5password", "word2vec",
    "passThrough64bit", "password_reset_2024", "secret-store-v2", "adminPanel404", "/etc/passwd2024",
]  # fmt: skip


@pytest.mark.parametrize("seed", ["WXFES7QNTET5DQYC", "JERZOR2XLQYTUQG7YBZYHLK3KSLRYTWB"])
def test_the_seed_of_one_time_passwords_goes_without_a_name(seed: str) -> None:
    assert seed[:8] not in redact(f"the admin uses {seed} since March").text


def test_a_key_in_hexadecimal_of_both_cases_goes_and_a_digest_stays() -> None:
    digest = "c8f12fb8b20008e14b5a5ff4bad15af9b545d98144da8707892dcc2a2014ba58"
    for text, kinds in ((digest, {}), (digest.upper(), {}), (digest.replace("a5f", "A5f"), {"high-entropy": 1})):
        assert redact(f"the box uses {text} since March").counts == kinds


@pytest.mark.parametrize("login", ["'johns:h0pk1ns~21s'", '":d2LkV78zLx!t"', "PROXY=kevin:'pRf7vG2h1L8nQkW9'"])
def test_a_password_goes_behind_a_user_without_a_command(login: str) -> None:
    clean = redact(f"the box uses {login} since March").text
    assert not any(part in clean for part in ("h0pk1ns", "d2LkV78", "pRf7vG2"))


HEX_LENGTHS = [(32, True), (40, True), (64, True), (24, False), (41, False), (63, False)]


@pytest.mark.parametrize(("length", "goes"), HEX_LENGTHS)
def test_hexadecimal_goes_behind_a_prefix_in_the_length_of_a_key(length: int, goes: bool) -> None:
    word = "zqpat_" + ("5f6278f46c0697b8ce6a07cfaabf363b5a97a984" * 2)[:length]
    assert (word not in redact(f"the box uses {word} since March").text) is goes


CAPITALS = [
    ("ZKIAACBD4WTGW02TINX6", True), ("A3X-GMXG9E-N581U3-XTPLP-T75V2-EH60K-J50CE", True),
    ("VK7JG-NPHTM-C97JM-9MPGT-3V66T", True), ("01ARZ3NDEKTSV4RRFFQ69G5FAV", False),
    ("9F86D081884C7D659A2FEAA0C55AD015", False), ("MAX_LENGTH_OF_COLUMN_2", False),
    ("5EB4223E-5008-46E5-BE67-C7B8F2732305", False), ("ISO-IEC-27001-2022-ANNEX", False),
]  # fmt: skip


@pytest.mark.parametrize(("word", "goes"), CAPITALS)
def test_capitals_and_digits_go_in_one_word_or_in_groups(word: str, goes: bool) -> None:
    assert (word not in redact(f"the box uses {word} since March").text) is goes


WEBHOOKS = [
    ("https://hook.eu1.make.test/lpcyutmx5groatb7eoy5yy2px0sxvj0n", True),
    ("https://chat.test/hooks/6wbu1pj8k3ni5q6xz4rtyh2o9a", True),
    ("https://n8n.test/webhook?key=Kt9vQz4LmW2xYp7RbN3c", True),
    ("https://docs.test/webhooks/webhook-events-and-payloads", False),
    ("https://git.test/hooks/blob/22cb987851bc5659229114c62e60c79abd0d2c08/post-commit-and-others", False),
    ("https://git.test/a-page-about-something/without-the-word", False),
]


@pytest.mark.parametrize(("address", "goes"), WEBHOOKS)
def test_the_address_of_a_webhook_goes_if_it_holds_a_key(address: str, goes: bool) -> None:
    assert redact(f"we post to {address} each night").counts == ({"webhook": 1} if goes else {})


def test_an_object_in_base64_goes_behind_a_prefix() -> None:
    token = "acme_" + base64.b64encode(b'{"iat":1687336543.698,"url":"https://x.test","org":"acme"}').decode()
    assert redact(f"the box uses {token} since March").text == "the box uses [REDACTED:jwt] since March"


# --- assigned secrets ---


SECRET = "kT9vQz4LmW2x" + "Yp7RbN3c"


ASSIGNED = [
    "X_TOKEN ?= «»", 'X_TOKEN ::= "«»"', 'X_TOKEN :::= "«»"', '$xToken .= "«»"', 'var xToken string = "«»"',
    'val password: String = "«»"', 'System.setProperty("X_TOKEN", "«»")', "define('PASSWORD' , '«»');",
    "<xToken>«»</xToken>", "<xToken>\n    «»\n</xToken>", '<add key="ApiKey" value="«»" />',
    "tool --api-token «» --verbose", "tool --password «»", 'tool --db-api-key "«»"', "setx X_API_KEY «»",
    "export X_API_KEY=«»", "ENV X_API_KEY «»", "set -x X_API_KEY «»", "curl -u user:«» https://x.test",
    'curl --user "user:«»" https://x.test', "sshpass -p «» ssh host", "mysql -u root -p«» db",
    "machine h.test login me password «»", "machine h.test\n  login me\n  password «»\n",
    "| API_KEY | «» |", "| `API_KEY` | `«»` |", "The API key is «».", "the API key is «», as agreed",
    "the token was `«»`", "API key: «»", "PASSWORD '«»'", "CREATE USER x IDENTIFIED BY '«»';",
    "ALTER ROLE x WITH PASSWORD '«»';", '#define PASSWORD "«»"', "**token**: «»", 'os.environ["API_KEY"] = "«»"',
    "?api_key=«»&page=1", "(password=«»)", "password=«», user=x", "Pwd=«»;Encrypt=yes", "ID:master,PW:«»",
    "Authorization: «»", "x_credential = '«»'",
]  # fmt: skip


WORDS_BEFORE = [
    "users:\n- user:\n    client-key-data: «»", "session:\n  secret_key_base: «»", "bindDN cn=a / bindPassword «»",
    "use root with password «» here", "bindpw «»", "the password for the box is «»", "password (staging): «»",
    "the TOTP seed for the admin account is «»", "credentials for the router: admin / «»",
    "Zugangsdaten: admin / «»", "Cookie: theme=dark; sessionid=«»; lang=en", "Cookie: a=b; auth_token=«»",
    # other languages
    "das Passwort ist «», bitte", "Das Kennwort lautet: «»", "WLAN-Passwort im Büro: «»", "mit Passwort «» an",
    "der API-Schlüssel ist «»", "le mot de passe est «»", "mdp : «»", "la clé API est «»", "la clé d'API : «»",
    "le jeton est «»", "la contraseña es «»", "la clave de API es «»", "a senha é «»", "пароль: «»", "пароль — «»",
    "密码是«»", "密码：«»，请保存", "パスワードは«»", "비밀번호: «»", "รหัสผ่าน: «»",
]  # fmt: skip


@pytest.mark.parametrize("text", [*ASSIGNED, *WORDS_BEFORE])
def test_however_a_secret_is_assigned_or_said_it_alone_goes(text: str) -> None:
    before, after = text.split("«»")
    redacted = redact(before + SECRET + after)
    assert sum(redacted.counts.values()) == 1
    (kind,) = redacted.counts
    assert redacted.text == f"{before}[REDACTED:{kind}]{after}"


WORD_PASSWORDS = ["Das Kennwort lautet: Gr8-Tante_«»", "DEPLOY_KEY=1 API_KEY=mySecret«»", "the password is xT9!mm«»"]


@pytest.mark.parametrize("text", WORD_PASSWORDS)
def test_a_password_of_words_is_found_where_nothing_else_can_stand(text: str) -> None:
    assert sum(redact(text.replace("«»", "Wolke42")).counts.values()) == 1


PASSWORDS = [
    "Tr0ub4dor&3", "aB3dE9x!&ZMv", "x7;Kq2,Lm9)Rt4", "p9(Wz]4{Vn}8", "Q<5w>R8t|Y2", "*Qw7#er9Ty", "@Qw7#er9Ty",
    ":Qw7#er9Ty", "$Qw7!er9Ty", "%Qw7#er9Ty", "Zx9'Cv8Bn7", "Winter2024!",
]  # fmt: skip


PASSWORDS_AND_PLACES = [
    # whatever its signs, behind its name; a brace in quotes begins one too
    (PASSWORDS, ['DB_PASSWORD="«»"', '{"password": "«»", "x": 1}', "DB_PASSWORD=«» on the box"]),
    (["{Qw7#er9Ty"], ['DB_PASSWORD="«»"']),
    # with signs inside, without a name
    (["d2LkV78zLx!t", "xT9!mmQ2vv", "dB2yF6@qL9vZm1P#4J"], ["uses «» since", "ann:«»", '"«»"', "«»."]),
    # without signs, behind a user's name
    (["pRf7vG2h1L8nQkW9", "yqDVtkqPECriaLRi"], ["log in as kevin:«» there", "kevin:'«»'", '"kevin:«»"']),
    # as a person chooses it, without a name
    (
        ["P@ssw0rd2024", "myS3cret", "adm1nPassw0rd", "compl3xPwd", "secur3Pass", "mySecret2024", "secretKey123"],
        ["uses «» since", "(«»)", '"«»",'],
    ),
]


@pytest.mark.parametrize(("passwords", "texts"), PASSWORDS_AND_PLACES)
def test_a_password_goes_whole(passwords: list[str], texts: list[str]) -> None:
    for password, text in product(passwords, texts):
        assert redact(text.replace("«»", password)).text == text.replace("«»", "[REDACTED:password]")


RANDOM_LETTERS = [
    "aBcQwXyZpLmNrTvKjHgFdSt",
    "yqDVtkqPECriaLRi",
    "pmxtqkvcmzrbgvrw",
    "QwErTyxZvBnMkLpOjHgFdSaQ-WzXcVbN_mKlPoIuYtReW",
    "qP_zXcVbNmKjHgFdSaPoIuY",
]


@pytest.mark.parametrize("value", RANDOM_LETTERS)
def test_a_value_without_digits_is_found_if_its_letters_are_random(value: str) -> None:
    assert redact(f"CLIENT_SECRET={value}").text == "CLIENT_SECRET=[REDACTED:secret]"


CODE_AND_PROSE = [
    "encryption_key = base64.urlsafe_b64encode(", "token=TokenElement(id=1425, text='100', logprob=-1.01)",
    "WHERE api_key = ANY($1::text[]) AND x", "for(var pass=0;pass<3;pass++){",
    'Credential=Bearer\\s+([^/\\s,]+)', "passphrase: &#x3C;string>]}", "the token is OAuth2, as before",
    "the secret was rotated on 2024-05-01", "| API_KEY | required since v2.1 |", "| TOKEN | sha256 |",
    "| token | 1Password, 42, a1B2c3D4 |",
    "tool --token-file /run/secrets/db1", "tool --password --user root", "tool --token $TOKEN",
    "if token > limit2 and x:", "<token>OAuth2</token>", 'keys = ("token", "password", "api_key")',
    "the token 'OAuth2' is", 'password: "@Value"', "password = ':password'", "password: *default_password",
    "docker run -u 1000:1000 curlimages/curl", "mysql -p3306 -u root", "mongodb://mongodb:mongodb@host/",
    "the key of the cache in commit: 3f2a9c1d8e7b6a5f4e3d2c1b0a9f8e7d6c5b4a39", "fakeToken = 'a1B2c3D4e5F6'",
    "the link ?session=4dd2bc86-1a2b-4c3d-8e9f-0a1b2c3d4e5f",
    "das Passwort ist falsch", "das Passwort lautet nicht admin2", "le mot de passe est obligatoire",
    "the password is SHA256-hashed", "v1_api_key = _async_v1_api_key", "recovery codes: 10 per user",
    "backup codes are stored in 1Password", "backup code 2024-11-25", "login: GET / POST2",
    "password hashing of step 2: argon2id", "AccessToken: OAuthAccessTokenProvider",
    'secret = "ContentPolicyViolation: <entire graph context and api_base>"', "the API key is set in step2-config",
]  # fmt: skip


WORDS_IN_CAPITALS = ["TEXT2SPEECHMODEL", "INTERNATIONALIZE", "ABCDEFGHIJKLMNOP", "KEYBOARD2SETTING"]


def test_ids_names_paths_data_code_and_prose_stay() -> None:
    texts = [*IDS_AND_PATHS, *CODE_AND_PROSE, *NO_TOKENS]
    texts += [f"{name}1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms" for name in NAMED_OTHERWISE]
    texts += [SENTENCE.format(name) for name in (*LIKE_TOKENS, *PREFIXED_IDS, *WORDS_IN_CAPITALS)]
    texts += [f"we renamed {name} in March" for name in NAMES_OF_SECRETS]
    assert [text for text in texts if redact(text) != Redacted(text)] == []


def test_a_long_value_with_digits_goes_from_a_variable_of_the_environment() -> None:
    for value in ("zlcbt-helloworld380_testin", "team_build-agent-2024-key"):
        assert redact(f"We set STAGING_API_KEY={value} in it").text == "We set STAGING_API_KEY=[REDACTED:api-key] in it"
    names = "the-name-of-a-secret-in-the-vault", "/run/secrets/staging_api_key_1", "${STAGING_API_KEY_V2_FROM_CI}"
    for value in names:
        text = f"We set STAGING_API_KEY={value} in .env"
        assert redact(text) == Redacted(text)


def test_the_private_members_of_a_json_web_key_go_and_a_public_key_stays() -> None:
    public = {"kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"[:28], "kid": "1"}
    private = public | {"d": "-phZ8N4GuwZchy7FCMB14IA35dBU3sWy2ORxwWN8PbK"}
    assert redact(json.dumps(private)).text == json.dumps(private | {"d": "[REDACTED:private-key]"})
    assert redact(base64.urlsafe_b64encode(json.dumps(private).encode()).decode()).text == "[REDACTED:private-key]"
    for text in (json.dumps(public), base64.urlsafe_b64encode(json.dumps(public).encode()).decode()):
        assert redact(text) == Redacted(text)
