import pytest
import torch
from torch import nn

from regard.errors import ConfigError
from regard.layers import Embedding, embeddings, log_probabilities, output_layer
from tests.draws import assert_near, normal

R, V, D, L = 5, 11, 6, 7


def test_a_tied_output_is_the_matrix_of_the_embedding_itself_and_has_no_bias() -> None:
    embedding = Embedding(V, D)
    output = output_layer(embedding, tied=True)
    assert output.weight is embedding.weight
    assert output.bias is None
    assert output_layer(embedding, tied=True, width=D).weight is embedding.weight


def test_an_output_may_have_a_score_for_each_word_which_begins_at_nothing() -> None:
    output = output_layer(Embedding(V, D), tied=True, bias=True)
    assert output.bias.shape == (V,)
    assert not output.bias.any()
    assert output.bias.requires_grad


def test_an_untied_output_has_a_matrix_of_its_own_as_wide_as_asked_for() -> None:
    torch.manual_seed(0)
    embedding = Embedding(500, 64)
    assert output_layer(embedding, tied=False).weight.shape == (500, 64)
    output = output_layer(embedding, tied=False, width=48)
    assert output.weight.shape == (500, 48)
    assert output.weight is not embedding.weight
    # states of variance 1 then give logits of variance 1
    assert float(output.weight.detach().var()) == pytest.approx(1 / 48, rel=0.05)


def test_a_tied_output_of_another_width_is_refused_naming_both() -> None:
    with pytest.raises(
        ConfigError, match=r"(?s)not equally wide.*7 for the output, 6 for the embedding.*model\.tie=none"
    ):
        output_layer(Embedding(V, D), tied=True, width=L)


@pytest.mark.parametrize(
    ("given", "returned"),
    [(torch.float64, torch.float64), (torch.float32, torch.float32), (torch.bfloat16, torch.float32)],
)
def test_log_probabilities_are_never_less_precise_than_float32(given: torch.dtype, returned: torch.dtype) -> None:
    output, hidden = nn.Linear(D, V, bias=False, dtype=given), normal(R, D, seed=0, dtype=given)
    found = log_probabilities(output, hidden).detach()
    assert found.dtype == returned
    assert_near(found, output(hidden).detach().to(returned).log_softmax(-1))
    assert_near(found.exp().sum(-1), torch.ones(R, dtype=returned))


def test_target_and_source_share_one_embedding_only_if_all_is_tied() -> None:
    target, source = embeddings("all", D, source=V, target=V, joint=True)
    assert target is source
    for tie in ("target", "none"):
        target, source = embeddings(tie, D, source=V + 2, target=V, joint=True)
        assert target is not source
        assert (target.weight.shape, source.weight.shape) == ((V, D), (V + 2, D))
