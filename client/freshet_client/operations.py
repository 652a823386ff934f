"""The operations of the API, generated from its OpenAPI document."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Any, Literal, overload

from freshet_client import models
from freshet_client.connection import BaseClient, Request, path_of


class Operations(BaseClient):
    """A method for each operation of the API, named by its operationId."""

    @overload
    def read_latest_forecast(
        self,
        basin: str,
        *,
        format: Literal["json"] = "json",
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        members: bool | None = None,
        known_at: datetime | None = None,
    ) -> models.BasinForecast: ...

    @overload
    def read_latest_forecast(
        self,
        basin: str,
        *,
        format: Literal["csv", "parquet", "netcdf", "coveragejson"],
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        members: bool | None = None,
        known_at: datetime | None = None,
    ) -> bytes: ...

    def read_latest_forecast(
        self,
        basin: str,
        *,
        format: Literal["json", "csv", "parquet", "netcdf", "coveragejson"] = "json",
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        members: bool | None = None,
        known_at: datetime | None = None,
    ) -> Any:
        """The latest forecast of a basin.

        The newest operational forecast of the basin's current model version, by the service's clock: discharge
        (m³/s by default) with quantiles, water in the basin (mm) with the part read as snow, precipitation and loss
        (mm/day), and the water balance (mm) of every member.

        Until a version that was promoted has issued one, it is that of the version before it, and `awaited_version`
        names the promoted one.

        If a newer run was withheld or failed, the answer is the older one, and `superseded_by` gives the reason. If
        T0 lies more than a few days behind the clock, the answer is `stale`; `age_days` gives the number of days.

        With `known_at` the answer is as it would have been at that instant, age included, but of the version that
        is current now.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            format: The format of the answer; by default the one preferred by the `Accept` header, and JSON without
                that.
            units: The unit of discharge: m³/s, mm/day over the basin, or cubic feet per second.
            members: Whether to include every member and the cells at T0.
            known_at: The state as known at this instant (RFC 3339, with its offset); by default as known now.
        """
        request = Request(
            "GET",
            path_of("/v1/basins/{basin}/forecasts/latest", basin=basin),
            query={"format": format, "units": units, "members": members, "known_at": known_at},
        )
        if format != "json":
            return self._content(request)
        return self._answer(models.BasinForecast, request)

    @overload
    def read_latest_forecasts(
        self,
        *,
        format: Literal["json"] = "json",
        basins: str | None = None,
        updated_since: datetime | None = None,
        known_at: datetime | None = None,
        huc: str | None = None,
        bbox: str | None = None,
        region: str | None = None,
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        members: bool | None = None,
    ) -> models.BasinForecasts: ...

    @overload
    def read_latest_forecasts(
        self,
        *,
        format: Literal["csv", "parquet", "netcdf", "coveragejson"],
        basins: str | None = None,
        updated_since: datetime | None = None,
        known_at: datetime | None = None,
        huc: str | None = None,
        bbox: str | None = None,
        region: str | None = None,
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        members: bool | None = None,
    ) -> bytes: ...

    def read_latest_forecasts(
        self,
        *,
        format: Literal["json", "csv", "parquet", "netcdf", "coveragejson"] = "json",
        basins: str | None = None,
        updated_since: datetime | None = None,
        known_at: datetime | None = None,
        huc: str | None = None,
        bbox: str | None = None,
        region: str | None = None,
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        members: bool | None = None,
    ) -> Any:
        """The latest forecasts of many basins.

        The latest forecast of each basin in one answer: of the basins named, of those in a hydrologic unit, a box
        or a region, or of all. A basin that has none is in `without` with the reason; a request for more basins
        than one answer holds is refused. `known_at` works as for one basin; with `updated_since` only new
        forecasts.

        Args:
            format: The format of the answer; by default the one preferred by the `Accept` header, and JSON without
                that.
            basins: The basins, at most 500, with commas between; by default all, or those selected by `huc`, `bbox`
                and `region`.
            updated_since: Only basins whose latest forecast became available after this instant (RFC 3339, with its
                offset), or comes from a model version that was promoted after it.
            known_at: The state as known at this instant (RFC 3339, with its offset); by default as known now.
            huc: The beginning of the hydrologic unit code.
            bbox: Only gauges within `minlon,minlat,maxlon,maxlat`, degrees. Where minlon is greater than maxlon,
                the box crosses the 180th meridian. A basin without a known location is in no box.
            region: Only basins of this region: `/v1/regions` lists them.
            units: The unit of discharge: m³/s, mm/day over the basin, or cubic feet per second.
            members: Whether to include every member and the cells at T0.
        """
        request = Request(
            "GET",
            "/v1/forecasts",
            query={
                "format": format,
                "basins": basins,
                "updated_since": updated_since,
                "known_at": known_at,
                "huc": huc,
                "bbox": bbox,
                "region": region,
                "units": units,
                "members": members,
            },
        )
        if format != "json":
            return self._content(request)
        return self._answer(models.BasinForecasts, request)

    @overload
    def read_run_of_basin(
        self,
        run: str,
        basin: str,
        *,
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        members: bool | None = None,
        format: Literal["json"] = "json",
    ) -> models.BasinForecast: ...

    @overload
    def read_run_of_basin(
        self,
        run: str,
        basin: str,
        *,
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        members: bool | None = None,
        format: Literal["csv", "parquet", "netcdf", "coveragejson"],
    ) -> bytes: ...

    def read_run_of_basin(
        self,
        run: str,
        basin: str,
        *,
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        members: bool | None = None,
        format: Literal["json", "csv", "parquet", "netcdf", "coveragejson"] = "json",
    ) -> Any:
        """The forecast of a given run for a basin.

        The same answer as the latest forecast gives, of any run. A run never changes; `published` and `in_words`
        follow a forecaster's adjustment of it.

        A run that was withheld or failed for the basin has a `reason` and no values; its water balance is included
        if the run got that far.

        Args:
            run: A run's id.
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            units: The unit of discharge: m³/s, mm/day over the basin, or cubic feet per second.
            members: Whether to include every member and the cells at T0.
            format: The format of the answer; by default the one preferred by the `Accept` header, and JSON without
                that.
        """
        request = Request(
            "GET",
            path_of("/v1/runs/{run}/basins/{basin}", run=run, basin=basin),
            query={"units": units, "members": members, "format": format},
        )
        if format != "json":
            return self._content(request)
        return self._answer(models.BasinForecast, request)

    def read_outlook(
        self, basin: str, *, run: str | None = None, units: Literal["m3/s", "mm/day", "cfs"] | None = None
    ) -> models.BasinOutlook:
        """Outlook of a basin: flow, peak, threat, change, snow, season, skill.

        A basin in short, each number once: the last observed flow; the published distribution of the days ahead,
        adjusted where a forecaster has published that; its peak; the levels that flow may pass, and the alert as it
        stands; the issue before; snow, season and skill; and how fresh the forecast is. Every other answer and page
        shows these numbers. A basin without a forecast has nulls with the reason.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            run: A run's id; by default the latest forecast's.
            units: The unit of discharge: m³/s, mm/day over the basin, or cubic feet per second.
        """
        request = Request("GET", path_of("/v1/basins/{basin}/outlook", basin=basin), query={"run": run, "units": units})
        return self._answer(models.BasinOutlook, request)

    def list_outlooks(
        self,
        *,
        q: str | None = None,
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        huc: str | None = None,
        bbox: str | None = None,
        region: str | None = None,
    ) -> Iterator[models.BasinOutlook]:
        """Outlooks of basins.

        Basins in the order of their identifiers, a page at a time: follow `next` until it is null.

        Args:
            q: Part of the identifier or the name; upper and lower case match.
            units: The unit of discharge: m³/s, mm/day over the basin, or cubic feet per second.
            huc: The beginning of the hydrologic unit code.
            bbox: Only gauges within `minlon,minlat,maxlon,maxlat`, degrees. Where minlon is greater than maxlon,
                the box crosses the 180th meridian. A basin without a known location is in no box.
            region: Only basins of this region: `/v1/regions` lists them.
        """
        request = Request(
            "GET", "/v1/outlooks", query={"q": q, "units": units, "huc": huc, "bbox": bbox, "region": region}
        )
        return self._items(models.OutlookPage, "outlooks", request)

    @overload
    def list_basins(
        self,
        *,
        q: str | None = None,
        format: Literal["json"] = "json",
        huc: str | None = None,
        bbox: str | None = None,
        region: str | None = None,
    ) -> Iterator[models.BasinSummary]: ...

    @overload
    def list_basins(
        self,
        *,
        q: str | None = None,
        after: str | None = None,
        limit: int | None = None,
        format: Literal["csv", "parquet", "geojson"],
        huc: str | None = None,
        bbox: str | None = None,
        region: str | None = None,
    ) -> bytes: ...

    def list_basins(
        self,
        *,
        q: str | None = None,
        after: str | None = None,
        limit: int | None = None,
        format: Literal["json", "csv", "parquet", "geojson"] = "json",
        huc: str | None = None,
        bbox: str | None = None,
        region: str | None = None,
    ) -> Any:
        """List basins.

        Basins in the order of their identifiers, a page at a time: follow `next` until it is null. A file also
        contains the latest forecast and alert status of each basin. If there are more basins, the file's `Link`
        header names the next page.

        Args:
            q: Part of the identifier or the name; upper and lower case match.
            after: Start after this basin: the last one of the page before.
            limit: Maximum number of basins a page; by default 100 in JSON and 1000 in a file.
            format: The format of the answer; by default the one preferred by the `Accept` header, and JSON without
                that.
            huc: The beginning of the hydrologic unit code.
            bbox: Only gauges within `minlon,minlat,maxlon,maxlat`, degrees. Where minlon is greater than maxlon,
                the box crosses the 180th meridian. A basin without a known location is in no box.
            region: Only basins of this region: `/v1/regions` lists them.
        """
        request = Request(
            "GET",
            "/v1/basins",
            query={
                "q": q,
                "after": after,
                "limit": limit,
                "format": format,
                "huc": huc,
                "bbox": bbox,
                "region": region,
            },
        )
        if format != "json":
            return self._content(request)
        return self._items(models.BasinPage, "basins", request)

    def post_basin(
        self, body: models.AddedBasin | Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> models.Job:
        """Add a gauge, or add to its metadata.

        A job asks USGS for the gauge's location, name and drainage area, unless you give them; a basin in a
        namespace of your own needs its place and area. An outline gives the points that its weather is averaged
        over. Known values stay, above all the area used in training a model version.

        Args:
            idempotency_key: A name of your own for this request: repeating it under the same name creates no second
                job.
            body: The fields of the request.
        """
        request = Request("POST", "/v1/basins", headers={"idempotency-key": idempotency_key}, body=body)
        return self._answer(models.Job, request)

    def read_basin(self, basin: str) -> models.BasinDetail:
        """Metadata, stored series and data quality of a basin.

        Location, drainage areas (km²), attributes, the stored daily series, the model version behind its forecasts,
        and the data quality findings.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
        """
        request = Request("GET", path_of("/v1/basins/{basin}", basin=basin))
        return self._answer(models.BasinDetail, request)

    def put_basin(self, basin: str, body: models.OwnBasin | Mapping[str, Any]) -> models.BasinDetail:
        """Register a basin of your own.

        Its location, drainage area and attributes, under a namespace of your own (`OWN-mill`). A second request
        changes it, with the key that registered it or an admin's; fields that are left out stay as they were. Its
        observations follow by `POST /v1/basins/observations`. With an operator's key it is unofficial, until an
        administrator adopts it: every answer marks it, and its alerts go to the key's own subscriptions alone. With
        a key for a region it lies there, by its identifier or its `huc`.

        Args:
            basin: A name in a namespace of your own.
            body: The fields of the request.
        """
        request = Request("PUT", path_of("/v1/basins/{basin}", basin=basin), body=body)
        return self._answer(models.BasinDetail, request)

    def adopt_basin(self, basin: str) -> models.Adoption:
        """Make an operator's basin official.

        Its levels, its rating and the version that serves it become the service's with it: check them first. The
        key that registered it changes none of them any more. Its alerts begin anew with the next forecast.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
        """
        request = Request("PUT", path_of("/v1/basins/{basin}/adoption", basin=basin))
        return self._answer(models.Adoption, request)

    def release_basin(self, basin: str) -> None:
        """Give an adopted basin back to its operator.

        It is unofficial again, and belongs to the key that registered it, as does the version that serves it where
        that serves no official basin. Its official alerts end.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
        """
        request = Request("DELETE", path_of("/v1/basins/{basin}/adoption", basin=basin))
        self._content(request)

    def post_observations(
        self,
        content: bytes,
        *,
        product: str | None = None,
        idempotency_key: str | None = None,
        media_type: Literal["text/csv", "application/json"],
    ) -> models.Job:
        """Send observations of your own basins.

        Daily weather, discharge and snow of the basins that your key registered (an admin's: of every user's basin)
        as a table, at most 20 MiB at once. A job stores all of it or nothing: follow that job. Its messages call
        the table as the header `Content-Disposition: attachment; filename=...` does. Observations of a gauge with a
        published source, such as USGS, come from that source alone, and those of a product that a feed fills from
        that feed, or with an admin's key.

        Args:
            product: The product that the weather is stored under, as registered with the basins.
            idempotency_key: A name of your own for this request: repeating it under the same name creates no second
                job.
            content: The file.
            media_type: The format of the file.
        """
        request = Request(
            "POST",
            "/v1/basins/observations",
            query={"product": product},
            headers={"idempotency-key": idempotency_key, "Content-Type": media_type},
            body=content,
        )
        return self._answer(models.Job, request)

    @overload
    def read_observations(
        self,
        basin: str,
        *,
        product: str,
        variable: str | None = None,
        start: date | None = None,
        end: date | None = None,
        units: Literal["m3/s", "mm/day", "cfs", "source"] | None = None,
        area: str | None = None,
        known_at: datetime | None = None,
        format: Literal["json"] = "json",
    ) -> models.Observations: ...

    @overload
    def read_observations(
        self,
        basin: str,
        *,
        product: str,
        variable: str | None = None,
        start: date | None = None,
        end: date | None = None,
        units: Literal["m3/s", "mm/day", "cfs", "source"] | None = None,
        area: str | None = None,
        known_at: datetime | None = None,
        format: Literal["csv", "parquet", "netcdf", "coveragejson"],
    ) -> bytes: ...

    def read_observations(
        self,
        basin: str,
        *,
        product: str,
        variable: str | None = None,
        start: date | None = None,
        end: date | None = None,
        units: Literal["m3/s", "mm/day", "cfs", "source"] | None = None,
        area: str | None = None,
        known_at: datetime | None = None,
        format: Literal["json", "csv", "parquet", "netcdf", "coveragejson"] = "json",
    ) -> Any:
        """Observed discharge, weather and snow of a basin.

        The daily series of a product, every day of the period: a day without a value is null, and its flags give
        the reason. One answer holds at most 3660 days; a longer period is refused. With `known_at` revised values
        appear as they were at that instant, and later data are absent.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            product: The source of the series: a weather product (`maurer_extended`, `daymet`, `nldas`), `usgs` for
                gauged discharge, `uaz` or `snodas` for snow. `/v1/basins/{basin}` lists the stored ones.
            variable: One variable; by default all of the product.
            start: The first day; by default 365 days before the last, or where the series begin.
            end: The last day (included); by default the last stored one.
            units: The unit of discharge, by default `m3/s`; `source`: the stored unit (`cfs` of USGS gauges).
            area: The name of the drainage area used for depths (`/v1/basins/{basin}` lists them). By default the
                one that the basin's flow is converted with, its `area`.
            known_at: The state as known at this instant (RFC 3339, with its offset); by default as known now.
            format: The format of the answer; by default the one preferred by the `Accept` header, and JSON without
                that.
        """
        request = Request(
            "GET",
            path_of("/v1/basins/{basin}/observations", basin=basin),
            query={
                "product": product,
                "variable": variable,
                "start": start,
                "end": end,
                "units": units,
                "area": area,
                "known_at": known_at,
                "format": format,
            },
        )
        if format != "json":
            return self._content(request)
        return self._answer(models.Observations, request)

    def read_normals(
        self,
        basin: str,
        *,
        variable: str | None = None,
        product: str | None = None,
        start: date | None = None,
        end: date | None = None,
        units: Literal["m3/s", "mm/day", "cfs", "source"] | None = None,
        area: str | None = None,
    ) -> models.Normals:
        """Normals for each day: flow, weather, stored water and snow.

        Statistics of other years at the same time of the year: the mean (the normal), quantiles, and the number of
        years. A year counts if more than half of the days around the same day are known; the year of the day itself
        never counts, so no day is compared with itself. On a day with too few other years all are null, and
        `missing` gives the reason. One answer holds at most 3660 days, past or ahead.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            variable: One variable; by default all of the product.
            product: The weather product; by default that of the current model version.
            start: The first day; by default 365 days before the last.
            end: The last day (included), past or ahead. By default 365 days after the first day, or if that is not
                given either, the day of the service's clock.
            units: The unit of discharge, by default `m3/s`; `source`: the stored unit (`cfs` of USGS gauges).
            area: The name of the drainage area used for depths (`/v1/basins/{basin}` lists them). By default the
                one that the basin's flow is converted with, its `area`.
        """
        request = Request(
            "GET",
            path_of("/v1/basins/{basin}/normals", basin=basin),
            query={"variable": variable, "product": product, "start": start, "end": end, "units": units, "area": area},
        )
        return self._answer(models.Normals, request)

    def read_thresholds(
        self, basin: str, *, units: Literal["m3/s", "mm/day", "cfs"] | None = None, area: str | None = None
    ) -> models.Thresholds:
        """Flood, low-flow and operator levels of a basin.

        The levels of the basin's own gauge record: independent floods of half a year and a year, floods of 2 to 50
        years by one distribution and, for comparison, by another, 7-day low flows of 2 and 10 years, and flow
        duration levels, with their intervals and the number of years. A record shorter than ten years has none, and
        gives the reason. Also the levels simulated by the current model version (`model`), and those set by
        operators. Floods are of daily means, and lower than instantaneous peaks.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            units: The unit of every discharge.
            area: The name of the drainage area used for depths (`/v1/basins/{basin}` lists them). By default the
                one that the basin's flow is converted with, its `area`.
        """
        request = Request(
            "GET", path_of("/v1/basins/{basin}/thresholds", basin=basin), query={"units": units, "area": area}
        )
        return self._answer(models.Thresholds, request)

    def put_threshold(
        self, basin: str, threshold: str, body: models.FixedLevel | Mapping[str, Any]
    ) -> models.FixedThreshold:
        """Set a level of a basin.

        A flow that matters at the basin, such as one that floods a street or stops withdrawals. With the key that
        registered the basin, a forecaster's for one of the service, or an admin's. The same again changes nothing.
        A basin has at most 32 of them, and those of an unofficial basin are unofficial. Only an admin's key gives a
        level the name of an agency or of a flood category. Where `in_doubt` gives a reason, its alerts wait until
        it is corrected or confirmed.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            threshold: The level's name.
            body: The fields of the request.
        """
        request = Request(
            "PUT", path_of("/v1/basins/{basin}/thresholds/{threshold}", basin=basin, threshold=threshold), body=body
        )
        return self._answer(models.FixedThreshold, request)

    def delete_threshold(self, basin: str, threshold: str) -> None:
        """Remove an operator's level.

        With the key that registered the basin, a forecaster's for one of the service, or an admin's. The levels of
        the record stay.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            threshold: The level's name.
        """
        request = Request(
            "DELETE", path_of("/v1/basins/{basin}/thresholds/{threshold}", basin=basin, threshold=threshold)
        )
        self._content(request)

    def confirm_threshold(self, basin: str, threshold: str) -> models.FixedThreshold:
        """Confirm a level of a basin that seems wrong.

        What `in_doubt` states is no longer held against the level at about this discharge, and its alerts go out;
        what waited for it goes out within seconds. With the key that registered the basin, a forecaster's for one
        of the service, or an admin's. The same again changes nothing.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            threshold: The level's name.
        """
        request = Request(
            "PUT", path_of("/v1/basins/{basin}/thresholds/{threshold}/confirmation", basin=basin, threshold=threshold)
        )
        return self._answer(models.FixedThreshold, request)

    def put_flood_frequency(
        self, basin: str, body: models.FloodFrequencySettings | Mapping[str, Any]
    ) -> models.FloodFrequency:
        """Set how the floods of a basin's record are analysed.

        A regional skew with its error, for a record that is too short to have a skew of its own, and whether floods
        are adjusted for a trend. With a regional skew the floods are those of Bulletin 17C, otherwise those of GEV.
        Levels, exceedance and alerts follow. With the key that registered the basin, or an admin's.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            body: The fields of the request.
        """
        request = Request("PUT", path_of("/v1/basins/{basin}/flood-frequency", basin=basin), body=body)
        return self._answer(models.FloodFrequency, request)

    def put_flood_categories(
        self, basin: str, body: models.NewCategories | Mapping[str, Any]
    ) -> models.FloodCategories:
        """Set the official flood categories of a basin.

        Action, minor, moderate and major flooding as levels of those names, with their impact statements, from the
        JSON of a gauge of NOAA's National Water Prediction Service. A stage is converted by the basin's rating, and
        again when that is replaced. Where file and rating differ, the file's flow is used; `in_doubt` of a level
        gives the reason why its alerts wait. With an admin's key. The same again changes nothing.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            body: The fields of the request.
        """
        request = Request("PUT", path_of("/v1/basins/{basin}/flood-categories", basin=basin), body=body)
        return self._answer(models.FloodCategories, request)

    def read_rating_table(self, basin: str, *, known_at: datetime | None = None) -> models.RatingTable:
        """Rating table of a basin's gauge.

        The relation of stage and discharge that holds, with its source, datum and range. Between its points,
        discharge and stage are converted both ways; outside its range nothing is.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            known_at: The state as known at this instant (RFC 3339, with its offset); by default as known now.
        """
        request = Request("GET", path_of("/v1/basins/{basin}/rating", basin=basin), query={"known_at": known_at})
        return self._answer(models.RatingTable, request)

    def put_rating(self, basin: str, body: models.NewRating | Mapping[str, Any]) -> models.NewRatingTable:
        """Set the rating table of a basin's gauge.

        A table of the USGS (RDB) or in CSV, from a day on. Earlier ones stay stored and hold for the days before.
        With the key that registered the basin, or an admin's; only the latter names an agency as `source`. The same
        again changes nothing. Official flood categories are converted anew; `left_out` has those without a
        discharge, `in_doubt` the levels that seem wrong.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            body: The fields of the request.
        """
        request = Request("PUT", path_of("/v1/basins/{basin}/rating", basin=basin), body=body)
        return self._answer(models.NewRatingTable, request)

    def list_weather(
        self, *, basin: str | None = None, source: str | None = None, model: str | None = None
    ) -> Iterator[models.WeatherIssue]:
        """List weather forecasts.

        The weather forecasts known by the service's clock, the latest stored first, a page at a time: follow `next`
        until it is null. Every forecast that arrives is stored and never changes.

        Args:
            basin: Only entries of this basin.
            source: Only weather forecasts of this source.
            model: Only weather forecasts of this model.
        """
        request = Request("GET", "/v1/weather", query={"basin": basin, "source": source, "model": model})
        return self._items(models.WeatherPage, "weather", request)

    def post_weather(
        self,
        content: bytes,
        *,
        idempotency_key: str | None = None,
        media_type: Literal["application/json", "text/csv", "application/x-netcdf"],
    ) -> models.Job:
        """Send a weather forecast.

        One weather forecast of any basins, of one trace or several, at most 20 MiB at once. A job checks and stores
        it: a basin with invalid weather is refused by name, and the others are stored; the job's messages call the
        file as the header `Content-Disposition: attachment; filename=...` does; repeating the request stores
        nothing new. One sent with an operator's key is used by forecasts that name it; one sent with an admin's key
        is used like those of a feed.

        Args:
            idempotency_key: A name of your own for this request: repeating it under the same name creates no second
                job.
            content: The file.
            media_type: The format of the file.
        """
        request = Request(
            "POST",
            "/v1/weather",
            headers={"idempotency-key": idempotency_key, "Content-Type": media_type},
            body=content,
        )
        return self._answer(models.Job, request)

    def read_weather(self, weather: str) -> models.WeatherDetail:
        """Read a weather forecast.

        Its source and model, and for each basin its days, traces and variables. Basins may still be added; stored
        ones never change.

        Args:
            weather: A weather forecast's id.
        """
        request = Request("GET", path_of("/v1/weather/{weather}", weather=weather))
        return self._answer(models.WeatherDetail, request)

    def read_weather_of_basin(self, weather: str, basin: str) -> models.BasinWeather:
        """A weather forecast's values for a basin.

        Daily values of each variable and trace: precipitation (mm/day), temperature (°C), radiation (W/m², the mean
        over daylight) and vapour pressure (Pa). It never changes, so it may be cached forever.

        Args:
            weather: A weather forecast's id.
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
        """
        request = Request("GET", path_of("/v1/weather/{weather}/basins/{basin}", weather=weather, basin=basin))
        return self._answer(models.BasinWeather, request)

    def read_exceedance(
        self,
        basin: str,
        *,
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        discharge: float | None = None,
        run: str | None = None,
    ) -> models.ExceedanceOfRun:
        """Exceedance probability of discharge levels.

        The chance that the day's mean flow passes a level, for each day ahead and for any of them: of the floods,
        low flows and operators' levels in `thresholds`, or of a requested discharge, by the calibrated flow of a
        forecast; null, with the reason, if it is not calibrated. The levels of the version's own simulation are
        compared with the uncalibrated members.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            units: The unit of every level.
            discharge: A level in `units`, passed upwards; by default the levels of the basin.
            run: A run's id; by default the latest forecast's.
        """
        request = Request(
            "GET",
            path_of("/v1/basins/{basin}/exceedance", basin=basin),
            query={"units": units, "discharge": discharge, "run": run},
        )
        return self._answer(models.ExceedanceOfRun, request)

    def read_persistence(
        self, basin: str, *, units: Literal["m3/s", "mm/day", "cfs"] | None = None, level: str | None = None
    ) -> models.Persistence:
        """Chances of a level by the newest forecasts.

        The chance of a level on each day ahead, by the newest forecasts of one version: whether one forecast after
        the other holds on to a flood, or drops it. As published, and with adjustments.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            units: The unit of every level.
            level: A level that flow rises above; by default the highest that is likely now, else the highest that
                is possible, else the lowest.
        """
        request = Request(
            "GET", path_of("/v1/basins/{basin}/persistence", basin=basin), query={"units": units, "level": level}
        )
        return self._answer(models.Persistence, request)

    def list_alerts(
        self, *, least_severity: Literal["advisory", "watch", "warning"] | None = None, region: str | None = None
    ) -> Iterator[models.RiverAlert]:
        """Current alerts of all basins.

        One alert for each basin and direction in which flow is likely to pass a level, a page at a time: follow
        `next` until it is null. It is of the level that stands for the river; `levels` has the others. The newest
        forecast of a basin decides its alerts by its calibrated chance. Where it has none, the alerts stay as they
        were and the basin's own answer gives the reason.

        Args:
            least_severity: Only alerts of at least this severity.
            region: Only basins of this region: `/v1/regions` lists them.
        """
        request = Request("GET", "/v1/alerts", query={"least_severity": least_severity, "region": region})
        return self._items(models.Alerts, "alerts", request)

    def read_alerts(self, basin: str) -> models.BasinAlerts:
        """Current alerts of a basin, level by level.

        For every flood, low flow and user-defined level: the chance by the newest forecast, the severity and trend,
        and the numbers and the rule behind the decision. If the forecast is not calibrated, no alert begins or
        ends, and `reason` states it.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
        """
        request = Request("GET", path_of("/v1/basins/{basin}/alerts", basin=basin))
        return self._answer(models.BasinAlerts, request)

    def list_alert_changes(self, basin: str) -> Iterator[models.AlertChange]:
        """Alert history of a basin.

        Every change of a level, newest first, with the run behind it. What a run changes at a river is one message
        to receivers (`message`). A promotion of another model version is a change of its own. Follow `next` until
        it is null.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
        """
        request = Request("GET", path_of("/v1/basins/{basin}/alerts/changes", basin=basin))
        return self._items(models.AlertChanges, "changes", request)

    def list_held_alerts(self) -> Iterator[models.HeldAlerts]:
        """Changes of alerts that wait for approval.

        Where FRESHET_ALERTS_NEED_APPROVAL is set: what the newest run of each basin proposes, and when it goes out
        if nobody decides before. Everywhere: what it proposes for levels that seem wrong (`in_doubt`), which waits
        until somebody decides. With a forecaster's key, of one for a region those there.
        """
        request = Request("GET", "/v1/alerts/held")
        return self._items(models.HeldAlertsPage, "held", request)

    def decide_held_alerts(self, basin: str, body: models.HeldRuling | Mapping[str, Any]) -> models.HeldAlerts:
        """Approve or dismiss changes of a basin's alerts.

        Approved changes go out within seconds, with the name of the key and the note. Dismissed ones do not, and
        the next run proposes anew. To change what goes out, publish an adjustment of the run. With a forecaster's
        key.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            body: The fields of the request.
        """
        request = Request("POST", path_of("/v1/basins/{basin}/alerts/held", basin=basin), body=body)
        return self._answer(models.HeldAlerts, request)

    def list_published_adjustments(self, basin: str) -> Iterator[models.Adjustment]:
        """Published adjustments of a basin's forecasts.

        What forecasters and measured flows changed of the basin's forecasts, newest first. Follow `next` until it
        is null.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
        """
        request = Request("GET", path_of("/v1/basins/{basin}/adjustments", basin=basin))
        return self._items(models.AdjustmentPage, "adjustments", request)

    def create_adjustment(self, basin: str, body: models.NewAdjustment | Mapping[str, Any]) -> models.AdjustedForecast:
        """Adjust an issued forecast.

        A draft for the latest forecast of the basin: a factor on the flow, a shift in time, chances of levels, and
        the reason in words. The answer has the forecast as issued and as adjusted. Nobody but forecasters sees a
        draft before it is published. With a forecaster's key.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            body: The fields of the request.
        """
        request = Request("POST", path_of("/v1/basins/{basin}/adjustments", basin=basin), body=body)
        return self._answer(models.AdjustedForecast, request)

    @overload
    def read_adjusted(
        self,
        run: str,
        basin: str,
        *,
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        format: Literal["json"] = "json",
    ) -> models.AdjustedForecast: ...

    @overload
    def read_adjusted(
        self,
        run: str,
        basin: str,
        *,
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        format: Literal["csv", "parquet", "netcdf", "coveragejson"],
    ) -> bytes: ...

    def read_adjusted(
        self,
        run: str,
        basin: str,
        *,
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        format: Literal["json", "csv", "parquet", "netcdf", "coveragejson"] = "json",
    ) -> Any:
        """A run's forecast of a basin as a forecaster published it.

        The newest published adjustment, beside the forecast as it was issued, which stays as it is. 404 if there is
        none.

        Args:
            run: A run's id.
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            units: The unit of discharge: m³/s, mm/day over the basin, or cubic feet per second.
            format: The format of the answer; by default the one preferred by the `Accept` header, and JSON without
                that.
        """
        request = Request(
            "GET",
            path_of("/v1/runs/{run}/basins/{basin}/adjusted", run=run, basin=basin),
            query={"units": units, "format": format},
        )
        if format != "json":
            return self._content(request)
        return self._answer(models.AdjustedForecast, request)

    def create_update(self, basin: str, body: models.NewFlow | Mapping[str, Any]) -> models.AdjustedForecast:
        """Update the latest forecast by a measured flow.

        A flow that was measured within a day of the basin's latest forecast moves that forecast at once, by its own
        spread alone: no weather, no state. Every answer and page shows it with its time until the next issue
        replaces it. A flow that is not newer than the last one changes nothing, nor does any after a forecaster has
        published an adjustment: the answer is what stands. Alerts are decided by the next issue. With a
        forecaster's key.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            body: The fields of the request.
        """
        request = Request("POST", path_of("/v1/basins/{basin}/updates", basin=basin), body=body)
        return self._answer(models.AdjustedForecast, request)

    def list_adjustments(self, *, basin: str | None = None) -> Iterator[models.Adjustment]:
        """Adjustments of all basins, with drafts.

        Drafts and published ones, newest first. With a forecaster's key, of one for a region those there. Follow
        `next` until it is null.

        Args:
            basin: Only entries of this basin.
        """
        request = Request("GET", "/v1/adjustments", query={"basin": basin})
        return self._items(models.AdjustmentPage, "adjustments", request)

    def read_adjustment(
        self, adjustment: str, *, units: Literal["m3/s", "mm/day", "cfs"] | None = None
    ) -> models.AdjustedForecast:
        """An adjustment beside the forecast as issued.

        A draft or a published adjustment. With a forecaster's key.

        Args:
            adjustment: An adjustment's id.
            units: The unit of discharge: m³/s, mm/day over the basin, or cubic feet per second.
        """
        request = Request("GET", path_of("/v1/adjustments/{adjustment}", adjustment=adjustment), query={"units": units})
        return self._answer(models.AdjustedForecast, request)

    def delete_adjustment(self, adjustment: str) -> None:
        """Delete the draft of an adjustment.

        What is published stays. With a forecaster's key.

        Args:
            adjustment: An adjustment's id.
        """
        request = Request("DELETE", path_of("/v1/adjustments/{adjustment}", adjustment=adjustment))
        self._content(request)

    def publish_adjustment(
        self, adjustment: str, body: models.Publication | Mapping[str, Any]
    ) -> models.AdjustedForecast:
        """Publish an adjustment.

        Publishes a draft under the name of the key, with the time and a note. The basin's alerts are decided by it
        within seconds, held ones too. The forecast as issued stays, and verification judges both. With a
        forecaster's key.

        Args:
            adjustment: An adjustment's id.
            body: The fields of the request.
        """
        request = Request("POST", path_of("/v1/adjustments/{adjustment}/publish", adjustment=adjustment), body=body)
        return self._answer(models.AdjustedForecast, request)

    @overload
    def read_volumes(
        self, basin: str, *, season: str | None = None, run: str | None = None, format: Literal["json"] = "json"
    ) -> models.VolumesOfRun: ...

    @overload
    def read_volumes(
        self,
        basin: str,
        *,
        season: str | None = None,
        run: str | None = None,
        format: Literal["csv", "parquet", "latex"],
    ) -> bytes: ...

    def read_volumes(
        self,
        basin: str,
        *,
        season: str | None = None,
        run: str | None = None,
        format: Literal["json", "csv", "parquet", "latex"] = "json",
    ) -> Any:
        """Seasonal volume.

        The seasonal volume exceeded with a chance of 10, 30, 50, 70 and 90 %, in mm and million m³, with the normal
        and the part observed until T0. From the newest run on the weather of other years that covers the season (a
        job `volumes` creates one), or from the run named. `calibrated` comes from equally likely paths of
        calibrated flow; `raw`, from members and traces, is overconfident. Null, with the reason, where it cannot be
        computed.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            season: The same days of every year, as `MM-DD..MM-DD`; of those the first that have not ended at T0. By
                default April to July where half or more of the precipitation is snow, elsewhere the month of the
                first day after T0 and the two after it.
            run: A run's id; by default the latest forecast's.
            format: The format of the answer; by default the one preferred by the `Accept` header, and JSON without
                that.
        """
        request = Request(
            "GET",
            path_of("/v1/basins/{basin}/volumes", basin=basin),
            query={"season": season, "run": run, "format": format},
        )
        if format != "json":
            return self._content(request)
        return self._answer(models.VolumesOfRun, request)

    @overload
    def read_latest_changes(
        self,
        basin: str,
        *,
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        format: Literal["json"] = "json",
        known_at: datetime | None = None,
    ) -> models.ChangeOfRun: ...

    @overload
    def read_latest_changes(
        self,
        basin: str,
        *,
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        format: Literal["csv", "parquet", "netcdf", "coveragejson"],
        known_at: datetime | None = None,
    ) -> bytes: ...

    def read_latest_changes(
        self,
        basin: str,
        *,
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        format: Literal["json", "csv", "parquet", "netcdf", "coveragejson"] = "json",
        known_at: datetime | None = None,
    ) -> Any:
        """Why the latest forecast differs from the previous one.

        The change of the discharge since the previous operational run of the basin, on the days that both hold,
        split into weather that came, new weather forecast, revised data, model version and observed flow. The parts
        add up to the change; `in_words` describes the largest one. Null, with the reason, for a basin's first
        forecast.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            units: The unit of discharge: m³/s, mm/day over the basin, or cubic feet per second.
            format: The format of the answer; by default the one preferred by the `Accept` header, and JSON without
                that.
            known_at: The state as known at this instant (RFC 3339, with its offset); by default as known now.
        """
        request = Request(
            "GET",
            path_of("/v1/basins/{basin}/forecasts/latest/changes", basin=basin),
            query={"units": units, "format": format, "known_at": known_at},
        )
        if format != "json":
            return self._content(request)
        return self._answer(models.ChangeOfRun, request)

    @overload
    def read_changes_of_run(
        self,
        run: str,
        basin: str,
        *,
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        format: Literal["json"] = "json",
    ) -> models.ChangeOfRun: ...

    @overload
    def read_changes_of_run(
        self,
        run: str,
        basin: str,
        *,
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        format: Literal["csv", "parquet", "netcdf", "coveragejson"],
    ) -> bytes: ...

    def read_changes_of_run(
        self,
        run: str,
        basin: str,
        *,
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        format: Literal["json", "csv", "parquet", "netcdf", "coveragejson"] = "json",
    ) -> Any:
        """Why the forecast of a given run differs from the previous one.

        The same answer as for the latest forecast, of any operational run.

        Args:
            run: A run's id.
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            units: The unit of discharge: m³/s, mm/day over the basin, or cubic feet per second.
            format: The format of the answer; by default the one preferred by the `Accept` header, and JSON without
                that.
        """
        request = Request(
            "GET",
            path_of("/v1/runs/{run}/basins/{basin}/changes", run=run, basin=basin),
            query={"units": units, "format": format},
        )
        if format != "json":
            return self._content(request)
        return self._answer(models.ChangeOfRun, request)

    def read_rain_margin(
        self,
        basin: str,
        *,
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        discharge: float | None = None,
        run: str | None = None,
    ) -> models.RainMarginOfRun:
        """Rain that takes flow to each level.

        How many millimetres of rain within 1, 2 or 3 days, starting on each of the next days, take the day's mean
        flow to a level: to the floods and rising operators' levels in `thresholds`, or to a requested discharge.
        Computed from the water in the basin at T0 when an operational run is issued: the rain falls evenly over the
        days of its window, no other rain falls, and all other weather is the mean of the forecast. Flow is
        corrected by the error model from the last observed flow, as the forecast's is; that compared with levels of
        the version's own simulation (`model-...`) is as it was simulated. Median and range are of the model's
        members.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            units: The unit of every level.
            discharge: A level in `units`, passed upwards; by default the levels of the basin.
            run: A run's id; by default the latest forecast's.
        """
        request = Request(
            "GET",
            path_of("/v1/basins/{basin}/rain-margin", basin=basin),
            query={"units": units, "discharge": discharge, "run": run},
        )
        return self._answer(models.RainMarginOfRun, request)

    def list_runs(
        self,
        *,
        basin: str | None = None,
        version: str | None = None,
        purpose: Literal["operational", "late", "on-request", "reforecast", "what-if"] | None = None,
        t0_from: date | None = None,
        t0_to: date | None = None,
        issued_after: datetime | None = None,
        known_at: datetime | None = None,
    ) -> Iterator[models.RunSummary]:
        """List forecast runs.

        The runs that are available by the service's clock, the newest first, a page at a time: follow `next` until
        it is null. With `known_at` those that were available by then; a run never changes.

        Args:
            basin: Only entries of this basin.
            version: Only entries of this model version.
            purpose: Only runs with this purpose.
            t0_from: Only with T0 on this day or later.
            t0_to: Only with T0 on this day or earlier.
            issued_after: Only issued after this instant (RFC 3339, with its offset).
            known_at: The state as known at this instant (RFC 3339, with its offset); by default as known now.
        """
        request = Request(
            "GET",
            "/v1/runs",
            query={
                "basin": basin,
                "version": version,
                "purpose": purpose,
                "t0_from": t0_from,
                "t0_to": t0_to,
                "issued_after": issued_after,
                "known_at": known_at,
            },
        )
        return self._items(models.RunPage, "runs", request)

    def read_run(self, run: str) -> models.RunDetail:
        """Outcome of a run, basin by basin.

        Time of the run, its model version and weather, and for every basin whether a forecast was issued or why
        not. A run never changes, so it may be cached forever.

        Args:
            run: A run's id.
        """
        request = Request("GET", path_of("/v1/runs/{run}", run=run))
        return self._answer(models.RunDetail, request)

    @overload
    def read_what_if(
        self,
        basin: str,
        *,
        run: str | None = None,
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        format: Literal["json"] = "json",
    ) -> models.WhatIfOfRun: ...

    @overload
    def read_what_if(
        self,
        basin: str,
        *,
        run: str | None = None,
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        format: Literal["csv", "parquet", "netcdf", "coveragejson"],
    ) -> bytes: ...

    def read_what_if(
        self,
        basin: str,
        *,
        run: str | None = None,
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        format: Literal["json", "csv", "parquet", "netcdf", "coveragejson"] = "json",
    ) -> Any:
        """A what-if run compared with its base run.

        The discharge of a what-if run and of the run without its changes, day by day; the difference in the volume
        that flows out; and both water balances, in which water added to the basin at T0 is a separate term. A job
        of the kind `what-if` creates such a run, and `/v1/runs?purpose=what-if` lists them. A run never changes, so
        the answer may be cached forever.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            run: The id of a what-if run; by default the newest of the basin.
            units: The unit of discharge: m³/s, mm/day over the basin, or cubic feet per second.
            format: The format of the answer; by default the one preferred by the `Accept` header, and JSON without
                that.
        """
        request = Request(
            "GET",
            path_of("/v1/basins/{basin}/what-if", basin=basin),
            query={"run": run, "units": units, "format": format},
        )
        if format != "json":
            return self._content(request)
        return self._answer(models.WhatIfOfRun, request)

    @overload
    def read_storage(
        self, basin: str, *, past_days: int | None = None, format: Literal["json"] = "json", run: str | None = None
    ) -> models.StorageOfRun: ...

    @overload
    def read_storage(
        self,
        basin: str,
        *,
        past_days: int | None = None,
        format: Literal["csv", "parquet", "netcdf", "coveragejson"],
        run: str | None = None,
    ) -> bytes: ...

    def read_storage(
        self,
        basin: str,
        *,
        past_days: int | None = None,
        format: Literal["json", "csv", "parquet", "netcdf", "coveragejson"] = "json",
        run: str | None = None,
    ) -> Any:
        """Water stored in a basin, and the part read as snow.

        Water in the basin at the end of each day ahead, mm: all of it, the part in cells read as snow, and the
        rest. The model was not trained on snow; `snow_skill` gives the skill of those cells against reference snow.
        With `past_days` also the days up to T0, from stored states and the simulated past. Null, with the reason,
        for networks that do not conserve mass.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            past_days: Number of days up to T0 whose water is included as `past`.
            format: The format of the answer; by default the one preferred by the `Accept` header, and JSON without
                that.
            run: A run's id; by default the latest forecast's.
        """
        request = Request(
            "GET",
            path_of("/v1/basins/{basin}/storage", basin=basin),
            query={"past_days": past_days, "format": format, "run": run},
        )
        if format != "json":
            return self._content(request)
        return self._answer(models.StorageOfRun, request)

    @overload
    def read_origin(
        self, basin: str, *, format: Literal["json"] = "json", run: str | None = None
    ) -> models.OriginOfRun: ...

    @overload
    def read_origin(
        self, basin: str, *, format: Literal["csv", "parquet", "netcdf", "coveragejson"], run: str | None = None
    ) -> bytes: ...

    def read_origin(
        self,
        basin: str,
        *,
        format: Literal["json", "csv", "parquet", "netcdf", "coveragejson"] = "json",
        run: str | None = None,
    ) -> Any:
        """Origin of the coming discharge: stored water or future rain.

        The discharge of each day ahead by the place of its water at T0, mm/day: stored in the basin, as snow or
        otherwise, or yet to fall. The model's own water is traced through its cells. Water in the cells read as
        snow counts as snow; the model was not trained on it. Null, with the reason, for networks that do not
        conserve mass; without snow cells, stored water is one part.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            format: The format of the answer; by default the one preferred by the `Accept` header, and JSON without
                that.
            run: A run's id; by default the latest forecast's.
        """
        request = Request(
            "GET", path_of("/v1/basins/{basin}/origin", basin=basin), query={"format": format, "run": run}
        )
        if format != "json":
            return self._content(request)
        return self._answer(models.OriginOfRun, request)

    @overload
    def read_age(self, basin: str, *, format: Literal["json"] = "json", run: str | None = None) -> models.AgeOfRun: ...

    @overload
    def read_age(
        self, basin: str, *, format: Literal["csv", "parquet", "netcdf", "coveragejson"], run: str | None = None
    ) -> bytes: ...

    def read_age(
        self,
        basin: str,
        *,
        format: Literal["json", "csv", "parquet", "netcdf", "coveragejson"] = "json",
        run: str | None = None,
    ) -> Any:
        """Age of the coming discharge, by season of precipitation.

        The discharge of each day ahead by the season in which its water fell, mm/day: in that of T0, in one of the
        four before it, earlier, or after T0. The model's own water is traced through its cells from more than a
        year before T0. Null, with the reason, if the run did not request it (`age` of a job `forecast`), if the
        record is shorter than a year, and for networks that do not conserve mass.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            format: The format of the answer; by default the one preferred by the `Accept` header, and JSON without
                that.
            run: A run's id; by default the latest forecast's.
        """
        request = Request("GET", path_of("/v1/basins/{basin}/age", basin=basin), query={"format": format, "run": run})
        if format != "json":
            return self._content(request)
        return self._answer(models.AgeOfRun, request)

    def read_water_balance(self, basin: str, *, run: str | None = None) -> models.BalanceOfRun:
        """Water balance of the forecast.

        The water balance from T0 to the end of the horizon, mm, of every member: precipitation, discharge, loss and
        storage change, the residual and its tolerance, and whether it closes. A basin whose balance does not close
        is withheld: ask for its run to see it. Null, with the reason, for networks that do not conserve mass.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            run: A run's id; by default the latest forecast's.
        """
        request = Request("GET", path_of("/v1/basins/{basin}/water-balance", basin=basin), query={"run": run})
        return self._answer(models.BalanceOfRun, request)

    def read_long_term_balance(self, basin: str, *, run: str | None = None) -> models.LongTermBalance:
        """Long-term water balance, with observed runoff.

        Mean annual precipitation, runoff and loss, mm, over all days from the empty store to T0, with the observed
        runoff of that time. The residual over that time is in `/water-balance`. Null, with the reason, for networks
        that do not conserve mass.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            run: A run's id; by default the latest forecast's.
        """
        request = Request("GET", path_of("/v1/basins/{basin}/long-term-balance", basin=basin), query={"run": run})
        return self._answer(models.LongTermBalance, request)

    def read_stage(self, basin: str, *, known_at: datetime | None = None) -> models.StageOfRun:
        """Latest forecast as stage.

        The quantiles of the latest forecast of discharge as stage, ft and m, by the basin's rating of the day, as
        known at an instant or now. Null with the reason where there is no rating, and outside its range.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            known_at: The state as known at this instant (RFC 3339, with its offset); by default as known now.
        """
        request = Request(
            "GET", path_of("/v1/basins/{basin}/forecasts/latest/stage", basin=basin), query={"known_at": known_at}
        )
        return self._answer(models.StageOfRun, request)

    def list_states(self, basin: str, *, version: str | None = None) -> Iterator[models.StateSummary]:
        """Stored model states of a basin.

        The states that forecasts started from, the newest day first, a page at a time: follow `next` until it is
        null. Each names its parent, so that the chain leads back to the empty store. Of old days the last of each
        month is stored; a damaged state is left out, and recomputed by the next forecast. The states of a version
        that combines others are those of its parts: name one.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            version: A model version's id; by default the basin's current one.
        """
        request = Request("GET", path_of("/v1/basins/{basin}/states", basin=basin), query={"version": version})
        return self._items(models.StatePage, "states", request)

    @overload
    def read_state(
        self, day: date, basin: str, *, version: str | None = None, format: Literal["json"] = "json"
    ) -> models.StateDetail: ...

    @overload
    def read_state(self, day: date, basin: str, *, version: str | None = None, format: Literal["netcdf"]) -> bytes: ...

    def read_state(
        self, day: date, basin: str, *, version: str | None = None, format: Literal["json", "netcdf"] = "json"
    ) -> Any:
        """A model state of a basin with its arrays.

        What the model's cells hold at the end of the day, for each member: exact numbers in JSON, or the arrays in
        a NetCDF file. A forecast from this day starts from them.

        Args:
            day: The last day of weather in the state.
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            version: A model version's id; by default the basin's current one.
            format: The format of the answer; by default the one preferred by the `Accept` header, and JSON without
                that.
        """
        request = Request(
            "GET",
            path_of("/v1/basins/{basin}/states/{day}", day=day, basin=basin),
            query={"version": version, "format": format},
        )
        if format != "json":
            return self._content(request)
        return self._answer(models.StateDetail, request)

    @overload
    def read_drain_down(
        self,
        basin: str,
        *,
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        format: Literal["json"] = "json",
        t0: date | None = None,
        run: str | None = None,
    ) -> models.DrainDownOfRun: ...

    @overload
    def read_drain_down(
        self,
        basin: str,
        *,
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        format: Literal["csv", "parquet", "netcdf", "coveragejson"],
        t0: date | None = None,
        run: str | None = None,
    ) -> bytes: ...

    def read_drain_down(
        self,
        basin: str,
        *,
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        format: Literal["json", "csv", "parquet", "netcdf", "coveragejson"] = "json",
        t0: date | None = None,
        run: str | None = None,
    ) -> Any:
        """Recession without further rain, and the day of low flow.

        Runoff of the water stored in the basin at T0, if no more rain or snow fell and all other weather were the
        mean of other years: discharge for each day; runoff, loss and remaining water after 10, 30, 90 and 180 days;
        and the first day on which flow is below each low level. The weather is hypothetical, so this is not a
        forecast. From the newest run with dry weather (a job `forecast` with `weather` dry creates one), or from
        the run named. Fields about stored water are null, with the reason, for networks that do not conserve mass.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            units: The unit of discharge, and of the levels.
            format: The format of the answer; by default the one preferred by the `Accept` header, and JSON without
                that.
            t0: The newest run with this T0; by default the newest of all.
            run: A run's id; by default the latest forecast's.
        """
        request = Request(
            "GET",
            path_of("/v1/basins/{basin}/drain-down", basin=basin),
            query={"units": units, "format": format, "t0": t0, "run": run},
        )
        if format != "json":
            return self._content(request)
        return self._answer(models.DrainDownOfRun, request)

    @overload
    def read_basin_skill(
        self,
        basin: str,
        *,
        version: str | None = None,
        metric: str | None = None,
        period_use: Literal["held out", "validation", "training", "mixed", "unknown"] | None = None,
        format: Literal["json"] = "json",
    ) -> models.BasinSkill: ...

    @overload
    def read_basin_skill(
        self,
        basin: str,
        *,
        version: str | None = None,
        metric: str | None = None,
        period_use: Literal["held out", "validation", "training", "mixed", "unknown"] | None = None,
        format: Literal["csv", "parquet", "latex"],
    ) -> bytes: ...

    def read_basin_skill(
        self,
        basin: str,
        *,
        version: str | None = None,
        metric: str | None = None,
        period_use: Literal["held out", "validation", "training", "mixed", "unknown"] | None = None,
        format: Literal["json", "csv", "parquet", "latex"] = "json",
    ) -> Any:
        """Skill of the model in a basin.

        Every score of a model version in the basin, with its period and the use of its days in the training: a
        score that is not defined there is null, with the reason. Also the skill of the snow cells against reference
        snow, which the model was not trained on.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            version: A model version's id; by default the basin's current one.
            metric: Only this metric.
            period_use: Only scores whose days had this use in the training: `held out` for skill.
            format: The format of the answer; by default the one preferred by the `Accept` header, and JSON without
                that.
        """
        request = Request(
            "GET",
            path_of("/v1/basins/{basin}/skill", basin=basin),
            query={"version": version, "metric": metric, "period_use": period_use, "format": format},
        )
        if format != "json":
            return self._content(request)
        return self._answer(models.BasinSkill, request)

    @overload
    def read_model_skill(
        self,
        version: str,
        *,
        metric: str | None = None,
        period_use: Literal["held out", "validation", "training", "mixed", "unknown"] | None = None,
        format: Literal["json"] = "json",
    ) -> models.ModelSkill: ...

    @overload
    def read_model_skill(
        self,
        version: str,
        *,
        metric: str | None = None,
        period_use: Literal["held out", "validation", "training", "mixed", "unknown"] | None = None,
        format: Literal["csv", "parquet", "latex"],
    ) -> bytes: ...

    def read_model_skill(
        self,
        version: str,
        *,
        metric: str | None = None,
        period_use: Literal["held out", "validation", "training", "mixed", "unknown"] | None = None,
        format: Literal["json", "csv", "parquet", "latex"] = "json",
    ) -> Any:
        """Skill of a model version over its basins.

        The median and the quartiles of each score over the basins, by metric, period and use of its days in the
        training, with the number of basins with and without a value.

        Args:
            version: A model version's id.
            metric: Only this metric.
            period_use: Only scores whose days had this use in the training: `held out` for skill.
            format: The format of the answer; by default the one preferred by the `Accept` header, and JSON without
                that.
        """
        request = Request(
            "GET",
            path_of("/v1/models/{version}/skill", version=version),
            query={"metric": metric, "period_use": period_use, "format": format},
        )
        if format != "json":
            return self._content(request)
        return self._answer(models.ModelSkill, request)

    @overload
    def read_simulation(
        self,
        basin: str,
        *,
        version: str | None = None,
        start: date | None = None,
        end: date | None = None,
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        area: str | None = None,
        format: Literal["json"] = "json",
    ) -> models.Simulation: ...

    @overload
    def read_simulation(
        self,
        basin: str,
        *,
        version: str | None = None,
        start: date | None = None,
        end: date | None = None,
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        area: str | None = None,
        format: Literal["csv", "parquet", "netcdf", "coveragejson"],
    ) -> bytes: ...

    def read_simulation(
        self,
        basin: str,
        *,
        version: str | None = None,
        start: date | None = None,
        end: date | None = None,
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        area: str | None = None,
        format: Literal["json", "csv", "parquet", "netcdf", "coveragejson"] = "json",
    ) -> Any:
        """Simulated and observed flow behind the scores of a basin.

        The daily flow that a model version simulated with observed weather, and the observation, on the days of its
        newest evaluation: every score of `/skill` can be computed from them again. A version that learnt from these
        days itself is scored by its twin.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            version: A model version's id; by default the basin's current one.
            start: The first day; by default that of the evaluation.
            end: The last day; by default that of the evaluation.
            units: The unit of both series; the scores are computed in `mm/day`.
            area: The name of the drainage area used for depths (`/v1/basins/{basin}` lists them). By default the
                one that the basin's flow is converted with, its `area`.
            format: The format of the answer; by default the one preferred by the `Accept` header, and JSON without
                that.
        """
        request = Request(
            "GET",
            path_of("/v1/basins/{basin}/simulation", basin=basin),
            query={"version": version, "start": start, "end": end, "units": units, "area": area, "format": format},
        )
        if format != "json":
            return self._content(request)
        return self._answer(models.Simulation, request)

    def read_basin_verification(
        self,
        basin: str,
        *,
        version: str | None = None,
        season: Literal["all", "DJF", "MAM", "JJA", "SON"] | None = None,
    ) -> models.BasinVerification:
        """Verification of the forecasts in a basin, by lead time.

        Forecasts of a model version verified against observations, with climatology and persistence, by lead time:
        reforecasts of past days with observed weather, and issued forecasts by their weather.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            version: A model version's id; by default the basin's current one.
            season: Season of the forecast days: `all`, or three months by their initials.
        """
        request = Request(
            "GET", path_of("/v1/basins/{basin}/verification", basin=basin), query={"version": version, "season": season}
        )
        return self._answer(models.BasinVerification, request)

    def read_model_verification(
        self, version: str, *, season: Literal["all", "DJF", "MAM", "JJA", "SON"] | None = None
    ) -> models.ModelVerification:
        """Verification of a model version over its basins, by lead time.

        The median and the quartiles of each score over the basins, by origin, weather, period, lead and forecaster.

        Args:
            version: A model version's id.
            season: Season of the forecast days: `all`, or three months by their initials.
        """
        request = Request(
            "GET", path_of("/v1/models/{version}/verification", version=version), query={"season": season}
        )
        return self._answer(models.ModelVerification, request)

    def read_worst_errors(
        self,
        *,
        of: Literal["volume", "peak"] | None = None,
        version: str | None = None,
        basin: str | None = None,
        season: Literal["all", "DJF", "MAM", "JJA", "SON"] | None = None,
        start: date | None = None,
        end: date | None = None,
        limit: int | None = None,
    ) -> models.WorstErrors:
        """The worst forecasts, and what went wrong.

        The verified operational forecasts with the largest errors of volume or peak, for instance of a season. Each
        error is split exactly into those of the weather after T0, of the initial state and of the network, by
        reruns with the weather that came; the mean size of each over all verified forecasts is given beside. A
        forecast is verified once the flow of all its days is 30 days old.

        Args:
            of: The measure of the error: the volume of the days ahead, or their peak.
            version: Only entries of this model version.
            basin: Only entries of this basin.
            season: Season of the forecast days: `all`, or three months by their initials.
            start: Only forecasts with this T0 or a later one.
            end: Only forecasts with this T0 or an earlier one.
            limit: Number of forecasts.
        """
        request = Request(
            "GET",
            "/v1/verification/worst",
            query={
                "of": of,
                "version": version,
                "basin": basin,
                "season": season,
                "start": start,
                "end": end,
                "limit": limit,
            },
        )
        return self._answer(models.WorstErrors, request)

    def read_skilful_days(self, basin: str, *, version: str | None = None) -> models.SkilfulDays:
        """How many days ahead forecasts of a basin are skilful, by month.

        The headline of the verification: the longest lead time up to which forecasts beat the flow of other years,
        with the whole interval of their CRPS skill above 0, for each calendar month.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            version: A model version's id; by default the basin's current one.
        """
        request = Request("GET", path_of("/v1/basins/{basin}/skilful-days", basin=basin), query={"version": version})
        return self._answer(models.SkilfulDays, request)

    def list_issues(
        self, *, day_from: date | None = None, version: str | None = None, huc: str | None = None
    ) -> Iterator[models.IssueSummary]:
        """List the issues of the daily cycle.

        The outcome of each day's forecasts, newest first: how many basins were expected, renewed and missing, with
        the codes of the reasons. With `version` or `huc` the numbers are of those basins alone.

        Args:
            day_from: Only of this day or later; by default of the last 30 days.
            version: Only entries of this model version.
            huc: The beginning of the hydrologic unit code.
        """
        request = Request("GET", "/v1/issues", query={"day_from": day_from, "version": version, "huc": huc})
        return self._items(models.IssuePage, "issues", request)

    def read_issue(self, issue: date, *, version: str | None = None, huc: str | None = None) -> models.IssueDetail:
        """An issue and its missing basins.

        The numbers of an issue, and each basin without a forecast with its reason. It changes as the cycle goes on,
        and when missing basins are issued again.

        Args:
            issue: The day of issue.
            version: Only entries of this model version.
            huc: The beginning of the hydrologic unit code.
        """
        request = Request("GET", path_of("/v1/issues/{issue}", issue=issue), query={"version": version, "huc": huc})
        return self._answer(models.IssueDetail, request)

    def list_comparisons(self, *, version: str | None = None) -> Iterator[models.ComparisonSummary]:
        """List comparisons.

        Comparisons of model versions, the newest first, a page at a time: follow `next` until it is null. A new one
        is created by a job of the kind `comparison` (`POST /v1/jobs`).

        Args:
            version: Only entries of this model version.
        """
        request = Request("GET", "/v1/comparisons", query={"version": version})
        return self._items(models.ComparisonPage, "comparisons", request)

    @overload
    def read_comparison(
        self, comparison: str, *, metric: str | None = None, format: Literal["json"] = "json"
    ) -> models.Comparison: ...

    @overload
    def read_comparison(
        self, comparison: str, *, metric: str | None = None, format: Literal["csv", "parquet", "latex"]
    ) -> bytes: ...

    def read_comparison(
        self, comparison: str, *, metric: str | None = None, format: Literal["json", "csv", "parquet", "latex"] = "json"
    ) -> Any:
        """Scores of several model versions on the same basins and days.

        The scores of several versions on the same basins and days: quartiles over the basins, differences to the
        first version with a Wilcoxon signed-rank test, every basin's score, the cost of training each version, and
        published scores; as a file, the scores of each basin. A comparison never changes, so it may be cached
        forever.

        Args:
            comparison: A comparison's id.
            metric: Only this metric.
            format: The format of the answer; by default the one preferred by the `Accept` header, and JSON without
                that.
        """
        request = Request(
            "GET",
            path_of("/v1/comparisons/{comparison}", comparison=comparison),
            query={"metric": metric, "format": format},
        )
        if format != "json":
            return self._content(request)
        return self._answer(models.Comparison, request)

    def list_models(
        self, *, product: str | None = None, architecture: str | None = None
    ) -> Iterator[models.ModelSummary]:
        """List model versions.

        Model versions, the newest first, a page at a time: follow `next` until it is null.

        Args:
            product: Only versions that use this weather product.
            architecture: Only versions of this architecture.
        """
        request = Request("GET", "/v1/models", query={"product": product, "architecture": architecture})
        return self._items(models.ModelPage, "models", request)

    def combine_models(self, body: models.NewCombination | Mapping[str, Any]) -> models.ModelDetail:
        """Combine model versions.

        A version whose flow is the weighted mean of others, each on its own weather product. Where a product is
        missing, the others go on. It is put in use like any other. Combining the same again returns the same
        version.

        Args:
            body: The fields of the request.
        """
        request = Request("POST", "/v1/models", body=body)
        return self._answer(models.ModelDetail, request)

    def read_model(self, version: str) -> models.ModelDetail:
        """Read a model version.

        Its training and training data, members, training basins, the basins that it is current for, and the mass
        conservation of its simulations.

        Args:
            version: A model version's id.
        """
        request = Request("GET", path_of("/v1/models/{version}", version=version))
        return self._answer(models.ModelDetail, request)

    def read_model_promotions(self, version: str) -> models.Promotions:
        """Promotions of a model version.

        Its promotions to current version: who, when, why and for which basins, newest first.

        Args:
            version: A model version's id.
        """
        request = Request("GET", path_of("/v1/models/{version}/promotions", version=version))
        return self._answer(models.Promotions, request)

    def promote_model(self, version: str, body: models.NewPromotion | Mapping[str, Any]) -> models.Promotions:
        """Put a model version in use.

        From then on the forecasts of the basins come from it. To undo it, post a rollback. Repeating it changes
        nothing. A version that was trained with an operator's key serves only basins registered with that key.

        Args:
            version: A model version's id.
            body: The fields of the request.
        """
        request = Request("PUT", path_of("/v1/models/{version}/promotion", version=version), body=body)
        return self._answer(models.Promotions, request)

    def roll_back_model(self, version: str, body: models.NewRollback | Mapping[str, Any]) -> models.Rollback:
        """Roll back a model version.

        Every basin that uses the version gets its previous one, all or none. The version stays, and can be promoted
        again.

        Args:
            version: A model version's id.
            body: The fields of the request.
        """
        request = Request("POST", path_of("/v1/models/{version}/rollback", version=version), body=body)
        return self._answer(models.Rollback, request)

    def read_basin_promotions(self, basin: str) -> models.BasinPromotions:
        """Promotions in a basin.

        The promotions of the basin, the newest first: the first is the current version; an empty list: no version
        was promoted yet.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
        """
        request = Request("GET", path_of("/v1/basins/{basin}/promotions", basin=basin))
        return self._answer(models.BasinPromotions, request)

    def list_bridges(self) -> models.Bridges:
        """List bridges between weather products.

        The bridges in the order of their names. A new one is fitted, and applied every day, by jobs of the kind
        `bridge` (`POST /v1/jobs`).
        """
        request = Request("GET", "/v1/bridges")
        return self._answer(models.Bridges, request)

    def read_bridge(self, bridge: str) -> models.BridgeDetail:
        """Corrections and skill of a bridge.

        For each basin: the start of its day, the factors and steps of each month, whether they were fitted there or
        on similar basins, and the skill of the bridged weather on water years held out of the fit.

        Args:
            bridge: A bridge's name, which stands for its newest fit, or the id of a fit.
        """
        request = Request("GET", path_of("/v1/bridges/{bridge}", bridge=bridge))
        return self._answer(models.BridgeDetail, request)

    def post_job(
        self,
        body: models.IngestJob
        | models.FetchJob
        | models.BridgeJob
        | models.FuseJob
        | models.ClimateJob
        | models.CheckJob
        | models.PruneJob
        | models.ForecastJob
        | models.WhatIfJob
        | models.VolumesJob
        | models.DailyJob
        | models.ReplayJob
        | models.BackfillJob
        | models.TrainingJob
        | models.RetrainingJob
        | models.PretrainedJob
        | models.EvaluationJob
        | models.CalibrationJob
        | models.ReforecastJob
        | models.VerificationJob
        | models.LevelsJob
        | models.ComparisonJob
        | models.ArchiveJob
        | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> models.Job:
        """Start an ingest, a training, a forecast, an evaluation, a comparison or an installation.

        A worker runs the job as soon as one is free: watch `/v1/jobs/{job}` or its events. If the answer gets lost,
        post again with the same `Idempotency-Key`: only one job is created. The guide (Jobs) lists the job kinds
        that an operator's key may post: their results belong to that key, and are never the service's own.

        Args:
            idempotency_key: A name of your own for this request: repeating it under the same name creates no second
                job.
            body: The fields of the request.
        """
        request = Request("POST", "/v1/jobs", headers={"idempotency-key": idempotency_key}, body=body)
        return self._answer(models.Job, request)

    def list_jobs(
        self,
        *,
        status: Literal["queued", "running", "waiting", "succeeded", "failed", "cancelled"] | None = None,
        kind: Literal[
            "ingest",
            "upload",
            "weather",
            "fetch",
            "bridge",
            "fuse",
            "basin",
            "climate",
            "check",
            "prune",
            "delivery",
            "forecast",
            "what-if",
            "volumes",
            "daily",
            "daily-part",
            "replay",
            "backfill",
            "training",
            "retraining",
            "member",
            "members",
            "pretrained",
            "evaluation",
            "calibration",
            "reforecast",
            "verification",
            "levels",
            "comparison",
            "archive",
        ]
        | None = None,
        parent: str | None = None,
    ) -> Iterator[models.Job]:
        """List jobs.

        Jobs, the newest first, a page at a time: follow `next` until it is null.

        Args:
            status: Only jobs with this status.
            kind: Only jobs of this kind.
            parent: Only jobs that this job has posted.
        """
        request = Request("GET", "/v1/jobs", query={"status": status, "kind": kind, "parent": parent})
        return self._items(models.JobPage, "jobs", request)

    def read_job(self, job: str) -> models.Job:
        """Read a job.

        Its parameters, progress, and result or cause of failure. A job that has ended has an `ETag`.

        Args:
            job: A job's id.
        """
        request = Request("GET", path_of("/v1/jobs/{job}", job=job))
        return self._answer(models.Job, request)

    def cancel_job(self, job: str) -> models.Job:
        """Stop a job.

        A job that has not started is cancelled at once, a running one stops at its next heartbeat, and one that has
        ended stays as it is. The jobs that a training has posted are stopped with it. Only the key that posted a
        job, or an admin's, may stop it; a schedule's jobs are an admin's.

        Args:
            job: A job's id.
        """
        request = Request("POST", path_of("/v1/jobs/{job}/cancel", job=job))
        return self._answer(models.Job, request)

    def list_feeds(self) -> models.Feeds:
        """List feeds.

        All feeds in the order of their names, with the outcome of their last fetch.
        """
        request = Request("GET", "/v1/feeds")
        return self._answer(models.Feeds, request)

    def create_feed(self, body: models.NewFeed | Mapping[str, Any]) -> models.Feed:
        """Create a feed.

        It fetches nothing by itself: post a job of the kind `fetch` that names it, or let a schedule post it. The
        feed of an operator's key writes the basins that the key registered. That of an admin's key writes every
        basin, but files write no gauge with a published source.

        Args:
            body: The fields of the request.
        """
        request = Request("POST", "/v1/feeds", body=body)
        return self._answer(models.Feed, request)

    def read_feed(self, feed: str) -> models.FeedDetail:
        """Read a feed.

        Its settings, and the outcome of its last fetch, in total and for each basin.

        Args:
            feed: A feed's name.
        """
        request = Request("GET", path_of("/v1/feeds/{feed}", feed=feed))
        return self._answer(models.FeedDetail, request)

    def delete_feed(self, feed: str) -> None:
        """Remove a feed.

        Its data and their credits stay. A schedule that uses it fails from then on.

        Args:
            feed: A feed's name.
        """
        request = Request("DELETE", path_of("/v1/feeds/{feed}", feed=feed))
        self._content(request)

    def list_schedules(self) -> models.Schedules:
        """List schedules.

        All schedules in the order of their names, with the next time of each.
        """
        request = Request("GET", "/v1/schedules")
        return self._answer(models.Schedules, request)

    def create_schedule(self, body: models.NewSchedule | Mapping[str, Any]) -> models.Schedule:
        """Create a schedule.

        Posts an ingest, a forecast, a training, an evaluation or a comparison by a cron line in a time zone. Times
        missed while the service was down are caught up on once, and those at which its last job is unfinished are
        left out, with a line in that job's log. Its jobs run with the permissions of your key at that time: if the
        key is revoked or expired, they fail with that reason.

        Args:
            body: The fields of the request.
        """
        request = Request("POST", "/v1/schedules", body=body)
        return self._answer(models.Schedule, request)

    def read_schedule(self, schedule: str) -> models.Schedule:
        """Read a schedule.

        Its job, its next time, and the last job that it posted. Its `ETag` is needed to change it.

        Args:
            schedule: A schedule's id.
        """
        request = Request("GET", path_of("/v1/schedules/{schedule}", schedule=schedule))
        return self._answer(models.Schedule, request)

    def replace_schedule(
        self, schedule: str, body: models.NewSchedule | Mapping[str, Any], *, if_match: str
    ) -> models.Schedule:
        """Change a schedule.

        Replaces all its fields; jobs already posted stay. It is refused if the schedule was changed or has fired
        since you read it: read it again.

        Args:
            schedule: A schedule's id.
            if_match: The `ETag` of the schedule as you have read it, against conflicting changes. `*` is any.
            body: The fields of the request.
        """
        request = Request(
            "PUT", path_of("/v1/schedules/{schedule}", schedule=schedule), headers={"if-match": if_match}, body=body
        )
        return self._answer(models.Schedule, request)

    def delete_schedule(self, schedule: str, *, if_match: str | None = None) -> None:
        """Delete a schedule.

        It posts no more jobs. Jobs already posted stay.

        Args:
            schedule: A schedule's id.
            if_match: The `ETag` of the schedule as you have read it, against conflicting changes. `*` is any.
        """
        request = Request(
            "DELETE", path_of("/v1/schedules/{schedule}", schedule=schedule), headers={"if-match": if_match}
        )
        self._content(request)

    def list_subscriptions(self) -> models.Subscriptions:
        """List subscriptions to alert changes.

        The key's own subscriptions; for an admin's key, all.
        """
        request = Request("GET", "/v1/subscriptions")
        return self._answer(models.Subscriptions, request)

    def create_subscription(self, body: models.NewSubscription | Mapping[str, Any]) -> models.SubscriptionWithSecret:
        """Subscribe to alert changes.

        With a `url`, every change is posted to it from now on as JSON, in `data` of a payload with `type` and
        `timestamp`. It is signed by the Standard Webhooks specification (`webhook-id`, `webhook-timestamp`,
        `webhook-signature`) with the secret in the answer, which is shown this once. Failed deliveries are retried
        with growing delays, under the same `webhook-id`, the change's `event`. With a `template`, the body is that
        of a gateway of text messages or chat. With an `email`, its recipient is asked once, unless somebody has
        asked that address within 30 days or it has refused questions: the answer is the same. Changes are sent
        after the recipient has agreed, and every message has a link to unsubscribe. While the key is revoked or
        expired, nothing new is sent. `about` `issues`, the messages are instead that the forecasts of a day are not
        complete at the stated time (`issue.incomplete`), and that they have become so (`issue.complete`), and
        alarms of the service: a silent feed, a disk that fills, a version worse than persistence (`alarm.begins`,
        `alarm.ends`).

        Args:
            body: The fields of the request.
        """
        request = Request("POST", "/v1/subscriptions", body=body)
        return self._answer(models.SubscriptionWithSecret, request)

    def read_subscription(self, subscription: str) -> models.Subscription:
        """Read a subscription.

        Only for the key that created it and for admins, because a URL may contain a secret.

        Args:
            subscription: A subscription's id.
        """
        request = Request("GET", path_of("/v1/subscriptions/{subscription}", subscription=subscription))
        return self._answer(models.Subscription, request)

    def change_subscription(
        self, subscription: str, body: models.SubscriptionPatch | Mapping[str, Any]
    ) -> models.Subscription:
        """Change a subscription.

        Changes its URL, basins or region, minimum severity, template or digest; a field that is left out stays.
        Pending deliveries go to the new URL. Of a subscription for e-mail, the address does not change, and its
        recipient never gets more than was asked: create another subscription, which asks for consent.

        Args:
            subscription: A subscription's id.
            body: The fields of the request.
        """
        request = Request("PATCH", path_of("/v1/subscriptions/{subscription}", subscription=subscription), body=body)
        return self._answer(models.Subscription, request)

    def delete_subscription(self, subscription: str) -> None:
        """Delete a subscription.

        Also deletes its deliveries and their log. The alert history stays.

        Args:
            subscription: A subscription's id.
        """
        request = Request("DELETE", path_of("/v1/subscriptions/{subscription}", subscription=subscription))
        self._content(request)

    def rotate_secret(self, subscription: str) -> models.SubscriptionWithSecret:
        """Give a subscription a new secret.

        The answer shows the new secret, this once. For a day deliveries are signed with both secrets, so that the
        receiver can change over in its own time; a second rotation within the day ends the oldest at once.

        Args:
            subscription: A subscription's id.
        """
        request = Request("POST", path_of("/v1/subscriptions/{subscription}/rotate", subscription=subscription))
        return self._answer(models.SubscriptionWithSecret, request)

    def resume_subscription(self, subscription: str) -> models.Subscription:
        """Send to a paused subscription again.

        Changes are sent to it from now on. Those of the pause are not; deliveries that failed can be replayed.
        Where the recipient of e-mail has unsubscribed, nobody can resume it.

        Args:
            subscription: A subscription's id.
        """
        request = Request("POST", path_of("/v1/subscriptions/{subscription}/resume", subscription=subscription))
        return self._answer(models.Subscription, request)

    def list_deliveries(
        self, *, subscription: str | None = None, status: Literal["pending", "delivered", "failed"] | None = None
    ) -> Iterator[models.Delivery]:
        """Which notifications were delivered.

        The deliveries to the key's own subscriptions (for an admin's key, to all), newest first, a page at a time:
        follow `next` until it is null. Questions to recipients of e-mail are shown to admins alone: whether one is
        sent depends on what others have asked, and on what the recipient has answered.

        Args:
            subscription: Only deliveries of this subscription.
            status: Only deliveries with this status.
        """
        request = Request("GET", "/v1/deliveries", query={"subscription": subscription, "status": status})
        return self._items(models.DeliveryPage, "deliveries", request)

    def read_delivery(self, delivery: str) -> models.DeliveryDetail:
        """The log of a delivery.

        Every attempt: when it was sent, the receiver's status code, or why it does not count as delivered. The body
        of the receiver's answer is not read.

        Args:
            delivery: A delivery's id.
        """
        request = Request("GET", path_of("/v1/deliveries/{delivery}", delivery=delivery))
        return self._answer(models.DeliveryDetail, request)

    def replay_delivery(self, delivery: str) -> models.DeliveryDetail:
        """Send a delivery again.

        Starts a finished delivery again, whether it succeeded or failed: the same event, with as many attempts as a
        new one. The question whether a recipient of e-mail agrees is sent again only where it has not arrived.

        Args:
            delivery: A delivery's id.
        """
        request = Request("POST", path_of("/v1/deliveries/{delivery}/replay", delivery=delivery))
        return self._answer(models.DeliveryDetail, request)

    def read_archive(self) -> models.Archive:
        """List the stores of the archive.

        Zarr stores with all issued forecasts and reforecasts, by basin, issue, lead time and quantile. None where
        the service has no archive. Open one in Python with
        `xarray.open_zarr("https://…/v1/archive/forecasts.zarr")`.
        """
        request = Request("GET", "/v1/archive")
        return self._answer(models.Archive, request)

    def read_archive_file(self, path: str, *, range: str | None = None) -> bytes:
        """A file of the archive.

        For libraries that read Zarr version 3. `zarr.json` of a store is replaced when an issue is appended: what
        it describes is always whole, and what it leads to stays readable. A chunk that is not there is missing
        throughout. Values of an issue never change; all other files grow, so a cache asks each time whether its
        copy is the same.

        Args:
            path: A file of a Zarr store: `zarr.json`, or a chunk.
            range: A range of bytes: `bytes=0-99`.
        """
        request = Request("GET", path_of("/v1/archive/{path}", path=path), headers={"range": range})
        return self._content(request)

    def read_alert_feed(
        self,
        *,
        basins: str | None = None,
        least_severity: Literal["advisory", "watch", "warning"] | None = None,
        region: str | None = None,
        after: int | None = None,
        limit: int | None = None,
    ) -> bytes:
        """Changes of alerts as an Atom feed.

        For a feed reader: the newest changes of the selected basins, one entry for what a run changed at a river,
        with the numbers and the rule in words. A subscription's `feed` is the address of the changes that it gets.
        Older ones are behind the link `next`. Changes of unofficial basins are in no feed.

        Args:
            basins: The basins, at most 500, with commas between; by default all, or those selected by `huc`, `bbox`
                and `region`.
            least_severity: Only changes of alerts that reach, or had reached, this severity.
            region: Only basins of this region: `/v1/regions` lists them.
            after: Start after this number: the last one of the page before.
            limit: Maximum number of entries a page.
        """
        request = Request(
            "GET",
            "/v1/alerts/feed",
            query={
                "basins": basins,
                "least_severity": least_severity,
                "region": region,
                "after": after,
                "limit": limit,
            },
        )
        return self._content(request)

    def read_cap_index(
        self,
        *,
        basins: str | None = None,
        least_severity: Literal["advisory", "watch", "warning"] | None = None,
        region: str | None = None,
        after: int | None = None,
        limit: int | None = None,
    ) -> bytes:
        """Index of CAP messages as an Atom feed.

        For an alert hub: the newest changes, each with a link to its message of the Common Alerting Protocol.

        Args:
            basins: The basins, at most 500, with commas between; by default all, or those selected by `huc`, `bbox`
                and `region`.
            least_severity: Only changes of alerts that reach, or had reached, this severity.
            region: Only basins of this region: `/v1/regions` lists them.
            after: Start after this number: the last one of the page before.
            limit: Maximum number of entries a page.
        """
        request = Request(
            "GET",
            "/v1/alerts/cap",
            query={
                "basins": basins,
                "least_severity": least_severity,
                "region": region,
                "after": after,
                "limit": limit,
            },
        )
        return self._content(request)

    def read_cap_message(self, change: str) -> bytes:
        """A change of an alert as a CAP 1.2 message.

        The message of a change, by the Common Alerting Protocol: one for all that a run changed at a river. Its
        severity is that of the river's alert. Its status is `Exercise` where it was decided in a replay, or while
        the service had no official sender, and `Test` where the basin was unofficial. Updates and cancellations
        refer to the earlier messages of the same river's alert.

        Args:
            change: The change's `event`.
        """
        request = Request("GET", path_of("/v1/alerts/cap/{change}", change=change))
        return self._content(request)

    @overload
    def read_cells(
        self,
        basin: str,
        *,
        version: str | None = None,
        member: str | None = None,
        start: date | None = None,
        end: date | None = None,
        format: Literal["json"] = "json",
    ) -> models.CellsOfBasin: ...

    @overload
    def read_cells(
        self,
        basin: str,
        *,
        version: str | None = None,
        member: str | None = None,
        start: date | None = None,
        end: date | None = None,
        format: Literal["csv", "parquet", "netcdf", "coveragejson"],
    ) -> bytes: ...

    def read_cells(
        self,
        basin: str,
        *,
        version: str | None = None,
        member: str | None = None,
        start: date | None = None,
        end: date | None = None,
        format: Literal["json", "csv", "parquet", "netcdf", "coveragejson"] = "json",
    ) -> Any:
        """Water in each cell of a member by day.

        What each cell of a member held at the end of the days whose state is stored: of old days the last of each
        month. The cells of a version that combines others are those of its parts: name one.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            version: A model version's id; by default the basin's current one.
            member: A member's number; by default the first.
            start: The first day; by default a year before the last.
            end: The last day; by default that of the newest state.
            format: The format of the answer; by default the one preferred by the `Accept` header, and JSON without
                that.
        """
        request = Request(
            "GET",
            path_of("/v1/basins/{basin}/cells", basin=basin),
            query={"version": version, "member": member, "start": start, "end": end, "format": format},
        )
        if format != "json":
            return self._content(request)
        return self._answer(models.CellsOfBasin, request)

    @overload
    def read_training_curves(self, version: str, *, format: Literal["json"] = "json") -> models.TrainingCurves: ...

    @overload
    def read_training_curves(self, version: str, *, format: Literal["csv", "parquet", "latex"]) -> bytes: ...

    def read_training_curves(self, version: str, *, format: Literal["json", "csv", "parquet", "latex"] = "json") -> Any:
        """Training curves of a model version.

        The loss, the learning rate, the gradient's norm and the validation score of each member by step, as they
        were recorded in its training. A shipped ensemble has what was shipped with it.

        Args:
            version: A model version's id.
            format: The format of the answer; by default the one preferred by the `Accept` header, and JSON without
                that.
        """
        request = Request("GET", path_of("/v1/models/{version}/curves", version=version), query={"format": format})
        if format != "json":
            return self._content(request)
        return self._answer(models.TrainingCurves, request)

    def read_decision_value(
        self,
        basin: str,
        *,
        version: str | None = None,
        season: Literal["all", "DJF", "MAM", "JJA", "SON"] | None = None,
        cost_loss: float | None = None,
    ) -> models.DecisionValue:
        """What acting on the chance of high flow is worth in a basin.

        The relative economic value of acting at each chance of passing the threshold, for each ratio of the cost of
        acting to the loss avoided, by lead time: which chance to act on.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            version: A model version's id; by default the basin's current one.
            season: Season of the forecast days: `all`, or three months by their initials.
            cost_loss: Only this cost of acting over the loss avoided; by default several.
        """
        request = Request(
            "GET",
            path_of("/v1/basins/{basin}/decision-value", basin=basin),
            query={"version": version, "season": season, "cost_loss": cost_loss},
        )
        return self._answer(models.DecisionValue, request)

    def read_edr(self, *, f: Literal["json"] | None = None) -> models.EdrLanding:
        """Entry point for clients of OGC API - EDR.

        Links to the collections, the conformance classes and the documentation.

        Args:
            f: The format, which is JSON.
        """
        request = Request("GET", "/v1/edr", query={"f": f})
        return self._answer(models.EdrLanding, request)

    def read_edr_conformance(self, *, f: Literal["json"] | None = None) -> models.EdrConformance:
        """Conformance classes of OGC API - EDR.

        The identifiers of the conformance classes.

        Args:
            f: The format, which is JSON.
        """
        request = Request("GET", "/v1/edr/conformance", query={"f": f})
        return self._answer(models.EdrConformance, request)

    def list_edr_collections(self, *, f: Literal["json"] | None = None) -> models.EdrCollections:
        """List EDR collections.

        The latest forecasts, and observed discharge by its source, each with its parameters, extent and period.

        Args:
            f: The format, which is JSON.
        """
        request = Request("GET", "/v1/edr/collections", query={"f": f})
        return self._answer(models.EdrCollections, request)

    def read_edr_collection(self, collection: str, *, f: Literal["json"] | None = None) -> models.EdrCollection:
        """Describe an EDR collection.

        Its parameters, extent and period, and how to query its series.

        Args:
            collection: A collection's id.
            f: The format, which is JSON.
        """
        request = Request("GET", path_of("/v1/edr/collections/{collection}", collection=collection), query={"f": f})
        return self._answer(models.EdrCollection, request)

    def read_edr_instance(
        self, instance: str, collection: str, *, f: Literal["json"] | None = None
    ) -> models.EdrCollection:
        """Describe a run as an EDR instance.

        Its parameters, extent and period, and how to query its series.

        Args:
            instance: A run's id.
            collection: A collection's id.
            f: The format, which is JSON.
        """
        request = Request(
            "GET",
            path_of("/v1/edr/collections/{collection}/instances/{instance}", instance=instance, collection=collection),
            query={"f": f},
        )
        return self._answer(models.EdrCollection, request)

    def list_edr_instances(
        self, collection: str, *, f: Literal["json"] | None = None, after: str | None = None, limit: int | None = None
    ) -> models.EdrInstances:
        """List the runs of an EDR collection as its instances.

        Every issued run and reforecast is an instance of `forecasts`, the newest first, a page at a time: follow
        the link `next`. An instance never changes.

        Args:
            collection: A collection's id.
            f: The format, which is JSON.
            after: Start after this id: the last one of the page before.
            limit: Maximum number of entries a page.
        """
        request = Request(
            "GET",
            path_of("/v1/edr/collections/{collection}/instances", collection=collection),
            query={"f": f, "after": after, "limit": limit},
        )
        return self._answer(models.EdrInstances, request)

    def list_edr_locations(self, collection: str, *, f: Literal["json"] | None = None) -> bytes:
        """List the locations of an EDR collection.

        A point for each basin, at its gauge, as GeoJSON. Basins without a known location are left out.

        Args:
            collection: A collection's id.
            f: The format, which is JSON.
        """
        request = Request(
            "GET", path_of("/v1/edr/collections/{collection}/locations", collection=collection), query={"f": f}
        )
        return self._content(request)

    def list_edr_instance_locations(self, instance: str, collection: str, *, f: Literal["json"] | None = None) -> bytes:
        """List the locations of an EDR instance.

        A point for each basin, at its gauge, as GeoJSON. Basins without a known location are left out.

        Args:
            instance: A run's id.
            collection: A collection's id.
            f: The format, which is JSON.
        """
        request = Request(
            "GET",
            path_of(
                "/v1/edr/collections/{collection}/instances/{instance}/locations",
                instance=instance,
                collection=collection,
            ),
            query={"f": f},
        )
        return self._content(request)

    def read_edr_location(
        self,
        basin: str,
        collection: str,
        *,
        f: Literal["CoverageJSON"] | None = None,
        crs: str | None = None,
        parameter_name: str | None = None,
        datetime: str | None = None,
    ) -> bytes:
        """The series of a collection at a location.

        The same numbers as `/v1/basins/{basin}/forecasts/latest` and `/v1/basins/{basin}/observations`, as
        CoverageJSON: daily series, discharge in m³/s. Without `datetime` it is the whole forecast, or the last year
        of observations.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            collection: A collection's id.
            f: The format, which is CoverageJSON.
            crs: The reference system, which is `http://www.opengis.net/def/crs/OGC/1.3/CRS84`.
            parameter_name: Parameters of the collection, with commas between; all where none is named.
            datetime: A day, an instant in it, or an interval between two, each end included and `..` where it is
                open.
        """
        request = Request(
            "GET",
            path_of("/v1/edr/collections/{collection}/locations/{basin}", basin=basin, collection=collection),
            query={"f": f, "crs": crs, "parameter-name": parameter_name, "datetime": datetime},
        )
        return self._content(request)

    def read_edr_instance_location(
        self,
        basin: str,
        instance: str,
        collection: str,
        *,
        f: Literal["CoverageJSON"] | None = None,
        crs: str | None = None,
        parameter_name: str | None = None,
        datetime: str | None = None,
    ) -> bytes:
        """The series of a run at a location.

        The same numbers as `/v1/basins/{basin}/forecasts/latest` and `/v1/basins/{basin}/observations`, as
        CoverageJSON: daily series, discharge in m³/s. Without `datetime` it is the whole forecast, or the last year
        of observations.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            instance: A run's id.
            collection: A collection's id.
            f: The format, which is CoverageJSON.
            crs: The reference system, which is `http://www.opengis.net/def/crs/OGC/1.3/CRS84`.
            parameter_name: Parameters of the collection, with commas between; all where none is named.
            datetime: A day, an instant in it, or an interval between two, each end included and `..` where it is
                open.
        """
        request = Request(
            "GET",
            path_of(
                "/v1/edr/collections/{collection}/instances/{instance}/locations/{basin}",
                basin=basin,
                instance=instance,
                collection=collection,
            ),
            query={"f": f, "crs": crs, "parameter-name": parameter_name, "datetime": datetime},
        )
        return self._content(request)

    def read_edr_position(
        self,
        collection: str,
        *,
        coords: str,
        f: Literal["CoverageJSON"] | None = None,
        crs: str | None = None,
        z: str | None = None,
        parameter_name: str | None = None,
        datetime: str | None = None,
    ) -> bytes:
        """The series of the gauge nearest to a point.

        The gauge that is nearest to the point, within a few kilometres: the coverage names its place. A flow is
        that of a gauge, and not of the point.

        Args:
            collection: A collection's id.
            coords: A point in well-known text, longitude first. The nearest gauge within 10 km answers.
            f: The format, which is CoverageJSON.
            crs: The reference system, which is `http://www.opengis.net/def/crs/OGC/1.3/CRS84`.
            z: Nothing here has a height: leave it out.
            parameter_name: Parameters of the collection, with commas between; all where none is named.
            datetime: A day, an instant in it, or an interval between two, each end included and `..` where it is
                open.
        """
        request = Request(
            "GET",
            path_of("/v1/edr/collections/{collection}/position", collection=collection),
            query={
                "coords": coords,
                "f": f,
                "crs": crs,
                "z": z,
                "parameter-name": parameter_name,
                "datetime": datetime,
            },
        )
        return self._content(request)

    def read_edr_instance_position(
        self,
        instance: str,
        collection: str,
        *,
        coords: str,
        f: Literal["CoverageJSON"] | None = None,
        crs: str | None = None,
        z: str | None = None,
        parameter_name: str | None = None,
        datetime: str | None = None,
    ) -> bytes:
        """The series of a run at the gauge nearest to a point.

        The gauge that is nearest to the point, within a few kilometres: the coverage names its place. A flow is
        that of a gauge, and not of the point.

        Args:
            instance: A run's id.
            collection: A collection's id.
            coords: A point in well-known text, longitude first. The nearest gauge within 10 km answers.
            f: The format, which is CoverageJSON.
            crs: The reference system, which is `http://www.opengis.net/def/crs/OGC/1.3/CRS84`.
            z: Nothing here has a height: leave it out.
            parameter_name: Parameters of the collection, with commas between; all where none is named.
            datetime: A day, an instant in it, or an interval between two, each end included and `..` where it is
                open.
        """
        request = Request(
            "GET",
            path_of(
                "/v1/edr/collections/{collection}/instances/{instance}/position",
                instance=instance,
                collection=collection,
            ),
            query={
                "coords": coords,
                "f": f,
                "crs": crs,
                "z": z,
                "parameter-name": parameter_name,
                "datetime": datetime,
            },
        )
        return self._content(request)

    def read_edr_area(
        self,
        collection: str,
        *,
        coords: str,
        f: Literal["CoverageJSON"] | None = None,
        crs: str | None = None,
        z: str | None = None,
        parameter_name: str | None = None,
        datetime: str | None = None,
    ) -> bytes:
        """The series of the gauges in a polygon.

        A coverage for each basin whose gauge lies in the polygon and has data in the interval, which may be none.

        Args:
            collection: A collection's id.
            coords: A polygon in well-known text, longitude first, with up to 1000 positions of 32 characters on
                average. The gauges in it answer.
            f: The format, which is CoverageJSON.
            crs: The reference system, which is `http://www.opengis.net/def/crs/OGC/1.3/CRS84`.
            z: Nothing here has a height: leave it out.
            parameter_name: Parameters of the collection, with commas between; all where none is named.
            datetime: A day, an instant in it, or an interval between two, each end included and `..` where it is
                open.
        """
        request = Request(
            "GET",
            path_of("/v1/edr/collections/{collection}/area", collection=collection),
            query={
                "coords": coords,
                "f": f,
                "crs": crs,
                "z": z,
                "parameter-name": parameter_name,
                "datetime": datetime,
            },
        )
        return self._content(request)

    def read_edr_instance_area(
        self,
        instance: str,
        collection: str,
        *,
        coords: str,
        f: Literal["CoverageJSON"] | None = None,
        crs: str | None = None,
        z: str | None = None,
        parameter_name: str | None = None,
        datetime: str | None = None,
    ) -> bytes:
        """The series of a run at the gauges in a polygon.

        A coverage for each basin whose gauge lies in the polygon and has data in the interval, which may be none.

        Args:
            instance: A run's id.
            collection: A collection's id.
            coords: A polygon in well-known text, longitude first, with up to 1000 positions of 32 characters on
                average. The gauges in it answer.
            f: The format, which is CoverageJSON.
            crs: The reference system, which is `http://www.opengis.net/def/crs/OGC/1.3/CRS84`.
            z: Nothing here has a height: leave it out.
            parameter_name: Parameters of the collection, with commas between; all where none is named.
            datetime: A day, an instant in it, or an interval between two, each end included and `..` where it is
                open.
        """
        request = Request(
            "GET",
            path_of(
                "/v1/edr/collections/{collection}/instances/{instance}/area", instance=instance, collection=collection
            ),
            query={
                "coords": coords,
                "f": f,
                "crs": crs,
                "z": z,
                "parameter-name": parameter_name,
                "datetime": datetime,
            },
        )
        return self._content(request)

    def read_edr_cube(
        self,
        collection: str,
        *,
        bbox: str,
        f: Literal["CoverageJSON"] | None = None,
        crs: str | None = None,
        z: str | None = None,
        parameter_name: str | None = None,
        datetime: str | None = None,
    ) -> bytes:
        """The series of the gauges in a box.

        A coverage for each basin whose gauge lies in the box and has data in the interval, which may be none.

        Args:
            collection: A collection's id.
            bbox: A box, `minlon,minlat,maxlon,maxlat`; where minlon is greater, it crosses the 180th meridian.
            f: The format, which is CoverageJSON.
            crs: The reference system, which is `http://www.opengis.net/def/crs/OGC/1.3/CRS84`.
            z: Nothing here has a height: leave it out.
            parameter_name: Parameters of the collection, with commas between; all where none is named.
            datetime: A day, an instant in it, or an interval between two, each end included and `..` where it is
                open.
        """
        request = Request(
            "GET",
            path_of("/v1/edr/collections/{collection}/cube", collection=collection),
            query={"bbox": bbox, "f": f, "crs": crs, "z": z, "parameter-name": parameter_name, "datetime": datetime},
        )
        return self._content(request)

    def read_edr_instance_cube(
        self,
        instance: str,
        collection: str,
        *,
        bbox: str,
        f: Literal["CoverageJSON"] | None = None,
        crs: str | None = None,
        z: str | None = None,
        parameter_name: str | None = None,
        datetime: str | None = None,
    ) -> bytes:
        """The series of a run at the gauges in a box.

        A coverage for each basin whose gauge lies in the box and has data in the interval, which may be none.

        Args:
            instance: A run's id.
            collection: A collection's id.
            bbox: A box, `minlon,minlat,maxlon,maxlat`; where minlon is greater, it crosses the 180th meridian.
            f: The format, which is CoverageJSON.
            crs: The reference system, which is `http://www.opengis.net/def/crs/OGC/1.3/CRS84`.
            z: Nothing here has a height: leave it out.
            parameter_name: Parameters of the collection, with commas between; all where none is named.
            datetime: A day, an instant in it, or an interval between two, each end included and `..` where it is
                open.
        """
        request = Request(
            "GET",
            path_of(
                "/v1/edr/collections/{collection}/instances/{instance}/cube", instance=instance, collection=collection
            ),
            query={"bbox": bbox, "f": f, "crs": crs, "z": z, "parameter-name": parameter_name, "datetime": datetime},
        )
        return self._content(request)

    def read_events(
        self,
        basin: str,
        *,
        version: str | None = None,
        season: Literal["all", "DJF", "MAM", "JJA", "SON"] | None = None,
    ) -> models.Events:
        """Scores of the events of a basin: time, height, volume and onset of peaks.

        Events cut from the observed and the simulated hydrograph of the newest evaluation, matched, with the errors
        of each; missed events and false alarms. The season is that of the peak. An event beside a gap is left out.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            version: A model version's id; by default the basin's current one.
            season: Season of the forecast days: `all`, or three months by their initials.
        """
        request = Request(
            "GET", path_of("/v1/basins/{basin}/events", basin=basin), query={"version": version, "season": season}
        )
        return self._answer(models.Events, request)

    @overload
    def read_weather_models(
        self,
        basin: str,
        *,
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        format: Literal["json"] = "json",
        run: str | None = None,
    ) -> models.WeatherModelsOfRun: ...

    @overload
    def read_weather_models(
        self,
        basin: str,
        *,
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        format: Literal["csv", "parquet", "netcdf", "coveragejson"],
        run: str | None = None,
    ) -> bytes: ...

    def read_weather_models(
        self,
        basin: str,
        *,
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        format: Literal["json", "csv", "parquet", "netcdf", "coveragejson"] = "json",
        run: str | None = None,
    ) -> Any:
        """Forecast with each weather model alone.

        The calibrated discharge of a forecast with each of its weather models alone, and their shares in the
        mixture, which every other answer has.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            units: The unit of discharge: m³/s, mm/day over the basin, or cubic feet per second.
            format: The format of the answer; by default the one preferred by the `Accept` header, and JSON without
                that.
            run: A run's id; by default the latest forecast's.
        """
        request = Request(
            "GET",
            path_of("/v1/basins/{basin}/weather-models", basin=basin),
            query={"units": units, "format": format, "run": run},
        )
        if format != "json":
            return self._content(request)
        return self._answer(models.WeatherModelsOfRun, request)

    def read_hydrograph(
        self,
        basin: str,
        *,
        run: str | None = None,
        units: Literal["m3/s", "mm/day", "cfs"] | None = None,
        days: int | None = None,
        image: Literal["png", "svg"] | None = None,
    ) -> bytes:
        """The hydrograph as a picture.

        The figure of the basin's page for a briefing: with the river's name, T0 and time of issue, units, legend
        and source, and that it is not an official warning, unless the service has an official sender.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            run: A run's id; by default the latest forecast's.
            units: The unit of discharge: m³/s, mm/day over the basin, or cubic feet per second.
            days: Number of days before T0.
            image: The kind of picture.
        """
        request = Request(
            "GET",
            path_of("/v1/basins/{basin}/hydrograph", basin=basin),
            query={"run": run, "units": units, "days": days, "image": image},
        )
        return self._content(request)

    def read_regions(self) -> models.RegionList:
        """List regions.

        Each has its basins by a rule: the beginning of their hydrologic unit codes, an agency's, or a list. Lists
        of basins, outlooks, forecasts and alerts, feeds and pages take `region`, and subscriptions have one. A key
        for a region (`freshet keys make NAME --region REGION`) changes nothing outside it.
        """
        request = Request("GET", "/v1/regions")
        return self._answer(models.RegionList, request)

    def read_region(self, region: str) -> models.RegionDetail:
        """Read a region.

        Its rule, its limits, and how many of its basins are stored. Of a list, those that are not stored are shown
        to administrators alone.

        Args:
            region: A region's name.
        """
        request = Request("GET", path_of("/v1/regions/{region}", region=region))
        return self._answer(models.RegionDetail, request)

    def put_region(self, region: str, body: models.NewRegion | Mapping[str, Any]) -> models.RegionDetail:
        """Set a region.

        Its rule and its limits, in the place of those that it had: what its keys may change, and what its
        subscriptions get, follows at once. With an admin's key. The same again changes nothing.

        Args:
            region: A region's name.
            body: The fields of the request.
        """
        request = Request("PUT", path_of("/v1/regions/{region}", region=region), body=body)
        return self._answer(models.RegionDetail, request)

    def delete_region(self, region: str) -> None:
        """Remove a region.

        Its basins stay. It is refused while a valid key or a subscription is of it. With an admin's key.

        Args:
            region: A region's name.
        """
        request = Request("DELETE", path_of("/v1/regions/{region}", region=region))
        self._content(request)

    def read_rivals(self) -> models.RivalList:
        """List rivals.

        Other models and services whose flows are stored here. They are judged beside the own forecasts and never
        mixed into them. An admin adds them from files (`freshet rivals add`).
        """
        request = Request("GET", "/v1/rivals")
        return self._answer(models.RivalList, request)

    def compare_rivals(
        self, version: str, *, season: Literal["all", "DJF", "MAM", "JJA", "SON"] | None = None
    ) -> models.RivalComparison:
        """Rivals beside a model version.

        Scores of every rival's forecasts beside those that the version issued, on the same days for the same days
        and basins, by the same code: quartiles over basins, and differences with a Wilcoxon signed-rank test. Jobs
        of the kind `verification` renew them.

        Args:
            version: A model version's id.
            season: Season of the forecast days: `all`, or three months by their initials.
        """
        request = Request("GET", path_of("/v1/models/{version}/rivals", version=version), query={"season": season})
        return self._answer(models.RivalComparison, request)

    @overload
    def read_rival_flow(
        self, rival: str, basin: str, *, issued: date | None = None, format: Literal["json"] = "json"
    ) -> models.RivalFlow: ...

    @overload
    def read_rival_flow(
        self,
        rival: str,
        basin: str,
        *,
        issued: date | None = None,
        format: Literal["csv", "parquet", "netcdf", "coveragejson"],
    ) -> bytes: ...

    def read_rival_flow(
        self,
        rival: str,
        basin: str,
        *,
        issued: date | None = None,
        format: Literal["json", "csv", "parquet", "netcdf", "coveragejson"] = "json",
    ) -> Any:
        """Flow of a rival in a basin.

        What a rival forecast in a basin, by default its newest issue; or its simulation.

        Args:
            rival: The name of a rival.
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            issued: The day of the issue; by default the newest.
            format: The format of the answer; by default the one preferred by the `Accept` header, and JSON without
                that.
        """
        request = Request(
            "GET",
            path_of("/v1/basins/{basin}/rivals/{rival}", rival=rival, basin=basin),
            query={"issued": issued, "format": format},
        )
        if format != "json":
            return self._content(request)
        return self._answer(models.RivalFlow, request)

    def read_shadow(self) -> models.ShadowList:
        """List what is not public yet.

        Basins and versions in the shadow: feeds, daily forecasts, verification and levels go on for them, and
        nobody but administrators sees any of it. `gates` has how far each is. Addresses of the service show them,
        with an admin's key, as `shadow`.
        """
        request = Request("GET", "/v1/shadow")
        return self._answer(models.ShadowList, request)

    def start_shadow_of_basin(self, basin: str) -> models.Shadow:
        """Put a basin into the shadow.

        The public sees nothing of it from then on: its address is not known, and its alerts end. One that is not
        stored yet is in the shadow from the first day. Repeating it changes nothing.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
        """
        request = Request("PUT", path_of("/v1/basins/{basin}/shadow", basin=basin))
        return self._answer(models.Shadow, request)

    def end_shadow_of_basin(self, basin: str) -> None:
        """Make a basin in the shadow public.

        Agree that it becomes public, which is refused while a gate is not met. Its alerts begin anew with the next
        forecast.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
        """
        request = Request("DELETE", path_of("/v1/basins/{basin}/shadow", basin=basin))
        self._content(request)

    def start_shadow_of_version(self, version: str) -> models.Shadow:
        """Put a model version into the shadow.

        It forecasts its basins after each daily cycle, beside the version that serves them, and is verified. The
        public sees nothing of it. Repeating it changes nothing.

        Args:
            version: A model version's id.
        """
        request = Request("PUT", path_of("/v1/models/{version}/shadow", version=version))
        return self._answer(models.Shadow, request)

    def end_shadow_of_version(self, version: str) -> None:
        """Make a model version in the shadow public.

        Agree that it becomes public, which is refused while a gate is not met. From then on it can be promoted.

        Args:
            version: A model version's id.
        """
        request = Request("DELETE", path_of("/v1/models/{version}/shadow", version=version))
        self._content(request)

    @overload
    def read_spread(
        self, basin: str, *, format: Literal["json"] = "json", run: str | None = None
    ) -> models.SpreadOfRun: ...

    @overload
    def read_spread(
        self, basin: str, *, format: Literal["csv", "parquet", "netcdf", "coveragejson"], run: str | None = None
    ) -> bytes: ...

    def read_spread(
        self,
        basin: str,
        *,
        format: Literal["json", "csv", "parquet", "netcdf", "coveragejson"] = "json",
        run: str | None = None,
    ) -> Any:
        """Sources of forecast spread: weights, weather or initial state.

        The spread of discharge over members and traces on each day ahead, and the shares of its variance due to the
        network's weights, the weather after T0 and the water in the basin at T0. Only for forecasts with
        `perturbed_states`; for others null, with the reason.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            format: The format of the answer; by default the one preferred by the `Accept` header, and JSON without
                that.
            run: A run's id; by default the latest forecast's.
        """
        request = Request(
            "GET", path_of("/v1/basins/{basin}/spread", basin=basin), query={"format": format, "run": run}
        )
        if format != "json":
            return self._content(request)
        return self._answer(models.SpreadOfRun, request)

    def list_ratings(self, basin: str) -> Iterator[models.RatingVersion]:
        """Versions of the rating of a basin's gauge.

        Every version that was ever stored, the newest first: since when each converts, and those that wait, or
        waited, for a forecaster, with the reason. Stages in other answers name theirs (`rating_version`).

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
        """
        request = Request("GET", path_of("/v1/basins/{basin}/ratings", basin=basin))
        return self._items(models.RatingVersions, "ratings", request)

    def list_held_ratings(self) -> models.RatingVersions:
        """Ratings that wait for a forecaster.

        Versions that a service delivered and that jump from the one in force, or contradict the official flood
        categories (`held`). Until somebody decides, the one before converts. With a forecaster's key, of one for a
        region those there.
        """
        request = Request("GET", "/v1/ratings/held")
        return self._answer(models.RatingVersions, request)

    def decide_held_rating(self, basin: str, body: models.RatingRuling | Mapping[str, Any]) -> models.NewRatingTable:
        """Approve or dismiss a rating that waits.

        An approved version converts from now on, and official flood categories follow it. A dismissed one stays
        stored and never converts; while the service delivers it, it is not held again. With a forecaster's key.

        Args:
            basin: A USGS site number (`01013500`) or a full identifier (`USGS-01013500`, `SYNTH-01`).
            body: The fields of the request.
        """
        request = Request("POST", path_of("/v1/basins/{basin}/ratings/held", basin=basin), body=body)
        return self._answer(models.NewRatingTable, request)

    def read_status(self) -> models.Status:
        """Age of forecasts and inputs, and degradations.

        The newest T0 and issue of every model version in use, the newest day of every product and its age by the
        service's clock, and all degradations with their causes: late forecasts and inputs, jobs that wait or fail,
        a restarting part of the service, a stopped job process, a nearly full disk, a wrong or adjusted clock. Also
        the number of schedulers and workers, the workers' GPUs, and the room that each kind of data takes.
        """
        request = Request("GET", "/v1/status")
        return self._answer(models.Status, request)

    def list_changes(self) -> Iterator[models.Change]:
        """Audit trail of changes.

        Every change over the API and by the command line, the newest first, a page at a time: follow `next` until
        it is null. For admins alone.
        """
        request = Request("GET", "/v1/audit")
        return self._items(models.AuditPage, "changes", request)

    def read_liveness(self) -> models.Alive:
        """Whether the service runs.

        Answers as long as the process does, however busy. It does not look at the database.
        """
        request = Request("GET", "/health/live")
        return self._answer(models.Alive, request)

    def read_readiness(self) -> models.Ready:
        """Whether the service can answer questions.

        Answers when the database is reachable and its tables are those that this service works with; else 503.

        A degraded service is ready all the same: it answers with its data, and `degraded` lists the causes, such as
        `no-worker`, `queue-age`, `failed-job`, `failing-schedule`, `schedule-skipped`, `disk` or `clock`.
        """
        request = Request("GET", "/health/ready")
        return self._answer(models.Ready, request)

    def read_metrics(self) -> bytes:
        """Metrics for Prometheus.

        Queues, workers and their GPUs, jobs, feeds, the newest T0, closure, the database and the disk, and the
        duration of requests to this process, in the text format of Prometheus. Any key may read them, because they
        name feeds. Except for requests, they are the same in every process of the service.
        """
        request = Request("GET", "/metrics")
        return self._content(request)
