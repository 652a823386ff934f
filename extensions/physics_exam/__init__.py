"""An exam of trained members in physics: paired runs on the weather of real basins. physics.md explains it."""
