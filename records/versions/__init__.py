"""Stored model versions, trainings, promotions and error models."""
