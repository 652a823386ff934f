"""Trains and runs the members of an ensemble together on a graphics card."""
