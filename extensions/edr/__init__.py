"""OGC API - Environmental Data Retrieval 1.1 [OGC 19-086r6]: forecasts and observed flow for clients of that standard.

A location is a basin, at its gauge; the instances of the forecasts are the issued runs. Addresses in answers are
relative: none is built from the Host header.
"""

FORECASTS = "forecasts"
"""The collection of the forecasts."""
