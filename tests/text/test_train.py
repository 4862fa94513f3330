"""Same text, same settings, same bytes; and what the settings promise."""

import os
import subprocess
import sys
from hashlib import sha256

import pytest

from regard.errors import ConfigError
from regard.text import Tokenizer, TokenizerConfig, train_tokenizer
from regard.text.tokenizer import SPECIALS

from .corpus import CHINESE, ENGLISH, KINDS, NOTHING_UNKNOWN, TEXTS

ELSEWHERE = """
import sys
from hashlib import sha256
from regard.text import TokenizerConfig, train_tokenizer
texts = sys.stdin.buffer.read().decode().split("\\n")
for kind in sys.argv[1:]:
    tokenizer = train_tokenizer(texts, TokenizerConfig.parse({"kind": kind, "size": 350}))
    print(sha256(tokenizer.backend.to_str().encode()).hexdigest())
"""


def train(kind: str, texts: list[str] = TEXTS, size: int = 350) -> Tokenizer:
    return train_tokenizer(texts, TokenizerConfig.parse({"kind": kind, "size": size}))


def tokens(tokenizer: Tokenizer, text: str) -> list[str]:
    return [str(tokenizer.backend.id_to_token(id)) for id in tokenizer.encode(text)]


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_the_same_text_gives_the_same_bytes_in_another_process(hash_seed: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, *KINDS],
        input="\n".join(TEXTS).encode(),
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        check=True,
    )
    here = [sha256(train(kind).backend.to_str().encode()).hexdigest() for kind in KINDS]
    assert run.stdout.decode().split() == here


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_the_sentences_does_not_matter(kind: str) -> None:
    assert train(kind).backend.to_str() == train(kind, TEXTS[::-1]).backend.to_str()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [261, 262, 263, 270, 300, 340])
def test_the_vocabulary_is_no_larger_than_asked(kind: str, size: int) -> None:
    tokenizer = train(kind, size=size)
    if kind in NOTHING_UNKNOWN:
        assert len(tokenizer) == size or size < 270  # so small that nothing but the space is worth an entry
        assert tokenizer.decode(tokenizer.encode("The 斑马, 12 ß")) == "The 斑马, 12 ß"
    assert len(tokenizer) <= size
    assert sorted(tokenizer.backend.get_vocab().values()) == list(range(len(tokenizer)))


@pytest.mark.parametrize(("kind", "least"), [(kind, 261 if kind in NOTHING_UNKNOWN else 5) for kind in KINDS])
def test_too_small_a_size_is_refused_and_the_least_is_told(kind: str, least: int) -> None:
    with pytest.raises(ConfigError, match=rf"tokenizer\.size={least - 1} leaves no room(.|\n)*at least {least}:"):
        train(kind, size=least - 1)
    assert len(train(kind, size=least)) == least


def test_too_small_a_size_names_the_marks_of_its_kind() -> None:
    with pytest.raises(ConfigError, match=r"at least 6: \[PAD\] \[UNK\] \[CLS\] \[SEP\] \[MASK\] come first"):
        train("wordpiece", size=5)
    with pytest.raises(ConfigError, match="at least 5: <pad> <s> </s> <unk> come first"):
        train("word", size=4)
    with pytest.raises(ConfigError, match="at least 261: <pad> <s> </s> <unk> and the 256 bytes come first"):
        train("bpe", size=260)


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_may_give_fewer_entries_than_asked(kind: str) -> None:
    assert 4 < len(train(kind, ["a cat"], size=8000)) < 300


@pytest.mark.parametrize("kind", KINDS)
def test_the_four_marks_come_first_even_if_the_text_is_full_of_them(kind: str) -> None:
    texts = ["</s> cat <pad>", "<unk> cat </s> </s>", "<s> cat </s>"] * 50
    for tokenizer in (train(kind), train(kind, texts)):
        assert [tokenizer.pad, tokenizer.start, tokenizer.end, tokenizer.unknown] == [0, 1, 2, 3]
        assert [tokenizer.backend.id_to_token(id) for id in range(4)] == list(SPECIALS)
        assert not set(tokenizer.encode(" ".join(texts))) & {0, 1, 2}


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_frequent_chinese_characters_stay_whole(kind: str) -> None:
    tokenizer = train(kind, CHINESE, size=320)
    for text in CHINESE:
        assert "".join(tokens(tokenizer, text)) == text


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_a_space_is_one_token_even_if_the_training_text_had_none(kind: str) -> None:
    tokenizer = train(kind, ["猫坐在垫子上"] * 9)
    assert tokens(tokenizer, "猫 猫").count("▁") == 1
    assert tokenizer.decode(tokenizer.encode("a b")) == "a b"


@pytest.mark.parametrize("kind", KINDS)
def test_frequent_words_are_one_token_each_and_characters_one_each(kind: str) -> None:
    found = tokens(train(kind, ENGLISH, size=420), "The cat chased a bird")
    assert len(found) == (21 if kind == "character" else 5)


def test_rare_words_are_unknown_and_visible() -> None:
    tokenizer = train("word", ["a cat", "a cat", "a dog", "one yak"], size=7)
    assert tokens(tokenizer, "a dog yak cat") == ["a", "dog", "<unk>", "cat"]
    assert tokenizer.decode(tokenizer.encode("a yak")) == "a <unk>"


def test_digits_and_marks_are_tokens_of_their_own() -> None:
    assert tokens(train("bpe", ["in 1999, on 1999."] * 50), "1999,") == ["▁1", "9", "9", "9", ","]


@pytest.mark.parametrize("kind", NOTHING_UNKNOWN)
def test_no_text_at_all_still_gives_a_tokenizer_that_spells(kind: str) -> None:
    tokenizer = train(kind, [])
    assert tokenizer.decode(tokenizer.encode("a 猫")) == "a 猫"
