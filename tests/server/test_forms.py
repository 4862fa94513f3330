"""Forms in parts, as a client writes them and as nobody should."""

from typing import Any

import pytest
import requests

from regard.server.api.forms import FIELDS, line, parts


def sent(*fields: tuple[str, str]) -> tuple[bytes, str]:
    """A body, and what it is said to be."""
    return prepared([(name, (None, value.encode())) for name, value in fields])


def prepared(files: list[tuple[str, Any]]) -> tuple[bytes, str]:
    request = requests.Request("POST", "http://a", files=files).prepare()
    assert isinstance(request.body, bytes)
    return request.body, request.headers["content-type"]


def test_fields_are_read_as_they_were_sent() -> None:
    text = 'two\r\nlines, "quotes", 河岸 🙂\r\n--not-a-boundary\n\0'
    assert parts(*sent(("q", text), ("source", ""), ("target", "de"))) == {"q": text, "source": "", "target": "de"}


def test_a_field_that_comes_several_times_is_a_list() -> None:
    assert parts(*sent(("q", "a"), ("q", "b"), ("target", "de"))) == {"q": ["a", "b"], "target": "de"}
    assert line("q=a&q=b+c&target=de&source=") == {"q": ["a", "b c"], "target": "de", "source": ""}


def test_a_file_is_the_text_that_it_holds() -> None:
    file = ("q", ("book.txt", "第一行\n".encode(), "text/plain"))
    assert parts(*prepared([file])) == {"q": "第一行\n"}


def test_bytes_that_are_no_text_are_replaced() -> None:
    body, kind = sent(("q", "@"))
    assert parts(body.replace(b"@", b"a\xffb"), kind) == {"q": "a\ufffdb"}


def test_a_form_of_no_fields_is_one() -> None:
    assert parts(b"--x--\r\n", "multipart/form-data; boundary=x") == {}


BODY = b'--x\r\nContent-Disposition: form-data; name="q"\r\n\r\na\r\n--x--\r\n'


@pytest.mark.parametrize(
    ("body", "kind", "told"),
    [
        (BODY, "multipart/form-data", "names no boundary"),
        (BODY, "multipart/form-data; boundary=", "names no boundary"),
        (BODY, "multipart/form-data; boundary=y", "begin and end"),
        (BODY[:-8], "multipart/form-data; boundary=x", "begin and end"),
        (b"", "multipart/form-data; boundary=x", "begin and end"),
        (BODY.replace(b'; name="q"', b""), "multipart/form-data; boundary=x", "no name"),
        (BODY.replace(b"\r\n\r\n", b"\r\n"), "multipart/form-data; boundary=x", "no name"),
    ],
)
def test_what_is_no_form_is_told(body: bytes, kind: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        parts(body, kind)


def test_only_so_many_fields_are_read() -> None:
    assert len(parts(*sent(*((f"q{i}", "a") for i in range(FIELDS))))) == FIELDS
    with pytest.raises(ValueError, match=f"more than {FIELDS}"):
        parts(*sent(*((f"q{i}", "a") for i in range(FIELDS + 1))))
