"""HTML is cut where its tags are, and nowhere else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.server.api.markup import parsed


@pytest.mark.parametrize(
    ("html", "wanted"),
    [
        ("<p>One</p><!-- <b>old</b> --><p>Two</p>", "<p>ONE</p><!-- <b>old</b> --><p>TWO</p>"),
        ('<img alt="a -> b" src=x><p>Hello</p>', '<img alt="a -> b" src=x><p>HELLO</p>'),
        ("<a title='2 > 1'>so</a>", "<a title='2 > 1'>SO</a>"),
        ("<p don't>It's <b>so</b></p>", "<p don't>IT'S <b>SO</b></p>"),
        ("1 < 2 <!-- and on", "1 &LT; 2 &LT;!-- AND ON"),
        ("<!doctype html><p>a", "<!doctype html><p>A"),
        ("<code>x</code>y", "<code>x</code>Y"),
        ("no tags", "NO TAGS"),
    ],
)
def test_only_what_stands_between_tags_is_translated(html: str, wanted: str) -> None:
    markup = parsed(html)
    assert markup.filled([text.upper() for text in markup.texts]) == wanted.replace("&LT;", "&lt;")


@given(st.text("<>!-\"'/ab p", max_size=40))
def test_what_is_put_back_is_what_was_taken(html: str) -> None:
    assert "".join(parsed(html).pieces) == html
    assert len(parsed(html).pieces) % 2 == 1


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", ["<!--", '<a "', "<a '\"", "<", "<a ", "<!-- -->", "<a b='>"])
def test_no_page_takes_long(piece: str) -> None:
    html = piece * 100_000
    assert "".join(parsed(html).pieces) == html
