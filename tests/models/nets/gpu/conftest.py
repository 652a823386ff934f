"""Runs the Triton kernels by Triton's interpreter, on a processor: the same operations, in the same order."""

import os

os.environ["TRITON_INTERPRET"] = "1"  # read when Triton is imported, which only the modules of this folder do
