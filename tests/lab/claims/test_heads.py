from collections.abc import Sequence
from typing import Any

import pytest

from regard.evaluation.challenges import Challenge, Side
from regard.lab.claims import heads
from regard.lab.claims.heads import (
    Head,
    Specialist,
    halves,
    least_gain,
    mixed,
    pruned,
    specialist,
    superfluous,
    who_did_what,
    worse,
)
from regard.tasks.pairs import EncodedPairs


def test_heads_are_superfluous_until_the_loss_first_rises_too_far() -> None:
    assert superfluous([1.0, 0.99, 1.05, 1.3, 1.02, 4.0]) == 2
    assert superfluous([1.0, 1.2]) == 0
    assert superfluous([1.0, 1.0, 1.0]) == 2


def test_two_starts_of_each_are_compared_and_the_control_has_one_of_each_kind() -> None:
    assert worse([1.0, 2.0, 1.5, 3.0]) == 2.0  # four, one, four again, one again
    assert mixed([1.0, 2.0, 1.0, 2.0]) == 1.0, "heads alone"
    assert mixed([1.0, 1.0, 2.0, 2.0]) == 1.0, "both start well, or both badly"
    assert mixed([2.0, 1.0, 1.0, 2.0]) == mixed([1.0, 2.0, 2.0, 1.0]) == 2.0


def chased(first: str, second: str, word: str = "chased") -> tuple[list[str], Challenge]:
    """The words of the first sentence as a trace has them, and the pair."""
    sides = [Side(source=text, target="x", key="x") for text in (first, second)]
    challenge = Challenge(phenomenon="who-chased-whom", word=word, first=sides[0], second=sides[1])
    return [*first.rstrip(".?").lower().split(), "", "</s>"], challenge


def test_partners_are_those_who_change_places() -> None:
    assert who_did_what(*chased("The lion chased a zebra.", "The zebra chased a lion.")) == (2, [1, 4])
    dreamed = chased("Tom dreamed that Jack chased Emma.", "Tom dreamed that Emma chased Jack.")
    assert who_did_what(*dreamed) == (4, [3, 5])


def test_a_name_and_a_noun_change_places_though_one_is_longer() -> None:
    helped = chased("Anna helped the teacher.", "The teacher helped Anna.", "helped")
    assert who_did_what(*helped) == (1, [0, 3])
    invited = "The hunter was invited by Jack on the square.", "Jack was invited by the hunter on the square."
    assert who_did_what(*chased(*invited, "invited")) == (3, [1, 5])


def test_where_the_verb_has_another_form_nobody_is_looked_for() -> None:
    assert who_did_what(*chased("Did the wolf find the cat?", "Did the cat find the wolf?", "found")) == (0, [])


def test_heads_are_removed_in_an_order_that_other_sentences_gave(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the one half the first head seems needless, on the other it is all that counts."""
    first, second = ("encoder.0.self", 0), ("encoder.0.self", 1)
    losses = {"chosen": {first: 1.0, second: 9.0}, "scored": {first: 9.0, second: 1.0}}

    def loss_without(translator: Any, pairs: Any, gone: Sequence[Head]) -> float:
        return 1.0 + sum(losses[pairs][head] for head in gone)

    monkeypatch.setattr(heads, "all_heads", lambda translator, pairs: [second, first])
    monkeypatch.setattr(heads, "loss_without", loss_without)
    given: Any = ("chosen", "scored")
    assert pruned(None, *given) == [1.0, 10.0, 11.0]  # type: ignore[arg-type]


def test_halves_have_no_pair_in_common() -> None:
    rows = [[number] for number in range(5)]
    one, other = halves(EncodedPairs(rows, rows))
    assert list(one.sources) == [[0], [2], [4]]
    assert list(other.targets) == [[1], [3]]


def test_heads_specialise_as_much_as_they_do_in_the_way_in_which_they_do_least() -> None:
    head: Head = ("encoder.0.self", 1)
    roles = {"before": Specialist(head, 0.75, 0.2), "itself": Specialist(head, 0.5, 0.2)}
    guessed = {"before": Specialist(head, 0.25, 0.2), "itself": Specialist(head, 0.75, 0.2)}
    assert least_gain(roles, guessed) == -0.25


def test_a_head_is_chosen_on_one_half_of_the_sentences_and_weighed_on_the_other() -> None:
    steady: Head = ("encoder.0.self", 1)
    lucky: Head = ("encoder.1.self", 0)
    seen = [{steady: 0.5, lucky: 0.75}, {steady: 0.5, lucky: 0.25}] * 3
    found = specialist(seen)
    assert (found.head, found.weight, found.mean) == (lucky, 0.25, 0.375)
    assert str(found) == "encoder.1.self, head 0: 0.25, all heads: 0.38"
