"""Greedy search, beam search and sampling for every model that generates."""

from regard.decoding.beam import beam
from regard.decoding.distribution import Distribution
from regard.decoding.greedy import greedy, likeliest
from regard.decoding.log_probs import LogProbs
from regard.decoding.penalised import Penalised
from regard.decoding.sampling import Draw, sample
from regard.decoding.search import Hypothesis, Request
from regard.decoding.sliding import Sliding, forgotten
from regard.decoding.stepper import Stepper
from regard.decoding.steps import Choice, Step, steps

__all__ = [
    "Choice",
    "Distribution",
    "Draw",
    "Hypothesis",
    "LogProbs",
    "Penalised",
    "Request",
    "Sliding",
    "Step",
    "Stepper",
    "beam",
    "forgotten",
    "greedy",
    "likeliest",
    "sample",
    "steps",
]
