"""Benchmarks of weather products and of the bridges between them."""
