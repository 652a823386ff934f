"""Model versions, their skill and use."""

from collections.abc import Iterator
from datetime import date

from app.forecasts.errors.schemas import WorstErrors
from app.versions.comparisons.schemas import Comparison, ComparisonPage, ComparisonSummary
from app.versions.events.schemas import Events
from app.versions.schemas import BasinPromotions, ModelDetail, ModelPage, ModelSummary, Promotions, Rollback
from app.versions.scores.schemas import BasinSkill, ModelSkill
from app.versions.simulation.schemas import Simulation
from app.versions.verification.decision_schemas import DecisionValue, SkilfulDays
from app.versions.verification.schemas import BasinVerification, ModelVerification
from freshet.client.resource import Body, Resource


class Models(Resource):
    """Model versions, their skill and use; `version`: by default the basin's current one."""

    def models(self, *, product: str | None = None, architecture: str | None = None) -> Iterator[ModelSummary]:
        """Yield model versions, the newest first."""
        return self._items(ModelPage, "/v1/models", "models", product=product, architecture=architecture)

    def model(self, version: str) -> ModelDetail:
        """Return a model version."""
        return self._read(ModelDetail, f"/v1/models/{version}")

    def combine(self, combination: Body) -> ModelDetail:
        """Combine model versions, each on its own weather product."""
        return self._send(ModelDetail, "POST", "/v1/models", combination)

    def promotions(self, version: str) -> Promotions:
        """Return the promotions of a model version."""
        return self._read(Promotions, f"/v1/models/{version}/promotions")

    def promotions_in(self, basin: str) -> BasinPromotions:
        """Return the versions that a basin's forecasts have come from."""
        return self._read(BasinPromotions, f"/v1/basins/{basin}/promotions")

    def promote(self, version: str, promotion: Body) -> Promotions:
        """Put a model version in use."""
        return self._send(Promotions, "PUT", f"/v1/models/{version}/promotion", promotion)

    def roll_back(self, version: str, rollback: Body) -> Rollback:
        """Return all basins of a version to the one that they had before."""
        return self._send(Rollback, "POST", f"/v1/models/{version}/rollback", rollback)

    def skill(self, basin: str, *, version: str | None = None, metric: str | None = None) -> BasinSkill:
        """Return the scores of a version in a basin."""
        return self._read(BasinSkill, f"/v1/basins/{basin}/skill", version=version, metric=metric)

    def skill_of_model(self, version: str, *, metric: str | None = None) -> ModelSkill:
        """Return the scores of a version over its basins."""
        return self._read(ModelSkill, f"/v1/models/{version}/skill", metric=metric)

    def simulation(
        self,
        basin: str,
        *,
        version: str | None = None,
        start: date | None = None,
        end: date | None = None,
        units: str | None = None,
        area: str | None = None,
    ) -> Simulation:
        """Return simulated and observed flow, from which the scores of a basin can be computed again."""
        asked = {"version": version, "start": start, "end": end, "units": units, "area": area}
        return self._read(Simulation, f"/v1/basins/{basin}/simulation", **asked)

    def verification(self, basin: str, *, version: str | None = None, season: str | None = None) -> BasinVerification:
        """Return the verification of a basin's forecasts by lead time."""
        return self._read(BasinVerification, f"/v1/basins/{basin}/verification", version=version, season=season)

    def skilful_days(self, basin: str, *, version: str | None = None) -> SkilfulDays:
        """Return until which day ahead a basin's forecasts are skilful, by month."""
        return self._read(SkilfulDays, f"/v1/basins/{basin}/skilful-days", version=version)

    def events(self, basin: str, *, version: str | None = None, season: str | None = None) -> Events:
        """Return the observed and simulated events of a basin, with their scores."""
        return self._read(Events, f"/v1/basins/{basin}/events", version=version, season=season)

    def decision_value(
        self, basin: str, *, version: str | None = None, season: str | None = None, cost_loss: float | None = None
    ) -> DecisionValue:
        """Return what acting on the chance of high flow is worth, by lead time.

        Args:
            cost_loss: the cost of acting over the loss that acting avoids; by default several.
        """
        asked = {"version": version, "season": season, "cost_loss": cost_loss}
        return self._read(DecisionValue, f"/v1/basins/{basin}/decision-value", **asked)

    def verification_of_model(self, version: str, *, season: str | None = None) -> ModelVerification:
        """Return the verification of a version's forecasts over its basins."""
        return self._read(ModelVerification, f"/v1/models/{version}/verification", season=season)

    def worst_errors(
        self,
        *,
        of: str = "volume",
        version: str | None = None,
        basin: str | None = None,
        season: str | None = None,
        start: date | None = None,
        end: date | None = None,
        limit: int | None = None,
    ) -> WorstErrors:
        """Return the worst verified forecasts, with what went wrong.

        Args:
            of: the measure: `volume` or `peak`.
        """
        asked = {"of": of, "version": version, "basin": basin, "season": season, "start": start, "end": end}
        return self._read(WorstErrors, "/v1/verification/worst", **asked, limit=limit)

    def comparisons(self, *, version: str | None = None) -> Iterator[ComparisonSummary]:
        """Yield comparisons of model versions, the newest first."""
        return self._items(ComparisonPage, "/v1/comparisons", "comparisons", version=version)

    def comparison(self, comparison: str, *, metric: str | None = None) -> Comparison:
        """Return a comparison."""
        return self._read(Comparison, f"/v1/comparisons/{comparison}", metric=metric)
