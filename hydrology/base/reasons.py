"""The catalogue of reasons why a value is missing.

A text is a whole sentence for a reader of an answer: what is missing and, where somebody can mend it, how. Braces hold
its parameters.
"""

from enum import Enum, unique


@unique
class Reason(Enum):
    """Reasons, by subject; the value is the text. The names are stored: a renamed one needs a migration."""

    # Errors
    FAILED = "{message}"
    """An operation failed with an error; its message is for users."""

    # Scores
    TOO_FEW_PAIRS = "It needs at least {minimum} days with both values known; there are {pairs}."
    OUT_OF_RANGE = "Its numbers are too large or too small to compute with."
    INFINITE_VALUES = "The {series} is infinite on {days} of its days."
    CONSTANT_SERIES = "The {series} is constant."
    MEAN_IS_0 = "The {series} mean is 0."
    HIGH_FLOW_IS_0 = "The highest 2 % of the observed flow sum to 0."
    LOW_FLOW_IS_FLAT = "The lowest 30 % of the observed flow is one value, so its tail has no shape."
    MIDDLE_FLOW_IS_FLAT = "The observed flows exceeded 20 % and 70 % of the time are equal, so there is no slope."
    NO_PROMINENT_PEAK = "The observation has no peak that stands out by its standard deviation."
    NO_HIGH_PEAK = "The observation has no peak above its 80th percentile."

    AS_SHIPPED = "{text}"
    """A score of a shipped ensemble has no value, by the text in its file."""

    # Comparison of versions
    NOT_NAMED = "Nobody has named it."
    TRAINING_NOT_TIMED = "The time was not recorded."
    NO_PUBLISHED_SCORES = "No published scores are stored: ingest them (freshet ingest benchmarks)."
    NO_PUBLISHED_SCORE_THERE = "No published score is stored for {period} and these basins."
    NOT_IN_PUBLISHED_FILE = "The published file gives none."
    NO_COMMON_BASIN = "There is no basin where both have a value."
    NO_DIFFERENCE = "Both have the same value in every basin."
    TOO_FEW_DIFFERENCES = "The test needs at least {minimum} basins that differ; there are {basins}."

    # Verification
    NO_DAY_TO_VERIFY = "No such day was both forecast and observed."
    RIVAL_IS_PERFECT = "Its rival was never wrong on these days: nothing can be better."
    NO_DISTRIBUTION = "The forecast is one flow: it has no interval."
    TOO_FEW_WATER_YEARS = "The forecasts are of {years} water years, and an interval needs {minimum}."
    NO_EVENT = "The flow passed the threshold on none of these days."
    NO_WARNING = "The forecasts warned on none of these days."
    NO_EVENT_OR_WARNING = "The threshold was neither passed nor warned of on any of these days."

    ERROR_MODELS_LEARNT = "Every error model of these forecasts had been fitted to days that were forecast."
    NO_SETTLED_FLOW = "{basin}: no forecast that counts has observed flow at least {days} days old."
    NETWORK_SKIPS_DAYS = "{basin}: the network skips days of {period} for lack of forcing."

    # Data of a basin
    NO_FORCING = (
        "{basin} has no {variables} of the forcing product {product}, which this model takes (stored for this basin: "
        "{stored}): ingest that product, or choose a model of another one."
    )
    NO_COMPLETE_DAY = "{basin} has no day with all forcing of {product}: ingest it."
    RECORD_IN_FUTURE = "{basin}: its record of {product} begins on {first}, which is in the future."
    FORCING_MISSING = (
        "{basin}: {variables} of {product} is missing on {day}, and a day's forcing is never guessed: {remedy}."
    )
    FORCING_NEGATIVE = (
        "{basin}: {variables} of {product} is negative on {day}, and a day's forcing is never guessed: {remedy}."
    )
    FORCING_TOO_SHORT = "{basin}: the forcing {forcing} does not cover {period}."
    NO_DISCHARGE_OBSERVED = "{basin} has no observed discharge in {period}: ingest its streamflow."
    NO_PRODUCT_AREA = (
        "{basin} has no area of {product}, by which its discharge is converted: ingest it, or give the area (freshet "
        "basins add {basin} --area KM2)."
    )
    NO_AREA_OF_BASIN = (
        "{basin} has no area by which its flow is converted: give it (freshet basins add {basin} --area KM2)."
    )
    RECORD_FILLS_STORE = "{basin}: its weather {record} is of {days} days or fewer, on which the store still fills."
    PET_LACKS_TEMPERATURE = "Potential evapotranspiration needs {variables}, which this model does not take."
    PET_LACKS_LATITUDE = "Potential evapotranspiration needs the latitude of the basin, which is not known."
    NO_ATTRIBUTES = "{basin} has no attribute {attributes}: {remedy}."
    REMEDIES = "{first}; {second}"
    COMPUTE_CLIMATE = "compute {attributes} from its weather (freshet basins climate {basin})"
    GIVE_AREA = "give its area (freshet basins add {basin} --area KM2)"
    GIVE_ATTRIBUTES = "ingest or give {attributes} (freshet basins add {basin} --attributes FILE)"
    GIVE_OR_ASSUME_ATTRIBUTES = (
        "ingest or give {attributes} (freshet basins add {basin} --attributes FILE, or allow the means of the "
        "version's basins with --assume-attributes)"
    )

    # Training
    NO_DISCHARGE_IN_TRAINING = "{basin} has no observed discharge in the training period {period}."
    CONSTANT_DISCHARGE = (
        "{basin}: the observed discharge is constant ({flow:g} mm/day) in the training period {period}."
    )
    USES_OTHER_VERSION = "{basin} uses version {version}: promote this one to replace it (freshet models promote)."
    NO_NEW_WATER_YEAR = (
        "Version {version} has learnt from days up to {last}, and no water year has been completed since."
    )

    # Alerts
    NO_AREA_FOR_LEVELS = "The run names no drainage area of the basin, so its depths cannot be compared with levels."
    FORECAST_STALE = "The newest forecast is from {t0}, {days} days ago."

    # Deliveries of alert changes
    RECEIVER_REFUSED = "It answered {status}."
    RECEIVER_REDIRECTED = "It answered {status}: redirections are not followed."
    RECEIVER_SLOW = "It did not answer within {seconds:g} seconds."
    RECEIVER_NOT_PUBLIC = "Its host has no public address: an administrator may allow it with FRESHET_WEBHOOK_HOSTS."
    RECEIVER_UNKNOWN = "Its host is not known to the name service."
    RECEIVER_NOT_CONNECTED = "It could not be connected to, or its certificate is not good."
    RECEIVER_BROKE_OFF = "It broke the connection off."
    RECEIVER_ADDRESS_UNUSABLE = "Its address cannot be used."
    SENDER_LOST = "Its sender was lost before it knew the answer."

    # Climatology
    NO_OTHER_WATER_YEAR = "No other water year has observed flow within {near} days of the time of the year of {day}."

    # Normals
    TOO_FEW_YEARS = "{days} of {of} days have fewer than {years} other years within {near} days of the same day."
    TOO_FEW_SEASONS = "{season} was observed whole in {years} other years, and a normal takes {needed} of them."

    # Answers about a basin
    NO_CURRENT_VERSION = "No model version is current for {basin}."
    NO_CURRENT_VERSION_OF_BASIN = "No model version is current for the basin."
    NOT_CONSERVING = "The model version does not conserve mass, so there is no water balance."
    NO_SERIES = "No {variable} of {product} is stored for {basin}."
    NO_SIMULATED_LEVELS = "Version {version} has not been simulated for levels yet: run freshet thresholds simulate."

    # Levels of discharge
    TOO_FEW_YEARS_FOR_LEVEL = "Years with enough days: {years}. A level needs {needed}."
    NO_INTERVAL_REQUESTED = "No interval was asked for."
    NO_INTERVAL_OF_ZERO = (
        "{wet} of {years} years have any flow: the level is 0, and an interval would need {needed} with flow."
    )
    TOO_FEW_YEARS_WITH_FLOW = "{wet} of {years} years have any flow, and a level needs {needed} that have."
    SAME_IN_EVERY_YEAR = "It is the same in every year with flow: there is nothing to fit."
    DRY_IN_EVERY_YEAR = "None of the {years} years has any flow."
    SHARE_WITHOUT_INTERVAL = "It is a share of the record's own days, so it has no interval."

    # Reference snow
    NO_CELL_FOLLOWS_SNOW = "No cell follows the reference."
    TOO_FEW_SNOW_DAYS = "The reference snow water equivalent is known on {days} days; at least {minimum} are needed."
    REFERENCE_SNOW_IS_CONSTANT = "The reference snow water equivalent is constant: there is no snow to follow."
    NO_CELLS_AS_SNOW = "No cells are chosen as snow."
    SNOW_IS_CONSTANT = "What reads as snow is constant: a correlation has no meaning."
    NO_BARE_DAY = "The reference has snow on every day."
    NO_CELL_FITS_SNOW = "No cell rises and falls with the reference snow at its size."
