"""OGC API - Environmental Data Retrieval 1.1 [OGC 19-086r6]: forecasts and observed flow for clients of that standard.

Of its queries there is `locations`, a basin each. Addresses in answers begin at this service, for no address is built
from the Host header.
"""
