"""What a hydrologist computes with numpy alone: days, units, scores, snow, the water ledger."""
