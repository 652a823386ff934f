"""Water: how much is stored in a basin, and whether every millimetre is accounted for."""
