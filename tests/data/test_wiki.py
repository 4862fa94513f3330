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


MODERN = """  <page>
    <title>{title}</title>
    <ns>{space}</ns>
    <id>7</id>
    <revision>
      <comment>somebody has mended what was wrong here</comment>
      {text}
      <sha1>abc</sha1>
    </revision>
  </page>
"""


def modern(title: str, space: int, text: str) -> list[str]:
    """A page as dumps have it since 2012."""
    return MODERN.format(title=title, space=space, text=text).splitlines(keepends=True)


def test_a_text_that_closes_itself_is_empty() -> None:
    gone = modern("Gone", 0, '<text bytes="0" deleted="deleted" />')
    empty = modern("Empty", 0, '<text bytes="0" sha1="phoiac9h4m842xq45sp7s6u21eteeq1" xml:space="preserve"/>')
    bank = modern("Bank", 0, '<text bytes="9" xml:space="preserve">The bank is steep and wet.</text>')
    assert list(read_wiki([*gone, *empty, *bank])) == [["The bank is steep and wet."]]


@pytest.mark.parametrize("space", [-1, 1, 4, 10, 14, 828])
def test_pages_that_are_no_articles_are_left_out_where_pages_tell(space: int) -> None:
    text = "<text>The {} has quite a few words.\nAnd two lines.</text>"
    others = modern("Other", space, text.format("other"))
    articles = [*modern("Bank", 0, text.format("bank")), *modern("River", 0, text.format("river"))]
    found = [document[0] for document in read_wiki([*others, *articles[:10], *others, *articles[10:]])]
    assert found == ["The bank has quite a few words.", "The river has quite a few words."]


def test_a_page_that_tells_no_namespace_is_an_article_whatever_stands_before() -> None:
    template = modern("Template:X", 10, "<text>This template is not an article.</text>")
    assert list(read_wiki(template)) == []
    old = PAGE.splitlines(keepends=True)
    assert list(read_wiki([*template, *old])) == list(read_wiki(old)) != []
    one_line = ["<page><ns>10</ns><text>This template is not an article.</text></page>"]
    assert list(read_wiki([*one_line, "<page><text>This page is an article.</text></page>"])) == [
        ["This page is an article."]
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
        ("open {{brace\nand the next line\n\nand all others", "open "),
        ("open {{one {{two}} three\nnext", "open "),
        ("open {| table\n| cell\nand what follows", "open "),
        ("closed }} twice\nstays", "closed  twice\nstays"),
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
