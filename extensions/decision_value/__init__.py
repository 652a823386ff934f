"""The value of acting on forecasts, in the cost-loss model."""
