// Tables of the class "sortable" are sorted by a click on a head, those of "filterable" get a field to filter by.
"use strict";
const value = (row, at) => {
  const cell = row.cells[at];
  if (!cell) return "";
  const text = cell.dataset.v ?? cell.querySelector(".value")?.textContent ?? cell.firstChild?.textContent ?? "";
  const plain = text.replace(/[\s,$%]/g, "");
  return plain !== "" && !Number.isNaN(Number(plain)) ? Number(plain) : text.trim();
};
const before = (a, b) => {
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return typeof a === "number" ? b - a : a.localeCompare(b);
};
const sort = (table, head, at) => {
  const again = head.getAttribute("aria-sort") === "descending";
  for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", again ? "ascending" : "descending");
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row, place) => ({ row, place, key: value(row, at) }));
  rows.sort((a, b) => (again ? -1 : 1) * before(a.key, b.key) || a.place - b.place);
  body.append(...rows.map((one) => one.row));
};
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = table.tHead.rows[table.tHead.rows.length - 1];
  [...heads.cells].forEach((head, at) => {
    if (!head.textContent.trim()) return;
    head.tabIndex = 0;
    head.title ||= "Sort by this column";
    head.addEventListener("click", () => sort(table, head, at));
    head.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      sort(table, head, at);
    });
  });
}
for (const table of document.querySelectorAll("table.filterable")) {
  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = "Filter rows";
  field.setAttribute("aria-label", "Filter rows");
  field.className = "filter";
  table.parentElement.before(field);
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of table.tBodies[0].rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
  });
}
// On a page of tables of the class "beside" two fields choose which two columns stand there; without them all do.
const beside = [...document.querySelectorAll("table.beside")];
const whose = (table) => [...table.tHead.rows[0].cells].map((cell) => cell.dataset.who);
const names = [...new Set(beside.flatMap((table) => whose(table).slice(1)))];
if (names.length > 2) {
  const fields = [0, 1].map((place) => {
    const field = document.createElement("select");
    field.className = "filter";
    field.setAttribute("aria-label", place ? "The other agent" : "One agent");
    field.append(...names.map((name, at) => new Option(name, name, false, at === place)), new Option("all of them", ""));
    field.addEventListener("change", show);
    return field;
  });
  function show() {
    const chosen = fields.map((field) => field.value);
    for (const table of beside) {
      const heads = whose(table);
      for (const row of [...table.tHead.rows, ...table.tBodies[0].rows])
        [...row.cells].forEach((cell, at) => {
          cell.hidden = at > 0 && !chosen.includes("") && !chosen.includes(heads[at]);
        });
    }
  }
  document.querySelector("#choose").after(...fields);
  show();
}
