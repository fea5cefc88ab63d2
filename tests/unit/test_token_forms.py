"""A token of each known form is found by itself and replaced whole; names and words that begin alike stay."""

from __future__ import annotations

import random
import re
import string
from functools import partial
from pathlib import Path

import pytest
from harness import assert_linear
from token_drawing import draw

from bridge.privacy import token_forms
from bridge.privacy.redaction import count_secrets, redact
from bridge.privacy.secret_kinds import KINDS, SHORTEST_TOKEN

SENTENCE = "The staging box uses {} since March."
FORMS = [
    (kind, form) for kind in sorted({*token_forms.FORMS, *token_forms.EXACT_FORMS}) for form in token_forms.tokens(kind)
]
DRAWS = 20


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
        assert found >= DRAWS - 2, (form.expression, found)


@pytest.mark.parametrize(
    "token",
    [
        "AKIA" + "KZQWBVNTPLMXCDFG",
        "glpat" + "-tP_ggKcZdPoSdaJdTzgG",
        "sk_live" + "_aBcQwXyZpLmNrTvKjHgFdStQ",
        "npm" + "_aQwErTyXzVbNmKlPoJhGfDsCaQwErTyXzVbN",
        "AGE-SECRET" + "-KEY-1KZYHJJGJ5DEC3RXGPEUA97WG99HU4Z3Z9ZK69GHAFZWJ08SFVF0QZ3WFSS",
        "hooks.slack.com" + "/workflows/T016M3G1GHZ/A04J3BAF7AA/442660231806210747/F6Vm03reCkhPmQWx",
        "LS0tLS1CRUdJTi" + "BSU0EgUFJJVkFURSBLRVktLS0tLQpNSUlFb2dJQkFBS0NBUUVBb3kxWFh1VkFRcHFIYlFFMDVta2",
        "MIIEpAIBAAK" + "CAQEAm3VqQw7bTz0Lk1sYh8XcR5nVd2JpFg6uEo9iKaWx4MtZyBsHrC",
        "OTI2NjA3NjU1NTI2" + "Oh2DOnASdOHoIhEGyqIuYrdkYaQZ",
    ],
)
def test_a_token_without_a_digit_or_armour_is_found(token: str) -> None:
    redacted = redact(SENTENCE.format(token))
    assert sum(redacted.counts.values()) == 1
    assert re.fullmatch(r"The staging box uses \[REDACTED:[a-z-]+\] since March\.", redacted.text)


@pytest.mark.parametrize(
    "name",
    [
        "hf_requiredCharacteristicTypesForDisplayMetadata",
        "sk-ant-naming-convention-of-keys-in-2024",
        "glpat-naming-convention-2-of-the-team",
        "xoxe.xoxp-1-SlackAppConfigurationAccessTokenHere",
        "pat.some.module.of.the.program",
        "ASIAPACIFICREGIONALX",
        "sk-proj-migration-plan-2024-draft",
        "glsa_" + "x" * 40,
        "gsk_" + string.ascii_lowercase + "0123456789" * 3,
    ],
)
def test_names_and_words_that_begin_like_a_token_stay(name: str) -> None:
    assert redact(SENTENCE.format(name)).counts == {}


def test_forms_are_searched_in_linear_time() -> None:
    """What each form begins with, and words with signs behind it."""
    for beginning in sorted({form.prefix or form.anchor for _, form in FORMS}):
        for head, part, end in (("", beginning, ""), (beginning, "A-", "!"), (beginning, "aB1.", "")):
            assert_linear(partial(redact_hostile, head, part, end), 1024)


def redact_hostile(head: str, part: str, end: str, size: int) -> None:
    redact(head + part * (size // len(part)) + end)


def test_every_provider_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "secrets.md").read_text("utf-8")
    assert sorted(name for name in token_forms.providers() if name not in page) == []


def test_the_kinds_of_the_forms_are_kinds() -> None:
    assert {kind for kind, _ in FORMS} <= {kind.name for kind in KINDS}


def test_the_docs_hold_no_likely_secret() -> None:
    for page in sorted((Path(__file__).parents[2] / "docs").glob("*.md")):
        assert count_secrets(page.read_text("utf-8")) == {}, page


@pytest.mark.parametrize(
    "text",
    [
        'wrongLength := "glpat' + '-tP_ggKcZdPoSdaJdTzgG"',
        'invalidToken = "glpat' + '-tP_ggKcZdPoSdaJdTzgG"',
        "glpat" + "-tP_ggKcZdPoSdaJdTzgG############",
        "glpat" + "-tP_ggKcZdPoSdaJdTzgG...",
        "hf_" + "FakeFakeFake1FakeFakeFakeFakeFakeFa",
    ],
)
def test_a_token_that_says_that_it_is_none_or_cut_stays(text: str) -> None:
    assert redact(text).counts == {}
