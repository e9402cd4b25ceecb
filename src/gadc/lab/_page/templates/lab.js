// Lists, panel and decisions of a lab. Texts come from templates that are already escaped, or go through textContent.
(() => {
  "use strict";
  const find = (id) => document.getElementById(id);
  const data = JSON.parse(find("data").textContent);
  const sections = [...document.querySelectorAll(".kind")];
  const tabs = [...document.querySelectorAll("[role=tab]")];
  const panel = find("panel"), note = find("note");
  const choices = ["keep", "drop", "unsure"];
  let decisions = {}; // "kind-item" -> {decision, note}
  let section = null, current = null; // the list that is shown, the row that is selected

  const place = (row) => `${row.dataset.kind}-${row.dataset.item}`;
  const itemOf = (row) => data.kinds[row.dataset.kind].items[row.dataset.item];
  const rows = () => (section ? [...section.querySelectorAll("tbody tr")].filter((row) => !row.hidden) : []);
  const isOpen = () => !panel.hidden;

  // Some browsers give a page from a file no storage; the decisions then live as long as the page.
  function load() {
    data.kinds.forEach((kind, k) => kind.items.forEach((item, i) => {
      if (item.decision) decisions[`${k}-${i}`] = { decision: item.decision, note: item.note };
    }));
    try { Object.assign(decisions, JSON.parse(localStorage.getItem(`gadc-${data.store}`)) || {}); } catch { /* none */ }
  }
  function store() {
    try { localStorage.setItem(`gadc-${data.store}`, JSON.stringify(decisions)); } catch { /* none */ }
  }

  function showKind(next) {
    if (!next) return;
    if (next !== section) close();
    section = next;
    for (const one of sections) one.hidden = one !== section;
    for (const tab of tabs) {
      const chosen = tab.getAttribute("aria-controls") === section.id;
      tab.ariaSelected = String(chosen);
      tab.tabIndex = chosen ? 0 : -1;
    }
    select(null);
    filter();
  }

  function filter() {
    if (!section) return;
    const wanted = find("filter").value.trim().toLowerCase(), all = [...section.querySelectorAll("tbody tr")];
    const hidden = all.filter((row) => row.classList.contains("unflagged") && !find("all").checked);
    for (const row of all) {
      const text = `${row.textContent} ${itemOf(row).ids.join(" ")}`.toLowerCase();
      row.hidden = hidden.includes(row) || !text.includes(wanted);
    }
    const seen = rows(), nothing = section.querySelector(".nothing");
    if (current && current.hidden) { close(); select(null); }
    if (!current && seen[0]) seen[0].querySelector(".open").tabIndex = 0;
    find("count").textContent = `${seen.length} of ${all.length} listed items shown`;
    nothing.hidden = seen.length > 0;
    nothing.textContent = wanted ? "No item matches the filter."
      : "No item is flagged. Tick “also items that are not flagged” to see the nearest ones.";
  }

  function select(row) {
    for (const one of document.querySelectorAll(".open")) one.tabIndex = -1;
    if (current) current.classList.remove("current");
    current = row;
    const first = row || rows()[0];
    if (first) first.querySelector(".open").tabIndex = 0;
    if (!row) return;
    row.classList.add("current");
    row.scrollIntoView({ block: "nearest" });
  }

  function open(row) {
    select(row);
    find("content").replaceChildren(find(`panel-${place(row)}`).content.cloneNode(true));
    if (!isOpen()) {
      panel.hidden = false;
      panel.parentNode.classList.add("open");
      // Beside the list the panel needs the height of the window, which the summary would take from it.
      if (find("tools").getBoundingClientRect().top > 0) find("tools").scrollIntoView();
      row.scrollIntoView({ block: "nearest" });
    }
    panel.scrollTop = 0;
    showDecision();
    panel.focus({ preventScroll: true });
  }

  function close() {
    if (!isOpen()) return;
    panel.hidden = true;
    panel.parentNode.classList.remove("open");
    if (current && !current.hidden) current.querySelector(".open").focus();
  }

  function move(step) {
    const seen = rows(), at = seen.indexOf(current);
    const row = seen[at < 0 ? 0 : Math.min(Math.max(at + step, 0), seen.length - 1)];
    if (!row) return;
    if (isOpen()) return open(row);
    select(row);
    row.querySelector(".open").focus();
  }

  // Choosing the same again takes the decision back.
  function decide(decision) {
    if (!current) return;
    const known = decisions[place(current)];
    if (known && known.decision === decision) delete decisions[place(current)];
    else decisions[place(current)] = { decision, note: known ? known.note : isOpen() ? note.value : "" };
    store();
    showDecision();
    showProgress();
  }

  function showDecision() {
    const known = current && decisions[place(current)];
    for (const button of document.querySelectorAll("[data-decision]")) {
      button.ariaPressed = String(Boolean(known) && known.decision === button.dataset.decision);
    }
    if (document.activeElement !== note) note.value = known ? known.note : "";
    for (const row of document.querySelectorAll(".list tbody tr")) {
      const one = decisions[place(row)];
      row.querySelector(".decision").textContent = one ? one.decision : "";
    }
  }

  function showProgress() {
    const parts = [];
    data.kinds.forEach((kind, k) => {
      let [right, total] = kind.confirmed;
      kind.items.forEach((item, i) => {
        const known = decisions[`${k}-${i}`];
        if (!known || known.decision === "unsure" || !item.flagged) return;
        total += 1;
        right += known.decision === "drop";
      });
      if (total) parts.push(`${kind.name} ${right} of ${total} (${Math.round((100 * right) / total)} %)`);
    });
    const count = Object.keys(decisions).length, precision = parts.length ? ` Precision so far: ${parts.join(", ")}.` : "";
    find("progress").textContent = count || precision ? `${count} decided on this page.${precision}` : "";
    find("export").disabled = exported().length === 0;
  }

  function exported() {
    const lines = [];
    const line = (kind, ids, decision, text) =>
      lines.push([kind.name, ...(ids.length === 2 ? [...ids, ""] : ["", "", ids[0]]), decision, text]);
    data.kinds.forEach((kind, k) => {
      for (const [ids, decision, text] of kind.earlier) line(kind, ids, decision, text);
      kind.items.forEach((item, i) => {
        const known = decisions[`${k}-${i}`];
        if (known) line(kind, item.ids, known.decision, known.note);
      });
    });
    return lines;
  }

  function download() {
    const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const lines = [["kind", "source", "target", "id", "decision", "note"], ...exported()];
    const text = lines.map((line) => line.map(quoted).join(",") + "\n").join("");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.download = "decisions.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  // A link to #kind-1 shows a list, a link to #item-1-0 opens an item.
  function follow() {
    const target = find(location.hash.slice(1).replace(/^item-/, "row-"));
    if (!target || !target.closest(".kind")) return;
    const row = target.closest(".list tbody tr");
    if (row && row.classList.contains("unflagged")) find("all").checked = true;
    showKind(target.closest(".kind"));
    if (row) open(row);
  }

  function onKey(event) {
    const typing = event.target.matches("input:not([type=checkbox])");
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") return isOpen() ? close() : event.target.blur();
    if (typing) return;
    const inList = isOpen() || event.target.closest(".list tbody");
    const nextKind = (step) => sections[sections.indexOf(section) + step];
    const actions = {
      j: () => move(1),
      k: () => move(-1),
      ArrowDown: inList && (() => move(1)),
      ArrowUp: inList && (() => move(-1)),
      ArrowRight: () => showKind(nextKind(1)),
      ArrowLeft: () => showKind(nextKind(-1)),
      "/": () => find("filter").focus(),
      1: () => decide(choices[0]),
      2: () => decide(choices[1]),
      3: () => decide(choices[2]),
    };
    const action = Object.hasOwn(actions, event.key) && actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  document.addEventListener("keydown", onKey);
  for (const one of sections) {
    one.querySelector("tbody").addEventListener("click", (event) => open(event.target.closest("tr")));
  }
  for (const tab of tabs) tab.addEventListener("click", () => showKind(find(tab.getAttribute("aria-controls"))));
  for (const button of document.querySelectorAll("[data-decision]")) {
    button.addEventListener("click", () => decide(button.dataset.decision));
  }
  note.addEventListener("input", () => {
    const known = decisions[place(current)] || { decision: "unsure" }; // a note needs a decision to be exported
    decisions[place(current)] = { ...known, note: note.value };
    store();
    showDecision();
    showProgress();
  });
  find("filter").addEventListener("input", filter);
  find("all").addEventListener("change", filter);
  find("export").addEventListener("click", download);
  find("close").addEventListener("click", close);
  find("before").addEventListener("click", () => move(-1));
  find("after").addEventListener("click", () => move(1));
  window.addEventListener("hashchange", follow);

  load();
  find("tools").hidden = sections.length === 0;
  showKind(sections.find((one) => one.querySelector("tbody tr:not(.unflagged)")) || sections[0]);
  showDecision();
  showProgress();
  follow();
})();
