"""The component as the community's tester needs it: it updates without ever setting an input."""

from extensions.bmi import Freshet
from extensions.bmi.inputs import INPUTS

MILD = {"precipitation": 4.0, "srad": 200.0, "tmax": 12.0, "tmin": 3.0, "vp": 700.0}


class Weathered(Freshet):
    """With a mild day from the start."""

    def initialize(self, config_file: str) -> None:
        """Initialise and set every input."""
        super().initialize(config_file)
        for name, value in MILD.items():
            self.set_value(INPUTS[name].name, value)  # type: ignore[arg-type]
