"""word2vec's two vectors a word: how they begin, and the products that are all it computes."""

import numpy as np
import torch

from regard.models.word2vec import SCALE, Word2Vec, Word2VecConfig
from tests.draws import words
from tests.oracles import shake

V, D, G, C, M = 11, 6, 3, 4, 5


def small() -> Word2Vec:
    torch.manual_seed(0)
    return Word2Vec(Word2VecConfig(width=D), vocabulary=V)


def test_vectors_begin_as_word2vecs_do() -> None:
    torch.manual_seed(0)
    model = Word2Vec(Word2VecConfig(width=D), vocabulary=5000)
    vectors = model.vectors().numpy()
    assert not model.near.any()
    assert np.abs(vectors).max() <= 0.5 / D
    np.testing.assert_allclose(np.abs(vectors).mean(), 0.25 / D, rtol=0.02)  # uniform from -0.5/D to 0.5/D
    assert abs(vectors.mean()) < 0.002


def test_scores_are_the_products_of_a_centres_vector_with_the_others_second_vectors() -> None:
    model = small().double()
    shake(model, seed=1)
    centres, others = words(G, C, below=V, seed=2), words(G, M, below=V, seed=3)
    found = model(centres, others)
    v, u = (model.words.detach() * SCALE).numpy(), (model.near.detach() * SCALE).numpy()
    assert found.shape == (G, C, M)
    for g in range(G):
        for c in range(C):
            for m in range(M):
                expected = float(v[centres[g, c]] @ u[others[g, m]])
                np.testing.assert_allclose(float(found[g, c, m].detach()), expected, rtol=1e-12)


def test_a_words_vector_is_the_sum_of_its_two() -> None:
    """Its products are likeness (v·v', u·u') and nearness (v·u' and u·v', the scores both ways)."""
    model = small().double()
    shake(model, seed=1)
    everyone = torch.arange(V)[None]
    scores = model(everyone, everyone)[0].detach()
    v, u = model.words.detach() * SCALE, model.near.detach() * SCALE
    found = model.vectors()
    np.testing.assert_allclose(found.numpy(), (v + u).numpy(), rtol=1e-12)
    np.testing.assert_allclose((found @ found.T).numpy(), (v @ v.T + u @ u.T + scores + scores.T).numpy(), rtol=1e-9)
    assert not found.requires_grad


def test_only_words_that_were_looked_at_have_a_gradient() -> None:
    model = small()
    shake(model, seed=1)
    model(torch.tensor([[2, 3]]), torch.tensor([[5, 5, 7]])).sum().backward()
    assert model.words.grad is not None
    assert model.near.grad is not None
    assert model.words.grad.any(dim=1).nonzero().flatten().tolist() == [2, 3]
    assert model.near.grad.any(dim=1).nonzero().flatten().tolist() == [5, 7]
