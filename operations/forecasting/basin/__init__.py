"""The forecast of one basin in a run: inputs, arrays, ledgers, summary."""
