"""word2vec, skip-gram with negative sampling.

Mikolov et al. 2013, "Distributed Representations of Words and Phrases and their Compositionality", arXiv:1310.4546.

A word is one vector, whatever stands around it: *bank* is the same beside *river* and beside *money*. This is what the
models with attention are measured against. New then: no hidden layer and no softmax over the vocabulary; a word's
vector v must only tell the words near it from words drawn at random (eq. 4), so that a core reads millions of words a
minute.

    log σ(u(o)·v(c)) + Σ_k log σ(-u(k)·v(c))      c a word, o a word near it, k words of noise

Each word has two vectors: v, as the word that is looked from; and u, as a word that is near another.

Differs from the paper: it learns by Adam from large batches, not by plain gradient descent pair by pair; groups of
neighbouring words share their noise (see tasks/skip_grams.py); the weights that are learned are a twentieth of the
vectors. Adam moves every weight by about the learning rate, whatever the gradient: so scaled, the learning rate that
suits the other models suits this one, too. The paper keeps v and drops u; here a word's vector is v + u, as in GloVe
(Pennington et al. 2014).
"""

import torch
from jaxtyping import Float, Int
from pydantic import Field
from torch import Tensor, nn

from regard.sections import Section

SCALE = 20.0
"""A vector is so many times its weights. Of 5, 10, 20 and 40, 20 agreed best with people on the whole."""


class Word2VecConfig(Section):
    """Sizes; the preset `paper` has the paper's."""

    width: int = Field(100, gt=0, description="numbers in a word's vector")


PRESETS: dict[str, dict[str, object]] = {"small": {"width": 100}, "paper": {"width": 300}}


class Word2Vec(nn.Module):
    """Two vectors for each word; they start as word2vec's do: v small and random, u zero."""

    def __init__(self, config: Word2VecConfig, *, vocabulary: int) -> None:
        super().__init__()
        self.config = config
        self.words = nn.Parameter(torch.empty(vocabulary, config.width))
        self.near = nn.Parameter(torch.zeros(vocabulary, config.width))
        start = 0.5 / config.width / SCALE
        nn.init.uniform_(self.words, -start, start)

    def forward(self, centres: Int[Tensor, "G C"], others: Int[Tensor, "G M"]) -> Float[Tensor, "G C M"]:
        """v(c)·u(o) for each centre c and each other word o of its group."""
        v, u = nn.functional.embedding(centres, self.words), nn.functional.embedding(others, self.near)
        return torch.bmm(v * SCALE**2, u.transpose(1, 2))

    def vectors(self) -> Float[Tensor, "V D"]:
        """v + u of each word: what the model is for.

        (v + u)·(v' + u') = v·v' + u·u' + v·u' + u·v': words are alike that have the same words near them, and more so
        if they stand near each other (Levy, Goldberg & Dagan 2015).
        """
        return (self.words + self.near).detach() * SCALE


class GivenVectors(nn.Module):
    """The vectors of words as somebody has made them, to be used and not to be trained."""

    def __init__(self, words: Float[Tensor, "V D"]) -> None:
        super().__init__()
        self.words = nn.Parameter(words, requires_grad=False)

    def vectors(self) -> Float[Tensor, "V D"]:
        """They are what the model is for."""
        return self.words.detach()
