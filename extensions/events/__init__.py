"""Events of hydrographs, observed and simulated, and their scores."""
