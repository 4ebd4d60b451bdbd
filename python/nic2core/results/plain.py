"""The base class of all parts of a result."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, field_validator


class Plain(BaseModel):
    """Plain data, read once and never changed."""

    model_config = ConfigDict(allow_inf_nan=False, extra="forbid", frozen=True)

    @field_validator("*")
    @classmethod
    def _counted_or_measured(cls, value: object) -> object:
        if isinstance(value, int | float) and value < 0:
            raise ValueError("negative, as no run counts or measures")
        return value
