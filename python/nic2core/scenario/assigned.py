"""Conversion of values assigned to a key of a scenario's model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo


def as_model(field: FieldInfo, value: Any) -> Any:
    """Convert a table given as a `dict` to its model, so that its keys can be set afterwards.

    An invalid one stays a `dict`: the checker of scenario files refuses it with its own message.
    """
    if not isinstance(value, dict):
        return value
    kind: Any = Annotated[field.annotation, Field(discriminator=field.discriminator)]
    try:
        return TypeAdapter(kind).validate_python(value, strict=True)
    except ValidationError:
        return value
