"""The MC-LSTM paper's hydrology experiment: 447 CAMELS-US basins, Maurer forcing, the paper's three periods."""
