"""capture: every attention of any model, forward or step by step, and nothing left behind."""

import gc
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event
from typing import Any

import jaxtyping
import pytest
import torch
from torch import Tensor, nn

from regard.attention import capture
from regard.data.batches import Sentences
from regard.decoding import Request, beam, greedy
from regard.models.transformer import Transformer
from tests.draws import assert_near, words
from tests.models.small import END, NAMES, START, TARGET_WORDS, sentences, small

B, H, T, S, K = 4, 3, 5, 7, 4
SOURCE, LENGTHS = sentences(7, 2, 6, 4)
TARGET = words(B, T, below=TARGET_WORDS, seed=1)


@pytest.fixture(scope="module")
def model() -> Transformer:
    return small()


def request(most: int = 6) -> Request:
    return Request(Sentences(SOURCE, LENGTHS), torch.full((B, 1), START), END, torch.full((B,), most))


def untouched(model: nn.Module) -> dict[str, Any]:
    """Everything that hangs on the modules, by address."""
    return {
        f"{name}.{key}": id(value) if not isinstance(value, dict) else sorted(map(str, value))
        for name, module in model.named_modules()
        for key, value in vars(module).items()
    }


def test_a_forward_pass_gives_every_attention_under_its_name(model: Transformer) -> None:
    with capture(model) as recording:
        model(SOURCE, LENGTHS, TARGET)
    assert recording.names == NAMES
    for name in NAMES:
        shape = {"encoder.self": (S, S), "decoder.self": (T, T), "decoder.cross": (T, S)}
        place = ".".join(name.split(".")[::2])
        assert recording.last(name).shape == (B, H, *shape[place])
        assert len(recording.all(name)) == 1


def test_captured_weights_are_positive_sum_to_one_and_obey_the_masks(model: Transformer) -> None:
    with capture(model) as recording:
        model(SOURCE, LENGTHS, TARGET)
    for name in NAMES:
        weights = recording.last(name)
        assert (weights >= 0).all()
        assert_near(weights.sum(-1), torch.ones(weights.shape[:-1]))
    assert not recording.last("decoder.1.self").triu(1).any()
    for b, length in enumerate(LENGTHS.tolist()):
        assert not recording.last("decoder.1.cross")[b, ..., length:].any()
        assert (recording.last("decoder.1.cross")[b, ..., :length] > 0).all()


def test_capturing_does_not_change_what_the_model_computes(model: Transformer) -> None:
    plain = model(SOURCE, LENGTHS, TARGET)
    with capture(model, keep=("scores", "weights", "values")):
        captured = model(SOURCE, LENGTHS, TARGET)
    assert_near(captured, plain)
    assert torch.equal(model(SOURCE, LENGTHS, TARGET), plain)


def test_steps_give_the_rows_of_the_forward_pass_one_by_one(model: Transformer) -> None:
    with capture(model) as whole:
        model(SOURCE, LENGTHS, TARGET)
    with capture(model) as stepped:
        state = model.start(Sentences(SOURCE, LENGTHS), TARGET[:, :0])
        for t in range(T):
            _, state = model.step(TARGET[:, t], state)
    assert set(stepped.names) == set(NAMES)
    for name in ("decoder.0.self", "decoder.2.self", "decoder.2.cross"):
        assert len(stepped.all(name)) == T
        for t, weights in enumerate(stepped.all(name)):
            assert weights.shape == (B, H, 1, t + 1 if name.endswith("self") else S)
            assert_near(weights[:, :, 0], whole.last(name)[:, :, t, : weights.shape[-1]])


def test_greedy_search_is_captured_step_by_step(model: Transformer) -> None:
    with capture(model) as recording:
        found = greedy(model, request())
    steps = recording.all("decoder.1.cross")
    assert len(steps) == max(len(hypothesis.rows) for hypothesis in found)
    assert steps[0].shape == (B, H, 1, S)
    assert len(recording.all("encoder.0.self")) == 1


def test_beam_search_is_captured_with_a_row_per_hypothesis(model: Transformer) -> None:
    size = 5
    with capture(model) as recording:
        beam(model, request(), size=size)
    first, second, *_ = recording.all("decoder.1.cross")
    assert first.shape == (B, H, 1, S)
    assert second.shape == (B * size, H, 1, S)
    assert recording.all("decoder.1.self")[1].shape == (B * size, H, 1, 2)


def test_scores_and_values_are_kept_on_request(model: Transformer) -> None:
    with capture(model, keep=("scores", "values")) as recording:
        model(SOURCE, LENGTHS, TARGET)
    assert recording.last("decoder.0.cross", "scores").shape == (B, H, T, S)
    assert recording.last("decoder.0.cross", "values").shape == (B, H, S, K)
    with pytest.raises(KeyError, match=r"no weights of 'decoder\.0\.cross' were recorded; recorded: scores of"):
        recording.last("decoder.0.cross")


