"""Which network is trained, and how large it is."""

from typing import Annotated, Any, Literal, get_args

from pydantic import Discriminator, Field, Tag

from jobspec.fields import RequestModel


class MCLSTMConfig(RequestModel):
    """The mass-conserving LSTM."""

    architecture: Literal["mclstm"] = "mclstm"
    cells: int = Field(64, ge=2, le=512, description="Memory cells, the trash cell included.")
    embedding: int = Field(
        16,
        ge=0,
        le=256,
        description="Values that a small network makes of weather and attributes for the gates; 0: none, as published.",
    )
    rank: int = Field(
        16,
        ge=0,
        le=256,
        description="Rank of the weights of R, the gate that redistributes water; 0: full, as published.",
    )
    basin_vector: int = Field(
        16,
        ge=0,
        le=256,
        description="Values learnt of each basin for the gates, zeros in any other; 0: none, as published.",
    )
    vector_dropout: float = Field(
        0.3, ge=0, lt=1, description="How often a sample's basin vector is left out in training."
    )
    output_gate_bias: float = Field(-3.0, description="First bias of the output gate.")


class _Comparison(RequestModel):
    """A network that holds no water: it tells no storage and no balance."""

    dropout: float = Field(0.4, ge=0, lt=1, description="Before the head.")


class LSTMConfig(_Comparison):
    """The standard comparison. It holds no water: it tells no storage and no balance."""

    architecture: Literal["lstm"]
    cells: int = Field(128, ge=2, le=512)
    forget_bias: float = Field(3.0, description="First bias of the forget gate.")


class EINSConfig(_Comparison):
    """The LSTM that diagnoses its own input. It holds no water: it tells no storage and no balance."""

    architecture: Literal["eins"]
    cells: int = Field(128, ge=2, le=512)
    forget_bias: float = Field(0.0, description="Bias of the forget gate; it is not trained.")


class MMRNNConfig(_Comparison):
    """The mixed-memory RNN, which skips days without weather. It holds no water: it tells no storage and no balance."""

    architecture: Literal["mmrnn"]
    cells: int = Field(64, ge=2, le=512)
    forget_bias: float = Field(3.0, description="First bias of the forget gate.")


def _name(config: type[RequestModel]) -> str:
    return str(get_args(config.model_fields["architecture"].annotation)[0])


ARCHITECTURES = tuple(_name(config) for config in (MCLSTMConfig, LSTMConfig, EINSConfig, MMRNNConfig))


def _architecture(network: Any) -> Any:
    """Return the architecture that is asked for; MC-LSTM where none is named."""
    if isinstance(network, dict):
        return network.get("architecture", "mclstm")
    return getattr(network, "architecture", None)


_BEFORE: dict[str, dict[str, Any]] = {"mclstm": {"rank": 0, "basin_vector": 0}}
"""Fields by architecture that a network kept before they existed lacks, and what it is by them."""


def completed(config: Any) -> Any:
    """Return a configuration kept with weights, its network as it then was by the fields that are newer."""
    match config:
        case {"network": {"architecture": str(name), **fields}}:
            return config | {"network": _BEFORE.get(name, {}) | fields | {"architecture": name}}
    return config


NetworkConfig = Annotated[
    Annotated[MCLSTMConfig, Tag("mclstm")]
    | Annotated[LSTMConfig, Tag("lstm")]
    | Annotated[EINSConfig, Tag("eins")]
    | Annotated[MMRNNConfig, Tag("mmrnn")],
    Discriminator(
        _architecture,
        custom_error_type="architecture",
        custom_error_message=f"choose an architecture: {', '.join(ARCHITECTURES)}",
    ),
]
