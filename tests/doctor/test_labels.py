"""Labels are counted as a Counter counts them, and those that only look different are found."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.doctor.labels import Labels, alike, folded
from regard.doctor.repeats import Split
from regard.doctor.survey import Survey

Names = list[str]
names = st.lists(st.sampled_from(["a", "b", "c", "d", "e"]), max_size=30)


def split(labels: Names, cut: int = 0) -> Split:
    """As if these labels were read from two files."""
    surveys = []
    for part in (labels[:cut], labels[cut:]):
        survey = Survey("train", ("t.tsv",))
        survey.classes = tuple(dict.fromkeys(part))
        survey.labels = np.array([survey.classes.index(label) for label in part])
        survey.lines = np.arange(1, len(part) + 1)
        surveys.append(survey)
    return Split("train", surveys)


@given(names, st.integers(0, 10))
def test_labels_of_several_files_are_counted_and_found_again(labels: Names, cut: int) -> None:
    found, expected = Labels.of(split(labels, cut)), Counter(labels)
    assert found.counts == dict(expected)
    assert list(found.counts) == sorted(expected, key=lambda label: (-expected[label], label))
    for label in expected:
        assert found.rows([label]).tolist() == [row for row, each in enumerate(labels) if each == label]
        assert found.first(label) == labels.index(label)
        assert found.share(label) == expected[label] / len(labels)
    assert found.rows(["a", "e", "none"]).tolist() == [row for row, label in enumerate(labels) if label in "ae"]
    assert found.share("none") == 0


@pytest.mark.parametrize(
    "group",
    [
        ["Spam", "spam", "SPAM", "spam.", "(spam)", '"spam"', "spam\u200b", "ｓｐａｍ"],
        ["not spam", "Not-Spam", "not_spam", "not  spam", "NotSpam", "not/spam", "not\xa0spam"],
        ["class 1", "Class1", "class_1"],
        ["好评", "好评。", "「好评」"],
    ],
)
def test_case_space_and_punctuation_make_no_other_label(group: Names) -> None:
    assert alike([*group, "another"]) == [group]


@pytest.mark.parametrize(
    "labels",
    [
        ["-1", "0", "1", "+1"],
        ["1", "1.5", "15", ".5", "5", "1-5", "1 5", "1/5"],
        ["<50", ">50", "=50"],
        ["C", "C++", "C#", "F#", "F"],
        ["+", "-", "?", "!", "..."],
        [":-)", ":-(", ":)", ":("],
        ["A+", "A", "A-"],
        ["x1", "x-1", "x2"],
        ["ham", "spam", "schön", "schon"],
        ["好", "坏"],
    ],
)
def test_what_means_something_else_stays_apart(labels: Names) -> None:
    assert alike(labels) == []


@given(st.text("aB1 _-.,:+#'()", min_size=1, max_size=8))
def test_what_was_folded_is_folded_for_good(label: str) -> None:
    assert folded(folded(label).upper()) == folded(f" {label} ") == folded(label)
