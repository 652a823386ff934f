"""OGC API - Environmental Data Retrieval 1.1 [OGC 19-086r6]: forecasts and observed flow for clients of that standard.

The only query is `locations`, with one location for each basin. Addresses in answers are relative: none is built
from the Host header.
"""
