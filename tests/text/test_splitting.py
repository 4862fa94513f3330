"""Lines into sentences and back, over-long sentences into pieces."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.text.splitting import Parts, cut_to_fit, separator, split

LINES: dict[str, tuple[str, list[str]]] = {
    "plain": ("en", ["It rains.", "Does it?", "Yes!", "We stay…", "All of us."]),
    "titles and initials": ("en", ["Mr. Smith met Dr. J. S. Bach in St. Louis.", "They ate."]),
    "e.g. and i.e.": ("en", ["Take fruit, e.g. Apples or i.e. Pears.", "Fine."]),
    "numbers": ("en", ["It costs 3.5 dollars, see Fig. 3 and No. 5 of Oct. 12.", "He said no.", "In 1990."]),
    "acronyms": ("en", ["The U.S. Army has a Ph.D. Student.", "At 5 p.m. they left."]),
    "apostrophes": ("en", ["I don't.", "He does.", "It's o'clock."]),
    "quotes": ("en", ['He said "Go."', '"Fine," she said.', "(It was.)", "“Good.”", "‘Yes.’"]),
    "a question inside": ("en", ["“Really?” he asked.", "“Yes.”"]),
    "web": ("en", ["See www.example.org for it.", "Write to a.b@c.de."]),
    "list items": ("en", ["1. First comes this.", "2. Then that."]),
    "no capitals": ("en", ["hello there.", "how are you?", "fine, e.g. me."]),
    "german": ("de", ["Das gilt z. B. bzw. d. h. ab ca. 3. Mai.", "Hr. Li zahlt 5 Mio. Euro.", "„Gut!“", "Ende."]),
    "german addresses": ("de", ["Er wohnt Goethestr. 12 bzw. in Nr. 7 dort.", "Ludwig XIV. König usw.", "Schön."]),
    "french": ("fr", ["M. Dupont arrive.", "«\u00a0Bonjour.\u00a0»", "Il part\u202f!", "Oui."]),
    "spanish": ("es", ["El Sr. Gómez vive en EE.UU. Desde ayer.", "¿Sí?", "¡No!"]),
    "russian": ("ru", ["Это, т. е. так, им. Ленина.", "Он ушёл."]),
    "arabic": ("ar", ["هل تسمع؟", "نعم."]),
    "hindi": ("hi", ["वह गया।", "वह आया।"]),
    "an unknown language": ("", ["Dr. Li bzw. Mr. Wu came.", "They left."]),
}  # fmt: skip
WITHOUT_SPACES: dict[str, tuple[str, list[str]]] = {
    "chinese": ("zh", ["今天下雨。", "真的吗？", "真的！", "我们走吧。"]),
    "chinese speech": ("zh", ["他说：“你好！”然后走了。", "“再见。”", "“好。”"]),
    "chinese with foreign marks": ("zh", ["你好!", "再见?", "好。"]),
    "a run of marks": ("zh", ["什么？！", "真的！！", "好……吧。"]),
    "japanese": ("ja", ["「はい。」と言った。", "そうです。", "次は『本』です。"]),
    "japanese without a name": ("", ["そうです。", "はい。"]),
}


@pytest.mark.parametrize("name", LINES)
def test_sentences_of_languages_with_spaces(name: str) -> None:
    language, sentences = LINES[name]
    assert list(split(" ".join(sentences), language).sentences) == sentences


@pytest.mark.parametrize("name", WITHOUT_SPACES)
def test_sentences_of_languages_without_spaces(name: str) -> None:
    language, sentences = WITHOUT_SPACES[name]
    assert list(split("".join(sentences), language).sentences) == sentences


@pytest.mark.parametrize("code", ["de", "deu", "ger", "de-AT", "DE_de"])
def test_a_language_may_be_called_by_its_longer_names(code: str) -> None:
    assert len(split("Am 3. Oktober.", code).sentences) == 1
    assert len(split("Am 3. Oktober.", "en").sentences) == 2


TEXT = st.text(st.sampled_from("aB1 .!?\"'“”。！，、 \u3000\t猫あé;:—…(\u00a0"), max_size=40)


def whole(parts: Parts) -> str:
    return "".join(space + text for space, text in zip(parts.spaces, (*parts.sentences, ""), strict=True))


@settings(deadline=None)
@given(TEXT | st.text(max_size=30), st.sampled_from(["", "en", "de", "zh", "fr"]))
def test_nothing_of_a_line_is_lost(line: str, language: str) -> None:
    parts = split(line, language)
    assert whole(parts) == line
    assert len(parts.spaces) == len(parts.sentences) + 1
    assert all(space.isspace() or not space for space in parts.spaces)
    assert all(sentence == sentence.strip() != "" for sentence in parts.sentences)


@settings(deadline=None)
@given(TEXT, st.integers(1, 12))
def test_pieces_fit_and_nothing_is_lost(line: str, most: int) -> None:
    parts = split(line).fitted(lambda text: len(text) <= most)
    assert whole(parts) == line
    assert all(0 < len(piece) <= most for piece in parts.sentences)


def at_most(count: int) -> Callable[[str], bool]:
    return lambda text: len(text) <= count


@pytest.mark.parametrize(
    ("text", "most", "pieces"),
    [
        ("short", 9, ["short"]),
        ("one two, three four; five six seven", 24, ["one two, three four;", "five six seven"]),
        ("one two three, four five six seven", 20, ["one two three,", "four five six seven"]),
        ("one two three four five", 12, ["one two", "three four", "five"]),
        ("a, bcdefghijklm nopq", 16, ["a, bcdefghijklm", "nopq"]),  # the comma is too far from the end
        ("一二三四五六，七八九十一二", 9, ["一二三四五六，", "七八九十一二"]),
        ("一二三四五六七八九十", 4, ["一二三四", "五六七八", "九十"]),
        ("e\u0301" * 4, 3, ["e\u0301", "e\u0301", "e\u0301", "e\u0301"]),  # a letter keeps its accent
        ("x" * 1000, 300, ["x" * 300, "x" * 300, "x" * 300, "x" * 100]),
    ],
)
def test_a_long_sentence_is_cut_at_the_best_place(text: str, most: int, pieces: list[str]) -> None:
    assert list(cut_to_fit(text, at_most(most)).sentences) == pieces


def test_a_line_without_a_space_is_cut_without_looking_at_all_of_it_each_time() -> None:
    looked = 0

    def fits(text: str) -> bool:
        nonlocal looked
        looked += len(text)
        return len(text) <= 200

    assert len(cut_to_fit("x" * 100_000, fits).sentences) == 500
    assert looked < 500 * 10_000


@pytest.mark.parametrize(
    ("line", "translations", "language", "wanted"),
    [
        ("  One.  Two.\t", ["Eins.", "Zwei."], "de", "  Eins.  Zwei.\t"),
        ("One. Two.", ["一。", "二。"], "zh", "一。二。"),
        ("One. Two.", ["一。", "二。"], "", "一。二。"),
        ("One. “Two.”", ["一。", "“二。”"], "", "一。“二。”"),
        ("一。二。", ["One.", "Two."], "en", "One. Two."),
        ("一。二。", ["One.", "“Two.”"], "", "One. “Two.”"),
        ("一。\u3000二。", ["One.", "Two."], "en", "One. Two."),
        ("一。\u3000二。", ["あ。", "い。"], "ja", "あ。\u3000い。"),
        ("One.\tTwo.", ["一。", "二。"], "zh", "一。\t二。"),
        ("One. Two. Three.", ["Eins.", "", "Drei."], "de", "Eins. Drei."),
        (" One. Two.", ["", "Zwei."], "de", " Zwei."),
        ("One.", [""], "de", ""),
    ],
)
def test_translations_are_joined_as_their_language_does(
    line: str, translations: list[str], language: str, wanted: str
) -> None:
    assert split(line, "en").joined(translations, language) == wanted


def test_a_line_of_white_space_stays_one() -> None:
    for line in ("", "   ", "\t \u3000"):
        assert split(line) == Parts((), (line,))
        assert split(line).joined([]) == line


@pytest.mark.parametrize(
    "line", [".»" * 5000 + "x", "." + "»" * 5000 + "x", "." * 50_000 + "x", "Mr. " * 5000, " " * 50_000 + "x"]
)
@pytest.mark.timeout(30)
def test_no_line_takes_long(line: str) -> None:
    assert split(line, "en").sentences == (line.strip(),)


def test_sentences_without_a_space_get_one_where_it_is_needed() -> None:
    assert separator("", "Yes.", "en") == " "
    assert separator("", "是。", "zh") == ""
    assert separator(" ", "是。", "mul") == separator(" ", "はい。", "jap") == separator(" ", "是。", "cmn_Hans") == ""
    assert separator("", "Yes.", "mul") == " "
