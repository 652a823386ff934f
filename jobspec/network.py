"""Configuration of networks: architecture and size."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args

from pydantic import Field, Tag

from jobspec.fields import RequestModel, discriminated_by

LearningRates = Mapping[str, Any]
"""Fields of a schedule that a request may omit, with their values."""


Unseen = Literal["past_weather", "embedding", "basin_vector", "rain", "water"]
"""Inputs that a member's gates may go without: see `TrainingConfig.unseen`. `rain` is that of today and of the past
weather, `water` the shares of the cells."""


class _Network(RequestModel):
    """A network of any architecture."""

    learning_rates: ClassVar[LearningRates]
    size: ClassVar[str] = "cells"
    """The field that sets how large it is."""
    series: ClassVar[tuple[str, ...]] = ()
    attributes: ClassVar[tuple[str, ...]] = ()
    """Series and attributes without which it cannot run."""

    def floats_a_day(self, series: int, static: int) -> float:
        """Return the numbers that a training step stores for a day of a window, as measured, within a factor of two."""
        raise NotImplementedError

    def count_weights(self, series: int, static: int) -> int:
        """Return the approximate number of weights, without the basins' vectors."""
        raise NotImplementedError


_FLOATS, _OF_SERIES = 100, 6
"""Numbers a day that every network stores: of each sample, and of each series."""


def _of_embedding(size: int, static: int) -> float:
    """Return the numbers a day of the embedding of weather and attributes, which has a copy of these for each day."""
    return 5 * size + 2.3 * static if size else 0


class MCLSTMConfig(_Network):
    """The mass-conserving LSTM."""

    learning_rates: ClassVar[LearningRates] = {  # the staircase: [MC B.4]
        "peak_learning_rate": 0.01,
        "rates": ((0, 0.01), (20, 0.005), (25, 0.001)),
    }

    architecture: Literal["mclstm"] = "mclstm"
    cells: int = Field(32, ge=2, le=512, description="Memory cells, the trash cell included.")
    embedding: int = Field(
        16,
        ge=0,
        le=256,
        description="Size of the embedding of weather and attributes for the gates; 0: none, as published.",
    )
    rank: int = Field(
        16, ge=0, le=256, description="Rank of the weights of R, the redistribution gate; 0: full, as published."
    )
    basin_vector: int = Field(
        32,
        ge=0,
        le=256,
        description="Size of the vector learnt for each basin for the gates, zero in any other; 0: none, as published.",
    )
    vector_dropout: float = Field(
        0.3, ge=0, lt=1, description="The share of samples whose basin vector is left out in training."
    )
    antecedent_days: Annotated[tuple[Annotated[float, Field(gt=0, le=3650)], ...], Field(strict=False)] = Field(
        (3.0, 15.0, 60.0, 365.0),
        max_length=8,
        description="Time scales in days of means of the past weather that the gates see; none, as published.",
    )
    output_gate_bias: float = Field(-3.0, description="Initial bias of the output gate.")
    wetness: bool = Field(
        False, description="Whether a cell's own water opens its output gate; not so in the published network."
    )

    def floats_a_day(self, series: int, static: int) -> float:
        weather = series * (1 + len(self.antecedent_days))
        embedding = _of_embedding(self.embedding, static + self.basin_vector)
        return _FLOATS + _OF_SERIES * weather + embedding + 4.5 * self.cells

    def count_weights(self, series: int, static: int) -> int:
        """Return the approximate number of weights: nearly all are those of the redistribution gate."""
        features = series * (1 + len(self.antecedent_days)) + self.embedding + static + self.basin_vector + self.cells
        return self.cells**2 * (1 + (self.rank or features)) + features * (2 * self.cells + self.rank)


TEMPERATURES, LATITUDE = ("tmax", "tmin"), "gauge_lat"
"""Series and attribute from which potential evapotranspiration is computed; the latitude is that of the gauge."""


