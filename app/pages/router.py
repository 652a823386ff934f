"""Every page."""

from fastapi import APIRouter

from app.pages import adjustments, alerts, basin, feeds, jobs, levels, models, status, what_if
from app.pages.basins import compare
from app.pages.rivers import page as rivers

router = APIRouter(include_in_schema=False)
for page in (rivers, basin, compare, levels, what_if, adjustments, alerts, models, jobs, feeds, status):
    router.include_router(page.router)
