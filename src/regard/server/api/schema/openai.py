"""OpenAI's requests and answers."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field

from regard.server.api.schema.texts import TEXTS, Body, Name, Text, Texts, Tokens, whole

Stop = Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(whole)]


class StreamOptions(Body):
    include_usage: bool = False
    include_obfuscation: bool = False


class Completion(Body):
    """Texts to be continued."""

    model: Name
    prompt: (
        Text | Tokens | Texts | Annotated[list[Tokens], Field(min_length=1, max_length=TEXTS, fail_fast=True)] | None
    ) = Field(None, description="a text, several, or their tokens as /tokenize gives them; nothing begins a new text")
    max_tokens: int | None = Field(16, ge=0, le=16384, description="0, with echo: only the prompt is read")
    temperature: float | None = Field(1.0, ge=0, le=2, description="0: always the likeliest token")
    top_p: float | None = Field(1.0, gt=0, le=1)
    n: int | None = Field(1, ge=1, le=128, description="texts for each prompt")
    best_of: int | None = Field(None, ge=1, le=128, description="so many are written; the n likeliest are given")
    stop: Stop | Annotated[list[Stop], Field(max_length=16)] | None = Field(
        None, description="a text ends before the first of these"
    )
    seed: int | None = Field(None, description="the same seed gives the same texts")
    stream: bool | None = Field(False, description="server-sent events, as the text grows")
    stream_options: StreamOptions | None = None
    logprobs: int | None = Field(None, ge=0, le=20, description="so many of the likeliest tokens for each place")
    echo: bool | None = Field(False, description="with the prompt before the text, and its logprobs")
    user: Name | None = None
    top_k: int | None = Field(None, ge=1, description="ours: only so many of the likeliest tokens")
    min_p: float | None = Field(None, ge=0, le=1, description="ours: only those so many times as likely as the best")
    repetition_penalty: float | None = Field(None, ge=0.01, le=10, description="ours: above 1, less of what was said")
    truncate: bool = Field(False, description="ours: of a prompt that is too long, keep the end")
    frequency_penalty: float | None = Field(None, ge=0, le=0, description="only 0: use repetition_penalty")
    presence_penalty: float | None = Field(None, ge=0, le=0, description="only 0: use repetition_penalty")
    logit_bias: dict[str, float] | None = Field(None, max_length=0, description="only empty")
    suffix: str | None = Field(None, max_length=0, description="only empty")


class LogProbs(BaseModel):
    tokens: list[str]
    token_logprobs: list[float | None]
    top_logprobs: list[dict[str, float] | None] | None
    text_offset: list[int]


class Choice(BaseModel):
    text: str
    index: int
    logprobs: LogProbs | None
    finish_reason: Literal["stop", "length"] | None


class Usage(BaseModel):
    prompt_tokens: int
    completion_tokens: int = 0
    total_tokens: int


class Completed(BaseModel):
    """Texts that were continued."""

    id: str
    object: Literal["text_completion"]
    created: int
    model: str
    choices: list[Choice]
    usage: Usage | None = None


class Embed(Body):
    """Texts of which vectors are wanted."""

    model: Name
    input: Text | Texts
    encoding_format: Literal["float", "base64"] | None = "float"
    dimensions: int | None = Field(None, ge=1, description="the width of the model's vectors; no other can be had")
    user: Name | None = None
    truncate: bool = Field(False, description="ours: cut what is longer than the model can take")


class Embedding(BaseModel):
    object: Literal["embedding"]
    index: int
    embedding: list[float] | str


class Embeddings(BaseModel):
    """Vectors, in the order of their texts."""

    object: Literal["list"]
    model: str
    data: list[Embedding]
    usage: Usage


class Model(BaseModel):
    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class ModelList(BaseModel):
    object: Literal["list"]
    data: list[Model]


class OpenAIErrorFacts(BaseModel):
    message: str
    type: str
    param: str | None
    code: str | None


class OpenAIError(BaseModel):
    """Why there is no answer."""

    error: OpenAIErrorFacts
