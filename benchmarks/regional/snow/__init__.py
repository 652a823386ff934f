"""Snow of the networks, beside reference snow and what ran off."""