def test_queries_keys_and_masks_are_kept_on_request_a_row_for_each_hypothesis(model: Transformer) -> None:
    size = 5
    with capture(model, keep=("queries", "keys", "mask", "scores")) as recording:
        beam(model, request(), size=size)
    name = "decoder.1.cross"
    queries, keys, masks, scores = (recording.all(name, kind)[1] for kind in ("queries", "keys", "mask", "scores"))
    assert (queries.shape, keys.shape, masks.shape) == ((B * size, H, 1, K), (B, H, S, K), (B * size, 1, 1, S))
    assert_near(queries @ keys.repeat_interleave(size, 0).transpose(-2, -1) / K**0.5, scores)
    assert masks[::size, 0, 0].sum(-1).tolist() == LENGTHS.tolist()


def test_what_is_recorded_holds_no_graph(model: Transformer) -> None:
    with capture(model) as recording:
        assert model(SOURCE, LENGTHS, TARGET).requires_grad
    assert not recording.last("decoder.0.cross").requires_grad


def test_an_unknown_name_lists_what_was_recorded(model: Transformer) -> None:
    with capture(model) as recording:
        model.encode(SOURCE, LENGTHS)
    with pytest.raises(
        KeyError, match=r"'decoder\.0\.cross'.*weights of encoder\.0\.self, weights of encoder\.1\.self"
    ):
        recording.all("decoder.0.cross")


def test_a_capture_that_recorded_nothing_raises_and_says_why(model: Transformer) -> None:
    with pytest.raises(LookupError, match=r"nothing: 8 attentions in Transformer, none was called"), capture(model):
        pass
    plain = nn.Linear(2, 3)
    with pytest.raises(LookupError, match=r"nothing: 0 attentions in Linear"), capture(plain):
        plain(torch.zeros(1, 2))


def test_calls_of_another_model_are_not_recorded(model: Transformer) -> None:
    other = small(seed=5)
    with capture(model) as recording:
        other(SOURCE, LENGTHS, TARGET)
        assert recording.names == []
        model(SOURCE, LENGTHS, TARGET)
    assert len(recording.all("encoder.0.self")) == 1


def test_part_of_a_model_can_be_captured_alone(model: Transformer) -> None:
    with capture(model.decoder[1]) as recording:
        model(SOURCE, LENGTHS, TARGET)
    assert recording.names == ["decoder.1.self", "decoder.1.cross"]


def test_an_error_inside_passes_through_and_closes_the_capture(model: Transformer) -> None:
    with pytest.raises(ZeroDivisionError), capture(model) as recording:
        raise ZeroDivisionError
    model(SOURCE, LENGTHS, TARGET)
    assert recording.names == []


def test_nested_captures_both_record_and_the_outer_one_goes_on_alone(model: Transformer) -> None:
    with capture(model) as outer:
        with capture(model, keep=("weights", "scores")) as inner:
            model(SOURCE, LENGTHS, TARGET)
        model(SOURCE, LENGTHS, TARGET[:, :2])
    assert len(inner.all("decoder.0.cross")) == 1
    assert [weights.shape[2] for weights in outer.all("decoder.0.cross")] == [T, 2]
    assert torch.equal(inner.last("decoder.0.cross"), outer.all("decoder.0.cross")[0])
    assert ("scores", "decoder.0.cross") not in outer.calls


def test_pruning_a_head_equals_cutting_its_output_weights(model: Transformer) -> None:
    def prune(name: str, what: str, tensor: Tensor) -> Tensor:
        if (name, what) != ("decoder.1.cross", "weights"):
            return tensor
        kept = torch.ones(H)
        kept[2] = 0
        return tensor * kept[:, None, None]

    plain = model(SOURCE, LENGTHS, TARGET)
    with capture(model, edit=prune) as recording:
        pruned = model(SOURCE, LENGTHS, TARGET)
    assert (pruned - plain).abs().max() > 1e-3
    assert not recording.last("decoder.1.cross")[:, 2].any()
    cut = small()
    with torch.no_grad():
        cut.decoder[1].cross_attention.output.weight[:, 2 * K :] = 0
    assert_near(pruned, cut(SOURCE, LENGTHS, TARGET))
    assert torch.equal(model(SOURCE, LENGTHS, TARGET), plain)


def test_an_edit_acts_in_beam_search_too_and_needs_nothing_kept(model: Transformer) -> None:
    plain = beam(model, request(), size=3)
    with capture(model, keep=(), edit=lambda name, what, tensor: tensor):
        assert [h[0].tokens for h in beam(model, request(), size=3)] == [h[0].tokens for h in plain]
    blind = small()
    with torch.no_grad():
        for block in blind.decoder:
            block.cross_attention.output.weight.zero_()
    with capture(model, keep=(), edit=lambda name, _, x: torch.zeros_like(x) if name.endswith("cross") else x):
        edited = beam(model, request(), size=3)
    expected = beam(blind, request(), size=3)
    assert [h[0].tokens for h in edited] == [h[0].tokens for h in expected]
    assert [h[0].log_prob for h in edited] == pytest.approx([h[0].log_prob for h in expected], abs=1e-5)
    assert [h[0].log_prob for h in edited] != pytest.approx([h[0].log_prob for h in plain], abs=1e-3)


