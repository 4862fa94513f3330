"""LibreTranslate's requests and answers. The texts here are what the page of the API tells."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from regard.server.api.schema.texts import TEXTS, Body, Name, Text

Key = Name | None


class Asked(Body):
    """Fields that are not known are left alone, as LibreTranslate does: its clients send what other versions know."""

    model_config = ConfigDict(extra="ignore")


class Translate(Asked):
    """Texts to be translated."""

    q: Text | Annotated[list[Text], Field(max_length=TEXTS)] = Field(description="a text, or several")
    source: Name = Field(description="the code of its language, or auto")
    target: Name = Field(description="the code of the language to translate into")
    format: Literal["text", "html"] = Field("text", description="html: what stands between tags is translated")
    alternatives: int = Field(0, ge=0, le=20, description="how many other translations are wanted")
    api_key: Key = None
    secret: Key = Field(None, description="what LibreTranslate's own page sends; not used")


class Detect(Asked):
    """A text whose language is asked for."""

    q: Text
    api_key: Key = None


class Detected(BaseModel):
    """A language, and how sure that is, from 0 to 100."""

    confidence: float
    language: str


class Translated(BaseModel):
    """A translation, or one for each text."""

    translatedText: str | list[str]  # noqa: N815
    alternatives: list[Any] | None = None
    detectedLanguage: Detected | list[Detected] | None = None  # noqa: N815


class Language(BaseModel):
    """A language, and those that it can be translated into."""

    code: str
    name: str
    targets: list[str]


class TheirError(BaseModel):
    """Why there is no answer."""

    error: str
