"""Our own requests and answers."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from regard.server.api.schema.texts import TEXTS, Body, Name, Text, Texts


class Classify(Body):
    """Texts, or pairs of texts, that have a class."""

    model: Name | None = None
    texts: Annotated[list[Text | tuple[Text, Text]], Field(min_length=1, max_length=TEXTS)]
    truncate: bool = Field(False, description="cut what is longer than the model can take")


class Class(BaseModel):
    label: str
    probability: float
    probabilities: dict[str, float]


class Classified(BaseModel):
    """The class of each text."""

    model: str
    classes: list[Class]


class Fill(Body):
    """A text with [MASK] where words are hidden."""

    model: Name | None = None
    text: Text
    top: int = Field(5, ge=1, le=100)


class Word(BaseModel):
    word: str
    probability: float


class Filled(BaseModel):
    """For each [MASK], the likeliest words."""

    model: str
    masks: list[list[Word]]


class Look(Body):
    """What is to be looked at: all attentions of all layers, or some of them."""

    model: Name | None = None
    text: Text
    second: Text | None = Field(
        None, description="the translation (the model's own if none is given), or a second text"
    )
    generate: int = Field(0, ge=0, le=1024, description="a language model: while it adds so many tokens")
    name: Name | None = Field(None, description='which attention: "cross", "encoder", "decoder.0.self" …')
    layer: int | None = Field(None, ge=0, le=1000)
    head: int | None = Field(None, ge=0, le=1000)
    words: bool = Field(False, description="tokens merged into words")
    most: int | None = Field(
        None,
        ge=1,
        description="if there are more weights than this, only one attention is sent, and the others are named",
    )
    view: Literal["weights", "rollout", "norms"] = Field(
        "weights",
        description="rollout: through all layers (Abnar & Zuidema 2020); norms: by what they bring (Kobayashi 2020)",
    )
    format: Literal["json", "uint8", "float16", "html"] = Field(
        "json",
        description="uint8 and float16: a safetensors file; the rows of tokens are JSON in its metadata; "
        "html: a page that needs nothing else",
    )


class Looked(BaseModel):
    """Rows of tokens; for each attention which rows it joins, and its weights by head."""

    rows: dict[str, Any]
    axes: dict[str, list[str]]
    weights: dict[str, list[Any]]
    meta: dict[str, Any]


class Tokenize(Body):
    """Texts whose tokens are asked for."""

    model: Name | None = None
    texts: Texts
    side: Literal["source", "target"] = Field("source", description="of a translator")


class Token(BaseModel):
    id: int
    text: str
    start: int
    end: int


class Tokenized(BaseModel):
    """For each text its tokens, with their places in it."""

    model: str
    tokens: list[list[Token]]


class About(BaseModel):
    """A model that is served."""

    name: str
    task: str
    architecture: str
    verbs: list[str]
    parameters: int
    limit: int | None
    langs: list[str] | None
    labels: list[str]
    engine: str
    scores: dict[str, str]
    examples: list[str]
    attends: bool


class Info(BaseModel):
    """The server and its models."""

    version: str
    models: list[About]


class Health(BaseModel):
    status: str


class OurError(BaseModel):
    """Why there is no answer: what happened, what was found, what was wanted, what to do."""

    error: str
    code: str
    found: str = ""
    wanted: str = ""
    do: str = ""
