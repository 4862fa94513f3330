"""English and Chinese in one site: zh/x.md is the Chinese x.md, and each leads to the other."""

from typing import Any

CHINESE = "zh/"
LANG = '<html lang="en"'


def counterpart(path: str) -> str:
    """The same page in the other language."""
    return path.removeprefix(CHINESE) if path.startswith(CHINESE) else CHINESE + path


def on_page_context(context: dict[str, Any], *, page: Any, config: Any, **_: Any) -> dict[str, Any]:
    """The switch on top leads to this page in the other language, or to its first page where there is none."""
    path, known = page.file.src_uri, context["pages"]
    urls = {file.src_uri: file.url for file in known}
    english, chinese = sorted((path, counterpart(path)), key=lambda each: each.startswith(CHINESE))
    config.extra["alternate"] = [
        {"name": "English", "lang": "en", "link": urls.get(english, urls["index.md"])},
        {"name": "中文", "lang": "zh", "link": urls.get(chinese, urls["zh/index.md"])},
    ]
    return context


def on_post_page(output: str, *, page: Any, **_: Any) -> str:
    chinese = page.file.src_uri.startswith(CHINESE)
    return output.replace(LANG, '<html lang="zh"', 1) if chinese else output
