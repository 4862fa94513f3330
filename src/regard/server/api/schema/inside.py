"""What is asked of the inside of a model."""

from typing import Annotated, Literal

from pydantic import Field

from regard.server.api.schema.texts import Body, Name, Text

Place = Annotated[int, Field(ge=0, le=1_000_000)]
Forced = Annotated[list[Annotated[int, Field(ge=0, le=1 << 31)]], Field(max_length=1024)]
Format = Literal["json", "uint8", "float16"]


class Scene(Body):
    """What is looked at, as in /attention."""

    model: Name | None = None
    text: Text
    second: Text | None = Field(
        None, description="the translation (the model's own if none is given), or a second text"
    )
    generate: int = Field(0, ge=0, le=1024, description="a language model: while it adds so many tokens")


class Cell(Scene):
    """One row of one attention; the vectors of one cell of it."""

    name: Name = Field(description='the whole name of an attention: "decoder.0.cross"')
    head: Place = 0
    row: Place = Field(0, description="the token that asks, as /attention counts them")
    column: Place | None = Field(None, description="the token that is read; null: the one that gets most")


class Stepped(Scene):
    """One step: a word of a translation, a token of a text."""

    step: Place = 0


class Places(Body):
    """How many positions are wanted."""

    model: Name | None = None
    length: int = Field(64, ge=1, le=1 << 16)
    format: Literal["json", "float16"] = Field("json", description="float16: a safetensors file")


class Padded(Scene):
    """A text, and empty places beside it."""

    padding: int = Field(0, ge=0, le=64, description="so many empty places, as in a batch beside a longer text")


class Written(Body):
    """A text to be translated or continued, step by step."""

    model: Name | None = None
    text: Text
    forced: Forced = Field([], description="tokens that it begins with, whatever the model thinks of them")
    temperature: float = Field(0.0, ge=0, le=100, description="0: the likeliest; above: drawn")
    top_k: int | None = Field(None, ge=1)
    top_p: float = Field(1.0, gt=0, le=1)
    min_p: float = Field(0.0, ge=0, le=1)
    repetition_penalty: float = Field(1.0, gt=0, le=10)
    seed: int = Field(0, description="the same seed gives the same text")
    beam: int | None = Field(None, ge=1, le=20, description="null: as the model is used to")
    max_new_tokens: int | None = Field(None, ge=1, le=256, description="steps at most, the forced ones among them")
    top: int = Field(10, ge=1, le=20, description="so many of the likeliest tokens at each step")


class Searched(Body):
    """A text to be searched for."""

    model: Name | None = None
    text: Text
    forced: Forced = Field([], description="tokens that all hypotheses begin with")
    beam: int = Field(5, ge=1, le=20)
    max_new_tokens: int | None = Field(None, ge=1, le=256)
    attention: bool = Field(False, description="where it looked along a hypothesis")
    follow: Place = Field(0, description="which hypothesis; 0: the best")


class Ran(Body):
    """A model that was served from the directory of its run."""

    model: Name | None = None


class Checkpoint(Ran):
    """Where a model looked while it was trained."""

    update: Place
    sentence: Place = 0
    name: Name | None = None
    layer: int | None = Field(None, ge=0, le=1000)
    head: int | None = Field(None, ge=0, le=1000)
    words: bool = False
    most: int | None = Field(None, ge=1)
    view: Literal["weights", "rollout"] = "weights"
    format: Format = "json"


class Linked(Body):
    """A sentence whose links may be known."""

    model: Name | None = None
    text: Text
    second: Text | None = Field(None, description="its translation; null: the one of the corpus")
