"""Exports of versions in the shipped form, for those who pass them on."""
