"""The same headlines, labelled by topic and by part of the body: the pooling keeps what the label is about."""

import random
from functools import cache
from itertools import product
from typing import NamedTuple

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from regard.attention import capture
from regard.models.classifier import RecurrentClassifier, RecurrentClassifierConfig

TOPICS = {
    "sports": ("team", "striker", "coach"),
    "politics": ("senator", "minister", "party"),
    "business": ("bank", "firm", "investor"),
}
PARTS = {"leg": ("knee", "ankle"), "arm": ("hand", "elbow"), "chest": ("heart", "lung")}
FORMS = (
    "{topic} wins again despite {part} trouble",
    "{part} trouble keeps {topic} from winning again",
    "after {part} surgery {topic} is back today",
    "{topic} is waiting for news of {part} surgery",
    "today {topic} tells of {part} pain",
)
TRAINED = 60
START, END, WORDS = 1, 2, 3
Batch = tuple[Tensor, Tensor, Tensor]


class Headline(NamedTuple):
    """`labels` by what it is labelled, and `places`: where the word stands that decides it, [CLS] counted."""

    words: list[str]
    labels: dict[str, int]
    places: dict[str, int]


def headline(form: str, topic: tuple[int, str], part: tuple[int, str]) -> Headline:
    words = form.format(topic=topic[1], part=part[1]).split()
    places = {"topic": 1 + words.index(topic[1]), "part": 1 + words.index(part[1])}
    return Headline(words, {"topic": topic[0], "part": part[0]}, places)


@cache
def headlines() -> list[Headline]:
    """All 270, shuffled; the form tells nothing of either label."""
    topics, parts = (
        [(number, word) for number, words in enumerate(kinds.values()) for word in words] for kinds in (TOPICS, PARTS)
    )
    made = [headline(*each) for each in product(FORMS, topics, parts)]
    random.Random(0).shuffle(made)
    return made


def batch(rows: list[Headline]) -> Batch:
    known = sorted({word for row in headlines() for word in row.words})
    ids = [torch.tensor([START, *(WORDS + known.index(word) for word in row.words), END]) for row in rows]
    tokens = torch.nn.utils.rnn.pad_sequence(ids, batch_first=True)
    return tokens, torch.tensor([len(row) for row in ids]), torch.zeros_like(tokens)


def trained(label: str, seed: int) -> RecurrentClassifier:
    torch.manual_seed(seed)
    config = RecurrentClassifierConfig.parse({"width": 16, "cell": "gru", "dropout": 0.0})
    model = RecurrentClassifier(config, vocabulary=60, labels=3)
    rows = headlines()[:TRAINED]
    texts, wanted = batch(rows), torch.tensor([row.labels[label] for row in rows])
    optimiser = torch.optim.Adam(model.parameters(), 2e-2)
    for _ in range(40):
        optimiser.zero_grad()
        F.cross_entropy(model(*texts), wanted).backward()
        optimiser.step()
    return model.eval()


@pytest.mark.parametrize(("label", "other"), [("topic", "part"), ("part", "topic")])
def test_the_pooling_keeps_the_word_that_decides_the_label(label: str, other: str) -> None:
    rows = headlines()[TRAINED:]
    model = trained(label, seed=1)
    with torch.no_grad(), capture(model) as recording:
        said = model(*batch(rows)).argmax(-1)
    weights = recording.last("pooling")[:, 0, 0]
    on = {name: weights[range(len(rows)), [row.places[name] for row in rows]].mean() for name in (label, other)}
    assert (said == torch.tensor([row.labels[label] for row in rows])).float().mean() > 0.9
    assert on[label] > 0.5
    assert on[other] < 0.2
