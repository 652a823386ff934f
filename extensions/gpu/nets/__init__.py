"""MC-LSTM on a graphics card: many members and samples in one launch, in Triton. docs/understand/gpu.md explains it."""
