"use strict";
const $ = id => document.getElementById(id);
const number = n => n.toLocaleString("en");
const percent = (n, of) => of ? (100 * n / of).toFixed(1) + "%" : "–";
const bytes = n => { let i = 0; for (; n >= 1024 && i < 5; i++) n /= 1024; return n.toFixed(i && n < 100 ? 1 : 0) + " " + ["B", "KiB", "MiB", "GiB", "TiB", "PiB"][i]; };
const ago = seconds => { const s = Math.max(0, Date.now() / 1000 - seconds); return s < 60 ? Math.floor(s) + " s" : s < 3600 ? Math.floor(s / 60) + " min" : s < 86400 ? Math.floor(s / 3600) + " h" : Math.floor(s / 86400) + " d"; };
const make = (tag, text, attributes) => { const e = Object.assign(document.createElement(tag), attributes); e.append(...[text ?? ""].flat()); return e; };
const list = (title, lines) => make("section", [make("h3", title), make("ul", lines.map(l => make("li", id(l))))]);
const id = text => make("bdi", text);
const needed = document.documentElement.dataset.token === "needed";
const key = "firstseen token";

// ask gives the answer of the interface. Without a token that is needed, nothing is asked.
async function ask(path, body) {
	const headers = { "Content-Type": "text/plain; charset=utf-8" };
	if (needed) headers.Authorization = "Bearer " + sessionStorage.getItem(key);
	const answer = await fetch(path, { method: body === undefined ? "GET" : "POST", headers, body, cache: "no-store" });
	const value = await answer.json();
	if (answer.status === 401) login("The server does not know this token.");
	if (!answer.ok) throw Object.assign(Error(value.error), { status: answer.status });
	return value;
}

function login(refusal) {
	sessionStorage.removeItem(key);
	$("main").hidden = true;
	$("login").hidden = false;
	$("refused").textContent = refusal;
	$("state").textContent = "";
	$("token").focus();
}

function state(text, bad) {
	$("state").textContent = text;
	$("state").classList.toggle("bad", !!bad);
}

async function refresh() {
	if (needed && !sessionStorage.getItem(key)) return login("");
	try {
		const [stats, recent] = await Promise.all([ask("v1/stats"), ask("v1/recent")]);
		$("login").hidden = true;
		$("main").hidden = false;
		figures(stats, recent);
		chart(recent.minutes);
		removals(recent.removals);
		state("running for " + ago(recent.since));
	} catch (e) {
		if (e.status !== 401) state("The server does not answer: " + e.message, true);
	}
}

function figures({ table, filter }, recent) {
	let kept = 0, removed = 0, again = 0;
	for (const m of recent.minutes) kept += m.kept, removed += m.removed, again += m.again;
	const seconds = Math.max(1, Math.min(3600, Date.now() / 1000 - recent.since)), rate = (kept + removed + again) / seconds;
	const show = { documents: number(table.window ? table.window.counting : table.documents - (table.forgotten || 0) - (table.counted || 0)), table: "documents; the texts of " + number(recent.texts) + " can be shown",
		rate: rate >= 100 ? number(Math.round(rate)) : rate.toFixed(rate < 1 ? 2 : 1), hour: "documents a second; " + number(kept + removed + again) + " in all",
		share: percent(kept, kept + removed), counts: number(kept) + " kept, " + number(removed) + " copies" + (again ? ", " + number(again) + " sent again" : ""),
		load: percent(filter.items, filter.capacity), filter: number(filter.items) + " of " + number(filter.capacity) + " keys, " + bytes(filter.bytes),
		disk: bytes(table.bytes), free: recent.free_bytes ? bytes(recent.free_bytes) + " free" : "" };
	for (const name in show) $(name).textContent = show[name];
}

function chart(minutes) {
	const now = Math.floor(Date.now() / 60000) * 60, most = Math.max(1, ...minutes.map(m => m.kept + m.removed));
	const bar = (x, y, height, kind) => {
		const r = document.createElementNS("http://www.w3.org/2000/svg", "rect");
		for (const [name, value] of Object.entries({ x, y, height, width: 8, class: kind })) r.setAttribute(name, value);
		return r;
	};
	const bars = minutes.flatMap(m => {
		const x = 591 + (m.time - now) / 6, kept = 118 * m.kept / most, copies = 118 * m.removed / most;
		return x < 0 ? [] : [bar(x, 120 - kept, kept, "kept"), bar(x, 120 - kept - copies, copies, "copies")];
	});
	$("chart").replaceChildren(...bars);
	$("most").textContent = minutes.length ? "most: " + number(most) : "none yet";
}

let few = 10; // rows shown

