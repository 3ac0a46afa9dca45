"use strict";
// Links into folded parts open what hides them.
function reveal() {
  const id = location.hash.slice(1);
  const target = id && document.getElementById(id);
  if (!target) return;
  for (let part = target; part; part = part.parentElement) {
    if (part.tagName === "DETAILS") part.open = true;
  }
  target.scrollIntoView();
}
addEventListener("hashchange", reveal);
reveal();

// Paper has no folds.
let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")];
  for (const part of closed) part.open = true;
});
addEventListener("afterprint", () => {
  for (const part of closed) part.open = false;
});

// A click on a column's head sorts by it; a row's reason or warnings travel with the row.
function groups(body) {
  const found = [];
  for (const row of body.rows) {
    if (row.classList.contains("because") && found.length) found.at(-1).push(row);
    else found.push([row]);
  }
  return found;
}
function key(row, column, numeric) {
  const cell = row.cells[column];
  const text = cell.dataset.key ?? (numeric ? "" : cell.textContent.trim());
  return numeric ? (text === "" ? NaN : Number(text)) : text;
}
for (const button of document.querySelectorAll("table.sortable thead button")) {
  button.addEventListener("click", () => {
    const head = button.closest("th");
    const numeric = button.dataset.kind === "number";
    const up = head.getAttribute("aria-sort") !== "ascending";
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const body = button.closest("table").tBodies[0];
    const sorted = groups(body).map((rows) => [key(rows[0], head.cellIndex, numeric), rows]);
    sorted.sort(([a], [b]) => {
      if (!numeric) return (up ? 1 : -1) * a.localeCompare(b, undefined, { numeric: true });
      if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b); // unknown values go last
      return up ? a - b : b - a;
    });
    for (const [, rows] of sorted) body.append(...rows);
  });
}
