"""The demonstration: eight real rivers, forecast by the shipped ensemble in a replay of March 1997."""
