"""Tests of receipts: runs computed again."""
