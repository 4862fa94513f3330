"""What a language model writes: what transformers writes with its weights; the same alone and in a batch; by lot, and
by the right lots."""

from collections import Counter
from math import log
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats

from regard.decoding import Distribution, forgotten
from regard.errors import ConfigError, LimitError
from regard.models.gpt2 import GPT2, GPT2Config
from regard.tasks.generation import Generation, Options
from regard.tasks.generator import Generator
from regard.tasks.texts import OneTokenizer
from regard.text.byte_bpe import train_byte_bpe
from tests.decoding.test_distribution import by_formula
from tests.models.gpt2s import before
from tests.tasks.generators import LETTERS, LIMIT, letters, logits, pair
from tests.threads import one_thread

__all__ = ["one_thread"]

PROMPTS = ["The cat", "", "那只斑马 saw", "Th", "a dog, then slept.\n"]
LENGTH, SIZE = 50, 3
DRAWS, LUCK = 20_000, 1e-3


@pytest.fixture(scope="module")
def both() -> tuple[Any, Generator]:
    return pair(0)


def ids_of(generator: Generator, prompts: list[str]) -> list[list[int]]:
    return [generator.tokenizer.encode(prompt) or [generator.tokenizer.end] for prompt in prompts]


def generated(theirs: Any, generator: Generator, prompts: list[str], **how: Any) -> list[tuple[int, ...]]:
    """Their continuations without the end mark."""
    end = generator.tokenizer.end
    tokens, padding = before(ids_of(generator, prompts), filler=end)
    mask = (torch.arange(tokens.shape[1]) >= padding[:, None]).long()
    with torch.inference_mode():
        rows = theirs.generate(
            tokens, attention_mask=mask, do_sample=False, max_new_tokens=LENGTH, pad_token_id=end, **how
        )
    made = [row[tokens.shape[1] :].tolist() for row in rows]
    return [tuple(row[: row.index(end)] if end in row else row) for row in made]


def all_tokens(found: list[list[Generation]]) -> list[tuple[int, ...]]:
    return [one.tokens for texts in found for one in texts]


# Transformers


@pytest.mark.parametrize("seed", range(3))
def test_greedy_text_is_theirs_over_fifty_tokens(seed: int) -> None:
    theirs, generator = pair(seed)
    found = generator.generate(PROMPTS, temperature=0.0, max_new_tokens=LENGTH)
    assert all_tokens(found) == generated(theirs, generator, PROMPTS)
    assert max(len(set(tokens)) for tokens in all_tokens(found)) > 8
    for prompt, (one,) in zip(PROMPTS, found, strict=True):
        ids = [*(generator.tokenizer.encode(prompt) or [generator.tokenizer.end])]
        end = [generator.tokenizer.end] if one.ending == "end" else []
        total = 0.0
        for token in [*one.tokens, *end]:
            total += float(logits(theirs, ids).log_softmax(-1)[token])
            ids.append(token)
        assert one.log_prob == pytest.approx(total, abs=1e-8)
        assert one.ending == ("end" if end else "limit")


@pytest.mark.parametrize("seed", range(2))
def test_beams_are_theirs(seed: int) -> None:
    theirs, generator = pair(seed)
    found = generator.generate(PROMPTS, beam=SIZE, num=SIZE, max_new_tokens=LENGTH)
    wanted = generated(theirs, generator, PROMPTS, num_beams=SIZE, num_return_sequences=SIZE, early_stopping="never")
    assert {one.ending for texts in found for one in texts} == {"limit"}  # of one kind: see test_gpt2_generation
    assert all_tokens(found) == wanted
    for texts in found:
        assert [one.log_prob for one in texts] == sorted((one.log_prob for one in texts), reverse=True)


@pytest.mark.parametrize("penalty", [1.3, 2.0, 0.7])
def test_the_repetition_penalty_is_theirs(both: tuple[Any, Generator], penalty: float) -> None:
    """One prompt at a time: theirs also penalises what fills a batch."""
    theirs, generator = both
    unlike = 0
    for prompt in PROMPTS:
        (found,) = generator.generate(prompt, temperature=0.0, repetition_penalty=penalty, max_new_tokens=LENGTH)
        assert [found.tokens] == generated(theirs, generator, [prompt], repetition_penalty=penalty)
        unlike += [found.tokens] != generated(theirs, generator, [prompt])
        (found,) = generator.generate(prompt, beam=SIZE, repetition_penalty=penalty, max_new_tokens=LENGTH)
        assert [found.tokens] == generated(
            theirs, generator, [prompt], num_beams=SIZE, early_stopping="never", repetition_penalty=penalty
        )
    assert unlike


