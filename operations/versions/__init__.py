"""Loads versions and what they were trained on."""
