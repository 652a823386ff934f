"""What all models of the API share."""

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """An answer, a request, or a part of one; `missing`, where it has that, gives the reason of each null.

    A request refuses fields that the API does not know; in an answer they are ignored.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True, validate_by_name=True)
