"""Does context make the meaning: does *bank* move towards the river or towards the money, layer by layer?

That a word's vector should depend on its sentence is the point of self-attention (Vaswani et al. 2017,
arXiv:1706.03762; measured in BERT by Ethayarajh 2019, arXiv:1909.00512). Pairs of sentences differ in one thing only,
the clue: "cross the river … bank", "cross the road … bank". The vectors of *bank* are read after every layer of a
Transformer that was trained to translate.

The means that a vector is compared with are of sentences with other clues than its own. At first only its own pair of
sentences was left out: then a "bank" into which the word "river" was copied is nearer to others with a river, and that
is no meaning yet. To be nearer to the "bank"s of those who fish or row is. This was changed before the full run; the
threshold stayed.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from regard.attention import capture
from regard.data.corpora.senses import BANK
from regard.evaluation.challenges import Challenge, clues
from regard.lab.claim import Claim, Figure, Measured, Setting
from regard.lab.series import over_seeds
from regard.report import Plot, Series
from regard.tasks.translator import Translator

WORD = "bank"
STATISTIC = (
    "After the last layer, the share of sentences in which the vector of “bank” is nearer to the mean of its own "
    "meaning than to that of the other (means of all sentences with other clues; there are three "
    "pairs of clues; chance: 0.5)."
)
THRESHOLD = 0.9
STEM = 3
"""Letters that tell a clue's word from the small words around it."""


def measure(setting: Setting) -> Measured:
    """*bank* after each layer, and the same where no word may look at another."""
    translator, challenges = setting.shop.load("transformer"), setting.shop.challenges(WORD)
    seen = [both(translator, challenge) for challenge in challenges]
    given = [clue_of(challenge) for challenge in challenges]
    told, names = apart(seen, given), ["embedding", *(f"layer {i + 1}" for i in range(len(seen[0][0]) - 1))]
    with capture(translator.model, keep=(), edit=looks_only_at_itself):
        blind = apart([both(translator, challenge) for challenge in challenges], given)
    drift = drawn_to_clue(translator, challenges, seen)
    return Measured(
        value=told[-1],
        control=blind[-1],
        numbers={
            **{f"told apart after {name}": share for name, share in zip(names, told, strict=True)},
            **{f"told apart in the end, {pair}": share for pair, share in by_clue(seen, given).items()},
            **{f"cosine to its own clue minus to the other after {name}": gap
               for name, gap in zip(names, nearer(drift), strict=True)},
        },
        series={"layers": names, "seen": told, "blind": blind, **drift},
    )  # fmt: skip


def looks_only_at_itself(name: str, what: str, tensor: Tensor) -> Tensor:
    """An edit under which context cannot enter: each word gives all its weight to its own place."""
    if what != "weights":
        return tensor
    return torch.eye(tensor.shape[-1]).expand_as(tensor).contiguous()


def layers_of(translator: Translator, text: str) -> list[Tensor]:
    """(S D) before the first layer and after each."""
    model: Any = translator.model
    found: list[Tensor] = []
    hooks = [model.encoder[0].register_forward_pre_hook(lambda block, given: found.append(given[0][0]))]
    hooks += [
        block.register_forward_hook(lambda block, given, made: found.append(made[0][0])) for block in model.encoder
    ]
    tokens = [*translator.tokenizers.source.encode(text), translator.tokenizers.source.end]
    try:
        with torch.inference_mode():
            model.encode(torch.tensor([tokens]), torch.tensor([len(tokens)]))
    finally:
        for hook in hooks:
            hook.remove()
    return found


def places_of(translator: Translator, text: str, start: int, end: int) -> list[int]:
    """The tokens that stand on these characters."""
    pieces = translator.tokenizers.source.pieces(text)
    return [i for i, piece in enumerate(pieces) if piece.start < end and start < piece.end]


def word_in(translator: Translator, text: str, word: str) -> list[Tensor]:
    """The vector of a word after each layer: the mean of its tokens."""
    start = text.lower().rindex(word)
    places = places_of(translator, text, start, start + len(word))
    return [states[places].mean(0) for states in layers_of(translator, text)]


def both(translator: Translator, challenge: Challenge) -> tuple[list[Tensor], list[Tensor]]:
    """*bank* in the first sentence and in the second."""
    first, second = (word_in(translator, side.source, WORD) for side in (challenge.first, challenge.second))
    return first, second


