"""Training curves of model versions: over REST, as plots, tables and event files of TensorBoard."""
