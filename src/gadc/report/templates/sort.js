// A click on a header sorts by that column, a second click the other way; empty entries stay last.
for (const button of document.querySelectorAll("[data-sortable] thead button")) {
  button.addEventListener("click", () => {
    const header = button.closest("th"), body = header.closest("table").tBodies[0];
    const up = header.ariaSort ? header.ariaSort === "descending" : header.cellIndex === 0;
    const key = (line) => line.cells[header.cellIndex].dataset.sort;
    const order = (a, b) => (key(a) === "") - (key(b) === "") || (up ? 1 : -1) * (key(a) - key(b));
    for (const other of header.parentNode.cells) other.removeAttribute("aria-sort");
    header.ariaSort = up ? "ascending" : "descending";
    body.append(...[...body.rows].sort(order));
  });
}
