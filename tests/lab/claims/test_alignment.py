from regard.evaluation.alignment import Gold, score_alignments
from regard.lab.claims.alignment import diagonal
from regard.tasks.word_texts import WordPair


def test_the_diagonal_runs_from_corner_to_corner() -> None:
    assert diagonal(WordPair.of_words("abc", "xyz")) == {(0, 0), (1, 1), (2, 2)}
    assert diagonal(WordPair.of_words("abcde", "xyz")) == {(0, 0), (2, 1), (4, 2)}
    assert diagonal(WordPair.of_words("a", "xy")) == {(0, 0), (0, 1)}
    assert diagonal(WordPair.of_words("ab", "x")) == {(0, 0)}


def test_the_diagonal_is_wrong_where_words_move() -> None:
    pair, gold = WordPair.of_words("abc", "xyz"), Gold.of([(0, 2), (1, 1), (2, 0)])
    assert score_alignments([diagonal(pair)], [gold]).aer == 1 - 2 / 6
