"use strict";
const blocks = [...document.querySelectorAll("script.rows")], size = 50;
const $ = (id) => document.getElementById(id);
const total = blocks.reduce((n, b) => n + Number(b.dataset.n), 0);
let test = null, page = 0, name = "", turn = 0, last = [null, null];

async function rowsOf(block) {
  if (last[0] !== block) {
    const bytes = Uint8Array.from(atob(block.textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    last = [block, (await new Response(stream).text()).split("\n")];
    last[1].pop();
  }
  return last[1];
}

// found returns the rows of the page, one more if there are more, and stops when another search begins.
async function found() {
  const mine = ++turn, rows = [];
  let skip = page * size;
  for (const block of blocks) {
    if (!test && skip >= Number(block.dataset.n)) {
      skip -= Number(block.dataset.n);
      continue;
    }
    for (const line of await rowsOf(block)) {
      if (test && !test(line)) continue;
      if (skip-- > 0) continue;
      rows.push(JSON.parse(line));
      if (rows.length > size) break;
    }
    if (mine !== turn) return null;
    if (rows.length > size) break;
  }
  return rows;
}

async function show() {
  $("status").textContent = "Searching …";
  const rows = await found();
  if (!rows) return;
  $("body").replaceChildren(...rows.slice(0, size).map(([id, of, place, score]) => {
    const tr = document.createElement("tr");
    for (const [text, style] of [[id, ""], [of, ""], [score.toFixed(3), "n"], [place, ""]]) {
      const td = document.createElement("td"), b = document.createElement("bdi");
      b.textContent = String(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (c) => "\\u" + c.codePointAt(0).toString(16).padStart(4, "0"));
      td.className = style;
      td.append(b);
      tr.append(td);
    }
    return tr;
  }));
  const from = page * size, to = from + Math.min(rows.length, size);
  const range = rows.length ? `${from + 1} to ${to}` : "none";
  $("status").textContent = name ? `${name}: ${range}${rows.length > size ? ", and more" : ""}` : `${range} of ${total.toLocaleString("en")}`;
  $("before").disabled = page === 0;
  $("after").disabled = rows.length <= size;
}

function search(called, by) {
  name = called;
  test = by;
  page = 0;
  return show();
}

function find(text) {
  const want = JSON.stringify(text).slice(1, -1).toLowerCase();
  $("q").value = text;
  return search(text && `“${text}”`, text ? (line) => line.slice(0, line.lastIndexOf('"')).toLowerCase().includes(want) : null);
}

$("list").hidden = false;
$("find").addEventListener("submit", (e) => { e.preventDefault(); find($("q").value); });
$("reset").addEventListener("click", () => find(""));
$("before").addEventListener("click", () => { page--; show(); });
$("after").addEventListener("click", () => { page++; show(); });
document.addEventListener("click", (e) => {
  const a = e.target.closest("a[data-row], a[data-find]");
  if (!a) return;
  if (a.dataset.find !== undefined) { find(decodeURIComponent(a.dataset.find)); return; }
  const end = `,${a.dataset.row},${a.dataset.column}]`;
  $("q").value = "";
  search(`${a.closest("tr").cells[0].title} ← ${a.closest("table").tHead.rows[0].cells[a.closest("td").cellIndex].title}`, (line) => line.endsWith(end));
});
document.addEventListener("keydown", (e) => {
  if (e.key === "/" && e.target.tagName !== "INPUT") { e.preventDefault(); $("q").focus(); }
});
show();
