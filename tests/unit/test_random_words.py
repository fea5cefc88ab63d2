"""A long word that looks drawn goes without a name or a known form; ids, hashes, names and data stay."""

from __future__ import annotations

import base64
import random
import string

import pytest

from bridge.privacy.redaction import Redacted, redact

LETTERS_AND_DIGITS = string.ascii_letters + string.digits
DRAWS = 200


@pytest.mark.parametrize(
    ("alphabet", "length", "write", "share"),
    [
        (LETTERS_AND_DIGITS, 32, "the staging box uses {} since March", 0.97),
        (LETTERS_AND_DIGITS + "-_", 43, "the staging box uses {}.", 0.95),
        (LETTERS_AND_DIGITS + "+/", 40, "we rotated `{}`, as agreed", 0.9),
        (string.ascii_lowercase + string.digits, 40, "the staging box uses {} since March", 0.9),
        (string.ascii_letters, 34, "the staging box uses {} since March", 0.9),
        (LETTERS_AND_DIGITS, 24, "the staging box uses acme_sk_{} since March", 0.95),
        (LETTERS_AND_DIGITS, 32, "MISTRAL={}", 0.97),
    ],
)
def test_a_drawn_word_goes_whole(alphabet: str, length: int, write: str, share: float) -> None:
    source, found = random.Random(23), 0
    for _ in range(DRAWS):
        secret = "".join(source.choices(alphabet, k=length))
        text = redact(write.format(secret)).text
        found += secret[:8] not in text and secret[-8:] not in text
    assert found >= share * DRAWS


def test_base64_of_a_user_and_a_password_goes_and_of_other_text_stays() -> None:
    def write(text: str) -> str:
        return f'{{"registry.test": {{"auth": "{base64.b64encode(text.encode()).decode()}"}}}}'

    assert redact(write("robot:b1QffZ5r7Yup93l")).counts == {"high-entropy": 1}
    for text in ("just a sentence, with blanks: many", "name: value\nname: other", "<p>not: secret at all</p>"):
        assert redact(write(text)) == Redacted(write(text))


@pytest.mark.parametrize(
    "name", ["spreadsheetId: ", "sha256 ", "the fingerprint is ", '"etag": "', "commit ", "cursor="]
)
def test_a_word_that_is_named_as_something_else_stays(name: str) -> None:
    text = name + "1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms"
    assert redact(text) == Redacted(text)


@pytest.mark.parametrize(
    "text",
    [
        "https://docs.test/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit",
        "pi_3MtwBwLkdIwHu7ix28a3tqPa and toolu_01T1x1fJ34qAmk2tNTrN7Up6",
        "getUserByIdReturns404WhenTheUserDoesNotExistInTheDatabaseV2",
        "javax/net/ssl/DTLSv10/DTLSv10NotEnabledRC4Test.java",
        "\n".join(["9Y9i9DqJoUWS/L7LO3GsmyV4gbTG9m/aeFn8skizl0J5jG0RSQ/dOENcLndcJq/G"] * 3),
        "the regex a-zA-Z0-9!#$%& and HEAD~2^2:src/Foo1",
        "foo:HashMapIteratorFactory ns:createXMLHttpRequestV2 sha1:9f86d081884c7d659a2feaa0",
        '{"accessor":"rA1wk0Y45YCufyfq"}',
    ],
)
def test_ids_names_paths_and_blocks_of_data_stay(text: str) -> None:
    assert redact(text) == Redacted(text)


@pytest.mark.parametrize("text", ["uses «» since", "ann:«»", '"«»"', "«»."])
@pytest.mark.parametrize("password", ["d2LkV78zLx!t", "xT9!mmQ2vv", "dB2yF6@qL9vZm1P#4J"])
def test_a_password_with_signs_inside_goes_whole(text: str, password: str) -> None:
    assert redact(text.replace("«»", password)).text == text.replace("«»", "[REDACTED:password]")


@pytest.mark.parametrize("text", ["log in as kevin:«» there", "kevin:'«»'", '"kevin:«»"'])
@pytest.mark.parametrize("password", ["pRf7vG2h1L8nQkW9", "yqDVtkqPECriaLRi"])
def test_a_password_without_signs_goes_behind_a_users_name(text: str, password: str) -> None:
    assert redact(text.replace("«»", password)).text == text.replace("«»", "[REDACTED:password]")


@pytest.mark.parametrize(
    ("alphabet", "length", "write"),
    [
        (string.ascii_lowercase + string.digits, 20, "the staging box uses glzt-{} since March"),
        (LETTERS_AND_DIGITS, 24, "the staging box uses xoxq-781236542736-2364535789652-{} since March"),
        ("0123456789abcdef", 40, "the staging box uses zqpat_{} since March"),
        (LETTERS_AND_DIGITS, 32, "the staging box uses b7k_{} since March"),
        (string.ascii_lowercase + string.digits, 16, "the staging box uses sm_pat_{} since March"),
    ],
)
def test_a_drawn_word_goes_behind_a_prefix_that_is_no_word(alphabet: str, length: int, write: str) -> None:
    source, found = random.Random(29), 0
    for _ in range(DRAWS):
        secret = "".join(source.choices(alphabet, k=length))
        found += secret[:8] not in redact(write.format(secret)).text
    assert found >= 0.85 * DRAWS


