"""The page of a lab: one HTML file that contains everything it needs."""

from gadc.lab._page._page import page_html

__all__ = ["page_html"]
