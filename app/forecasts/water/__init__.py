"""Water stored in a basin, its origin and age, and the water balance."""