class BucketsConfig(_Network):
    """Parallel buckets of a conceptual model, with parameters from attributes and weather. They conserve mass."""

    learning_rates: ClassVar[LearningRates] = {
        "peak_learning_rate": 0.01,
        "rates": ((0, 0.01), (20, 0.005), (25, 0.001)),
    }
    size: ClassVar[str] = "components"
    series: ClassVar[tuple[str, ...]] = TEMPERATURES
    attributes: ClassVar[tuple[str, ...]] = (LATITUDE,)

    architecture: Literal["buckets"]
    components: int = Field(8, ge=1, le=64, description="Parallel components of a basin, each with all stores.")
    hidden: int = Field(32, ge=1, le=512, description="Width of the network that gives the constant parameters.")
    embedding: int = Field(
        16,
        ge=0,
        le=256,
        description="Size of the embedding of the day's weather except rain, which moves eleven of the parameters; 0: "
        "they stay the same.",
    )
    antecedent_days: Annotated[tuple[Annotated[float, Field(gt=0, le=3650)], ...], Field(strict=False)] = Field(
        (3.0, 15.0, 60.0, 365.0),
        max_length=8,
        description="Time scales in days of means of the past weather that the embedding sees.",
    )
    basin_vector: int = Field(
        32, ge=0, le=256, description="Size of the vector learnt for each basin, zero in any other; 0: none."
    )
    vector_dropout: float = Field(
        0.3, ge=0, lt=1, description="The share of samples whose basin vector is left out in training."
    )

    def floats_a_day(self, series: int, static: int) -> float:
        weather = series * (1 + len(self.antecedent_days))
        embedding = _of_embedding(self.embedding, static + self.basin_vector)
        return _FLOATS + _OF_SERIES * weather + embedding + (75 if self.embedding else 50) * self.components

    def count_weights(self, series: int, static: int) -> int:
        inputs = series * (1 + len(self.antecedent_days)) + static + self.basin_vector
        return self.hidden * (inputs + 20 * self.components) + self.embedding * (inputs + 11 * self.components)


class _Comparison(_Network):
    """A network without storage and without a water balance."""

    learning_rates: ClassVar[LearningRates] = {
        "peak_learning_rate": 0.003,
        "rates": ((0, 1e-3), (10, 5e-4), (20, 1e-4)),  # [K19] counts from 1: from epoch 11 and from epoch 21
    }

    floats_a_cell: ClassVar[float] = 15
    """Numbers a day that a training step stores for each cell."""

    if TYPE_CHECKING:
        cells: int  # each has its own default

    dropout: float = Field(0.4, ge=0, lt=1, description="Before the head.")

    def floats_a_day(self, series: int, static: int) -> float:
        return _FLOATS + _OF_SERIES * (series + static) + self.floats_a_cell * self.cells

    def count_weights(self, series: int, static: int) -> int:
        return 5 * self.cells * (series + static + self.cells)


class LSTMConfig(_Comparison):
    """The standard comparison. It has no storage and no water balance."""

    architecture: Literal["lstm"]
    cells: int = Field(128, ge=2, le=512)
    forget_bias: float = Field(3.0, description="Initial bias of the forget gate.")


class EALSTMConfig(_Comparison):
    """The LSTM whose input gate sees the attributes alone. It has no storage and no water balance."""

    architecture: Literal["ealstm"]
    cells: int = Field(128, ge=2, le=512)
    forget_bias: float = Field(3.0, description="Initial bias of the forget gate.")


class GRUConfig(_Comparison):
    """The gated recurrent unit, smaller than an LSTM. It has no storage and no water balance."""

    architecture: Literal["gru"]
    cells: int = Field(128, ge=2, le=512)
    forget_bias: float = Field(3.0, description="Initial bias of the update gate, which retains.")


class EINSConfig(_Comparison):
    """The LSTM that diagnoses its own input. It has no storage and no water balance."""

    architecture: Literal["eins"]
    cells: int = Field(128, ge=2, le=512)
    forget_bias: float = Field(0.0, description="Bias of the forget gate; it is not trained.")


class MMRNNConfig(_Comparison):
    """The mixed-memory RNN, which skips days without weather. It has no storage and no water balance."""

    floats_a_cell: ClassVar[float] = 57

    architecture: Literal["mmrnn"]
    cells: int = Field(64, ge=2, le=512)
    forget_bias: float = Field(3.0, description="Initial bias of the forget gate.")


CONFIGS: Mapping[str, type[_Network]] = {
    get_args(config.model_fields["architecture"].annotation)[0]: config
    for config in (MCLSTMConfig, BucketsConfig, LSTMConfig, EALSTMConfig, GRUConfig, EINSConfig, MMRNNConfig)
}
ARCHITECTURES = tuple(CONFIGS)

NetworkConfig = Annotated[
    Annotated[MCLSTMConfig, Tag("mclstm")]
    | Annotated[BucketsConfig, Tag("buckets")]
    | Annotated[LSTMConfig, Tag("lstm")]
    | Annotated[EALSTMConfig, Tag("ealstm")]
    | Annotated[GRUConfig, Tag("gru")]
    | Annotated[EINSConfig, Tag("eins")]
    | Annotated[MMRNNConfig, Tag("mmrnn")],
    discriminated_by("architecture", "an architecture", ARCHITECTURES),
]


def sized(architecture: str, size: int) -> dict[str, Any]:
    """Return the configuration of a network by its size alone. Cells, or the components of buckets."""
    return {"architecture": architecture, CONFIGS[architecture].size: size}
