"""What the National Water Prediction Service adds to the core."""

from jobspec.extensions import Extension

EXTENSION = Extension(
    package=__package__,
    feed_kinds={"feed_kinds:CategoriesSettings": "feed:categories_feed"},
    settings="settings:NwpsService",
)
