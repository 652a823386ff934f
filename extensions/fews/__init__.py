"""The General Adapter of Delft-FEWS. Reads a run file, writes flow and diagnostics (fews.md).

PI-XML and NetCDF follow publicwiki.deltares.nl (run file, time series, state, diagnostics). Input is untrusted until
checked: no entities, no files of unbounded size, no paths outside the run's own folders.
"""
