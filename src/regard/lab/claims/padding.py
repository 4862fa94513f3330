"""Padding that is not masked: what leaks, and into whom.

Sentences of unequal length share a batch, so that the short ones are filled up with padding. It means nothing, but it
has a vector like any word, and softmax gives something to everything it sees. All implementations of Vaswani et al.
2017 therefore mask it (Rush 2018, "The Annotated Transformer", is the best known); then a translation does not depend
on the sentences that happen to be translated along with it.

Here the mask is taken from a trained Transformer, in its encoder and where its decoder looks at the source, and more
and more padding is put behind each sentence. That is judged: what leaks into a network which was promised a mask.

One that never had a mask may learn to leave padding alone, since it is always the same token. So two small ones are
taught to copy letters, in batches of unequal lengths, one with the mask and one without. What the one without loses, as
taught and with more padding than it was taught with, is told and not judged.
"""

import random
from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.attention import capture
from regard.data.batches import Sentences, pad
from regard.decoding import Request, greedy
from regard.evaluation.scores import score
from regard.lab.claim import Claim, Figure, Measured, Setting
from regard.lab.series import over_seeds
from regard.models.transformer import Transformer, TransformerConfig
from regard.report import Plot
from regard.seeds import derive
from regard.tasks.pairs import EncodedPairs, Tokenizers
from regard.tasks.translator import Translator
from regard.text import TokenizerConfig

PADDING, AMOUNTS = 16, (0, 4, 16, 64)
STATISTIC = (
    f"The share of test sentences that are translated otherwise when {PADDING} tokens of padding stand behind each and "
    "the padding is not masked."
)
THRESHOLD = 0.1
TOGETHER = 25
"""Sentences that are translated in one batch."""
LETTERS, LONGEST = "abcdefghijklmnop", 12
"""What is copied."""
SMALL = {
    "width": 64,
    "heads": 4,
    "hidden": 128,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "norm": "pre",
    "dropout": 0.0,
}


def masked(name: str, what: str, tensor: Tensor) -> Tensor:
    """Everything stays as it is."""
    return tensor


def unmasked(name: str, what: str, tensor: Tensor) -> Tensor:
    """Everybody may look at all of the source, padding included; the decoder still does not look ahead."""
    at_source = name.startswith("encoder.") or name.endswith(".cross")
    return torch.ones_like(tensor) if what == "mask" and at_source else tensor


EDITS = {"masked": masked, "not masked": unmasked}


def padded(translator: Any, texts: Sequence[str], extra: int) -> Sentences:
    """The texts as tokens, with so much padding behind the longest."""
    tokenizer = translator.tokenizers.source
    tokens, lengths = pad([[*ids, tokenizer.end] for ids in tokenizer.encode_all(texts)], tokenizer.pad)
    return Sentences(torch.nn.functional.pad(tokens, (0, extra), value=tokenizer.pad), lengths)


def translated(translator: Any, texts: Sequence[str], extra: int, edit: str) -> list[str]:
    """Word by word the likeliest, with so much padding behind each batch; short sentences share a batch."""
    found: dict[int, str] = {}
    order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
    target = translator.tokenizers.target
    for first in range(0, len(order), TOGETHER):
        rows = order[first : first + TOGETHER]
        source = padded(translator, [texts[row] for row in rows], extra)
        begin, limits = torch.full((len(rows), 1), target.start), 2 * source.lengths + 20
        with capture(translator.model, keep=(), edit=EDITS[edit]):
            hypotheses = greedy(translator.model, Request(source, begin, target.end, limits))
        found |= {row: target.decode(one.tokens) for row, one in zip(rows, hypotheses, strict=True)}
    return [found[row] for row in range(len(texts))]


def leaked(translator: Any, texts: Sequence[str], extra: int, edit: str) -> float:
    """The share of its attention that the encoder gives to padding, all heads and layers alike."""
    source = padded(translator, texts, extra)
    behind = torch.arange(source.tokens.shape[1]) >= source.lengths[:, None]
    with torch.no_grad(), capture(translator.model, edit=EDITS[edit]) as recording:
        translator.model.encode(*source)
    shares = [on_padding(recording.last(name), behind) for name in recording.names]
    return sum(shares) / len(shares)


def on_padding(weights: Tensor, behind: Tensor) -> float:
    """How much of the weights (B H T S) of real words is on places (B S) behind the end of their sentence."""
    given = (weights * behind[:, None, None]).sum(-1).mean(1)
    return float(given[~behind].mean())


