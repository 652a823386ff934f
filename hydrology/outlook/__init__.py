"""The outlook of a basin: flow now and on the days ahead, its peak, and the levels that it may pass."""
