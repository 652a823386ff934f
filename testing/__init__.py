"""What tests and benchmarks share: databases, simulated services, small input files, filled stores. Not shipped."""
