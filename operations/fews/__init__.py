"""The General Adapter of Delft-FEWS: a run file in, flow and diagnostics out (docs/do/fews.md).

PI-XML and NetCDF are as publicwiki.deltares.nl tells them (run file, time series, state, diagnostics). What is read is
hostile until it is checked: no entities, no files of unbounded size, no paths outside the run's own folders.
"""
