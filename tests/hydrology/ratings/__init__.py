"""Tests of rating tables."""
