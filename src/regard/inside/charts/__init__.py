"""What one step of each model is made of, as nodes and edges: a function per architecture, one table."""

from collections.abc import Callable

from torch import nn

from regard.inside.charts import blocks, recurrent
from regard.inside.charts.chart import Chart, Edge, Node, Part
from regard.models.bahdanau import Bahdanau
from regard.models.bert import BertClassifier, BertEncoder, BertForPretraining
from regard.models.classifier import RecurrentClassifier, TransformerClassifier
from regard.models.gpt2 import GPT2
from regard.models.luong import Luong
from regard.models.recurrent import Recurrent
from regard.models.transformer import Transformer

__all__ = ["CHARTS", "Chart", "Edge", "Node", "Part"]

CHARTS: dict[type[nn.Module], Callable[[Chart, Part], None]] = {
    Recurrent: recurrent.encoder_decoder,
    Bahdanau: recurrent.bahdanau,
    Luong: recurrent.luong,
    RecurrentClassifier: recurrent.classifier,
    Transformer: blocks.transformer,
    TransformerClassifier: blocks.classifier,
    BertForPretraining: blocks.bert,
    BertEncoder: blocks.bert,
    BertClassifier: blocks.bert_classifier,
    GPT2: blocks.gpt2,
}
"""Each draws the step that a `Part` holds the values of."""
