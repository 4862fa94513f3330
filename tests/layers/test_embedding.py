from math import sqrt

import pytest
import torch

from regard.layers import Embedding
from tests.draws import assert_near, words

B, T, V, D = 3, 5, 11, 6


def test_a_token_becomes_its_row_times_the_root_of_the_width() -> None:
    embedding, tokens = Embedding(V, D), words(B, T, below=V, seed=0)
    embedded = embedding(tokens)
    assert embedded.shape == (B, T, D)
    assert_near(embedded, embedding.weight[tokens] * sqrt(D))


def test_embeddings_start_with_variance_one_and_rows_of_length_one() -> None:
    torch.manual_seed(0)
    embedding = Embedding(500, 64)
    embedded = embedding(torch.arange(500)).detach()
    assert float(embedded.var()) == pytest.approx(1, rel=0.05)
    assert float(embedding.weight.detach().norm(dim=1).mean()) == pytest.approx(1, rel=0.05)


def test_the_weight_is_the_table_itself() -> None:
    embedding = Embedding(V, D)
    assert embedding.weight is next(embedding.parameters())
