import torch
from torch import Tensor

from regard.data.corpora.senses import BANK
from regard.evaluation.challenges import Challenge, Side
from regard.lab.claims.meaning import apart, by_clue, clue_of, looks_only_at_itself, nearer


def pairs(*sides: tuple[list[float], list[float]]) -> list[tuple[list[Tensor], list[Tensor]]]:
    """Of one layer."""
    return [([torch.tensor(first)], [torch.tensor(second)]) for first, second in sides]


def test_meanings_that_lie_apart_are_told_apart() -> None:
    seen = pairs(([0.0, 1.0], [0.0, -1.0]), ([0.3, 0.9], [0.1, -1.1]), ([0.2, 2.0], [0.0, -0.5]))
    assert apart(seen, given=[0, 1, 2]) == [1.0]


def test_who_only_copies_the_clue_is_not_told_apart() -> None:
    """With each clue goes a vector of its own, which says nothing of the meaning."""
    river, road, boat, account = torch.eye(4).tolist()
    seen = pairs((river, road), (river, road), (boat, account), (boat, account))
    assert apart(seen, given=[0, 1, 2, 3]) == [1.0]
    assert apart(seen, given=[0, 0, 1, 1]) == [0.5]


def test_sentences_with_the_same_clue_are_known_by_either_of_its_forms() -> None:
    def challenge(first: str, second: str) -> Challenge:
        sides = [Side(source=text, target="x", key="x") for text in (first, second)]
        return Challenge(phenomenon="bank", first=sides[0], second=sides[1])

    for number, (first, second) in enumerate(BANK.clues):
        assert clue_of(challenge(f"I wanted to {first.base}.", f"I wanted to {second.base}.")) == number
        begin, other = (f"{clue.gerund.capitalize()}, I saw the bank." for clue in (first, second))
        assert clue_of(challenge(begin, other)) == number


def test_each_pair_of_clues_is_told_by_itself() -> None:
    """Those with the second pair of clues lie where the others of the other meaning are."""
    seen = pairs(([1.0], [-1.0]), ([1.0], [-1.0]), ([-2.0], [2.0]))
    found = by_clue(seen, given=[0, 2, 1])
    assert list(found) == [f"{first.base} / {second.base}" for first, second in BANK.clues[:3]]
    assert list(found.values()) == [0.0, 0.0, 0.0]
    assert list(by_clue(seen[:2], given=[0, 2]).values()) == [1.0, 1.0]


def test_meanings_that_lie_crosswise_are_all_mistaken() -> None:
    """Each vector lies where the others of the other meaning are."""
    assert apart(pairs(([1.0], [-1.0]), ([-1.0], [1.0])), given=[0, 1]) == [0.0]


def test_where_both_sentences_give_the_same_vector_chance_decides() -> None:
    assert apart(pairs(([1.0], [1.0]), ([2.0], [2.0]), ([4.0], [4.0])), given=[0, 1, 2]) == [0.5]


def test_each_layer_is_judged_by_itself() -> None:
    same, different = torch.tensor([1.0]), torch.tensor([2.0])
    assert apart([([same, same], [same, different])] * 3, given=[0, 1, 2]) == [0.5, 1.0]


def test_without_context_each_word_gives_itself_all_weight() -> None:
    weights = torch.rand(2, 3, 4, 4)
    assert torch.equal(looks_only_at_itself("encoder.0.self", "weights", weights), torch.eye(4).expand(2, 3, 4, 4))
    assert looks_only_at_itself("encoder.0.self", "scores", weights) is weights


def test_how_much_nearer_its_own_clue_is_than_the_other() -> None:
    assert nearer({"own clue": [0.5, 0.75], "other clue": [0.5, 0.25]}) == [0.0, 0.5]