def test_nothing_is_left_on_the_model(model: Transformer) -> None:
    before = untouched(model)
    with capture(model) as recording:
        model(SOURCE, LENGTHS, TARGET)
        assert untouched(model) == before
    assert untouched(model) == before
    trace = weakref.ref(recording.last("decoder.0.cross"))
    del recording
    gc.collect()
    assert trace() is None


def test_two_threads_at_once_do_not_see_each_other(model: Transformer) -> None:
    together = Barrier(3, timeout=20)

    def look(rows: int) -> list[int]:
        with capture(model) as recording:
            together.wait()  # all three are inside
            model(SOURCE[:rows], LENGTHS[:rows], TARGET[:rows])
            together.wait()  # all three have called
        return [weights.shape[0] for name in recording.names for weights in recording.all(name)]

    def pass_by() -> None:
        together.wait()
        model(SOURCE, LENGTHS, TARGET)
        together.wait()

    with ThreadPoolExecutor(3) as threads:
        one, two, nobody = threads.submit(look, 1), threads.submit(look, 2), threads.submit(pass_by)
        assert one.result() == [1] * len(NAMES)
        assert two.result() == [2] * len(NAMES)
        nobody.result()


class Wrapper(nn.Module):
    """As DistributedDataParallel wraps a model."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, *given: Tensor) -> Tensor:
        result: Tensor = self.module(*given)
        return result


def test_a_wrapped_model_is_captured_under_the_same_names(model: Transformer) -> None:
    wrapped = Wrapper(Wrapper(model))
    with capture(wrapped) as recording:
        wrapped(SOURCE, LENGTHS, TARGET)
    assert recording.names == NAMES
    with capture(model) as through_the_original:
        wrapped(SOURCE, LENGTHS, TARGET)
    assert through_the_original.names == NAMES


def compiled_block(runs: list[int]) -> tuple[nn.Module, nn.Module]:
    """An encoder block and its compiled self, in one graph; `runs` grows with each run of compiled code."""

    def backend(graph: Any, _: Any) -> Callable[..., Any]:
        def run(*given: Any) -> Any:
            runs.append(1)
            return graph.forward(*given)

        return run

    torch.compiler.reset()
    block = small().encoder[0].requires_grad_(False)
    return block, torch.compile(block, backend=backend, fullgraph=True)


@pytest.fixture
def shapes_unchecked() -> Iterator[None]:
    """The compiler cannot trace the checks of shapes that tests wrap around every function."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


INPUT = torch.linspace(-1, 1, 2 * S * H * K).view(2, S, H * K)


@pytest.mark.usefixtures("shapes_unchecked")
def test_a_compiled_model_that_has_already_run_is_captured_and_runs_compiled_again_after() -> None:
    runs: list[int] = []
    block, compiled = compiled_block(runs)
    expected, _ = compiled(INPUT)
    assert runs, "the model was not compiled, so this test shows nothing"
    for seen_through in (compiled, block):
        runs.clear()
        with capture(seen_through) as recording:
            found, _ = compiled(INPUT)
        assert recording.names == ["encoder.0.self"]
        assert recording.last("encoder.0.self").shape == (2, H, S, S)
        assert_near(found, expected)
        assert not runs
    compiled(INPUT)
    assert runs


@pytest.mark.usefixtures("shapes_unchecked")
def test_overlapping_captures_of_two_threads_leave_the_compiler_as_it_was() -> None:
    runs: list[int] = []
    _, compiled = compiled_block(runs)
    compiled(INPUT)
    second_is_in, first_is_out = Event(), Event()

    def first() -> None:
        with capture(compiled):
            compiled(INPUT)
            assert second_is_in.wait(20)
        first_is_out.set()

    def second() -> int:
        with capture(compiled) as recording:
            second_is_in.set()
            assert first_is_out.wait(20)
            compiled(INPUT)
        return len(recording.all("encoder.0.self"))

    with ThreadPoolExecutor(2) as threads:
        one = threads.submit(first)
        two = threads.submit(second)
        one.result()
        assert two.result() == 1
    runs.clear()
    compiled(INPUT)
    assert runs


def test_a_misspelt_kind_is_refused_at_once() -> None:
    with (
        pytest.raises(ValueError, match="there is queries, keys, scores, mask"),
        capture(nn.Identity(), keep=["weight"]),
    ):
        pass