def clue_of(challenge: Challenge) -> int:
    """Which of the pairs of clues decides in this pair of sentences."""
    text = challenge.first.source.lower()
    return next(i for i, (first, _) in enumerate(BANK.clues) if first.base in text or first.gerund in text)


def apart(seen: Sequence[tuple[Sequence[Tensor], Sequence[Tensor]]], given: Sequence[int]) -> list[float]:
    """For each layer, how often a vector is nearer to the mean of its own meaning."""
    return told_by_pair(seen, given).mean(1).tolist()


def told_by_pair(seen: Sequence[tuple[Sequence[Tensor], Sequence[Tensor]]], given: Sequence[int]) -> Tensor:
    """(layers pairs): the share of its two vectors that are nearer to the mean of their own meaning, all pairs with the
    same clue left out of both means. Halves where one is as near to both."""
    clue = torch.tensor(given)
    other = (clue[:, None] != clue).float()
    other /= other.sum(1, keepdim=True)
    shares = []
    for layer in range(len(seen[0][0])):
        sides = [torch.stack([pair[side][layer] for pair in seen]) for side in (0, 1)]
        left = [other @ side for side in sides]
        near = [(side - own).norm(dim=1) - (side - other).norm(dim=1)
                for side, own, other in ((sides[0], left[0], left[1]), (sides[1], left[1], left[0]))]  # fmt: skip
        gaps = torch.stack(near)
        shares.append(((gaps < 0).float() + 0.5 * (gaps == 0)).mean(0))
    return torch.stack(shares)


def by_clue(seen: Sequence[tuple[Sequence[Tensor], Sequence[Tensor]]], given: Sequence[int]) -> dict[str, float]:
    """The share after the last layer for each pair of clues by itself."""
    last, clue = told_by_pair(seen, given)[-1], torch.tensor(given)
    pairs = {number: BANK.clues[number] for number in sorted(set(given))}
    return {f"{first.base} / {second.base}": float(last[clue == i].mean()) for i, (first, second) in pairs.items()}


def drawn_to_clue(
    translator: Translator, challenges: Sequence[Challenge], seen: Sequence[tuple[Sequence[Tensor], Sequence[Tensor]]]
) -> dict[str, list[float]]:
    """The cosine between *bank* after each layer and the words of its own clue, or of the other sentence's, as they
    enter the first layer."""
    own, other = [], []
    for challenge, pair in zip(challenges, seen, strict=True):
        sides = (challenge.first, challenge.second)
        hints = [hint(translator, side.source, words) for side, words in zip(sides, clues(challenge), strict=True)]
        for which in (0, 1):
            bank = torch.stack(list(pair[which]))
            own.append(torch.cosine_similarity(bank, hints[which][None], dim=1))
            other.append(torch.cosine_similarity(bank, hints[1 - which][None], dim=1))
    return {"own clue": torch.stack(own).mean(0).tolist(), "other clue": torch.stack(other).mean(0).tolist()}


def nearer(drift: Mapping[str, Sequence[float]]) -> list[float]:
    """For each layer, by how much *bank* is nearer to its own clue than to the other."""
    return [own - other for own, other in zip(drift["own clue"], drift["other clue"], strict=True)]


def hint(translator: Translator, text: str, words: set[str]) -> Tensor:
    """What the words of a clue are before any context."""
    content = {word for word in words if len(word) > STEM} or words
    return torch.stack([word_in(translator, text, word)[0] for word in sorted(content)]).mean(0)


def draw(measured: Sequence[Measured]) -> list[Figure]:
    layers = measured[0].series["layers"]

    def line(key: str, label: str) -> Series:
        return over_seeds(label, [one.series[key] for one in measured])

    return [
        Plot(
            "lines", layers, [line("seen", "with context"), line("blind", "each word sees only itself")],
            "after", "meanings told apart", "The share of “bank”s that are nearer to their own meaning.",
        ),
        Plot(
            "lines", layers, [line("own clue", "to its own clue"), line("other clue", "to the other sentence's clue")],
            "after", "cosine of “bank”", "Where “bank” moves.",
        ),
    ]  # fmt: skip


CLAIM = Claim(
    name="meaning",
    title="Context makes the meaning: bank moves towards the river or the money",
    question="Two sentences with “bank” differ only in a clue to its meaning. Is its vector another one, and after "
    "which layer?",
    source="Vaswani et al. 2017; Ethayarajh 2019",
    statistic=STATISTIC,
    threshold=THRESHOLD,
    control="the same network where each word may look only at itself.",
    measure=measure,
    draw=draw,
    models=("transformer",),
)
