"""What graphics cards add to the core: programs of their own, and the state of a worker's card."""

from jobspec.extensions import Extension

EXTENSION = Extension(
    package=__package__,
    gpu_programs="programs:PROGRAMS",
    gpu_training="side_by_side:train_together",
    gpu_monitor="monitor:GPUMonitor",
    guide=["gpu.md"],
)
