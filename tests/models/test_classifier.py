"""The recurrent classifier against torch.nn's recurrent layers, with padding in the batch."""

import pytest
import torch

from regard.layers import POOLINGS
from regard.models.classifier import RecurrentClassifier, RecurrentClassifierConfig
from tests import oracles
from tests.draws import assert_near, words
from tests.layers import packed

VOCABULARY, LABELS = 13, 3
LENGTHS = torch.tensor([7, 2, 6, 1])
TOKENS = words(4, 7, below=VOCABULARY, seed=0)
SEGMENTS = torch.zeros_like(TOKENS)


def small(**choices: object) -> RecurrentClassifier:
    settings = {"width": 8, "embedding": 5, "dropout": 0.0, **choices}
    config = RecurrentClassifierConfig.parse(settings)
    model = RecurrentClassifier(config, vocabulary=VOCABULARY, labels=LABELS).double().eval()
    oracles.shake(model, seed=1)
    return model


@pytest.mark.parametrize("cell", packed.KINDS)
@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("layers", [1, 2])
def test_last_is_the_final_state_of_each_direction_of_the_top_layer(cell: str, directions: int, layers: int) -> None:
    model = small(cell=cell, directions=directions, layers=layers, pooling="last")
    theirs = packed.recurrent(cell, model.encoder, 5, torch.float64)
    assert theirs.bidirectional == (directions == 2)
    with torch.no_grad():
        _, finals = packed.read(theirs, model.embedding(TOKENS), LENGTHS)
        wanted = model.classify(finals[-1][0])
        assert_near(model(TOKENS, LENGTHS, SEGMENTS), wanted)


@pytest.mark.parametrize("cell", packed.KINDS)
@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("pooling", ["mean", "max", "attention"])
def test_other_poolings_see_the_states_at_the_words(cell: str, directions: int, pooling: str) -> None:
    model = small(cell=cell, directions=directions, pooling=pooling)
    theirs = packed.recurrent(cell, model.encoder, 5, torch.float64)
    pool = POOLINGS[pooling](8).double()
    pool.load_state_dict(model.pool.state_dict())
    with torch.no_grad():
        states, _ = packed.read(theirs, model.embedding(TOKENS), LENGTHS)
        assert_near(model(TOKENS, LENGTHS, SEGMENTS), model.classify(pool(states, LENGTHS)))


@pytest.mark.parametrize("cell", ["gru", "gru-cho", "lstm"])
@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("pooling", ["last", "mean", "max", "attention"])
def test_a_text_has_its_scores_alone_and_in_company(cell: str, directions: int, pooling: str) -> None:
    model = small(cell=cell, directions=directions, pooling=pooling)
    with torch.no_grad():
        together = model(TOKENS, LENGTHS, SEGMENTS)
        for row, length in enumerate(LENGTHS.tolist()):
            alone = TOKENS[row : row + 1, :length]
            found = model(alone, LENGTHS[row : row + 1], torch.zeros_like(alone))
            assert_near(together[row : row + 1], found)


@pytest.mark.parametrize(("directions", "sees"), [(1, False), (2, True)])
def test_only_with_two_directions_do_first_states_know_the_end(directions: int, sees: bool) -> None:
    model = small(directions=directions)
    changed = TOKENS[:1].clone()
    changed[0, -1] = (changed[0, -1] + 1) % VOCABULARY
    with torch.no_grad():
        first, other = (
            model.encoder(model.embedding(tokens), LENGTHS[:1])[0][0, 0] for tokens in (TOKENS[:1], changed)
        )
    assert torch.equal(first, other) != sees
