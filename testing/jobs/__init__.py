"""Jobs of a test: as people request them, and run by processes or in the test's own."""
