"""Results of the physics probes that are shipped with the ensembles."""

from models.pretrained import SHELF, form, probe_results
from runtime.stored_files import replace_file


def ship_physics() -> None:
    """Write the results of the physics probes of every ensemble on the shelf."""
    shipped = [form.read(SHELF / name) for name in form.names(SHELF)]
    results = {one.content: probe_results.measure(one) for one in shipped}
    replace_file(probe_results.FILE, probe_results.BY_CONTENT.dump_json(results, indent=1) + b"\n")
