"""The optimiser, the precision it computes in, and the moving average of the weights."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from regard.training.settings import TrainingConfig


def adamw(model: nn.Module, config: TrainingConfig) -> torch.optim.AdamW:
    """AdamW (Loshchilov & Hutter 2019). Decay pulls on matrices only: biases and normalisations have no reason to
    shrink."""
    matrices = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() <= 1]
    groups = [{"params": matrices, "weight_decay": config.weight_decay}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(
        [group for group in groups if group["params"]],
        lr=config.learning_rate,
        betas=config.betas,
        eps=config.epsilon,
        fused=True,
    )


FORMATS = {"float32": None, "bf16": torch.bfloat16, "fp16": torch.float16}


class Scaler:
    """Number formats. Half precision is for products only; weights, sums and the optimiser keep float32. The smallest
    gradients vanish in float16, so the loss is scaled up before and they down again afterwards (Micikevicius 2018)."""

    def __init__(self, precision: str, device: str) -> None:
        self.format = FORMATS[precision]
        self.scaler = torch.amp.GradScaler(torch.device(device).type, enabled=precision == "fp16")

    def autocast(self, device: str) -> AbstractContextManager[Any]:
        return torch.autocast(torch.device(device).type, dtype=self.format) if self.format else nullcontext()

    def backward(self, loss: Tensor) -> None:
        self.scaler.scale(loss).backward()  # type: ignore[no-untyped-call]

    def step(self, optimiser: torch.optim.Optimizer, parameters: Sequence[nn.Parameter], *, clip: float) -> float:
        """One update with gradients no longer than `clip` (0: any); left out where a scaled gradient has overflown.
        Their length before."""
        self.scaler.unscale_(optimiser)
        norm = float(nn.utils.clip_grad_norm_(parameters, clip or float("inf")))
        self.scaler.step(optimiser)
        self.scaler.update()
        return norm

    def state(self) -> dict[str, Any]:
        """Plain numbers, to be kept in a checkpoint."""
        return dict(self.scaler.state_dict())

    def restore(self, state: dict[str, Any]) -> None:
        if state:
            self.scaler.load_state_dict(state)


class Average:
    """A moving average of the weights: steadier than the last ones, so it is what gets scored and saved.

    The decay grows from a tenth to its full value, so that a short run is not averaged with its random start.
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.decay = decay
        self.parameters = dict(model.named_parameters())
        self.weights = {name: p.detach().clone() for name, p in self.parameters.items()} if decay else {}

    def update(self, updates: int) -> None:
        if self.decay:
            share = 1 - min(self.decay, (1 + updates) / (10 + updates))
            current: list[Tensor] = [p.detach() for p in self.parameters.values()]
            torch._foreach_lerp_(list(self.weights.values()), current, share)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """The model has the averaged weights inside the `with`, its own again after it."""
        own = {name: p.detach().clone() for name, p in self.parameters.items()}
        try:
            self._put(self.weights)
            yield
        finally:
            self._put(own)

    def _put(self, weights: dict[str, Tensor]) -> None:
        with torch.no_grad():
            for name, tensor in weights.items():
                self.parameters[name].copy_(tensor)
