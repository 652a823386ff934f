"""CAMELS-US text archives: folders and published zip files."""

from ingestion.sources.camels.source import CamelsSource

__all__ = ["CamelsSource"]
