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
