"""Token ids of plain text: those of the model's own tokenizer, always."""

from collections.abc import Callable

import pytest
from hypothesis import given, strategies as st
from tokenizers import Tokenizer

from bridge.embedding import model_files
from bridge.embedding.tokens import TOKEN_LIMIT, LatinWordPieces, WordPieceTokenizer

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


@pytest.fixture(scope="module")
def plain() -> LatinWordPieces:
    return LatinWordPieces()


@pytest.fixture(scope="module")
def published() -> Callable[[str], list[int]]:
    """The ids that the library gives, special ones at the ends left out."""
    tokenizer = Tokenizer.from_file(str(model_files.DEFAULT_FOLDER / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()

    def ids(text: str) -> list[int]:
        return tokenizer.encode(text, add_special_tokens=False).ids

    return ids


def test_each_plain_character_is_as_tokenized(plain: LatinWordPieces, published: Callable[[str], list[int]]) -> None:
    treated = 0
    for character in map(chr, range(0x3000)):
        for text in (character, f"a{character}b", f"A{character}{character} 1", f"foo {character} bar"):
            found = plain.ids(text)
            assert found is None or found == published(text), (hex(ord(character)), text)
            treated += found is not None
    assert treated > 4 * 0x250


texts = st.text(
    st.one_of(
        st.characters(max_codepoint=0x7E, min_codepoint=0x20),
        st.characters(max_codepoint=0x24F),
        st.characters(min_codepoint=0x2000, max_codepoint=0x2200),
        st.sampled_from("\n\t [](){}'`.,-_/#"),
    )
)


@given(st.lists(st.one_of(texts, st.sampled_from(SPECIAL), st.sampled_from(["x" * 100, "x" * 101, "É" * 101]))))
def test_any_text_has_the_tokenizers_ids_or_is_left_to_it(
    plain: LatinWordPieces, published: Callable[[str], list[int]], parts: list[str]
) -> None:
    text = "".join(parts)
    found = plain.ids(text)
    assert found is None or found == published(text)


EVERYDAY = [
    "Why did `parse_job_file()` fail in src/app/main.py:42 with E1042?",
    "naïve — “quoted” … Grüße, 3 → 4 ½ ±",
    "unbelievable embeddings " * 300,
]


@pytest.mark.parametrize("text", EVERYDAY)
def test_everyday_texts_are_plain(plain: LatinWordPieces, published: Callable[[str], list[int]], text: str) -> None:
    assert plain.ids(text) == published(text)


@pytest.mark.parametrize("text", ["日本語", "a [SEP] b", "αβγ", "🙂", "e\u0301"])
def test_other_texts_are_left_to_the_tokenizer(plain: LatinWordPieces, text: str) -> None:
    assert plain.ids(text) is None


@pytest.mark.parametrize("text", ["", "word", "word " * 600, "日本語 " * 600, "a [SEP] b", "y" * 150])
def test_the_models_input_is_what_the_tokenizer_alone_would_give(text: str) -> None:
    folder = model_files.DEFAULT_FOLDER
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(TOKEN_LIMIT)
    assert WordPieceTokenizer(folder).ids(text) == tokenizer.encode(text).ids
