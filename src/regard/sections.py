"""A section of settings: what a part of the package declares that it can be told. Each owner declares its own."""

from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from regard.config import nearest
from regard.errors import ConfigError

S = TypeVar("S", bound="Section")


class Section(BaseModel):
    """The parent of every section: frozen, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @classmethod
    def parse(cls: type[S], values: object, *, where: str = "") -> S:
        """The section made of `values`; what is wrong with them is told in our words."""
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise _told(error, cls, where) from None


def _told(error: ValidationError, section: type[BaseModel], where: str) -> ConfigError:
    first = error.errors()[0]
    path = [str(part) for part in first["loc"]]
    key = ".".join([where, *path] if where else path)
    if first["type"] == "extra_forbidden":
        owner = _owner(section, path[:-1])
        return ConfigError(f"There is no setting called {key}.", do=nearest(path[-1], owner.model_fields))
    if first["type"] == "missing":
        return ConfigError(f"The setting {key} is missing.", do=f"add {key}=…")
    message = str(first["msg"]).removeprefix("Value error, ").removeprefix("Assertion failed, ")
    found = "" if first["type"] in ("value_error", "assertion_error") else repr(first["input"])
    return ConfigError(f"The setting {key or where or 'file'} cannot be used: {message}", found=found)


def _owner(section: type[BaseModel], path: list[str]) -> type[BaseModel]:
    for part in path:
        field = section.model_fields.get(part)
        if field is None or not isinstance(field.annotation, type) or not issubclass(field.annotation, BaseModel):
            return section
        section = field.annotation
    return section
