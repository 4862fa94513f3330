"""English and Chinese in one site: zh/x.md is the Chinese x.md, and each leads to the other."""

from typing import Any

CHINESE = "zh/"
COLOURS = {"en": ("To the dark colours", "To the light colours"), "zh": ("切换到深色", "切换到浅色")}


def counterpart(path: str) -> str:
    """The same page in the other language."""
    return path.removeprefix(CHINESE) if path.startswith(CHINESE) else CHINESE + path


def on_page_context(context: dict[str, Any], *, page: Any, config: Any, **_: Any) -> dict[str, Any]:
    """The theme speaks the page's language. The switch on top leads to this page in the other one, or to its first page
    where there is none."""
    path, known = page.file.src_uri, context["pages"]
    _speak("zh" if path.startswith(CHINESE) else "en", config.theme)
    urls = {file.src_uri: file.url for file in known}
    english, chinese = sorted((path, counterpart(path)), key=lambda each: each.startswith(CHINESE))
    config.extra["alternate"] = [
        {"name": "English", "lang": "en", "link": urls.get(english, urls["index.md"])},
        {"name": "中文", "lang": "zh", "link": urls.get(chinese, urls["zh/index.md"])},
    ]
    return context


def _speak(language: str, theme: Any) -> None:
    """What the theme itself says, from here on: pages are made one after another."""
    theme["language"] = language
    for colours, name in zip(theme["palette"], COLOURS[language], strict=True):
        colours["toggle"]["name"] = name
