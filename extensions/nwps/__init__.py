"""Official flood categories of gauges by NOAA's National Water Prediction Service."""