def test_rows_that_no_token_has_are_never_chosen() -> None:
    theirs, generator = pair(4, rows=300)
    known = len(generator.tokenizer)
    plain = generated(theirs, generator, PROMPTS)
    assert any(token >= known for tokens in plain for token in tokens)
    for how in ({"temperature": 0.0}, {"num": 4}, {"beam": 3}):
        found = generator.generate(PROMPTS, max_new_tokens=30, **how)
        assert all(token < known for tokens in all_tokens(found) for token in tokens)


# Batches and seeds


HOW: list[dict[str, Any]] = [
    {"temperature": 0.0},
    {"seed": 3},
    {"seed": 3, "temperature": 1.4, "top_k": 40, "top_p": 0.9, "repetition_penalty": 1.3},
    {"beam": 3},
    {"seed": 5, "max_new_tokens": 130},
    {"beam": 2, "max_new_tokens": 100},
]


@pytest.mark.parametrize("how", HOW, ids=str)
def test_many_prompts_give_what_each_alone_gives(both: tuple[Any, Generator], how: dict[str, Any]) -> None:
    _, generator = both
    options = {"max_new_tokens": 40, **how}
    together = generator.generate(PROMPTS, **options)
    for prompt, (found,) in zip(PROMPTS, together, strict=True):
        (alone,) = generator.generate(prompt, **options)
        assert found.tokens == alone.tokens
        assert found.text == alone.text
        assert (found.ending, found.forgotten) == (alone.ending, alone.forgotten)
        assert found.log_prob == pytest.approx(alone.log_prob, abs=1e-8)
    backwards = generator.generate(PROMPTS[::-1], **options)
    assert all_tokens(backwards) == all_tokens(together)[::-1]


def test_the_same_seed_gives_the_same_text_and_another_another(both: tuple[Any, Generator]) -> None:
    _, generator = both

    def written(**how: Any) -> list[str]:
        return [one.text for one in generator.generate("The cat", max_new_tokens=20, **how)]

    assert written(seed=1) == written(seed=1)
    assert written(seed=1) != written(seed=2)
    assert written(seed=None) != written(seed=None)
    four = written(seed=1, num=4)
    assert len(set(four)) == 4
    assert written(seed=1, num=2) == four[:2]
    assert written(seed=1) == four[:1]


