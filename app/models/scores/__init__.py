"""Skill: how well a model version has done, against what was observed."""
