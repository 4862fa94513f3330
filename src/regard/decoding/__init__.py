"""Greedy search, beam search and sampling for every model that generates."""

from regard.decoding.banned import Banned
from regard.decoding.beam import Layer, beam, layers
from regard.decoding.distribution import Distribution
from regard.decoding.forced import Forced
from regard.decoding.forced_end import ForcedEnd
from regard.decoding.greedy import greedy, likeliest
from regard.decoding.log_probs import LogProbs
from regard.decoding.no_repeat import NoRepeat
from regard.decoding.penalised import Penalised
from regard.decoding.sampling import Draw, sample
from regard.decoding.search import Hypothesis, Request
from regard.decoding.sliding import Sliding, forgotten
from regard.decoding.stepper import Stepper
from regard.decoding.steps import Choice, Step, steps

__all__ = [
    "Banned",
    "Choice",
    "Distribution",
    "Draw",
    "Forced",
    "ForcedEnd",
    "Hypothesis",
    "Layer",
    "LogProbs",
    "NoRepeat",
    "Penalised",
    "Request",
    "Sliding",
    "Step",
    "Stepper",
    "beam",
    "forgotten",
    "greedy",
    "layers",
    "likeliest",
    "sample",
    "steps",
]
