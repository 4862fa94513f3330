"""BERT equals Hugging Face's, with the same weights, in both directions."""

from typing import Any

import pytest
import torch
import transformers

from regard.attention import capture
from regard.errors import BundleError
from regard.models.bert import PRESETS, Bert, BertConfig, BertForPretraining
from regard.models.pretrained import bert as names
from regard.weights import put_weights, weights_of

SIZES = {
    "vocab_size": 50, "hidden_size": 24, "num_attention_heads": 3, "intermediate_size": 40, "num_hidden_layers": 3,
    "max_position_embeddings": 20, "type_vocab_size": 2,
}  # fmt: skip
TOKENS = torch.randint(50, (3, 9), generator=torch.Generator().manual_seed(0))
LENGTHS = torch.tensor([9, 4, 7])
MASK = (torch.arange(9) < LENGTHS[:, None]).long()
SEGMENTS = (torch.arange(9) >= 4).long().expand(3, 9)


def shaken(model: Any) -> Any:
    torch.manual_seed(1)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    return model.eval()


@pytest.fixture(scope="module", params=["gelu", "relu", "gelu_new"])
def theirs(request: pytest.FixtureRequest) -> Any:
    config = transformers.BertConfig(**SIZES, hidden_act=request.param, attn_implementation="eager")
    return shaken(transformers.BertForPreTraining(config))


@pytest.fixture(scope="module")
def ours(theirs: Any) -> BertForPretraining:
    settings = names.settings(theirs.config.to_dict())
    model = BertForPretraining(BertConfig.parse(settings), vocabulary=50)
    tensors = theirs.state_dict()
    inner = {f"bert.{name}": tensor for name, tensor in names.ours(tensors).items()}
    put_weights(model, inner | names.heads(tensors), where="a test")
    return model.eval()


@torch.inference_mode()
def test_hidden_states_and_both_heads_are_theirs(theirs: Any, ours: BertForPretraining) -> None:
    wanted = theirs(TOKENS, attention_mask=MASK, token_type_ids=SEGMENTS, output_hidden_states=True)
    found = list(ours.bert.layers(TOKENS, LENGTHS, SEGMENTS))
    real = MASK.bool()
    assert len(found) == len(wanted.hidden_states) == 4
    for mine, their in zip(found, wanted.hidden_states, strict=True):
        assert torch.allclose(mine[real], their[real], atol=1e-5)
    scores = ours.output(ours.guesses(found[-1]))
    assert torch.allclose(scores[real], wanted.prediction_logits[real], atol=1e-4)
    assert torch.allclose(ours.next_sentence(found[-1]), wanted.seq_relationship_logits, atol=1e-5)


@torch.inference_mode()
def test_attention_is_theirs(theirs: Any, ours: BertForPretraining) -> None:
    wanted = theirs.bert(TOKENS, attention_mask=MASK, token_type_ids=SEGMENTS, output_attentions=True).attentions
    with capture(ours) as recording:
        ours.bert(TOKENS, LENGTHS, SEGMENTS)
    for layer, weights in enumerate(wanted):
        mine = recording.joined(f"encoder.{layer}.self")
        assert torch.allclose(mine[MASK.bool()[:, None].expand(3, 3, 9)], weights[MASK.bool()[:, None].expand(3, 3, 9)],
                              atol=1e-5)  # fmt: skip


@torch.inference_mode()
def test_our_weights_make_the_same_model_of_theirs(theirs: Any, ours: BertForPretraining) -> None:
    tensors = names.theirs(weights_of(ours))
    config = transformers.BertConfig(**names.config_json(ours.config.model_dump(), 50))
    again = transformers.BertForPreTraining(config).eval()
    missing, unexpected = again.load_state_dict(tensors, strict=False)
    assert not unexpected
    assert all("decoder" in name or "position_ids" in name for name in missing)  # tied to what is there
    again.tie_weights()
    assert again.config.hidden_act == theirs.config.hidden_act
    for name, tensor in theirs.state_dict().items():
        assert torch.equal(tensor, again.state_dict()[name]), name


def test_old_names_of_normalisations_are_known() -> None:
    tensors = {"bert.embeddings.LayerNorm.gamma": torch.ones(3), "bert.embeddings.LayerNorm.beta": torch.zeros(3)}
    assert set(names.ours(tensors)) == {"norm.weight", "norm.bias"}


def test_padding_changes_nothing() -> None:
    model = shaken(Bert(BertConfig(width=24, heads=3, hidden=40, layers=2, limit=20), vocabulary=50))
    with torch.inference_mode():
        alone = model(TOKENS[1:2, :4], LENGTHS[1:2])
        together = model(TOKENS, LENGTHS)
    assert torch.allclose(alone[0], together[1, :4], atol=1e-5)


def test_another_architecture_is_refused() -> None:
    with pytest.raises(BundleError, match="not a BERT"):
        names.settings({"model_type": "gpt2"})
    with pytest.raises(BundleError, match="kind of BERT"):
        names.settings({"model_type": "bert", "hidden_act": "swish"})


@pytest.mark.parametrize(
    ("preset", "layers", "width", "heads", "count"),
    [
        ("tiny", 2, 128, 2, 4_385_920),
        ("mini", 4, 256, 4, 11_170_560),
        ("small", 4, 512, 8, 28_763_648),
        ("base", 12, 768, 12, 109_482_240),
    ],
)
def test_presets_have_the_sizes_of_the_papers(preset: str, layers: int, width: int, heads: int, count: int) -> None:
    sizes = {"num_hidden_layers": layers, "hidden_size": width, "num_attention_heads": heads}
    config = transformers.BertConfig(vocab_size=30522, intermediate_size=4 * width, **sizes)
    with torch.device("meta"):  # sizes only, no memory
        wanted = transformers.BertModel(config)
        found = Bert(BertConfig.parse(PRESETS[preset]), vocabulary=30522)
    assert wanted.num_parameters() == count
    assert sum(parameter.numel() for parameter in found.parameters()) == count
    assert found.config == BertConfig.parse(names.settings(config.to_dict()))
