"""The kernels compile for graphics cards on a machine without one, and spill no register to memory."""

import pytest

from tests.extensions.gpu.resources import resources

pytestmark = pytest.mark.extended

REGISTERS = 255  # of a thread, at most


@pytest.mark.parametrize("capability", [80, 90, 120])
def test_no_kernel_of_the_default_network_spills(capability: int) -> None:
    found = resources(capability)
    assert {name: used.spilled for name, used in found.items()} == dict.fromkeys(found, 0)
    assert all(used.registers <= REGISTERS for used in found.values())
