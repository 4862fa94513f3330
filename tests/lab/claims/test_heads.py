from regard.evaluation.challenges import Challenge, Side
from regard.lab.claims.heads import Head, specialist, superfluous, who_did_what


def test_heads_are_superfluous_until_the_loss_first_rises_too_far() -> None:
    assert superfluous([1.0, 0.99, 1.05, 1.3, 1.02, 4.0]) == 2
    assert superfluous([1.0, 1.2]) == 0
    assert superfluous([1.0, 1.0, 1.0]) == 2


def test_partners_are_those_who_change_places() -> None:
    sides = [
        Side(source=text, target="x", key="x") for text in ("The lion chased a zebra.", "The zebra chased a lion.")
    ]
    challenge = Challenge(phenomenon="who-chased-whom", word="chased", first=sides[0], second=sides[1])
    labels = ["the", "lion", "chased", "a", "zebra", "", "</s>"]
    assert who_did_what(labels, challenge) == (2, [1, 4])
    assert who_did_what(["the", "lion", "hunts", "a", "zebra"], challenge) == (None, [1, 4])


def test_a_head_is_chosen_on_one_half_of_the_sentences_and_weighed_on_the_other() -> None:
    steady: Head = ("encoder.0.self", 1)
    lucky: Head = ("encoder.1.self", 0)
    seen = [{steady: 0.5, lucky: 0.75}, {steady: 0.5, lucky: 0.25}] * 3
    found = specialist(seen)
    assert (found.head, found.weight, found.mean) == (lucky, 0.25, 0.375)
    assert str(found) == "encoder.1.self, head 0: 0.25, all heads: 0.38"
