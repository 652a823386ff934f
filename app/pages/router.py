"""Every page."""

from fastapi import APIRouter

from app.pages import alerts, basin, day, feeds, jobs, levels, models, status, what_if

router = APIRouter(include_in_schema=False)
for page in (day, basin, levels, what_if, alerts, models, jobs, feeds, status):
    router.include_router(page.router)
