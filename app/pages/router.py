"""Every page."""

from fastapi import APIRouter

from app.pages import decisions, models, operating, what_if
from app.pages.basins import compare
from app.pages.basins import page as basin
from app.pages.rivers import page as rivers

router = APIRouter(include_in_schema=False)
for page in (rivers, basin, compare, what_if, decisions, models, operating):
    router.include_router(page.router)
