"""A BERT whose texts CTranslate2 reads, for vectors of texts. Whatever else is asked of it, torch computes."""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.engines.installed import library
from regard.engines.opening import NAMES, Aside, Converted, Say, attends
from regard.tasks.encoder import Encoder


class CTranslate2Reader(nn.Module):
    """It stands where a `Bert` stands."""

    reader = "Encoder"

    def __init__(self, encoder: Encoder, converted: Converted, say: Say) -> None:
        super().__init__()
        self.name, self.bert = NAMES[converted.precision], encoder.bert
        self.aside, self.attends = Aside(self.name, say), attends(encoder.bert)
        converted.together = True
        self.converted = converted

    def forward(self, tokens: Int[Tensor, "B S"], lengths: Int[Tensor, "B"]) -> Float[Tensor, "B S D"]:
        """Each token in the light of all others."""
        if any(one.tap() is not None for one in self.attends):
            self.aside("attention")
            found: Tensor = self.bert(tokens, lengths)
            return found
        first = torch.zeros_like(tokens).tolist()  # all are of the first segment
        read = self.converted.open().forward_batch(_view(tokens), _view(lengths), first)
        return torch.from_numpy(np.array(read.last_hidden_state))


def _view(tensor: Tensor) -> Any:
    return library().StorageView.from_array(np.ascontiguousarray(tensor.numpy().astype(np.int32)))
