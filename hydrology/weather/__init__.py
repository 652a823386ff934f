"""Weather: forcing kinds, quality, evaporation, bridges, climate indices."""
