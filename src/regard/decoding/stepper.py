"""What decoding asks of a model that generates. It knows no model."""

from typing import Any, Protocol, runtime_checkable

from jaxtyping import Float, Int
from torch import Tensor


@runtime_checkable
class Stepper(Protocol):
    """One token at a time. `state` is the model's own business: decoding only hands it on.

    Rows are hypotheses. Those of one sentence stand together, equally many for each sentence, so that a model may
    keep what belongs to the sentence once.
    """

    def start(self, source: Any, prefix: Int[Tensor, "B P"]) -> Any:
        """Reads the source (whatever the model and its task mean by it) and, in one pass, a prefix of the target, which
        may be empty."""
        ...

    def step(self, tokens: Int[Tensor, "R"], state: Any) -> tuple[Float[Tensor, "R V"], Any]:
        """Reads one more token per hypothesis; log-probabilities of the next. (Sampling alone also takes logits, which
        differ from them by a constant in each row: the repetition penalty of others is defined on those.)"""
        ...

    def reorder(self, state: Any, rows: Int[Tensor, "N"]) -> Any:
        """The state in which row i continues what was row rows[i]. Rows may repeat; whole sentences may be gone."""
        ...