def changed(found: Sequence[str], wanted: Sequence[str]) -> float:
    """The share of texts that are others."""
    return sum(one != other for one, other in zip(found, wanted, strict=True)) / len(wanted)


# one that never had a mask


def lines(count: int, seed: int) -> list[str]:
    """Letters to be copied, 2 to LONGEST of them in each line."""
    chance = random.Random(derive(seed, "lines"))
    return [" ".join(chance.choices(LETTERS, k=chance.randint(2, LONGEST))) for _ in range(count)]


def copyist(edit: str, *, seed: int, updates: int) -> Translator:
    """A small Transformer that was taught to copy lines, 64 of any length in a batch, with padding masked or not."""
    texts = lines(64 * updates, derive(seed, "lessons"))
    tokenizers = Tokenizers.train([(" ".join(LETTERS), " ".join(LETTERS))], TokenizerConfig(kind="word", size=100))
    torch.manual_seed(derive(seed, "copyist"))
    model = Transformer(TransformerConfig.parse(SMALL, where="model"), **tokenizers.model_sizes()).train()
    pairs, optimiser = EncodedPairs.encode(texts, texts, tokenizers), torch.optim.Adam(model.parameters(), lr=2e-3)
    with capture(model, keep=(), edit=EDITS[edit]):
        for first in range(0, len(texts), 64):
            batch = pairs.batch(range(first, first + 64), tokenizers)
            logits = model.output(model(batch.source, batch.source_lengths, batch.target[:, :-1]))
            loss = F.cross_entropy(logits.transpose(1, 2), batch.target[:, 1:], ignore_index=tokenizers.target.pad)
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
    return Translator(model.eval(), tokenizers)


def measure(setting: Setting) -> Measured:
    translator, test = setting.shop.load("transformer"), setting.shop.text("test")
    count = setting.of(100, 400)
    sources, references = test.sources[:count], test.targets[:count]
    alone = translator.translate(sources, beam=1)
    outputs = {edit: [translated(translator, sources, extra, edit) for extra in AMOUNTS] for edit in EDITS}
    shares = {edit: [changed(found, alone) for found in many] for edit, many in outputs.items()}
    bleu = {edit: [score(found, references, language="zh").bleu for found in many] for edit, many in outputs.items()}
    weights = {edit: [leaked(translator, sources, extra, edit) for extra in AMOUNTS] for edit in EDITS}
    texts, updates = lines(200, setting.seed), setting.of(400, 1000)
    wrong = {edit: [changed(translated(small, texts, extra, edit), texts) for extra in AMOUNTS]
             for edit in EDITS for small in [copyist(edit, seed=setting.seed, updates=updates)]}  # fmt: skip
    at = AMOUNTS.index(PADDING)
    numbers = {
        **{f"BLEU with {PADDING} tokens of padding, {edit}": found[at] for edit, found in bleu.items()},
        **{f"share of the encoder's attention on padding, {edit}": found[at] for edit, found in weights.items()},
        **{f"lines of letters copied wrongly, taught {edit}, {extra} tokens of padding": one
           for edit, found in wrong.items() for extra, one in zip(AMOUNTS, found, strict=True)},
    }  # fmt: skip
    series = {"bleu": bleu, "shares": shares, "weights": weights, "wrong": wrong}
    return Measured(shares["not masked"][at], shares["masked"][at], numbers, series)


def draw(measured: Sequence[Measured]) -> list[Figure]:
    titles = {
        "shares": ("changed translations", "How many sentences are translated otherwise than alone."),
        "bleu": ("BLEU", "What that costs."),
        "weights": ("share of attention", "What the encoder gives to padding."),
        "wrong": ("lines copied wrongly", "Two small networks: the one was taught with the mask, the other without."),
    }
    amounts = [str(amount) for amount in AMOUNTS]
    return [
        Plot("lines", amounts, [over_seeds(edit, [one.series[what][edit] for one in measured]) for edit in EDITS],
             "tokens of padding behind the longest", title, caption)
        for what, (title, caption) in titles.items()
    ]  # fmt: skip


CLAIM = Claim(
    name="padding",
    title="Without the mask of padding, a translation depends on how long its neighbours are",
    question="What happens to a sentence if the model may look at the padding behind it, and to one that was always "
    "allowed to?",
    source="the implementations of Vaswani et al. 2017; Rush 2018, The Annotated Transformer",
    statistic=STATISTIC,
    threshold=THRESHOLD,
    control="as much padding, masked.",
    measure=measure,
    draw=draw,
    models=("transformer",),
)
