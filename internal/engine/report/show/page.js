"use strict";
// The list of all lines. Its state is the part of the address after #, so each view has a link.
(() => {
const $ = (selector, of = document) => of.querySelector(selector);
const data = JSON.parse($("#data").textContent), list = $("#list"), form = $("form", list), table = $("table", list), pager = $(".pager", list);
const perPage = 50, blocks = document.getElementsByClassName("texts");
const inflate = element => {
  const text = atob(element.textContent), raw = new Uint8Array(text.length);
  for (let i = 0; i < raw.length; i++) raw[i] = text.charCodeAt(i);
  return new Response(new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate-raw")));
};
const numbers = Promise.all([...document.getElementsByClassName("numbers")].map(async e => new Uint16Array(await inflate(e).arrayBuffer())));
const texts = async block => (await inflate(blocks[block]).text()).split("\n"); // four columns
const state = () => new URLSearchParams(location.hash.slice(1));
const go = (changes, replace) => {
  const now = state();
  for (const [name, value] of Object.entries({page: "", ...changes})) value ? now.set(name, value) : now.delete(name);
  history[replace ? "replaceState" : "pushState"](null, "", "#" + now);
  show();
};
let turn = 0; // of the newest view; older ones give up

// byNumbers returns the lines that fit all but texts, which are indexes.
const byNumbers = (now, [from, of, score, verdict]) => {
  const has = (name, test) => now.has(name) && tests.push(test), tests = [], want = now.get("verdict");
  has("row", i => data.rowOf[from[i]] == now.get("row") && !(verdict[i] & 128) && of[i] < 65535);
  has("column", i => data.columnOf[of[i]] == now.get("column"));
  const lo = Math.round(now.get("lo") * 1e4), hi = now.get("hi") >= 1 ? 10001 : Math.round(now.get("hi") * 1e4);
  has("lo", i => score[i] >= lo && score[i] < hi);
  if (want == "removed" || want == "kept") tests.push(i => verdict[i] >> 7 == (want == "kept"));
  else has("verdict", i => data.verdicts[verdict[i] & 127] == want);
  const found = new Uint32Array(data.lines);
  let n = 0;
  for (let i = 0; i < data.lines; i++) if (tests.every(test => test(i))) found[n++] = i;
  return found.subarray(0, n);
};
// byTexts returns those of the lines that have the texts.
const byTexts = async (now, lines, mine) => {
  const q = (now.get("q") || "").toLowerCase(), source = now.get("of");
  if (!q && !source) return lines;
  const found = new Uint32Array(lines.length);
  let n = 0;
  for (let at = 0; at < lines.length && mine == turn;) {
    const block = Math.floor(lines[at] / data.block), end = (block + 1) * data.block;
    const columns = await texts(block), count = (columns.length - 1) / 4;
    for (; at < lines.length && lines[at] < end; at++) {
      const row = lines[at] % data.block, cell = i => columns[i * count + row];
      if ((!source || cell(1) == source) && (!q || [0, 1, 2, 3].some(i => cell(i).toLowerCase().includes(q)))) found[n++] = lines[at];
    }
    if (block % 64 == 63) status(`searching: ${Math.round(100 * at / lines.length)}%`);
  }
  return found.subarray(0, n);
};
const status = text => { $("#status").textContent = text; };
const make = (tag, text, to) => to.appendChild(Object.assign(document.createElement(tag), {textContent: text}));

const row = (columns, count, at, i, [, , score, verdict]) => {
  const tr = document.createElement("tr"), cell = n => columns[n * count + at], name = data.verdicts[verdict[i] & 127];
  make("td", (score[i] / 1e4).toFixed(4), tr).className = "n score";
  const document_ = make("td", "", tr), source = make("td", "", tr);
  make("bdi", cell(0), document_);
  make("small", cell(2), document_);
  make("bdi", cell(1), source);
  if (cell(3)) make("q", cell(3), source);
  make("td", verdict[i] & 128 ? name + ", kept" : name, tr);
  return tr;
};

async function show() {
  const mine = ++turn, now = state(), all = await numbers;
  const order = now.get("order") || (["row", "lo", "of"].some(name => now.has(name)) ? "least" : "stream");
  for (const name of ["q", "verdict"]) if (form[name] != document.activeElement) form[name].value = now.get(name) || "";
  form.order.value = order;
  let lines = await byTexts(now, byNumbers(now, all), mine);
  if (mine != turn) return;
  if (order == "least") lines = Float64Array.from(lines, i => all[2][i] * 2 ** 21 + i).sort().map(key => key % 2 ** 21);
  const pages = Math.max(1, Math.ceil(lines.length / perPage)), page = Math.min(pages, Math.max(1, Math.trunc(now.get("page")) || 1));
  const rows = [], held = new Map();
  for (const i of lines.slice((page - 1) * perPage, page * perPage)) {
    const block = Math.floor(i / data.block);
    if (!held.has(block)) held.set(block, await texts(block));
    const columns = held.get(block);
    rows.push(row(columns, (columns.length - 1) / 4, i % data.block, i, all));
  }
  if (mine != turn) return;
  $("tbody", table).replaceChildren(...rows);
  const said = [];
  if (now.has("row")) said.push(`removed from ${data.rows[now.get("row")]}, first seen in ${data.columns[now.get("column")]}`);
  if (now.has("of")) said.push(`copies of ${now.get("of")}`);
  if (now.has("lo")) said.push(`scores from ${now.get("lo")} to ${now.get("hi")}`);
  status(`${lines.length.toLocaleString("en")} of ${data.lines.toLocaleString("en")} lines${said.map(s => "; " + s).join("")}`);
  $("span", pager).textContent = `page ${page.toLocaleString("en")} of ${pages.toLocaleString("en")}`;
  pager.firstElementChild.disabled = page == 1;
  pager.lastElementChild.disabled = page == pages;
  pager.dataset.page = page;
  form.hidden = table.hidden = pager.hidden = false;
  list.dataset.ready = mine;
}

const filters = () => [...state().keys()].some(key => ["row", "lo", "of", "q", "verdict"].includes(key));
addEventListener("hashchange", () => {
  if (filters()) list.scrollIntoView();
  if (filters() || location.hash == "#list" || !location.hash) show();
});
let pause;
form.q.addEventListener("input", () => { clearTimeout(pause); pause = setTimeout(() => go({q: form.q.value}, true), 200); });
for (const name of ["verdict", "order"]) form[name].addEventListener("change", () => go({[name]: form[name].value}));
form.addEventListener("submit", event => { event.preventDefault(); go({q: form.q.value}); });
form.clear.addEventListener("click", () => { history.pushState(null, "", "#list"); form.q.value = ""; show(); });
const turnTo = by => { const to = Number(pager.dataset.page) + by; if (!(by < 0 ? pager.firstElementChild : pager.lastElementChild).disabled) { go({page: String(to)}); list.scrollIntoView(); } };
pager.firstElementChild.addEventListener("click", () => turnTo(-1));
pager.lastElementChild.addEventListener("click", () => turnTo(1));
addEventListener("keydown", event => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("input, select, .wide, .both")) return;
  if (event.key == "/") { event.preventDefault(); list.scrollIntoView(); form.q.focus(); }
  if (event.key == "ArrowLeft") turnTo(-1);
  if (event.key == "ArrowRight") turnTo(1);
});
show().then(() => { if (filters()) list.scrollIntoView(); });
})();