@pytest.mark.parametrize(
    "name",
    [
        "msg_01T1x1fJ34qAmk2tNTrN7Up6", "img-5f6278f46c0697b8ce6a07cfaabf363b", "run_3MtwBwLkdIwHu7ix28a3tqPa",
        "sha1-5f6278f46c0697b8ce6a07cfaabf363b5a97a984", "vpc-0a1b2c3d4e5f67890", "bloomz-7b1-4b-xp3ru",
        "py311h06a4308_0", "cpython-311-x86_64-linux-gnu", "5eb4223e-5008-46e5-be67-c7b8f2732305",
    ],
)  # fmt: skip
def test_an_id_behind_a_usual_prefix_stays(name: str) -> None:
    text = f"the staging box uses {name} since March"
    assert redact(text) == Redacted(text)


@pytest.mark.parametrize("text", ["uses «» since", "(«»)", '"«»",'])
@pytest.mark.parametrize(
    "password",
    ["P@ssw0rd2024", "myS3cret", "adm1nPassw0rd", "compl3xPwd", "secur3Pass", "mySecret2024", "secretKey123"],
)
def test_a_password_that_a_person_chose_goes_without_a_name(text: str, password: str) -> None:
    assert redact(text.replace("«»", password)).text == text.replace("«»", "[REDACTED:password]")


@pytest.mark.parametrize(
    "name",
    [
        "passwordField2", "resetPassword", "secretKey1", "pass2vec", "keyword123", "bypass1", "md5password", "word2vec",
        "passThrough64bit", "password_reset_2024", "secret-store-v2", "adminPanel404", "/etc/passwd2024",
    ],
)  # fmt: skip
def test_a_name_that_speaks_of_secrets_stays(name: str) -> None:
    text = f"we renamed {name} in March"
    assert redact(text) == Redacted(text)


@pytest.mark.parametrize("seed", ["WXFES7QNTET5DQYC", "JERZOR2XLQYTUQG7YBZYHLK3KSLRYTWB"])
def test_the_seed_of_one_time_passwords_goes_without_a_name(seed: str) -> None:
    assert seed[:8] not in redact(f"the admin uses {seed} since March").text


@pytest.mark.parametrize("word", ["TEXT2SPEECHMODEL", "INTERNATIONALIZE", "ABCDEFGHIJKLMNOP", "KEYBOARD2SETTING"])
def test_a_word_in_capitals_stays(word: str) -> None:
    text = f"the admin uses {word} since March"
    assert redact(text) == Redacted(text)


def test_a_key_in_hexadecimal_of_both_cases_goes_and_a_digest_stays() -> None:
    digest = "c8f12fb8b20008e14b5a5ff4bad15af9b545d98144da8707892dcc2a2014ba58"
    for text, kinds in ((digest, {}), (digest.upper(), {}), (digest.replace("a5f", "A5f"), {"high-entropy": 1})):
        assert redact(f"the box uses {text} since March").counts == kinds


@pytest.mark.parametrize("login", ["'johns:h0pk1ns~21s'", '":d2LkV78zLx!t"', "PROXY=kevin:'pRf7vG2h1L8nQkW9'"])
def test_a_password_goes_behind_a_user_without_a_command(login: str) -> None:
    clean = redact(f"the box uses {login} since March").text
    assert not any(part in clean for part in ("h0pk1ns", "d2LkV78", "pRf7vG2"))


@pytest.mark.parametrize(
    ("length", "goes"), [(32, True), (40, True), (64, True), (24, False), (41, False), (63, False)]
)
def test_hexadecimal_goes_behind_a_prefix_in_the_length_of_a_key(length: int, goes: bool) -> None:
    word = "zqpat_" + ("5f6278f46c0697b8ce6a07cfaabf363b5a97a984" * 2)[:length]
    assert (word not in redact(f"the box uses {word} since March").text) is goes


@pytest.mark.parametrize(
    ("word", "goes"),
    [
        ("ZKIAACBD4WTGW02TINX6", True), ("A3X-GMXG9E-N581U3-XTPLP-T75V2-EH60K-J50CE", True),
        ("VK7JG-NPHTM-C97JM-9MPGT-3V66T", True), ("01ARZ3NDEKTSV4RRFFQ69G5FAV", False),
        ("9F86D081884C7D659A2FEAA0C55AD015", False), ("MAX_LENGTH_OF_COLUMN_2", False),
        ("5EB4223E-5008-46E5-BE67-C7B8F2732305", False), ("ISO-IEC-27001-2022-ANNEX", False),
    ],
)  # fmt: skip
def test_capitals_and_digits_go_in_one_word_or_in_groups(word: str, goes: bool) -> None:
    assert (word not in redact(f"the box uses {word} since March").text) is goes


@pytest.mark.parametrize(
    ("address", "goes"),
    [
        ("https://hook.eu1.make.test/lpcyutmx5groatb7eoy5yy2px0sxvj0n", True),
        ("https://chat.test/hooks/6wbu1pj8k3ni5q6xz4rtyh2o9a", True),
        ("https://n8n.test/webhook?key=Kt9vQz4LmW2xYp7RbN3c", True),
        ("https://docs.test/webhooks/webhook-events-and-payloads", False),
        ("https://git.test/hooks/blob/22cb987851bc5659229114c62e60c79abd0d2c08/post-commit-and-others", False),
        ("https://git.test/a-page-about-something/without-the-word", False),
    ],
)
def test_the_address_of_a_webhook_goes_if_it_holds_a_key(address: str, goes: bool) -> None:
    assert redact(f"we post to {address} each night").counts == ({"webhook": 1} if goes else {})


def test_an_object_in_base64_goes_behind_a_prefix() -> None:
    token = "acme_" + base64.b64encode(b'{"iat":1687336543.698,"url":"https://x.test","org":"acme"}').decode()
    assert redact(f"the box uses {token} since March").text == "the box uses [REDACTED:jwt] since March"