function removals(all) {
	$("none").hidden = all.length > 0;
	$("removals").hidden = all.length === 0;
	const focused = document.activeElement?.dataset.row, body = $("removals").tBodies[0];
	$("more").hidden = all.length <= few;
	$("more").textContent = "Show all " + all.length;
	body.replaceChildren(...all.slice(0, few).map(r => {
		const look = make("button", id(r.id), { className: "id", type: "button", title: "See both" }), cells = [make("td", ago(r.time) + " ago"), make("td", look), make("td", id(r.of)), make("td", r.exact ? "exact copy" : percent(Math.floor(r.score * 1000), 1000) + " alike", { className: "n" })];
		look.dataset.row = r.time + r.id;
		look.onclick = () => { $("text").value = r.id; explain(r.id); };
		return make("tr", cells);
	}));
	if (focused) [...body.querySelectorAll("button")].find(b => b.dataset.row === focused)?.focus();
}

// explain asks about a text, or the id of a document.
async function explain(text) {
	$("asking").textContent = "…";
	$("answer").hidden = true;
	try {
		$("answer").replaceChildren(...shown(await ask("v1/explain?find=1&id=" + encodeURIComponent("this text"), text)));
		$("answer").hidden = false;
		$("answer").focus();
		$("asking").textContent = "";
	} catch (e) {
		$("asking").textContent = e.message;
	}
}

const verdicts = { unique: "is new", related: "has much in common with", mosaic: "is put together from earlier documents, and kept", duplicate: "is a copy of", consumed: "consists of passages of earlier documents" };

function shown({ report, removal, stored, later, earlier, reasons }) {
	const verdict = removal ? "duplicate" : (report ?? stored).verdict, facts = [], all = [];
	const line = make("p", [id(later.id), " " + verdicts[verdict] + (earlier || verdict === "unique" || verdict === "mosaic" ? " " : "")], { className: "verdict" });
	if (earlier) line.append(id(earlier.id));
	if (removal) facts.push("removed " + ago(removal.time) + " ago");
	if (stored) {
		line.replaceChildren(id(later.id), " is kept: it came first");
		facts.push("kept " + ago(stored.time) + " ago", "document " + number(stored.number), ...(stored.batch ? ["batch " + stored.batch] : []));
	}
	const why = removal ?? report;
	if (why && earlier) facts.push(why.exact ? "the whole text is the same" : percent(Math.floor(why.score * 1000), 1000) + " alike");
	if (report && report.verdict !== "unique" && !report.exact) facts.push(report.shared + " of " + report.segments + " segments are in both");
	if (report && !/\s/.test(later.parts[0].text.trim())) facts.push("no document known here has this id, so it was read as a text");
	if (report?.differs) facts.push("what differs: " + report.differs);
	all.push(line, make("p", facts.join(" · "), { className: "hint" }));
	all.push(make("div", [side("later text", later), ...(earlier ? [side("earlier text", earlier)] : [])], { className: "sides" }));
	if (earlier?.parts && [...later.parts, ...earlier.parts].some(p => p.mark)) all.push(make("p", [make("mark", "only here"), " · ", make("mark", "elsewhere in the other", { className: "moved" }), " · all else is in both"], { className: "hint" }));
	if (earlier?.why && report?.sample.length) all.push(list("Passages in both", report.sample));
	if (reasons?.length) all.push(list("Why", reasons.map(r => r.says)));
	if (report?.also.length) all.push(list("Also in", report.also.map(a => a.id)));
	return all;
}

// fold shortens a long stretch that both texts have, if there is another.
function fold(text, i, parts) {
	const from = i ? 150 : 0, to = i + 1 < parts.length ? 150 : 0, n = text.length - from - to;
	return n < 200 || parts.length === 1 ? [text] : [text.slice(0, from), make("i", " … " + number(n) + " characters in both … "), text.slice(text.length - to)];
}

function side(title, { id: name, parts, cut, why }) {
	const text = make("div", (parts ?? []).flatMap((p, i) => p.mark ? make("mark", p.text, { className: p.mark }) : fold(p.text, i, parts)), { className: "text", tabIndex: 0, role: "region", ariaLabel: title });
	return make("section", [make("h3", [title, id(name)]), parts ? text : make("p", why, { className: "hint" }), ...(cut ? [make("p", "Only the beginning is shown.", { className: "hint" })] : [])]);
}

$("more").onclick = () => {
	few = Infinity;
	refresh();
};
$("login").onsubmit = e => {
	e.preventDefault();
	sessionStorage.setItem(key, $("token").value.trim());
	$("token").value = "";
	refresh();
};
$("ask").onsubmit = e => {
	e.preventDefault();
	explain($("text").value);
};
refresh();
setInterval(() => document.hidden || !$("login").hidden || refresh(), 5000);
