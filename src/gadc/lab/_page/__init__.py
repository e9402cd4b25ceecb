"""The page of a lab: one HTML file that contains everything it needs.

neighborhood  which neighbours of an item are shown, and the weights of their edges
layout        where they are drawn
predictions   what removing an edge does at its ends
facts         what is said about them: classes, neighbours, features that differ
sections      the worst items of each kind, with all of the above
page          the file
"""

from gadc.lab._page._page import page_html

__all__ = ["page_html"]
