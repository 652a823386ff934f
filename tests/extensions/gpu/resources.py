"""What the Triton kernels take of a graphics card, by compiling them for it on a machine without one.

`python -m tests.extensions.gpu.resources 90` writes it as JSON for compute capability 9.0. A process of its own:
Triton's interpreter, by which tests run the kernels, and its compiler exclude each other.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from runtime import child_processes


class Resources(NamedTuple):
    """What a thread, or a program (`shared`), takes: registers, bytes that are spilled to memory, bytes shared."""

    registers: int
    spilled: int
    shared: int


def resources(capability: int) -> dict[str, Resources]:
    """Return what each kernel of the default network takes on cards of a compute capability, such as 90."""
    command = child_processes.python_command("tests.extensions.gpu.resources", str(capability))
    with tempfile.TemporaryDirectory() as cache:
        environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
        environment |= {"TRITON_CACHE_DIR": cache, "TRITON_DEFAULT_FP_FUSION": "1"}
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return {name: Resources(*of) for name, of in json.loads(done.stdout).items()}


def _kernels() -> dict[str, tuple[Any, dict[str, Any], int]]:
    """Return kernels, constants and warps, for the default networks; an MC-LSTM has 32 cells and rank 16."""
    from extensions.gpu.nets import bucket_kernels, kernels, products
    from extensions.gpu.nets.bucket_recurrence import BLOCK
    from extensions.gpu.nets.recurrence import THREAD_NUMBERS

    shape = {"K": 32, "KP": 32, "R": 16, "RP": 16}
    warps = 16 * 32 * 32 // (32 * THREAD_NUMBERS)
    scan = {**shape, "FACTORISED": True, "WETNESS": False, "RESIDENT": True}
    product = {"OUT": 80, "IN": 41, "ROWS": products.ROWS, "OUTPUTS": products.OUTPUTS, "FEATURES": products.FEATURES}
    return {
        "forward": (kernels.forward, {**scan, "TRAINING": False}, warps),
        "forward, training": (kernels.forward, {**scan, "TRAINING": True}, warps),
        "backward": (kernels.backward, {**scan, "WHOLE": False}, warps),
        "backward, wetness": (kernels.backward, {**scan, "WHOLE": False, "WETNESS": True}, warps),
        "factor_gradient": (kernels.factor_gradient, {**shape, "CHUNK": 512, "JB": 32}, 8),
        "product": (products._product, product, 4),
        "product_gradient": (
            products._product_gradient,
            {**product, "CHUNK": products.CHUNK, "ROWS": products.CHUNK_ROWS},
            4,
        ),
        "buckets, forward": (bucket_kernels.forward, {"BLOCK": BLOCK}, 1),
        "buckets, backward": (bucket_kernels.backward, {"BLOCK": BLOCK, "WHOLE": False}, 1),
        "buckets, backward, whole": (bucket_kernels.backward, {"BLOCK": BLOCK, "WHOLE": True}, 1),
    }


def _compiled(kernel: Any, constants: dict[str, Any], warps: int, capability: int) -> Resources:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    names = kernel.arg_names
    counts = {"days", "samples", "elements", "count", "size", "of_member_x", "of_output", "of_feature"}
    if "cells" not in names:  # the kernels of the recurrence have rows, others count them
        counts.add("rows")
    types = {name: "constexpr" if name in constants else "i32" if name in counts else "*fp32" for name in names}
    source = ASTSource(
        fn=kernel,
        signature=types,
        constexprs={(names.index(name),): value for name, value in constants.items()},
        attrs={(at,): [["tt.divisibility", 16]] for at, name in enumerate(names) if types[name] == "*fp32"},
    )
    options = {"num_warps": warps, "enable_fp_fusion": True}
    built = triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options)
    return _used(built.asm["cubin"], built.metadata.shared)


def _used(content: bytes, shared: int) -> Resources:
    import triton

    tool = Path(triton.__file__).parent / "backends/nvidia/bin/cuobjdump"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(content)
        file.flush()
        report = subprocess.run([tool, "-res-usage", file.name], check=True, capture_output=True, text=True).stdout
    fields = {name: int(value) for name, value in re.findall(r"(REG|STACK):(\d+)", report)}
    return Resources(fields["REG"], fields["STACK"], shared)


if __name__ == "__main__":
    target = int(sys.argv[1])
    found = {name: _compiled(*of, target) for name, of in _kernels().items()}
    sys.stdout.write(json.dumps(found))
