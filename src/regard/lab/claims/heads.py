"""Do several heads beat one of the same total width, do they specialise, and how many can be done without?

Vaswani et al. 2017 (arXiv:1706.03762, section 3.2.2 and table 3 A) found one head worse than eight of the same total
width. Voita et al. 2019 (arXiv:1905.09418) found heads that look at the word before, at the word after, along syntax,
and that most others can be removed; Michel et al. 2019 (arXiv:1905.10650) that a layer often needs only one.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from regard.attention import capture
from regard.evaluation.challenges import Challenge
from regard.evaluation.loss import fitting, held_out_loss
from regard.insight.tags import tags
from regard.lab.claim import Claim, Figure, Measured, Setting
from regard.lab.series import over_seeds
from regard.lab.shop import Shop
from regard.report import Plot
from regard.tasks.pairs import EncodedPairs
from regard.tasks.translator import Translator

STATISTIC = (
    "The loss per token on unseen sentences with one head, as a multiple of that with four of a quarter its width."
)
THRESHOLD = 1.1
MODELS, WIDE = ("four-heads", "one-head", "four-heads-again"), "transformer"
"""Those that are compared, and the one whose heads are looked at and removed."""
BEARABLE = 1.1
"""By what factor the loss may rise for the heads removed to count as superfluous."""

Head = tuple[str, int]


def measure(setting: Setting) -> Measured:
    shop = setting.shop
    pairs = first(shop, setting.of(200, 1000))
    losses = [held_out_loss(who.model, pairs, who.tokenizers).per_token for who in map(shop.load, MODELS)]
    wide = shop.load(WIDE)
    removed = pruned(wide, first(shop, setting.of(40, 200)))
    rises = [loss / removed[0] for loss in removed]
    spare = superfluous(rises)
    who = shop.challenges("who-chased-whom")[: setting.of(20, 60)]
    roles, guessed = specialists(wide, who), specialists(shop.untrained(WIDE), who)
    return Measured(
        value=losses[1] / losses[0],
        control=max(losses[0] / losses[2], losses[2] / losses[0]),
        numbers={
            "loss with four heads": losses[0],
            "loss with one head": losses[1],
            "loss with four heads, trained once more": losses[2],
            "heads that can be removed": f"{spare} of {len(removed) - 1}",
            **{f"most at {role}": f"{one} (untrained, chosen in the same way: {guessed[role].weight:.2f})"
               for role, one in roles.items()},
        },
        series={"rises": rises, "spare": spare},
    )  # fmt: skip


def first(shop: Shop, count: int) -> EncodedPairs:
    """So many unseen pairs, in the tokens that all these models share."""
    some = shop.load(WIDE)
    pairs = fitting(some.model, shop.text("test"), some.tokenizers)
    return EncodedPairs(pairs.sources[:count], pairs.targets[:count])


# how many can be done without


def pruned(translator: Translator, pairs: EncodedPairs) -> list[float]:
    """The loss with all heads, without the least important one, without two, and so on to none. How important a head
    is, is by how much the loss rises without it alone."""
    heads = all_heads(translator, pairs)
    alone = {head: loss_without(translator, pairs, [head]) for head in heads}
    order = sorted(heads, key=alone.__getitem__)
    return [loss_without(translator, pairs, order[:count]) for count in range(len(order) + 1)]


def all_heads(translator: Translator, pairs: EncodedPairs) -> list[Head]:
    batch = pairs.batch([0], translator.tokenizers)
    with torch.inference_mode(), capture(translator.model) as recording:
        translator.model(batch.source, batch.source_lengths, batch.target[:, :-1])
    return [(name, head) for name in recording.names for head in range(recording.last(name).shape[1])]


def loss_without(translator: Translator, pairs: EncodedPairs, heads: Iterable[Head]) -> float:
    """The loss per token where these heads say nothing."""
    gone = set(heads)

    def silence(name: str, what: str, tensor: Tensor) -> Tensor:
        mute = [head for head in range(tensor.shape[1]) if (name, head) in gone] if what == "values" else []
        if not mute:
            return tensor
        kept = tensor.clone()
        kept[:, mute] = 0
        return kept

    with capture(translator.model, keep=(), edit=silence):
        return held_out_loss(translator.model, pairs, translator.tokenizers).per_token


def superfluous(rises: Sequence[float]) -> int:
    """How many heads are gone just before the loss first rises too far."""
    return next((count for count, rise in enumerate(rises[1:]) if rise > BEARABLE), len(rises) - 1)


# what they look at


class Specialist(NamedTuple):
    """An encoder's head, what it gives to what it looks at most, and what all heads give to it on average."""

    head: Head
    weight: float
    mean: float

    def __str__(self) -> str:
        name, number = self.head
        return f"{name}, head {number}: {self.weight:.2f}, all heads: {self.mean:.2f}"


