"""What is assigned to a key of a scenario's model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo


def as_model(field: FieldInfo, value: Any) -> Any:
    """A table that is given as a `dict` as the model that it is, so that its keys can be set.

    One that is none stays as it is: the checker of scenario files refuses it in its own words.
    """
    if not isinstance(value, dict):
        return value
    kind: Any = Annotated[field.annotation, Field(discriminator=field.discriminator)]
    try:
        return TypeAdapter(kind).validate_python(value, strict=True)
    except ValidationError:
        return value
