"""Tests of exports in the shipped form."""