def specialists(translator: Translator, challenges: Sequence[Challenge]) -> dict[str, Specialist]:
    """For each way of looking the head that does it most."""
    seen = [found for challenge in challenges if (found := looks(translator, challenge))]
    return {role: specialist([found[role] for found in seen]) for role in seen[0]}


def specialist(seen: Sequence[Mapping[Head, float]]) -> Specialist:
    """Chosen on every other sentence, weighed on the others: the best of many is best by luck, too."""
    chosen, weighed = means(seen[::2]), means(seen[1::2])
    head = max(chosen, key=chosen.__getitem__)
    return Specialist(head, weighed[head], float(np.mean(list(weighed.values()))))


def means(seen: Sequence[Mapping[Head, float]]) -> dict[Head, float]:
    return {head: float(np.mean([one[head] for one in seen])) for head in seen[0]}


def looks(translator: Translator, challenge: Challenge) -> dict[str, dict[Head, float]]:
    """For each way of looking, what each of the encoder's heads gives to it in a sentence; nothing without the verb."""
    trace = translator.attention(challenge.first.source, challenge.first.target).by_words()
    labels = [label.strip(".,").lower() for label in trace.rows["source"].labels]
    verb, partners = who_did_what(labels, challenge)
    found: dict[str, dict[Head, float]] = {}
    for name in trace.select("encoder") if verb is not None else ():
        kinds, weights = tags(trace)[name], trace.weights[name]
        for head in range(len(weights)):
            given = {
                "the word before": kinds.previous[head],
                "the word after": kinds.next[head],
                "the word itself": kinds.diagonal[head],
                "who did it and to whom, from the verb": weights[head][verb, partners].sum(),
            }
            for role, weight in given.items():
                found.setdefault(role, {})[name, head] = float(weight)
    return found


def who_did_what(labels: Sequence[str], challenge: Challenge) -> tuple[int | None, list[int]]:
    """Where the verb stands (None if it is another form of it), and where those stand who change places between the two
    sentences."""
    first, second = ([word.strip(".,").lower() for word in side.source.split()]
                     for side in (challenge.first, challenge.second))  # fmt: skip
    swapped = {word for word, other in zip(first, second, strict=False) if word != other}
    verb = next((place for place, label in enumerate(labels) if label == challenge.word.split()[0]), None)
    return verb, [place for place, label in enumerate(labels) if label in swapped]


def draw(measured: Sequence[Measured]) -> list[Figure]:
    counts = list(range(len(measured[0].series["rises"])))
    capped = over_seeds("loss", [[min(5.0, rise) for rise in one.series["rises"]] for one in measured])
    caption = "Heads are removed, the least important first; 1 is the loss with all of them (capped at 5)."
    return [Plot("lines", counts, [capped], "heads removed", "loss, as a multiple", caption)]


CLAIM = Claim(
    name="heads",
    title="Several heads beat one of the same total width",
    question="Is it better to look once with 64 numbers or four times with 16? What do the heads look at, and how "
    "many of them are needed once they have learned?",
    source="Vaswani et al. 2017, table 3 (A); Voita et al. 2019; Michel et al. 2019",
    statistic=STATISTIC,
    threshold=THRESHOLD,
    control="four heads against four heads with another seed, the worse as a multiple of the better.",
    measure=measure,
    draw=draw,
    models=(*MODELS, WIDE),
)
