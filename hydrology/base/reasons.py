"""The catalogue of reasons why a value is missing.

A text is a whole sentence: what is missing and, where somebody can mend it, how. Braces hold its parameters.
"""

from enum import Enum, unique


@unique
class Reason(Enum):
    """Reasons, by subject; the value is the text. The names are stored: a renamed one needs a migration."""

    # Errors
    FAILED = "{message}"
    """An operation failed with an error; its message is for users."""

    # Machines
    GPU_NOT_READ = "It is not known, because {cause}."

    # Scores
    TOO_FEW_PAIRS = "It needs at least {minimum:day} with both values known; there are {pairs}."
    OUT_OF_RANGE = "Its numbers are too large or too small to compute with."
    INFINITE_VALUES = "The {series} is infinite on {days} of its days."
    CONSTANT_SERIES = "The {series} is constant."
    MEAN_IS_0 = "The {series} mean is 0."
    HIGH_FLOW_IS_0 = "The highest 2 % of the observed flow sum to 0."
    LOW_FLOW_IS_0 = "The lowest 30 % of the observed flow sum to 0."
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
    TOO_FEW_DIFFERENCES = "The test needs at least {minimum:basin} that differ; there are {basins}."

    # Verification
    NO_DAY_TO_VERIFY = "No such day was both forecast and observed."
    RIVAL_IS_PERFECT = "Its rival was never wrong on these days: nothing can be better."
    NO_DISTRIBUTION = "The forecast is one flow: it has no interval."
    TOO_FEW_WATER_YEARS = "The forecasts are of {years} water years, and an interval needs {minimum}."
    TOO_FEW_INDEPENDENT_ISSUES = (
        "Only {issues} of the verified forecasts share no day with one another: a word on their skill needs {minimum}."
    )
    ISSUES_NOT_COUNTED = "It was verified before independent forecasts were counted: verify or reforecast again."
    NO_EVENT = "The flow passed the threshold on none of these days."
    NO_SIMULATED_EVENT = "The simulated flow passed the threshold on none of these days."
    NO_MATCHED_EVENT = "No event was both observed and simulated in these days."
    ALWAYS_OR_NEVER_PASSED = "The threshold was passed on all of these days or on none."
    MONTHS_OF_ALL_YEAR = "Months are reported with the whole year: ask for the season all."
    NO_LEAD_VERIFIED = "No forecast of these days was verified."
    NO_WARNING = "The forecasts warned on none of these days."
    NO_EVENT_OR_WARNING = "The threshold was neither passed nor warned of on any of these days."

    NO_ERROR_SPLIT = (
        "None of these forecasts has had its error split among weather, initial state and network: verify issued "
        "forecasts (freshet verify) once their flow has settled."
    )
    ERROR_MODELS_LEARNT = "Every error model of these forecasts had been fitted to days that were forecast."
    NO_SETTLED_FLOW = "{basin}: no forecast that counts has observed flow at least {days:day} old."
    NETWORK_SKIPS_DAYS = "{basin}: the network skips days of {period} for lack of forcing."

    # Data of a basin
    NO_FORCING = (
        "{basin} has no {variables} of the forcing product {product}, which this model takes (stored for this basin: "
        "{stored}): ingest that product, or choose a model of another one."
    )
    NOT_SCORED_WITHOUT_PART = (
        "An evaluation scores all parts on {products} together, so the skill without one of them is not known."
    )
    NO_PART = "No part of the version can be used. {reasons}"
    PART_OF_OTHER_DAYS = "The weather of {product} after T0 is of other days, or of another weather forecast."
    NO_COMMON_TRACE = "{basin}: the weather products of the version have no trace of weather in common."
    NO_COMMON_RECORD = "{basin}: the records of the version's weather products have no day in common."
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
        "ingest or give {attributes} (freshet basins add {basin} --attributes FILE, or allow an estimate "
        "with --assume-attributes)"
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
    FORECAST_STALE = "The newest forecast is from {t0}, {days:day} ago."

    # Outlooks
    NO_PEAK_AHEAD = "No peak is ahead: flow more likely falls from that of the last past day than rises above it."
    NO_FLOW_OBSERVED = "No flow was observed on the last {days:day}."
    NO_FLOW_BEFORE = "No flow was observed {days:day} before."
    NO_SEASONAL_RUN = (
        "No run with the weather of other years holds the basin's season: forecast its volume (freshet volumes)."
    )
    NOT_EVALUATED_HELD_OUT = "The version was not evaluated here over days that it has not learnt from."
    NOT_VERIFIED_HELD_OUT = (
        "No calibrated forecast of the version with this weather was verified here over days that it has not learnt "
        "from."
    )
    NOT_ADJUSTED = "Nobody has published an adjustment of the forecast."

    # Deliveries of alert changes
    RECEIVER_REFUSED = "It answered {status}."
    RECEIVER_REDIRECTED = "It answered {status}: redirections are not followed."
    RECEIVER_SLOW = "It did not answer within {seconds:g} seconds."
    RECEIVER_NOT_PUBLIC = "Its host has no public address: an administrator may allow it with FRESHET_WEBHOOK_HOSTS."
    RECEIVER_UNKNOWN = "Its host is not known to the name service."
    RECEIVER_NOT_CONNECTED = "It could not be connected to, or its certificate is not valid."
    RECEIVER_BROKE_OFF = "It broke the connection off."
    RECEIVER_ADDRESS_UNUSABLE = "Its address cannot be used."
    MAIL_NOT_SET = (
        "The service sends no e-mail: let an administrator set FRESHET_SMTP_HOST, FRESHET_MAIL_FROM and "
        "FRESHET_PUBLIC_URL."
    )
    MAIL_DEFERRED = "The mail server deferred it with {status}."
    MAIL_UNAVAILABLE = "The mail server takes no messages at present: it answered {status}."
    MAIL_ADDRESS_REFUSED = "The mail server refused the address with {status}."
    MAIL_REFUSED = "The mail server refused the message with {status}."
    MAIL_SERVICE_REFUSED = "The mail server refused this service, or its address FRESHET_MAIL_FROM, with {status}."
    MAIL_LOGIN_REFUSED = "The mail server refused the user and password of FRESHET_SMTP_USER with {status}."
    MAIL_NOT_ENCRYPTED = "The mail server offers no TLS, or its certificate is not valid."
    MAIL_NOT_CONNECTED = "The mail server could not be connected to."
    MAIL_BROKE_OFF = "The mail server broke the connection off."
    MAIL_SLOW = "The mail server did not take it within {seconds:g} seconds."
    MAIL_UNANSWERED = "The mail server did not answer to the recipient or to the message, which it may have taken."
    MESSAGE_FAILED = "It could not be written or sent because of a fault of the service, which its log names."
    UNSUBSCRIBED = "The recipient unsubscribed."
    RESTORED = "It was restored from a backup: resume it once no other service sends the same alerts."
    SENDER_LOST = "Its sender was lost before it knew the answer."

    # Climatology
    NO_OTHER_WATER_YEAR = "No other water year has observed flow within {near:day} of the time of the year of {day}."

    # Normals
    TOO_FEW_YEARS = "{days} of {of} days have fewer than {years} other years within {near:day} of the same day."
    TOO_FEW_SEASONS = "{season} was observed whole in {years} other years, and a normal takes {needed} of them."

    # Answers about a basin
    NO_CURRENT_VERSION = "No model version is current for {basin}."
    NO_CURRENT_VERSION_OF_BASIN = "No model version is current for the basin."
    NOT_CONSERVING = "The model version does not conserve mass, so there is no water balance."
    NO_SERIES = "No {variable} of {product} is stored for {basin}."
    NO_SIMULATED_LEVELS = "Version {version} has not been simulated for levels yet: run freshet thresholds simulate."

    # Levels of discharge
    # Runs
    NOT_STORED = "The run did not store it."
    PRUNED = "{rule} It was pruned on {day}."
    BASINS_NOT_ISSUED = "{lacking} of {basins} basins were not issued: see the reason of each."
    SPINNING_UP = "{note}"
    NOT_THE_LATEST = "It cannot be the latest."
    BASINS_FAILED = "{count} basins failed. {first}"
    SOURCE_FAILED = "{source}: {why}"
    NO_STATE = "The basin has no state of T0."
    NOT_FINITE = "The network computed values that are not finite."
    LEDGER_OPEN = "The ledger does not close for member {members}."
    LEDGER_WRONG = "The ledger of member {member} cannot be right: {fault}."
    LEDGER_WRONG_UNTIL_T0 = "{basin}: between {first} and {last} {fault}"
    FORCING_REVISED = "{basin}: its weather or attributes were revised during the forecast: forecast again."
    EMPTY_STORE = "The run began from an empty store."
    SUMS_NOT_STORED = "The state of T0 is no longer stored: forecast again."
    SPREAD_NOT_DIVIDED = "The run did not divide its spread: forecast with perturbed_states."

    # Change since the previous run
    CHANGE_NOT_OPERATIONAL = "Only operational runs are compared with the previous one."
    RERUN_INPUTS_LOST = "its weather or a state is not stored for both model versions."
    NO_PREVIOUS_RUN = "No operational forecast was issued from one of the {days} days before T0 {t0}."
    NO_COMMON_DAYS = "The previous run {run} holds none of the days ahead."
    NO_COMMON_PRODUCT = "No weather product was used by both runs."
    CHANGE_NOT_SPLIT = "The previous run {run} could not be computed again: {why}"
    UNCALIBRATED_CHANGE = "Not both runs are calibrated, so the change is that of the members' mean."
    NO_REVERSE_ORDER = (
        "The parts were computed in one order only: the state of the previous T0 as the run used it is no longer "
        "stored, or the model version changed as well."
    )

    # The fault of a ledger, a clause
    MEMBER_LEDGER_OPEN = "the ledger of member {member} leaves {residual:g} mm unexplained."
    MEMBER_LEDGER_WRONG = "the ledger of member {member} cannot be right: {fault}."
    MEMBER_LEAKS = (
        "the ledger of member {member} since the empty store leaves {residual:g} mm of the {fallen:g} mm that fell "
        "unexplained, more than rounding does: water leaks."
    )
    NEGATIVE_WATER = "its {quantity} is negative: {lowest:.3g} {unit} at the lowest"

    # States
    ATTRIBUTE_REVISED = "An attribute was revised."
    CLIMATE_COMPUTED = "Its climate indices were computed."
    SERIES_REVISED = "Of {product} {variable} was revised."

    # Days and weather of a run
    T0_NOT_ENDED = "{basin}: T0 {t0} has not ended at its location: choose {last} or an earlier day."
    T0_OUTSIDE_RECORD = "{basin}: T0 {t0} is outside the {product} record {record}."
    RECORD_STALE = "{basin}: its {product} ends on {last}, more than {days:day} ago."
    RECORD_STOPS = "{why} {stop}"
    """The record ends before it is needed, with the reason why it ends there."""
    WEATHER_TOO_SHORT = (
        "{basin}: {horizon} days after T0 {t0} need forcing until {needed}, and the record ends on {last}: shorten the "
        "horizon or choose an earlier T0."
    )
    WEATHER_GAP = "{basin}: the forcing of {day}, one of the {horizon} days after T0 {t0}, is missing."
    WEATHER_NOT_FILLED = "{basin}: {variables} of {day} is not known yet, and no other source of weather holds it."
    NO_OTHER_YEAR = (
        "{basin}: its record {record} holds the weather of {days} of no other year: ingest more years, or forecast "
        "with another weather."
    )
    NO_WEATHER_FORECAST = "{basin}: no weather forecast that is known holds {days}: fetch or add one."
    WEATHER_MODEL_LATE = "It has no forecast of the last day that holds {days}."
    WEATHER_FORECAST_LACKS = (
        "{basin}: the weather forecast has no {variables}, which this model takes: add one that has."
    )
    WEATHER_FORECAST_LACKS_BRIDGED = (
        "{basin}: the weather forecast has no {variables}, which its bridge takes: add one."
    )
    WEATHER_FORECAST_TOO_SHORT = (
        "{basin}: the weather forecast holds {period}, and {horizon} days after T0 {t0} are {days}: shorten the "
        "horizon, or choose another T0 or weather forecast."
    )
    WEATHER_FORECAST_TOO_SHORT_BRIDGED = (
        "{basin}: the weather forecast holds {period}, which makes {held} of the {horizon} days after T0 {t0} over its "
        "bridge, as rain is shared out between days: shorten the horizon, or choose another T0 or weather forecast."
    )

    # What-if runs
    NO_CELLS_TO_CHANGE = (
        "{basin}: the network's cells do not hold water, so that none can be added or taken: leave it out."
    )
    NO_SNOW_TO_CHANGE = (
        "{basin}: its snow cannot be separated from its other water. {why} Or change the water of all cells."
    )
    CELLS_CANNOT_CHANGE = "{basin}: the {cells} of member {member} {why}."
    NO_CELLS_TO_ASSIMILATE = (
        "{basin}: the network's cells do not hold water, so that no flow can be assimilated: leave it out."
    )
    RECORD_TOO_SHORT_TO_ASSIMILATE = "{basin}: its record begins on {first}, and {days:day} before T0 are needed."
    NO_FLOW_TO_ASSIMILATE = "{basin}: no discharge was observed in {period}, so that there is nothing to assimilate."
    NO_TEMPERATURE_TO_CHANGE = (
        "{basin}: the version takes no temperature, so degrees would have no effect: leave them out."
    )
    WEATHER_IMPOSSIBLE = (
        "{basin}: {variable} of {day} would be {value:.4g} {unit}, outside {lowest:g} to {highest:g}: change the "
        "weather by less."
    )

    # Calibration
    HYPOTHETICAL_WEATHER = "This run uses hypothetical weather, so its error cannot be estimated."
    NO_ERROR_MODEL = "Version {version} has no error model: fit one (freshet calibrate)."
    RECORD_TOO_SHORT_TO_CALIBRATE = (
        "The error model of version {version} was not fitted to the flow of {basin}, and its regional numbers need "
        "{days:day} of forcing."
    )
    NO_REGIONAL_ERROR_MODEL = (
        "The error model of version {version} was not fitted to the flow of {basin}, and it has no regional numbers "
        "for basins that it was not fitted to."
    )

    # Water
    NO_WATER_IN_CELLS = "The network's cells do not hold water."
    AGE_NOT_REQUESTED = (
        "The age of the water was not requested for this run: forecast with --age, or with `age` in a job."
    )
    RECORD_TOO_SHORT_FOR_AGE = "The record begins {days:day} before T0: no water is known to be older."
    OTHER_PAST = (
        "The past, simulated again, does not end in the stored state of T0: that was computed by another program or "
        "processor, or its forcing has been revised since."
    )
    NO_SIMULATED_STORAGE = (
        "No simulated storage of past days is stored for version {version}: simulate it (freshet thresholds simulate)."
    )
    SIMULATION_DAMAGED = (
        "The stored simulation of the past is damaged: simulate it again (freshet thresholds simulate)."
    )

    # States
    FIRST_STATE = "It is the first state of its record: it started from empty cells."
    STATE_VALID = "The state is valid."

    # Snow
    SNOW_CELLS_CHANGED = (
        "The snow cells have changed since the simulation: simulate again (freshet thresholds simulate)."
    )
    SNOW_NORMAL_CHANGED = (
        "The snow cells, or the simulated past, have changed since the run: the next forecast has the normal of both."
    )
    SNOW_CELLS_NOT_CHOSEN = (
        "No snow cells have been chosen for this basin, whose reference snow is stored: evaluate the version (freshet "
        "evaluate)."
    )
    NO_SNOW_REFERENCE = (
        "No reference snow of this basin is stored, and the version has no snow cells chosen over other basins: ingest "
        "reference snow, or evaluate the version in basins that have some (freshet evaluate)."
    )
    NO_CELL_FOLLOWS_SNOW = "No cell follows the reference."
    SNOW_CELLS_NOT_SCORED = "The cells were not scored."
    SNOW_SHARE_UNKNOWN = "The share of snow in this basin's precipitation ({attribute}) is unknown."
    TOO_LITTLE_SNOW_TO_SCORE = "The regional mapping was not scored in basins with so little snow."
    SNOW_NOT_SCORED = "The snow of this model version was not scored in this basin."
    SNOW_UNCERTAIN = (
        "The estimates differ ({estimates}), beyond the range of the model's members ({low} to {high}): trust neither."
    )
    NO_REFERENCE_SNOW_AT_T0 = "No reference snow of {t0} is stored for this basin."
    SNOW17_LACKS_VARIABLES = "Snow-17 needs {variables}, which this model does not take."
    SNOW17_LACKS_ELEVATION = "Snow-17 needs the mean elevation of the basin ({attribute}), which is not known."
    SNOW17_RECORD_TOO_SHORT = "Snow-17 needs the weather of the {days} days until T0; it is known from {first} on."
    SNOW17_WEATHER_GAP = "Snow-17 needs the weather of each of the {days} days until T0."

    # Normals
    NO_DISCHARGE = "No discharge of {basin} is stored."
    NO_DISCHARGE_IN = "No discharge of {basin} is stored from {first} to {last}."
    NO_AREA_FOR_DEPTH = "{basin} has no area by which its discharge would be a depth."
    NO_WHOLE_WATER_YEAR = (
        "No water year has {days} days or more with observed flow, and part of a year has the runoff of its season."
    )
    NORMAL_IS_0 = "The normal is 0."
    NORMAL_TOO_SMALL = "No percentage is given of a normal below {mm:g} mm."

    # Areas
    RUN_WITHOUT_AREA = "The run names no drainage area of the basin."
    RUN_WITHOUT_AREA_FOR_DEPTH = "The run names no drainage area of {basin}, by which its discharge would be a depth."
    NO_AREA_AT_RUN = "The basin had no drainage area when the run was created."
    NO_PRODUCT_AREA_AT_RUN = "The basin had no drainage area of the weather product when the run was created."
    NO_AREA_STORED = "No area of the basin is stored, so its discharge cannot be given as a depth."

    # Seasonal volumes
    HINDCAST_VOLUME = "The run is a hindcast: it uses the weather after T0, so its volume is not a forecast."
    DRY_VOLUME = "The run has no precipitation after T0, so its volume is not an expected one."
    SEASON_NOT_STARTED = "The season begins after T0."
    SEASON_NOT_OBSERVED = "{missing} of the {days} days of the season until T0 were not observed, {first} the first."

    # Levels of discharge
    TOO_FEW_YEARS_FOR_LEVEL = "Years with enough days: {years}. A level needs {needed}."
    NO_INTERVAL_REQUESTED = "No interval was asked for."
    NO_INTERVAL_OF_ZERO = (
        "{wet} of {years} years have any flow: the level is 0, and an interval would need {needed} with flow."
    )
    TOO_FEW_YEARS_WITH_FLOW = "{wet} of {years} years have any flow, and a level needs {needed} that have."
    SAME_IN_EVERY_YEAR = "It is the same in every year with flow: there is nothing to fit."
    DRY_IN_EVERY_YEAR = "None of the {years} years has any flow."
    TOO_FEW_FLOODS = "The record has {floods} independent floods in {years} years, which are too few a year for it."
    SHARE_WITHOUT_INTERVAL = "It is a share of the record's own days, so it has no interval."
    LEVEL_NOT_PASSED = "In {below} of {members} members flow falls below it within the {days} days."
    BELOW_AT_T0 = "Flow was below it at T0 already: {flow} {unit} in the mean of the members."
    LEVEL_BEYOND_RAIN = "Flow does not reach it with {mm:g} mm of rain."
    RAIN_MARGIN_NOT_CORRECTED = (
        "The run did not store how observed flow corrects it, so that no margin can start from the flow of today: "
        "forecast again."
    )
    RAIN_MARGIN_NOT_COMPUTED = (
        "Only an operational run computes how much rain takes flow to a level: ask for the latest forecast."
    )
    DRY_RIVER = "It is 0: the river dries up that often, and flow cannot fall below nothing."

    # Ratings
    NO_RATING = "No rating of this basin is stored: import its table (freshet ratings import)."
    OUTSIDE_RATING = (
        "The rating covers {lowest:.4g} to {highest:.4g} m³/s, not {discharge:.4g}: it is not extrapolated."
    )
    STAGE_OUTSIDE_RATING = (
        "The rating covers {lowest:.2f} to {highest:.2f} ft, not {stage:.2f}: it is not extrapolated."
    )
    RATING_DIFFERS_FROM_FILE = (
        "Its file has a stage for it and no flow, and at the stages of other categories the rating gives other flows "
        "than the file, as if they had different datums or units: import a rating of the file's datum, or set the "
        "level by its flow."
    )
    CATEGORY_OUT_OF_ORDER = (
        "Its flow in the file is {discharge:.4g} m³/s, out of order with the other categories, whose stages are "
        "converted by the rating: import a rating that covers its stage, or correct the file."
    )
    NO_STAGE_OF_NOTHING = "There is no discharge to convert."

    # Reference snow
    TOO_FEW_SNOW_DAYS = "The reference snow water equivalent is known on {days:day}; at least {minimum} are needed."
    REFERENCE_SNOW_IS_CONSTANT = "The reference snow water equivalent is constant: there is no snow to follow."
    NO_CELLS_AS_SNOW = "No cells are chosen as snow."
    RIVAL_ELSEWHERE = "The basin is not stored here."
    RIVAL_LACKS_DAYS = "The simulation lacks {days} of the observed days of {period}."
    SNOW_IS_CONSTANT = "What reads as snow is constant: a correlation has no meaning."
    NO_BARE_DAY = "The reference has snow on every day."
    NO_CELL_FITS_SNOW = "No cell rises and falls with the reference snow at its size."
