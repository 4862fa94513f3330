"""Wikipedia's markup goes, its prose stays; sentences end where they end."""

import pytest

from regard.data.sentences import split_sentences
from regard.data.wiki import plain, read_wiki

PAGE = """  <page>
    <title>Bank</title>
    <text xml:space="preserve">{{Infobox|a={{b|c}}|d}}
A '''bank''' is the [[land|side]] of a [[river]].&lt;ref name=x&gt;Some [[book]].&lt;/ref&gt; It is often steep and wet.
== History ==
* a list of things that is not prose
[[Image:Bank.jpg|thumb|A [[bank]] seen from above.]]The oldest banks are said to be very old, e.g. the left one.
{| class=table
| a cell with quite a few words in it
|}
[[de:Ufer]] [[Category:Rivers]]</text>
  </page>
  <page><title>X</title>
    <text xml:space="preserve">#REDIRECT [[Bank]]</text></page>
  <page>
      <text>Short.</text>
  </page>
"""


def test_an_article_becomes_its_sentences() -> None:
    assert list(read_wiki(PAGE.splitlines(keepends=True))) == [
        [
            "A bank is the side of a river.",
            "It is often steep and wet.",
            "The oldest banks are said to be very old, e.g. the left one.",
        ]
    ]


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("[[a|b]] and [[c]]", "b and c"),
        ("see [http://x.org the site] or [http://y.org]", "see the site or "),
        ("a{{x|{{y}}}}b", "ab"),
        ("a &amp;mdash; b<br />c", "a — bc"),
        ("one <!-- two\nthree --> four", "one  four"),
        ("'''''both''''' it's", "both it's"),
        ("open {{brace", "open "),
    ],
)
def test_markup_goes(markup: str, text: str) -> None:
    assert plain(markup.replace("&amp;", "&")) == text


@pytest.mark.parametrize(
    ("paragraph", "sentences"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Smith met J. S. Bach at 5 p.m. They ate.", ["Dr. Smith met J. S. Bach at 5 p.m. They ate."]),
        ("It cost 3.50 euros. That is much.", ["It cost 3.50 euros.", "That is much."]),
        ('He said "Stop!" Then he left.', ['He said "Stop!"', "Then he left."]),
        ("我去银行。你去河岸吗？不去！", ["我去银行。", "你去河岸吗？", "不去！"]),
        ("他说：“好。”然后走了。", ["他说：“好。”然后走了。"]),
        ("no mark at all", ["no mark at all"]),
        ("  ", []),
    ],
)
def test_where_sentences_end(paragraph: str, sentences: list[str]) -> None:
    assert split_sentences(paragraph) == sentences
