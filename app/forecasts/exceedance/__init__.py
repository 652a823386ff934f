"""Exceedance probability of discharge levels."""
