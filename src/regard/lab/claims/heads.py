"""Do several heads beat one of the same total width, do they specialise, and how many can be done without?

Vaswani et al. 2017 (arXiv:1706.03762, section 3.2.2 and table 3 A) found one head worse than eight of the same total
width. Voita et al. 2019 (arXiv:1905.09418) found heads that look at the word before, at the word after, along syntax,
and that most others can be removed; Michel et al. 2019 (arXiv:1905.10650) that a layer often needs only one.

Whether several heads are better is judged; what they look at, and how many can be removed, is told. For each way of
looking the head that does it most is named, beside the one of an untrained network that was chosen in the same way:
the best of many heads looks special by luck, too. Both this choice and the order of removal are made on every other
sentence, and what they come to is measured on the rest.
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
    "The loss per token on unseen sentences with one head, as a multiple of that with four of a quarter its width; of "
    "each there are two, trained from other starts, and their losses are added."
)
THRESHOLD = 1.1
MODELS, WIDE = ("four-heads", "one-head", "four-heads-again", "one-head-again"), "transformer"
"""Those that are compared, and the one whose heads are looked at and removed. Until before the full run there was no
second one with one head, and the control was four heads against four: two trainings alone may differ by as much."""
LABELS = ("four heads", "one head", "four heads,\ntrained once more", "one head,\ntrained once more")
ARTICLES = frozenset({"the", "a", "an"})
"""They go with their noun, and are not looked for."""
TRAINED, UNTRAINED = "the trained network's head", "an untrained network's"
BEARABLE = 1.1
"""By what factor the loss may rise for the heads removed to count as superfluous."""

Head = tuple[str, int]


def measure(setting: Setting) -> Measured:
    shop = setting.shop
    pairs = first(shop, setting.of(200, 1000))
    losses = [held_out_loss(who.model, pairs, who.tokenizers).per_token for who in map(shop.load, MODELS)]
    wide = shop.load(WIDE)
    removed = pruned(wide, *halves(first(shop, setting.of(80, 400))))
    rises = [loss / removed[0] for loss in removed]
    spare = superfluous(rises)
    who = shop.challenges("who-chased-whom")[: setting.of(20, 60)]
    roles, guessed = specialists(wide, who), specialists(shop.untrained(WIDE), who)
    return Measured(
        value=worse(losses),
        control=mixed(losses),
        numbers={
            **{f"loss with {label}".replace("\n", " "): loss for label, loss in zip(LABELS, losses, strict=True)},
            "heads that can be removed": f"{spare} of {len(removed) - 1}",
            **{f"looks most at {role}": str(one) for role, one in roles.items()},
            **{f"gives to {role}, {whose}": found[role].weight
               for role in roles for whose, found in ((TRAINED, roles), (UNTRAINED, guessed))},
            "heads specialise: how much more at least, of all ways of looking": least_gain(roles, guessed),
        },
        series={"losses": losses, "rises": rises, "spare": spare,
                "roles": {role: [roles[role].weight, guessed[role].weight] for role in roles}},
    )  # fmt: skip


def worse(losses: Sequence[float]) -> float:
    """The losses with one head as a multiple of those with four."""
    four, one, four_again, one_again = losses
    return (one + one_again) / (four + four_again)


def mixed(losses: Sequence[float]) -> float:
    """The same for one of each kind against the others, whichever way it is more: the heads cancel out, the starts do
    not."""
    four, one, four_again, one_again = losses
    ratio = (four + one_again) / (four_again + one)
    return max(ratio, 1 / ratio)


def first(shop: Shop, count: int) -> EncodedPairs:
    """So many unseen pairs, in the tokens that all these models share."""
    some = shop.load(WIDE)
    pairs = fitting(some.model, shop.text("test"), some.tokenizers)
    return EncodedPairs(pairs.sources[:count], pairs.targets[:count])


def halves(pairs: EncodedPairs) -> tuple[EncodedPairs, EncodedPairs]:
    """Every other pair, and the rest."""
    return EncodedPairs(pairs.sources[::2], pairs.targets[::2]), EncodedPairs(pairs.sources[1::2], pairs.targets[1::2])


# how many can be done without


def pruned(translator: Translator, chosen: EncodedPairs, scored: EncodedPairs) -> list[float]:
    """The loss with all heads, without the least important one, without two, and so on to none. How important a head
    is, is by how much the loss rises without it alone: on the pairs by which they are chosen, not on those that are
    scored."""
    heads = all_heads(translator, chosen)
    alone = {head: loss_without(translator, chosen, [head]) for head in heads}
    order = sorted(heads, key=alone.__getitem__)
    return [loss_without(translator, scored, order[:count]) for count in range(len(order) + 1)]


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


def least_gain(roles: Mapping[str, Specialist], guessed: Mapping[str, Specialist]) -> float:
    """By how much more a trained network's specialist looks where it does than an untrained one's, at least."""
    return min(roles[role].weight - guessed[role].weight for role in roles)


def looks(translator: Translator, challenge: Challenge) -> dict[str, dict[Head, float]]:
    """For each way of looking, what each of the encoder's heads gives to it in a sentence; nothing where the verb has
    another form."""
    trace = translator.attention(challenge.first.source, challenge.first.target).by_words()
    labels = [label.strip(".,?").lower() for label in trace.rows["source"].labels]
    verb, partners = who_did_what(labels, challenge)
    found: dict[str, dict[Head, float]] = {}
    for name in trace.select("encoder") if partners else ():
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


def who_did_what(labels: Sequence[str], challenge: Challenge) -> tuple[int, list[int]]:
    """In the first sentence, where the verb stands, and where those stand who are on its other side in the second one
    ("Anna" is one word and "the teacher" two, so that places alone do not tell). Nobody where the verb has another
    form."""
    verb = challenge.word.split()[0]
    second = [word.strip(".,?").lower() for word in challenge.second.source.split()]
    if verb not in labels or verb not in second:
        return 0, []
    (before, after), (earlier, later) = around(labels, verb), around(second, verb)
    swapped = (before & later | after & earlier) - ARTICLES
    return labels.index(verb), [place for place, label in enumerate(labels) if label in swapped]


def around(words: Sequence[str], verb: str) -> tuple[set[str], set[str]]:
    """What stands before a word, and what behind it."""
    place = words.index(verb)
    return set(words[:place]), set(words[place + 1 :])


def draw(measured: Sequence[Measured]) -> list[Figure]:
    losses = over_seeds("loss", [one.series["losses"] for one in measured])
    counts = list(range(len(measured[0].series["rises"])))
    capped = over_seeds("loss", [[min(5.0, rise) for rise in one.series["rises"]] for one in measured])
    removal = "Heads are removed, the least important first; 1 is the loss with all of them (capped at 5)."
    roles = list(measured[0].series["roles"])
    bars = [
        over_seeds(who, [[one.series["roles"][role][which] for role in roles] for one in measured])
        for which, who in enumerate((TRAINED, UNTRAINED))
    ]
    special = "What the head gives that looks there most, chosen on other sentences."
    return [
        Plot("bars", list(LABELS), [losses], "", "loss per token", "The same total width."),
        Plot(
            "bars",
            [role.replace(", ", ",\n").replace(" and", "\nand") for role in roles],
            bars,
            "looks at",
            "weight",
            special,
        ),
        Plot("lines", counts, [capped], "heads removed", "loss, as a multiple", removal),
    ]


CLAIM = Claim(
    name="heads",
    title="Several heads beat one of the same total width",
    question="Is it better to look once with 64 numbers or four times with 16? What do the heads look at, and how "
    "many of them are needed once they have learned?",
    source="Vaswani et al. 2017, table 3 (A); Voita et al. 2019; Michel et al. 2019",
    statistic=STATISTIC,
    threshold=THRESHOLD,
    control="one network of each kind against the other two, the worse as a multiple of the better: heads cancel out, "
    "starts do not.",
    measure=measure,
    draw=draw,
    models=(*MODELS, WIDE),
)
