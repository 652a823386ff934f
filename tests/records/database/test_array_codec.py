"""What is packed comes back to the bit, and what is damaged is never given out."""

import base64
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from hydrology.uncertainty.error_model import LEVELS
from records.database.array_codec import Labelled, decode_ranks, encode_ranks, pack, pack_text, unpack, unpack_text
from records.database.checksums import Corrupt
from records.runs.run_arrays import CALIBRATED, PATHS, Ledger, RunSeries, SinceEmpty, packed, unpacked

KINDS = st.sampled_from([np.float32, np.float64, np.uint8, np.int8])
ARRAYS = KINDS.flatmap(lambda kind: arrays(kind, array_shapes(max_dims=3, max_side=6)))
KEY = ("1", "SYNTH-01")
OWNER = "run 1 of SYNTH-01"
STORED = Labelled("mm", {"member": ["0", "1"], "lead": [1, 2, 3]}, np.arange(6, dtype="<f4").reshape(2, 3))
FIRST_FORM = "Li5ilN93h+MotS/9IHA9AQCYe11dfQoAP0BAQEAAgABAgKAAAAYA8W3RFoLVUkDbIsC3yLHaiw0="
FIRST_TEXT = "OVaT5BGglTUotS/9ICc5AQB7InNub3dfcmVhc29uIjpudWxsLCJkaXNjaGFyZ2VfbW0iOjIuNX0="


def labelled(values: np.ndarray) -> Labelled:
    return Labelled("mm", {f"axis {at}": list(range(length)) for at, length in enumerate(values.shape)}, values)


@given(st.dictionaries(st.text(max_size=9), ARRAYS, max_size=5))
def test_arrays_come_back_to_the_bit(named: dict[str, np.ndarray]) -> None:
    back = unpack(OWNER, pack(OWNER, {name: labelled(values) for name, values in named.items()}))
    assert list(back) == list(named)
    for name, values in named.items():
        assert (back[name].unit, dict(back[name].axes)) == ("mm", labelled(values).axes)
        assert (back[name].values.dtype, back[name].values.shape) == (values.dtype, values.shape)
        assert back[name].values.tobytes() == values.tobytes()


def test_a_flipped_bit_anywhere_is_detected() -> None:
    whole = pack(OWNER, {"stored": STORED})
    for place in range(len(whole)):
        for bit in range(8):
            damaged = bytearray(whole)
            damaged[place] ^= 1 << bit
            with pytest.raises(Corrupt, match=OWNER):
                unpack(OWNER, bytes(damaged))
    with pytest.raises(Corrupt, match="another"):
        unpack("another", whole)


@pytest.mark.extended
@given(st.recursive(st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(), st.lists))
def test_a_json_value_comes_back(value: Any) -> None:
    assert unpack_text(pack_text(value)) == value


def sample_paths(levels: int = len(LEVELS), leads: int = 4, count: int = 100) -> tuple[np.ndarray, np.ndarray]:
    """Return quantiles (levels, leads) and sample paths drawn from them (count, leads)."""
    chance = np.random.default_rng(0)
    quantiles = np.sort(chance.gamma(2.0, 1.0, (levels, leads)), axis=0)
    shares = (np.arange(count) + 0.5) / count
    values = np.stack([np.interp(shares, LEVELS, quantiles[:, lead]) for lead in range(leads)], axis=1)
    return quantiles.astype("<f4"), chance.permuted(values, axis=0).astype("<f4")


def test_paths_come_back_from_their_ranks_to_the_bit() -> None:
    quantiles, paths = sample_paths()
    stored = encode_ranks(paths, LEVELS, quantiles)
    assert stored is not None
    assert stored.nbytes == paths.nbytes // 2
    assert decode_ranks(stored, LEVELS, quantiles).tobytes() == paths.tobytes()


@pytest.mark.parametrize("spoilt", [np.nan, np.inf, -1.0, -0.0, 1e9])
def test_paths_that_are_not_of_the_quantiles_are_stored_as_they_are(spoilt: float) -> None:
    quantiles, paths = sample_paths()
    paths[3, 1] = spoilt
    assert encode_ranks(paths, LEVELS, quantiles) is None
    lead = list(range(1, 5))
    series = [
        RunSeries(CALIBRATED, "mm/day", {"level": list(LEVELS), "lead": lead}, quantiles),
        RunSeries(PATHS, "mm/day", {"path": list(range(100)), "lead": lead}, paths),
    ]
    back = unpacked(*KEY, packed(OWNER, series, ())).series
    assert back[PATHS].values.tobytes() == paths.tobytes()
    assert list(back[PATHS].axes) == ["path", "lead"]


def test_paths_alone_are_read_with_the_quantiles_that_they_need() -> None:
    quantiles, paths = sample_paths()
    lead = list(range(1, 5))
    series = [
        RunSeries(CALIBRATED, "mm/day", {"level": list(LEVELS), "lead": lead}, quantiles),
        RunSeries(PATHS, "mm/day", {"path": list(range(100)), "lead": lead}, paths),
    ]
    back = unpacked(*KEY, packed(OWNER, series, ()), variables=(PATHS,)).series
    assert list(back) == [PATHS]
    assert back[PATHS].values.tobytes() == paths.tobytes()
    assert dict(back[PATHS].axes) == dict(series[1].axes)


def test_ledgers_come_back_each_with_its_own_terms() -> None:
    since = SinceEmpty(residual_mm=0.0, precipitation_mm=9.0)
    ledgers = [
        Ledger("0", {"rain": 1 / 3, "loss": -0.1}, 1e-7, 1e-5, SinceEmpty(residual_mm=2e-5, precipitation_mm=3612.5)),
        Ledger("1", {"rain": 1 / 3, "increment": 10.0}, -1e-7, 1e-5, since, "perturbed-04"),
    ]
    assert unpacked(*KEY, packed(OWNER, (), ledgers), variables=()).ledgers == ledgers


def test_arrays_packed_in_the_first_form_can_be_read() -> None:
    (array,) = unpack(OWNER, base64.b64decode(FIRST_FORM)).values()
    assert array.values.tobytes() == STORED.values.tobytes()
    assert dict(array.axes) == STORED.axes
    assert unpack_text(base64.b64decode(FIRST_TEXT)) == {"snow_reason": None, "discharge_mm": 2.5}
