"""Plans of forecast runs: their inputs, days and weather; of one version, and of one that combines others."""
