"""Keys, foreign pages, headers, and what is said when a server is open to everybody."""

import http.client
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import openai
import pytest
from libretranslatepy import LibreTranslateAPI

from regard.errors import ConfigError
from regard.server.settings import Keys
from tests.server.serving import Running, served

KEY = "correct-horse"


@pytest.fixture(scope="module")
def guarded(models: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    path = tmp_path_factory.mktemp("keys") / "keys.txt"
    path.write_text(f"# ours\n\n{KEY}\nanother-key\n")
    with served(models["en-de"], words=("--api-key-file", path)) as running:
        yield running


def test_a_key_fits_or_does_not() -> None:
    keys = Keys(["one", "two"])
    assert keys
    assert keys.fit("one")
    assert keys.fit("two")
    assert not any(keys.fit(wrong) for wrong in ("", "on", "onee", "three", "\ud800"))
    assert not Keys()


def test_keys_are_read_as_any_editor_writes_them(tmp_path: Path) -> None:
    (tmp_path / "keys.txt").write_bytes("\ufeffone\r\n  two  \r\n#three\r\n".encode())
    keys = Keys.read(tmp_path / "keys.txt")
    assert [keys.fit(given) for given in ("one", "two", "three", "#three", "")] == [True, True, False, False, False]


@pytest.mark.parametrize("key", ["schlüssel", "two words", "a" * 201])
def test_a_key_that_no_header_can_hold_is_refused(key: str, tmp_path: Path) -> None:
    (tmp_path / "keys.txt").write_text(f"good\n\n{key}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="Key 2 in .* could never be sent"):
        Keys.read(tmp_path / "keys.txt")


def test_a_file_without_keys_is_refused(tmp_path: Path) -> None:
    (tmp_path / "none.txt").write_text("# nothing\n\n")
    with pytest.raises(ConfigError, match="no key in"):
        Keys.read(tmp_path / "none.txt")
    with pytest.raises(ConfigError, match="cannot be read"):
        Keys.read(tmp_path / "nowhere.txt")


@pytest.mark.parametrize("path", ["/info", "/metrics", "/v1/models"])
def test_without_a_key_nothing_is_told(guarded: Running, path: str) -> None:
    assert guarded.get(path)[0] == 401
    assert guarded.get(path, {"authorization": "Bearer wrong"})[0] == 401
    assert guarded.get(path, {"authorization": f"Bearer {KEY}"})[0] == 200
    assert guarded.get(path, {"x-api-key": "another-key"})[0] == 200


def test_whether_it_lives_may_be_asked_by_anybody(guarded: Running) -> None:
    open_to_all = ("/health", "/ready", "/docs", "/openapi.json", "/languages")
    assert [guarded.get(path)[0] for path in open_to_all] == [200] * 5


def test_real_clients_bring_their_key(guarded: Running) -> None:
    libre = LibreTranslateAPI(guarded.address, KEY)
    assert [language["code"] for language in libre.languages()] == ["en", "de"]
    assert libre.translate("a b", "en", "de")
    with openai.OpenAI(base_url=f"{guarded.address}/v1", api_key=KEY, max_retries=0) as client:
        assert [model.id for model in client.models.list()] == ["en-de"]
    with (
        openai.OpenAI(base_url=f"{guarded.address}/v1", api_key="wrong", max_retries=0) as client,
        pytest.raises(openai.AuthenticationError, match="missing or wrong"),
    ):
        client.models.list()


def test_a_wrong_key_in_the_body_is_told_in_libretranslates_shape(guarded: Running) -> None:
    for body in (
        {"q": "a", "source": "en", "target": "de"},
        {"q": "a", "source": "en", "target": "de", "api_key": "x"},
    ):
        status, found = guarded.post("/translate", body)
        assert (status, list(found)) == (401, ["error"])


def headers_of(server: Running, path: str, method: str = "GET", **sent: str) -> tuple[int, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request(method, path, headers={name.replace("_", "-"): value for name, value in sent.items()})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}


@pytest.mark.parametrize("path", ["/docs", "/info", "/nothing"])
def test_every_answer_has_the_headers_that_keep_pages_out(server: Running, path: str) -> None:
    _, found = headers_of(server, path)
    assert found["x-content-type-options"] == "nosniff"
    assert found["x-frame-options"] == "DENY"
    assert found["content-security-policy"].startswith("default-src 'none'")
    assert "server" not in found
    assert not any(name.startswith("access-control-") for name in found)


def test_pages_of_other_origins_may_not_ask(server: Running) -> None:
    host = f"127.0.0.1:{server.port}"
    assert headers_of(server, "/info", Origin="https://evil.example")[0] == 403
    assert headers_of(server, "/info", Origin="null")[0] == 403
    assert headers_of(server, "/info", Origin="http://[")[0] == 403
    assert headers_of(server, "/info", Origin=f"http://{host}")[0] == 200


def test_pages_of_an_origin_that_was_named_may_ask_and_read(models: dict[str, Path], tmp_path: Path) -> None:
    page = "https://notes.example"
    (tmp_path / "keys.txt").write_text(KEY)
    words = ("--allow-origin", page, "--api-key-file", tmp_path / "keys.txt")
    with served(models["en-de"], words=words) as running:
        status, found = headers_of(running, "/translate", "OPTIONS", Origin=page, Access_Control_Request_Method="POST")
        assert (status, found["access-control-allow-origin"]) == (204, page)
        assert "authorization" in found["access-control-allow-headers"]
        asked = {"Access_Control_Request_Method": "POST", "Access_Control_Request_Headers": "x-stainless-os"}
        assert headers_of(running, "/v1/models", "OPTIONS", Origin=page, **asked)[1][
            "access-control-allow-headers"
        ] == ("x-stainless-os")
        status, found = headers_of(running, "/info", Origin=page, Authorization=f"Bearer {KEY}")
        assert (status, found["access-control-allow-origin"], found["vary"]) == (200, page, "origin")
        assert headers_of(running, "/info", Origin=page)[0] == 401
        other = headers_of(running, "/info", Origin="https://evil.example", Authorization=f"Bearer {KEY}")[1]
        assert "access-control-allow-origin" not in other
    with served(models["en-de"], words=("--allow-origin", page)) as running:
        assert headers_of(running, "/info", Origin=page)[0] == 200
        assert headers_of(running, "/info", Origin="https://evil.example")[0] == 403


def test_a_name_that_was_made_up_for_this_machine_is_refused(server: Running, guarded: Running) -> None:
    assert headers_of(server, "/info", Host="evil.example")[0] == 403
    assert headers_of(server, "/info", Host="[")[0] == 403
    assert headers_of(server, "/info", Host=f"localhost:{server.port}")[0] == 200
    assert headers_of(guarded, "/info", Host="translate.example.org", Authorization=f"Bearer {KEY}")[0] == 200


def test_a_probe_that_names_no_host_is_answered(server: Running) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(b"GET /health HTTP/1.0\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 200")


def test_to_be_open_to_everybody_is_said_loudly(models: dict[str, Path]) -> None:
    with served(models["en-de"], words=("--host", "0.0.0.0")) as running:
        assert "WARNING: EVERYBODY WHO CAN REACH 0.0.0.0" in "".join(running.log)
        assert running.get("/health")[0] == 200


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--allow-origin", "*"), "--allow-origin * cannot be used"),
        (("--allow-origin", "https://a.example/page"), "--allow-origin https://a.example/page cannot be used"),
        (("--port", "99999"), "--port 99999 cannot be used"),
        (("--timeout", "0"), "--timeout 0.0 cannot be used"),
        (("--max-concurrent", "0"), "--max-concurrent 0 cannot be used"),
        (("--api-key-file", "nowhere.txt"), "keys in nowhere.txt cannot be read"),
        (("--host", "no.such.host.invalid"), "Nothing can be served at"),
    ],
)
def test_mistakes_are_told_before_anything_is_loaded(words: tuple[str, ...], told: str) -> None:
    code, err = failed("nowhere", *words)
    assert code == 1
    assert told in err


def test_a_model_that_is_not_there_is_told(tmp_path: Path, models: dict[str, Path]) -> None:
    code, err = failed(str(models["en-de"]), str(tmp_path / "nowhere"), "--port", "0")
    assert code == 1
    assert "There is no model directory" in err
    assert "Traceback" not in err


def failed(*words: str) -> tuple[int, str]:
    """Exit code and what is said."""
    command = [sys.executable, "-m", "regard", "serve", *words]
    found = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ}, check=False)
    return found.returncode, found.stderr


def test_the_server_itself_needs_no_torch() -> None:
    code = "import sys, regard.server.app, regard.cli.serve; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
