"""What the bodies of requests are made of."""

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

TEXTS = 2048
"""Most texts of a request."""
HALVES = re.compile("[\ud800-\udfff]")


def whole(text: str) -> str:
    """Half characters (lone surrogates), which have no bytes, become �."""
    return HALVES.sub("\ufffd", text)


Text = Annotated[str, AfterValidator(whole)]
Name = Annotated[str, Field(max_length=200), AfterValidator(whole)]
Texts = Annotated[list[Text], Field(min_length=1, max_length=TEXTS, fail_fast=True)]
Tokens = Annotated[list[int], Field(min_length=1, max_length=1 << 16, fail_fast=True)]


class Body(BaseModel):
    """Whatever is not known is refused, so that nothing is asked for in vain."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
