from regard.evaluation.challenges import Challenge, Side
from regard.lab.claims.heads import superfluous, who_did_what


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
