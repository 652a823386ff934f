"""The change of a forecast since the previous one, split by cause."""
