"""Create the tables of 0.1.0."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


class Table(NamedTuple):
    """A table. Several columns are separated by ", ".

    Attributes:
        columns: `name type`, of the types in `TYPES`; with a `?` where null is allowed.
        key: the columns of the primary key.
        checks: conditions, by the last part of the constraint's name.
        unique: columns that are unique together.
        refers: `table(columns)`, and what happens ON DELETE, by the columns that refer to it.
        indexes: columns that are indexed together.
        numbers_once: whether SQLite never reuses the number of a deleted row; PostgreSQL never does.
    """

    name: str
    columns: str
    key: str
    checks: Mapping[str, str] = {}
    unique: Sequence[str] = ()
    refers: Mapping[str, str] = {}
    indexes: Sequence[str] = ()
    numbers_once: bool = False


TYPES: Mapping[str, Any] = {
    "bigint": sa.BigInteger(),
    "boolean": sa.Boolean(),
    "bytes": sa.LargeBinary(),
    "date": sa.Date(),
    "instant": sa.DateTime(timezone=True),
    "integer": sa.Integer(),
    "json": sa.JSON(),
    "real": sa.Double(),
    "text": sa.String(),
}
REFERENCE = re.compile(r"(?P<table>\w+)\((?P<columns>[\w, ]+)\)(?: ON DELETE (?P<action>CASCADE|SET NULL))?")

TABLES = [
    # basins
    Table(
        "basins",
        "id text, name text?, latitude real?, longitude real?, huc text?, registered_by text?, weather_points json?, "
        "outline json?, assume_attributes boolean?",
        key="id",
        checks={"latitude": "latitude BETWEEN -90 AND 90", "longitude": "longitude BETWEEN -180 AND 180"},
    ),
    Table(
        "basin_areas",
        "basin_id text, name text, value real",
        key="basin_id, name",
        checks={"positive": "value > 0"},
        refers={"basin_id": "basins(id)"},
    ),
    Table(
        "basin_attributes",
        "basin_id text, name text, value real",
        key="basin_id, name",
        refers={"basin_id": "basins(id)"},
    ),
    Table(
        "basin_quality",
        "basin_id text, product text, findings json, found_at instant",
        key="basin_id, product",
        refers={"basin_id": "basins(id)"},
    ),
    Table(
        "basin_texts", "basin_id text, name text, value text", key="basin_id, name", refers={"basin_id": "basins(id)"}
    ),
    # series
    Table(
        "sources",
        "id integer, name text, sha256 text, size bigint, read_at instant",
        key="id",
        checks={"sha256": "length(sha256) = 64", "size": "size >= 0"},
        unique=["name, sha256"],
    ),
    Table(
        "series",
        "basin_id text, product text, variable text, year integer, unit text, value_bytes bytes, flag_bytes bytes, "
        "source_id integer, revision integer, updated_at instant, checksum bigint",
        key="basin_id, product, variable, year",
        checks={"days": "length(flag_bytes) IN (365, 366)", "values": "length(value_bytes) = 4 * length(flag_bytes)"},
        refers={"basin_id": "basins(id)", "source_id": "sources(id)"},
    ),
    Table(
        "series_arrivals",
        "id integer, basin_id text, product text, variable text, first_day date, last_day date, arrived_at instant, "
        "source_id integer",
        key="id",
        checks={"order": "first_day <= last_day"},
        refers={"basin_id": "basins(id)", "source_id": "sources(id)"},
        indexes=["basin_id, product, variable", "product, last_day"],
    ),
    Table(
        "series_revisions",
        "basin_id text, product text, variable text, year integer, revision integer, offset_bytes bytes, "
        "value_bytes bytes, flag_bytes bytes, old_source_id integer, new_source_id integer, replaced_at instant, "
        "checksum bigint",
        key="basin_id, product, variable, year, revision",
        checks={
            "days": "length(flag_bytes) > 0",
            "offsets": "length(offset_bytes) = 2 * length(flag_bytes)",
            "values": "length(value_bytes) = 4 * length(flag_bytes)",
        },
        refers={"basin_id": "basins(id)", "new_source_id": "sources(id)", "old_source_id": "sources(id)"},
    ),
    # versions
    Table(
        "versions",
        "id text, created_at instant, issued_at instant, architecture text, conserving boolean, product text, "
        "config json, scaler json, data_hash text, code_version text, parent_id text?, label text?, uses text, "
        "properties json, weights_hash text, status text, owner text?",
        key="id",
        checks={"status": "status IN ('ready', 'withdrawn')", "uses": "uses IN ('best', 'last')"},
        refers={"parent_id": "versions(id)"},
    ),
    Table(
        "error_models",
        "version_id text, first date, last date, days bigint, content bytes, sha256 text, created_at instant, "
        "regional bytes, for_unseen boolean, checksum bigint",
        key="version_id",
        checks={"order": "first <= last", "sha256": "length(sha256) = 64"},
        refers={"version_id": "versions(id)"},
    ),
    Table(
        "promotions",
        "id integer, version_id text, basin_id text, promoted_at instant, promoted_by text, reason text",
        key="id",
        checks={"promoted_by": "length(promoted_by) > 0", "reason": "length(reason) > 0"},
        refers={"basin_id": "basins(id)", "version_id": "versions(id)"},
        indexes=["basin_id"],
    ),
    Table(
        "trainings",
        "id text, request json, status text, reason text?, version_id text?, started_at instant, updated_at instant",
        key="id",
        checks={
            "reason": "(status = 'failed') = (reason IS NOT NULL)",
            "status": "status IN ('running', 'finished', 'failed')",
            "version": "(status = 'finished') = (version_id IS NOT NULL)",
        },
        refers={"version_id": "versions(id)"},
    ),
    Table(
        "version_basins",
        "version_id text, basin_id text",
        key="version_id, basin_id",
        refers={"version_id": "versions(id)"},
    ),
    Table(
        "version_members",
        "version_id text, label integer, seed bigint, log json",
        key="version_id, label",
        refers={"version_id": "versions(id)"},
    ),
    Table(
        "basin_errors",
        "version_id text, basin_id text, days integer, content bytes, sha256 text",
        key="version_id, basin_id",
        checks={"sha256": "length(sha256) = 64"},
        refers={"version_id": "error_models(version_id)"},
    ),
    Table(
        "recalibrations",
        "version_id text, weather text, content json, created_at instant",
        key="version_id, weather",
        refers={"version_id": "versions(id)"},
    ),
    Table(
        "training_checkpoints",
        "training_id text, label integer, step integer, content bytes, sha256 text, progress json, updated_at instant",
        key="training_id, label",
        refers={"training_id": "trainings(id)"},
    ),
    Table(
        "training_members",
        "training_id text, label integer, seed bigint, best bytes?, best_sha256 text?, last bytes, last_sha256 text, "
        "log json, finished_at instant",
        key="training_id, label",
        refers={"training_id": "trainings(id)"},
    ),
    Table(
        "version_weights",
        "version_id text, label integer, which text, weights bytes, sha256 text",
        key="version_id, label, which",
        checks={"sha256": "length(sha256) = 64", "which": "which IN ('best', 'last')"},
        refers={"version_id, label": "version_members(version_id, label)"},
    ),
    # verification
    Table(
        "comparisons",
        "id text, created_at instant, first_day date, last_day date, basins json, result json, fingerprint text, "
        "owner text?",
        key="id",
        checks={"fingerprint": "length(fingerprint) = 64", "order": "first_day <= last_day"},
        unique=["fingerprint"],
    ),
    Table(
        "comparison_versions",
        "comparison_id text, position integer, version_id text",
        key="comparison_id, position",
        checks={"position": "position >= 0"},
        unique=["comparison_id, version_id"],
        refers={"comparison_id": "comparisons(id)", "version_id": "versions(id)"},
        indexes=["version_id"],
    ),
    Table(
        "publications",
        "source text, citation text, file_id integer, stored_at instant",
        key="source",
        refers={"file_id": "sources(id)"},
    ),
    Table(
        "regional_snow",
        "version_id text, content json, evaluated_at instant",
        key="version_id",
        refers={"version_id": "versions(id)"},
    ),
    Table(
        "scores",
        "version_id text, basin_id text, member text, metric text, first_day date, last_day date, lead text, "
        "season text, threshold text, forcing_kind text, reference text, n integer, value real?, reason text?, "
        "low real?, high real?, evaluated_at instant, attributes_assumed json, shipped boolean",
        key=(
            "version_id, basin_id, member, metric, first_day, last_day, lead, season, threshold, forcing_kind, "
            "reference"
        ),
        checks={
            "interval": "low <= high",
            "n": "n >= 0",
            "order": "first_day <= last_day",
            "reason": "(value IS NULL) = (reason IS NOT NULL)",
        },
        refers={"basin_id": "basins(id)", "version_id": "versions(id)"},
    ),
    Table(
        "snow_cells",
        "version_id text, basin_id text, product text, cells json, training_first date, training_last date, "
        "training_r real?, test_first date, test_last date, test_r real?, bias_pct real?, reason text?, "
        "evaluated_at instant, bare_mm real?",
        key="version_id, basin_id, product",
        checks={
            "reason": "reason IS NOT NULL OR (training_r IS NOT NULL AND test_r IS NOT NULL AND bias_pct IS NOT NULL)"
        },
        refers={"basin_id": "basins(id)", "version_id": "versions(id)"},
    ),
    Table(
        "verification",
        "version_id text, basin_id text, first_day date, last_day date, forecaster text, lead integer, season text, "
        "every_days integer?, error_model text?, attributes_assumed json, verified_at instant, n integer, "
        "years integer, crps_mm_per_day real?, crpss_climatology real?, crpss_climatology_low real?, "
        "crpss_climatology_high real?, crpss_persistence real?, crpss_persistence_low real?, "
        "crpss_persistence_high real?, coverage_90 real?, coverage_90_low real?, coverage_90_high real?, "
        "coverage_50 real?, width_90_mm_per_day real?, width_50_mm_per_day real?, nse_of_median real?, "
        "threshold_mm_per_day real?, brier real?, pod real?, far real?, csi real?, pit json?, reliability json?, "
        "months json?, missing json, origin text, weather text",
        key="version_id, basin_id, first_day, last_day, forecaster, lead, season, origin, weather",
        checks={
            "every_days": "every_days >= 1",
            "lead": "lead >= 1",
            "n": "n >= 0",
            "order": "first_day <= last_day",
            "origin": "origin IN ('reforecast', 'issued')",
        },
        refers={"basin_id": "basins(id)", "version_id": "versions(id)"},
    ),
    Table(
        "published_scores",
        "source text, model text, basin_id text, metric text, first_day date, last_day date, value real?, reason text?",
        key="source, model, basin_id, metric, first_day, last_day",
        checks={"order": "first_day <= last_day", "reason": "(value IS NULL) = (reason IS NOT NULL)"},
        refers={"source": "publications(source)"},
    ),
    # simulations
    Table(
        "simulated_flow",
        "version_id text, basin_id text, first_day date, last_day date, evaluated_at instant, content bytes, "
        "checksum bigint",
        key="version_id, basin_id, first_day, last_day",
        checks={"order": "first_day <= last_day"},
        refers={"basin_id": "basins(id)", "version_id": "versions(id)"},
    ),
    Table(
        "simulated_records",
        "version_id text, basin_id text, first_day date, last_day date, area_name text, area_m2 real, "
        "attributes_assumed json, computed_at instant, loss json?",
        key="version_id, basin_id",
        checks={"area": "area_m2 > 0", "order": "first_day <= last_day"},
        refers={"basin_id": "basins(id)", "version_id": "versions(id)"},
    ),
    Table(
        "simulated_levels",
        "version_id text, basin_id text, place integer, kind text, method text, years integer, "
        "left_out_years integer, dry_years integer, low_outliers integer?, trend json?, first_day date?, "
        "last_day date?, name text, return_period_years integer?, exceeded_percent integer?, value real?, "
        "low real?, high real?, reason text?",
        key="version_id, basin_id, place",
        checks={"reason": "value IS NOT NULL OR reason IS NOT NULL"},
        refers={"version_id, basin_id": "simulated_records(version_id, basin_id)"},
    ),
    Table(
        "simulated_water",
        "version_id text, basin_id text, variable text, cells json?, content bytes, checksum bigint",
        key="version_id, basin_id, variable",
        checks={"cells": "(variable = 'snow') = (cells IS NOT NULL)", "variable": "variable IN ('storage', 'snow')"},
        refers={"version_id, basin_id": "simulated_records(version_id, basin_id)"},
    ),
    # weather
    Table(
        "bridges",
        "id text, name text, from_product text, to_product text, model text?, first date?, last date?, refused json, "
        "code_version text, created_at instant",
        key="id",
        checks={"order": "first <= last", "products": "from_product <> to_product"},
        indexes=["model", "name, id"],
    ),
    Table(
        "feeds",
        "id text, name text, settings json, product text?, origin text, created_by text?, created_at instant, "
        "last_fetch_at instant?, last_success_at instant?, last_error text?, last_error_at instant?",
        key="id",
        checks={"error": "(last_error IS NULL) = (last_error_at IS NULL)"},
        unique=["name"],
    ),
    Table("product_credits", "product text, origin text, credit text, licence text", key="product"),
    Table(
        "weather_issues",
        "id text, source text, model text, reference_time instant, operational boolean, licence text?, credit text?, "
        "created_at instant",
        key="id",
        unique=["source, model, reference_time, operational"],
    ),
    Table(
        "bridge_basins",
        "bridge_id text, basin_id text, corrections json, skill json?, pooled_from json, pooled_reason text?, "
        "sha256 text, applied_at instant?, applied_stamp bigint?",
        key="bridge_id, basin_id",
        checks={"pooled": "(skill IS NULL) = (pooled_reason IS NOT NULL)", "sha256": "length(sha256) = 64"},
        refers={"basin_id": "basins(id)", "bridge_id": "bridges(id)"},
        indexes=["basin_id"],
    ),
    Table(
        "feed_basins",
        "feed_id text, basin_id text, status text, new_days integer, revised_days integer, reason text?, "
        "tried_at instant, fetched_at instant?, holes json, warnings json",
        key="feed_id, basin_id",
        checks={
            "reason": "status <> 'failed' OR reason IS NOT NULL",
            "status": "status IN ('new', 'revised', 'unchanged', 'failed')",
        },
        refers={"basin_id": "basins(id)", "feed_id": "feeds(id)"},
    ),
    Table(
        "weather_basins",
        "issue_id text, basin_id text, available_time instant, first date, last date, traces json, variables json, "
        "content bytes, sha256 text",
        key="issue_id, basin_id",
        checks={"days": "last >= first"},
        refers={"basin_id": "basins(id)", "issue_id": "weather_issues(id)"},
        indexes=["basin_id, first"],
    ),
    # runs
    Table(
        "runs",
        "id text, t0 date, horizon_days integer, issued_at instant, available_at instant, created_at instant, "
        "version_id text, weights_hash text, code_version text, product text, forcing_kind text, "
        "forcing_cutoff date?, purpose text, members json, status text, reason text?, request_key text?, "
        "program text, weather json?, what_if json?, owner text?, t0_age_days integer, t0_stale boolean, "
        "filled_days integer",
        key="id",
        checks={
            "available": "available_at >= issued_at",
            "filled": "filled_days BETWEEN 0 AND horizon_days - 1",
            "forcing_kind": "forcing_kind IN ('observed', 'supplied', 'climatology', 'dry')",
            "horizon": "horizon_days > 0",
            "imagined": "forcing_kind <> 'dry' OR purpose = 'what-if'",
            "owner": "owner IS NULL OR purpose <> 'operational'",
            "reason": "(status = 'issued') = (reason IS NULL)",
            "status": "status IN ('issued', 'partial', 'failed')",
        },
        refers={"version_id": "versions(id)"},
        indexes=["request_key", "version_id, purpose, t0"],
    ),
    Table(
        "states",
        "version_id text, basin_id text, day date, product text, variant json, content bytes, member_hashes json, "
        "sha256 text, parent_day date?, parent_hash text?, inputs_hash text, created_at instant, "
        "invalid_at instant?, invalid_reason text?, spin_up_days integer, sums bytes?, sums_hash text?, "
        "recent_flow bytes?, checksum bigint",
        key="version_id, basin_id, day",
        checks={
            "invalid": "(invalid_at IS NULL) = (invalid_reason IS NULL)",
            "order": "parent_day < day",
            "parent": "(parent_day IS NULL) = (parent_hash IS NULL)",
        },
        refers={"basin_id": "basins(id)", "version_id": "versions(id)"},
        indexes=["basin_id, product, day", "version_id, basin_id, day, invalid_at, created_at"],
    ),
    Table(
        "run_basins",
        "run_id text, basin_id text, status text, reason text?, parent_day date?, parent_hash text?, "
        "state_hash text?, inputs_hash text?, area_m2 real?, area_name text?, spin_up_days integer?, "
        "residual_mm real?, tolerance_mm real?, closes boolean?, summary bytes",
        key="run_id, basin_id",
        checks={
            "area": "(area_m2 IS NULL) = (area_name IS NULL)",
            "area_positive": "area_m2 > 0",
            "closes": "closes = (abs(residual_mm) <= tolerance_mm)",
            "open": "status <> 'issued' OR closes",
            "parent": "(parent_day IS NULL) = (parent_hash IS NULL)",
            "reason": "(status = 'issued') = (reason IS NULL)",
            "status": "status IN ('issued', 'withheld', 'failed')",
        },
        refers={"basin_id": "basins(id)", "run_id": "runs(id)"},
        indexes=["basin_id"],
    ),
    Table(
        "newest_runs",
        "version_id text, basin_id text, which text, run_id text, t0 date, issued_at instant, available_at instant",
        key="version_id, basin_id, which",
        checks={"which": "which IN ('tried', 'latest')"},
        refers={"run_id, basin_id": "run_basins(run_id, basin_id)", "version_id": "versions(id)"},
    ),
    Table(
        "error_splits",
        "run_id text, basin_id text, version_id text, t0 date, horizon_days integer, weather text, season text, "
        "volume_observed real, volume_error real, volume_weather real, volume_initial_state real, "
        "volume_network real, peak_observed real, peak_error real, peak_weather real, peak_initial_state real, "
        "peak_network real, verified_at instant",
        key="run_id, basin_id",
        checks={"horizon": "horizon_days >= 1"},
        refers={"run_id, basin_id": "run_basins(run_id, basin_id)", "version_id": "versions(id)"},
        indexes=["basin_id", "version_id, season, t0"],
    ),
    Table(
        "run_contents",
        "run_id text, basin_id text, content bytes",
        key="run_id, basin_id",
        refers={"run_id, basin_id": "run_basins(run_id, basin_id)"},
    ),
    # jobs
    Table(
        "attendance",
        "name text, role text, queues json, seen_at instant, clock_ahead_seconds real, trouble text?, gpu json?",
        key="name",
        checks={"role": "role IN ('worker', 'scheduler')"},
    ),
    Table(
        "jobs",
        "id text, kind text, params json, queue text, status text, attempt integer, max_attempts integer, "
        "worker text?, lease_until instant?, cancel_requested_at instant?, progress json?, plan json?, "
        "result json?, problem json?, parent_id text?, schedule_id text?, idempotency_key text?, request_hash text, "
        "created_by text?, created_at instant, started_at instant?, finished_at instant?, sent_at instant?, "
        "key_id text?",
        key="id",
        checks={
            "attempt": "attempt BETWEEN 0 AND max_attempts",
            "cancel": "status NOT IN ('queued', 'waiting') OR cancel_requested_at IS NULL",
            "finished": "(status IN ('succeeded', 'failed', 'cancelled')) = (finished_at IS NOT NULL)",
            "lease": "(status = 'running') = (lease_until IS NOT NULL)",
            "problem": "(status = 'failed') = (problem IS NOT NULL)",
            "status": "status IN ('queued', 'running', 'waiting', 'succeeded', 'failed', 'cancelled')",
        },
        unique=["idempotency_key"],
        refers={"parent_id": "jobs(id)"},
        indexes=["parent_id", "status"],
    ),
    Table(
        "job_events",
        "seq integer, job_id text, at instant, type text, data json",
        key="seq",
        checks={"type": "type IN ('status', 'progress', 'log')"},
        refers={"job_id": "jobs(id) ON DELETE CASCADE"},
        indexes=["job_id, seq"],
        numbers_once=True,
    ),
    Table(
        "schedules",
        "id text, name text, kind text, params json, cron text, timezone text, enabled boolean, "
        "next_run_at instant?, last_run_at instant?, last_job_id text?, revision integer, created_at instant, "
        "updated_at instant, key_id text?",
        key="id",
        checks={"name": "length(name) > 0"},
        unique=["name"],
        refers={"last_job_id": "jobs(id) ON DELETE SET NULL"},
    ),
    # access
    Table(
        "audit",
        "seq integer, at instant, who text, key_id text?, address text?, action text, subject text, detail json",
        key="seq",
        numbers_once=True,
    ),
    Table(
        "keys",
        "id text, name text, scope text, token_sha256 text, created_at instant, expires_at instant?, "
        "revoked_at instant?",
        key="id",
        checks={"scope": "scope IN ('operator', 'forecaster', 'admin')", "token_sha256": "length(token_sha256) = 64"},
    ),
    # alerts
    Table(
        "subscriptions",
        "id text, key_id text, url text?, email text?, template json?, digest json?, basins json?, "
        "least_severity text, generation integer, rotated_at instant?, created_at instant, confirmed_at instant?, "
        "paused_at instant?, paused_because text?",
        key="id",
        checks={
            "generation": "generation > 0",
            "least_severity": "least_severity IN ('advisory', 'watch', 'warning')",
            "paused": "(paused_at IS NULL) = (paused_because IS NULL)",
            "receiver": "(url IS NULL) <> (email IS NULL)",
        },
        indexes=["key_id"],
    ),
    Table(
        "ratings",
        "basin_id text, valid_from date, source text, datum text?, site text?, number text?, shifted text?, "
        "largest_shift real, rating json, set_at instant",
        key="basin_id, valid_from",
        refers={"basin_id": "basins(id)"},
    ),
    Table(
        "flood_frequency",
        "basin_id text, regional_skew real?, regional_skew_error real?, trend_adjusted boolean, set_at instant",
        key="basin_id",
        checks={
            "error": "regional_skew_error > 0",
            "skew": "(regional_skew IS NULL) = (regional_skew_error IS NULL)",
        },
        refers={"basin_id": "basins(id)"},
    ),
    Table(
        "thresholds",
        "basin_id text, name text, discharge real?, direction text, set_at instant, category text?, source text?, "
        "source_day date?, official_stage real?, official_flow real?, impact text?",
        key="basin_id, name",
        checks={
            "category": "category IN ('action', 'minor', 'moderate', 'major')",
            "direction": "direction IN ('rising', 'falling')",
            "discharge": "discharge > 0",
            "known": "discharge IS NOT NULL OR category IS NOT NULL",
        },
        refers={"basin_id": "basins(id)"},
    ),
    Table(
        "alert_basins",
        "basin_id text, run_id text, version_id text, t0 date, issued_at instant, window_days integer, "
        "decided_at instant, reason text?",
        key="basin_id",
        refers={"basin_id": "basins(id)", "run_id": "runs(id)", "version_id": "versions(id)"},
    ),
    Table(
        "adjustments",
        "id text, run_id text, basin_id text, factor real, shift_days integer, chances json, words text, author text, "
        "key_id text, created_at instant, published_at instant?, publisher text?, note text?, levels json?, "
        "alerts_at instant?",
        key="id",
        checks={
            "draft": "published_at IS NOT NULL OR (note IS NULL AND levels IS NULL AND alerts_at IS NULL)",
            "factor": "factor > 0",
            "published": "(published_at IS NULL) = (publisher IS NULL)",
        },
        refers={"run_id, basin_id": "run_basins(run_id, basin_id)"},
        indexes=["run_id, basin_id", "basin_id, published_at", "alerts_at"],
    ),
    Table(
        "held_alerts",
        "basin_id text, run_id text, proposed json, held_at instant, due_at instant, ruling text?, ruled_by text?, "
        "ruled_at instant?, note text?",
        key="basin_id",
        checks={
            "ruled": "(ruling IS NULL) = (ruled_by IS NULL) AND (ruling IS NULL) = (ruled_at IS NULL)",
            "ruling": "ruling IN ('approve', 'dismiss')",
        },
        refers={"basin_id": "basins(id)", "run_id": "runs(id)"},
    ),
    Table(
        "alert_changes",
        "seq integer, id text, key text, kind text, at instant, basin_id text, level text?, direction text?, "
        "discharge real?, stage real?, category text?, impact text?, severity text?, severity_before text?, "
        "chance real?, chance_before real?, trend text?, window_days integer?, run_id text?, t0 date?, "
        "version_id text, why text, decided_by text?, adjustment_id text?, replayed boolean, sender text?",
        key="seq",
        checks={
            "category": "category IN ('action', 'minor', 'moderate', 'major')",
            "direction": "direction IN ('rising', 'falling')",
            "kind": "kind IN ('begins', 'rises', 'falls', 'ends', 'level', 'undecided', 'decided', 'promotion')",
            "run": "(kind = 'promotion') = (run_id IS NULL)",
            "severity": "severity IN ('advisory', 'watch', 'warning')",
            "severity_before": "severity_before IN ('advisory', 'watch', 'warning')",
            "trend": "trend IN ('rising', 'steady', 'falling')",
        },
        unique=["id", "key"],
        refers={
            "adjustment_id": "adjustments(id)",
            "basin_id": "basins(id)",
            "run_id": "runs(id)",
            "version_id": "versions(id)",
        },
        indexes=["basin_id, seq"],
        numbers_once=True,
    ),
    Table(
        "alerts",
        "basin_id text, level text, kind text?, return_period_years integer?, direction text, discharge real, "
        "official_stage real?, chance real, calibration text, trend text?, severity text?, since instant?, "
        "switches json, why text, run_id text",
        key="basin_id, level",
        checks={
            "calibration": "calibration IN ('observed', 'provisional', 'backfilled', 'fitted')",
            "chance": "chance BETWEEN 0 AND 1",
            "direction": "direction IN ('rising', 'falling')",
            "severity": "severity IN ('advisory', 'watch', 'warning')",
            "since": "(severity IS NULL) = (since IS NULL)",
            "trend": "trend IN ('rising', 'steady', 'falling')",
        },
        refers={"basin_id": "alert_basins(basin_id)", "run_id": "runs(id)"},
    ),
    Table(
        "deliveries",
        "id text, subscription_id text, change_seq integer?, status text, tries integer, next_at instant?, "
        "lease_until instant?, ended_at instant?",
        key="id",
        checks={
            "ended": "(status = 'pending') = (ended_at IS NULL)",
            "status": "status IN ('pending', 'delivered', 'failed')",
        },
        unique=["subscription_id, change_seq"],
        refers={"change_seq": "alert_changes(seq)", "subscription_id": "subscriptions(id) ON DELETE CASCADE"},
        indexes=["status, next_at"],
    ),
    Table(
        "delivery_attempts",
        "delivery_id text, number integer, at instant, ended_at instant?, status_code integer?, failure text?",
        key="delivery_id, number",
        checks={"answer": "status_code IS NULL OR ended_at IS NOT NULL"},
        refers={"delivery_id": "deliveries(id) ON DELETE CASCADE"},
    ),
    # database
    Table("pruned", "rule text, id text, at instant, retention_days integer", key="rule, id"),
]
"""Every table, after those that it refers to."""


def upgrade() -> None:
    """Create the tables and their indexes."""
    for table in TABLES:
        op.create_table(table.name, *_columns(table), *_constraints(table), sqlite_autoincrement=table.numbers_once)
        for columns in table.indexes:
            op.create_index(_name("ix", table, columns), table.name, columns.split(", "))


def downgrade() -> None:
    """Delete the tables with all their rows."""
    for table in reversed(TABLES):
        op.drop_table(table.name)


def _columns(table: Table) -> Iterator[sa.Column[Any]]:
    for described in table.columns.split(", "):
        name, _, type_ = described.partition(" ")
        yield sa.Column(name, TYPES[type_.removesuffix("?")], nullable=type_.endswith("?"))


def _constraints(table: Table) -> Iterator[sa.Constraint]:
    yield sa.PrimaryKeyConstraint(*table.key.split(", "), name=_name("pk", table))
    for name, condition in table.checks.items():
        yield sa.CheckConstraint(condition, name=_name("ck", table, name))
    for columns in table.unique:
        yield sa.UniqueConstraint(*columns.split(", "), name=_name("uq", table, columns))
    for columns, target in table.refers.items():
        found = REFERENCE.fullmatch(target)
        assert found is not None, target
        referred = [f"{found['table']}.{column}" for column in found["columns"].split(", ")]
        yield sa.ForeignKeyConstraint(
            columns.split(", "), referred, name=_name("fk", table, columns), ondelete=found["action"]
        )


def _name(kind: str, table: Table, part: str = "") -> str:
    """Return the name of a constraint or index, by the naming convention of the tables."""
    return op.f("_".join(filter(None, (kind, table.name, part.replace(", ", "_")))))
