"""Which language a text is in."""

import pytest

from regard.text.detection import KEPT, detect, profile, profile_of_pieces

GERMAN = [
    "Der Löwe, der das Zebra jagte, war am Abend sehr müde.",
    "Wo ist das Haus, das am Ufer des Flusses steht?",
    "Sie wollte uns nicht sagen, warum sie gestern nicht gekommen ist.",
    "Ich habe die Zeitung gelesen und dann das Fenster geschlossen.",
]
ENGLISH = [
    "The lion that chased the zebra was very tired in the evening.",
    "Where is the house that stands on the bank of the river?",
    "She would not tell us why she had not come yesterday.",
    "I have read the newspaper and then I closed the window.",
]
CHINESE = [
    "追赶斑马的狮子晚上很累。",
    "站在河边的房子在哪里？",
    "她不愿意告诉我们她昨天为什么没有来。",
    "我看了报纸，然后关上了窗户。",
]
PROFILES = {"de": profile(GERMAN), "en": profile(ENGLISH), "zh": profile(CHINESE)}


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The window of the house was closed.", "en"),
        ("Das Fenster war geschlossen.", "de"),
        ("窗户在哪里？", "zh"),
        ("THE RIVER!", "en"),
        ("狮子 2024", "zh"),
        ("Warum nicht?", "de"),
    ],
)
def test_sentences_that_were_not_seen_are_told_apart(text: str, language: str) -> None:
    found = detect(text, PROFILES)
    assert found[0][0] == language
    assert found[0][1] > 0.5
    assert [confidence for _, confidence in found] == sorted((c for _, c in found), reverse=True)
    assert sum(confidence for _, confidence in found) <= 1 + 1e-9


@pytest.mark.parametrize("text", ["", "12 : 34", "🎈🎈", "...", "\x00"])
def test_a_text_without_letters_is_in_no_language(text: str) -> None:
    assert detect(text, PROFILES) == [("de", 0.0), ("en", 0.0), ("zh", 0.0)]


def test_a_language_that_nobody_knows_is_not_taken_for_another() -> None:
    assert detect("Где находится дом у реки?", PROFILES)[0][1] == 0
    assert detect("Where?", {}) == []


def test_a_profile_holds_shares_of_a_million_and_is_not_too_large() -> None:
    found = profile(["aab"])
    assert found[" "] == 400_000  # " aab ": 2 of 5
    assert found["a"] == 400_000
    assert found["aa"] == 250_000
    assert found["aab"] == 333_333
    many = profile([chr(0x4E00 + number) for number in range(3000)])
    assert len(many) == KEPT
    assert all(0 < share <= 1_000_000 for share in many.values())
    assert profile([]) == {}


def test_the_order_of_texts_changes_nothing() -> None:
    assert list(profile(GERMAN).items()) == list(profile(GERMAN[::-1]).items())


HELD_OUT = {
    "de": """Das Boot lag am Ufer und wartete auf uns.
Gestern Abend haben wir lange über das Buch gesprochen.
Kannst du mir bitte die Tür öffnen?
Im Winter ist der See zugefroren.
Die Kinder spielen hinter dem Haus im Garten.
Er hat seinen Schlüssel im Büro vergessen.
Wir fahren morgen mit dem Zug nach Hause.
Niemand wusste, wann der Arzt zurückkommt.
Der alte Mann las jeden Morgen die Zeitung.
Das ist nicht so schwer, wie es aussieht.""",
    "en": """The boat lay on the bank and waited for us.
Last night we talked about the book for a long time.
Could you open the door for me, please?
In winter the lake is frozen.
The children are playing behind the house.
He has left his key in the office.
Tomorrow we will go home by train.
Nobody knew when the doctor would be back.
The old man read the newspaper every morning.
It is not as hard as it looks.""",
    "zh": """船停在河边等我们。
昨天晚上我们谈这本书谈了很久。
请你帮我开一下门好吗？
冬天湖面结了冰。
孩子们在房子后面的花园里玩。
他把钥匙忘在办公室了。
我们明天坐火车回家。
没有人知道医生什么时候回来。
那位老人每天早上看报纸。
这没有看上去那么难。""",
}


def test_of_sentences_in_three_languages_nearly_all_are_told_apart() -> None:
    """What bench/detection.py measures on thousands of lines."""
    texts = [(text, language) for language, some in HELD_OUT.items() for text in some.split("\n")]
    right = sum(detect(text, PROFILES)[0][0] == language for text, language in texts)
    assert right / len(texts) >= 0.95


def test_pieces_of_words_make_a_profile_as_texts_do() -> None:
    """Of words that are whole pieces, nothing but the pairs across them is lost."""
    words = [(f" {word}", 2.0) for text in ENGLISH for word in text.lower().strip(".?").split()]
    found, whole = profile_of_pieces(words), profile(ENGLISH)
    assert abs(found["t"] - whole["t"]) < 0.2 * whole["t"]
    assert found.keys() < whole.keys() | {" "}
    spelt = {"en": found, "de": profile_of_pieces((f" {word}", 1.0) for text in GERMAN for word in text.split())}
    assert [detect(text, spelt)[0][0] for text in ("The window of the house", "Das Fenster")] == ["en", "de"]
