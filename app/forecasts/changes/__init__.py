"""The change of a forecast since the previous one, by cause."""
