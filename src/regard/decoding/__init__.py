"""One greedy and one beam search for every model that generates."""

from regard.decoding.beam import beam
from regard.decoding.greedy import greedy
from regard.decoding.search import Hypothesis, Request
from regard.decoding.stepper import Stepper

__all__ = ["Hypothesis", "Request", "Stepper", "beam", "greedy"]
