"""Training and simulation on graphics cards. gpu.md explains it."""