def test_batches_that_are_cut_small_give_the_same_texts(
    both: tuple[Any, Generator], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, generator = both
    wanted = generator.generate(PROMPTS, num=3, max_new_tokens=12)
    monkeypatch.setattr("regard.tasks.writing.BATCH_TOKENS", 60)
    assert all_tokens(generator.generate(PROMPTS, num=3, max_new_tokens=12)) == all_tokens(wanted)
    assert all(one.prompt == prompt for prompt, texts in zip(PROMPTS, wanted, strict=True) for one in texts)


def test_no_prompts_are_no_texts(both: tuple[Any, Generator]) -> None:
    _, generator = both
    assert generator.generate([]) == []
    assert generator.generate([], beam=2) == []


# Longer than the window


def test_beyond_the_window_the_text_is_that_of_the_rest_read_anew(both: tuple[Any, Generator]) -> None:
    theirs, generator = both
    (found,) = generator.generate("The cat", temperature=0.0, max_new_tokens=190)
    ids = generator.tokenizer.encode("The cat")
    window = list(ids)
    for token in found.tokens:
        if len(window) > LIMIT:
            window = window[LIMIT // 2 :]
        assert int(logits(theirs, window).argmax()) == token
        window.append(token)
    assert len(found.tokens) == 190
    assert found.forgotten == forgotten(len(ids) + 189, LIMIT) == LIMIT // 2 * 3
    (short,) = generator.generate("The cat", temperature=0.0, max_new_tokens=LIMIT - len(ids) + 1)
    assert short.forgotten == 0
    (longer,) = generator.generate("The cat", temperature=0.0, max_new_tokens=LIMIT - len(ids) + 2)
    assert longer.forgotten == LIMIT // 2


def test_a_prompt_that_is_too_long_is_refused_or_its_end_is_read(both: tuple[Any, Generator]) -> None:
    _, generator = both
    long = "the lion heard " * 40
    length = len(generator.tokenizer.encode(long))
    message = rf"longer than the model can look at.\n  found: {length} tokens\n  wanted: at most {LIMIT}\n.*--truncate"
    with pytest.raises(LimitError, match=f"The prompt is {message}"):
        generator.generate(long)
    with pytest.raises(LimitError, match=f"Prompt 2 is {message}"):
        generator.generate(["a", long])
    with pytest.raises(LimitError, match=f"The prompt is {message}"):
        generator.stream(long)
    (found,) = generator.generate(long, truncate=True, temperature=0.0, max_new_tokens=5)
    kept = generator.tokenizer.decode(generator.tokenizer.encode(long)[-LIMIT:])
    (alone,) = generator.generate(kept, temperature=0.0, max_new_tokens=5)
    assert found.prompt == long
    assert found.tokens == alone.tokens
    assert found.forgotten == alone.forgotten + length - LIMIT


# Statistics, through the whole path


OPTIONS: list[dict[str, Any]] = [
    {},
    {"temperature": 0.6},
    {"temperature": 1.7},
    {"top_k": 5},
    {"top_p": 0.8},
    {"min_p": 0.2},
    {"repetition_penalty": 1.6},
    {"repetition_penalty": 1.3, "temperature": 1.2, "top_k": 10, "top_p": 0.95, "min_p": 0.05},
]


def fit(generator: Generator, prompt: str, drawn: dict[str, Any], judged: dict[str, Any]) -> float:
    """How likely a fit as bad as that of many draws with some options to the distribution of others is."""
    found = generator.generate(prompt, num=DRAWS, max_new_tokens=1, **drawn)
    ids, end = generator.tokenizer.encode(prompt), generator.tokenizer.end
    counts = Counter(one.tokens[0] if one.tokens else end for one in found)
    model: Any = generator.model
    with torch.inference_mode():
        scores = model.output(model(torch.tensor([ids]))[0, -1]).tolist()
    p = np.array(by_formula(scores, ids, Distribution(**judged)))
    seen = np.array([counts[token] for token in range(len(p))])
    if seen[p == 0].any():
        return 0.0
    return float(stats.chisquare(seen[p > 0], p[p > 0] * DRAWS).pvalue)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_frequencies_are_those_of_the_truncated_distribution(options: dict[str, Any]) -> None:
    generator = letters()
    assert fit(generator, "abcab", options, options) > LUCK
    if "temperature" in options:
        assert fit(generator, "abcab", options, {**options, "temperature": 1.15 * options["temperature"]}) < LUCK


# Streaming


STREAMED: list[dict[str, Any]] = [
    {},
    {"temperature": 0.0},
    {"seed": 4, "max_new_tokens": 150},
    {"seed": 2, "stop": ["a", "\n"]},
    {"seed": 2, "stop": "不"},
]


@pytest.mark.parametrize("how", STREAMED, ids=str)
def test_pieces_join_to_the_text_of_generate(both: tuple[Any, Generator], how: dict[str, Any]) -> None:
    _, generator = both
    for prompt in PROMPTS:
        stream = generator.stream(prompt, **how)
        pieces = list(stream)
        (wanted,) = generator.generate(prompt, **how)
        assert "".join(pieces) == wanted.text
        assert stream.result == wanted
        assert all(pieces)


def copier(text: str) -> Generator:
    """A model that says this text whatever it reads, byte by byte, and then the end mark: positions alone decide."""
    tokenizer = train_byte_bpe([], 257)
    order = [tokenizer.end, *tokenizer.encode(text)]
    width = len(order) + 1
    model = GPT2(GPT2Config(width=width, heads=1, hidden=1, layers=1, limit=64), vocabulary=len(tokenizer))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        model.norm.weight.fill_(1.0)
        for place, token in enumerate([*order[1:], tokenizer.end]):
            model.positions.weight[place, place] = 1000.0
            model.words.weight[token, place] = 50.0
    return Generator(model.double(), OneTokenizer(tokenizer))


def test_a_character_of_many_tokens_is_streamed_as_one() -> None:
    generator = copier("a猫🦁b")
    (found,) = generator.generate("", temperature=0.0, max_new_tokens=30)
    assert (found.text, found.ending) == ("a猫🦁b", "end")
    assert list(generator.stream("", temperature=0.0, max_new_tokens=30)) == ["a", "猫", "🦁", "b"]
    (cut,) = generator.generate("", temperature=0.0, max_new_tokens=3)
    assert (cut.text, cut.ending) == ("a\ufffd", "limit")
    assert list(generator.stream("", temperature=0.0, max_new_tokens=3)) == ["a", "\ufffd"]


@pytest.mark.parametrize(("stop", "wanted"), [("🦁", "a猫"), ("猫🦁", "a"), ("a", ""), (["x", "🦁b"], "a猫")])
def test_a_stop_string_across_tokens_ends_the_text_and_is_not_shown(stop: Any, wanted: str) -> None:
    generator = copier("a猫🦁bc")
    (found,) = generator.generate("", temperature=0.0, max_new_tokens=30, stop=stop)
    assert (found.text, found.ending) == (wanted, "stop")
    assert "".join(generator.stream("", temperature=0.0, max_new_tokens=30, stop=stop)) == wanted


def test_a_stop_string_in_the_prompt_is_none() -> None:
    (found,) = copier("abc").generate("xa", temperature=0.0, stop="ab", max_new_tokens=5)
    assert (found.text, found.ending) == ("bc", "end")


def test_each_piece_comes_before_the_next_is_computed(both: tuple[Any, Generator]) -> None:
    _, generator = both
    calls = []
    model: Any = generator.model
    hook = model.output.register_forward_hook(lambda *_: calls.append(1))
    stream = generator.stream("The cat", temperature=0.0, max_new_tokens=30)
    assert calls == []
    next(stream)
    assert 1 <= len(calls) <= 4
    made = len(stream.result.tokens)
    assert made == len(calls)
    hook.remove()


def test_between_two_pieces_the_model_is_as_it_was() -> None:
    """Whoever trains it meanwhile must not be given copies of what its matrices were."""
    generator = letters()
    packed: list[bool] = []
    model: Any = generator.model.float()
    model.output.register_forward_hook(lambda layer, *_: packed.append("forward" in vars(layer)))
    for _ in generator.stream("ab", max_new_tokens=5, seed=1):
        assert not any("forward" in vars(layer) for layer in model.modules())
    assert packed
    assert all(packed)


# Choices


def test_choices_have_the_models_probabilities_and_ranks(both: tuple[Any, Generator]) -> None:
    theirs, generator = both
    known = len(generator.tokenizer)
    found = generator.explain("The cat", top=known, max_new_tokens=12, top_k=30, temperature=1.5, seed=6)
    assert [choice.token for choice in found.choices][: len(found.tokens)] == list(found.tokens)
    ids, ranks = generator.tokenizer.encode("The cat"), set()
    for choice in found.choices:
        p = logits(theirs, ids).softmax(-1)
        assert choice.probability == pytest.approx(float(p[choice.token]), abs=1e-9)
        assert choice.rank == 1 + int((p > p[choice.token]).sum()) <= 30
        assert sum(other.probability for other in choice.alternatives) == pytest.approx(1, abs=1e-9)
        wanted = p.sort(descending=True).values.tolist()
        assert [other.probability for other in choice.alternatives] == pytest.approx(wanted, abs=1e-9)
        assert choice.alternatives[choice.rank - 1].text == choice.text
        ranks.add(choice.rank)
        ids.append(choice.token)
    assert len(ranks) > 3
    assert found.log_prob == pytest.approx(sum(log(choice.probability) for choice in found.choices), abs=1e-8)


def test_the_end_mark_is_a_choice_too_and_few_alternatives_are_few() -> None:
    generator = copier("ab")
    found = generator.explain("", top=3, temperature=0.0)
    assert [choice.text for choice in found.choices] == ["a", "b", "<|endoftext|>"]
    assert [len(choice.alternatives) for choice in found.choices] == [3, 3, 3]
    assert [choice.rank for choice in found.choices] == [1, 1, 1]
    assert found.tokens == tuple(generator.tokenizer.encode("ab"))


# Attention


def their_weights(generator: Generator, ids: list[int]) -> list[np.ndarray]:
    theirs, _ = pair(0)
    theirs.set_attn_implementation("eager")
    with torch.inference_mode():
        found = theirs(torch.tensor([ids]), output_attentions=True).attentions
    return [layer[0].numpy() for layer in found]


def test_attention_of_a_text_is_theirs(both: tuple[Any, Generator]) -> None:
    _, generator = both
    text = "The cat saw\n那只"
    trace = generator.attention(text)
    assert trace.names == ("decoder.0.self", "decoder.1.self", "decoder.2.self")
    row = trace.rows["text"]
    assert row.text == text
    assert [token.ids[0] for token in row.tokens] == generator.tokenizer.encode(text)
    assert "↵" in row.labels
    for name, wanted in zip(trace.names, their_weights(generator, generator.tokenizer.encode(text)), strict=True):
        np.testing.assert_allclose(trace.weights[name], wanted, atol=1e-6)
    assert trace.meta == {"model": "small"}
    assert generator.attention("").rows["text"].surfaces == ("<|endoftext|>",)


@pytest.mark.parametrize("prompt", ["The cat", "", "T"])
def test_attention_while_writing_is_the_row_of_each_choice(both: tuple[Any, Generator], prompt: str) -> None:
    _, generator = both
    trace = generator.attention(prompt, generate=6, seed=2)
    (found,) = generator.generate(prompt, max_new_tokens=6, seed=2)
    ids = [*(generator.tokenizer.encode(prompt) or [generator.tokenizer.end]), *found.tokens]
    first = len(ids) - len(found.tokens)
    assert trace.rows["prediction"].text == found.text
    assert [token.ids for token in trace.rows["prediction"].tokens] == [(id,) for id in found.tokens]
    assert trace.rows["text"].text == prompt + found.text
    assert len(trace.rows["text"]) == len(ids) - 1
    for name, wanted in zip(trace.names, their_weights(generator, ids[:-1]), strict=True):
        assert trace.axes[name] == ("prediction", "text")
        np.testing.assert_allclose(trace.weights[name], wanted[:, first - 1 :], atol=1e-6)
    assert trace.by_words().weights["decoder.0.self"].sum(-1) == pytest.approx(1, abs=1e-5)


def test_attention_while_writing_ends_with_the_end_mark() -> None:
    trace = copier("ab").attention("", generate=9, temperature=0.0)
    assert trace.rows["prediction"].surfaces == ("a", "b", "<|endoftext|>")
    assert trace.rows["text"].surfaces == ("<|endoftext|>", "a", "b")
    assert trace.weights["decoder.0.self"].shape == (1, 3, 3)


def test_attention_does_not_slide(both: tuple[Any, Generator]) -> None:
    _, generator = both
    with pytest.raises(LimitError, match=rf"found: .* tokens.*\n  wanted: at most {LIMIT}: here the window"):
        generator.attention("The cat", generate=LIMIT)
    with pytest.raises(LimitError, match="longer than the model can look at"):
        generator.attention("The cat " * LIMIT)
    with pytest.raises(ConfigError, match="Only one text"):
        generator.attention("a", generate=2, num=2)


# Faults


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"top_p": 0.0}, "--top-p 0.0 cannot be used"),
        ({"top_p": 1.5}, "--top-p 1.5 cannot be used"),
        ({"temperature": -1.0}, "--temperature"),
        ({"top_k": 0}, "--top-k"),
        ({"min_p": 2.0}, "--min-p"),
        ({"repetition_penalty": 0.0}, "--repetition-penalty"),
        ({"max_new_tokens": 0}, "--max-new-tokens 0 cannot be used.\n  found: 0\n  wanted: 1 or more"),
        ({"num": 0}, "--num 0"),
        ({"beam": 0}, "--beam 0"),
        ({"beam": 2, "num": 3}, "--beam 2 cannot be used"),
        ({"stop": ["a", ""]}, "--stop"),
        ({"stop": ""}, "--stop"),
        ({"beam": 2, "top_k": 3, "stop": "a"}, "--top-k and --stop cannot be used with --beam"),
        ({"beam": 2, "temperature": 0.5}, "--temperature cannot be used with --beam"),
        ({"temperature": 0.0, "num": 2}, "There are no 2 texts at temperature 0"),
    ],
    ids=str,
)
def test_options_that_cannot_be_are_told(how: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError) as error:
        Options(**how)
    assert told in str(error.value)


def test_what_cannot_be_streamed_is_told(both: tuple[Any, Generator]) -> None:
    _, generator = both
    for how, found in (({"num": 2}, "--num 2"), ({"beam": 3}, "--beam 3")):
        with pytest.raises(ConfigError, match=f"Only one text can be streamed.*\n  found: {found}"):
            generator.stream("a", **how)


def test_what_the_tokenizer_does_not_know_is_told(both: tuple[Any, Generator]) -> None:
    assert letters().unknown("abz, b z") == ["z", ",", " "]
    assert letters().unknown(LETTERS) == []
    assert both[1].unknown("anything 🦁") == []
    assert letters().generate("zz", max_new_tokens=3)[0].prompt == "zz"


def test_a_bundle_gives_one_with_its_language(both: tuple[Any, Generator]) -> None:
    _, generator = both
    found = Generator.assemble(generator.model, generator.tokenizers, {"data": {"language": "zh"}}, "mine")
    assert (found.language, found.name, found.limit) == ("zh", "mine", LIMIT)
    assert not found.model.training
    assert found.attention("那只").rows["text"].language == "zh"
