"""Trains, fine-tunes, retrains and promotes versions."""
