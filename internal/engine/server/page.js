"use strict";
const $ = id => document.getElementById(id);
const number = n => n.toLocaleString("en");
const percent = (n, of) => of ? (Math.floor(1000 * n / of) / 10).toFixed(1) + "%" : "–";
const make = (tag, text, attributes) => { const e = Object.assign(document.createElement(tag), attributes); e.append(...[text].flat()); return e; };
const bdi = text => make("bdi", text);
const hint = text => make("p", text, { className: "hint" });
const list = (title, lines) => make("section", [make("h3", title), make("ul", lines.map(l => make("li", bdi(l))))]);
const needed = document.documentElement.dataset.token === "needed";
const key = "firstseen token";

function bytes(n) {
	let i = 0;
	for (; n >= 1024; i++) n /= 1024;
	return n.toFixed(i && n < 100 ? 1 : 0) + " " + ["B", "KiB", "MiB", "GiB", "TiB", "PiB"][i];
}

function ago(time) {
	const s = Math.max(0, Date.now() / 1000 - time), [size, unit] = s < 60 ? [1, "s"] : s < 3600 ? [60, "min"] : s < 86400 ? [3600, "h"] : [86400, "d"];
	return Math.floor(s / size) + " " + unit;
}

async function ask(path, body) {
	const headers = { "Content-Type": "text/plain; charset=utf-8" };
	if (needed) headers.Authorization = "Bearer " + sessionStorage.getItem(key);
	const answer = await fetch(path, { method: body === undefined ? "GET" : "POST", headers, body, cache: "no-store" }), value = await answer.json();
	if (answer.status === 401) login("The server does not know this token.");
	if (!answer.ok) throw Error(value.error);
	return value;
}

function login(refusal) {
	sessionStorage.removeItem(key);
	$("main").hidden = !($("login").hidden = false);
	$("refused").textContent = refusal;
	$("state").textContent = "";
	$("token").focus();
}

// refresh asks for all figures. Without a token that is needed, it asks for nothing.
async function refresh() {
	if (needed && !sessionStorage.getItem(key)) return login("");
	try {
		const [stats, recent] = await Promise.all([ask("v1/stats"), ask("v1/recent")]);
		$("main").hidden = !($("login").hidden = true);
		figures(stats, recent);
		chart(recent.minutes);
		removals(recent.removals);
		$("state").textContent = "running for " + ago(recent.since);
	} catch (e) {
		if ($("login").hidden) $("state").textContent = "The server does not answer: " + e.message;
	}
}

function figures({ table, filter }, recent) {
	const sum = what => recent.minutes.reduce((n, m) => n + m[what], 0), kept = sum("kept"), copies = sum("removed"), again = sum("again"), all = kept + copies + again;
	const rate = all / Math.max(1, Math.min(3600, Date.now() / 1000 - recent.since));
	const show = {
		documents: number(table.window ? table.window.counting : table.documents - (table.forgotten ?? 0) - (table.counted ?? 0)),
		texts: `documents; the texts of ${number(recent.texts)} can be shown`,
		rate: rate < 100 ? rate.toFixed(rate < 1 ? 2 : 1) : number(Math.round(rate)), hour: `documents a second; ${number(all)} in all`,
		share: percent(kept, kept + copies), counts: `${number(kept)} kept, ${number(copies)} copies` + (again ? `, ${number(again)} sent again` : ""),
		load: percent(filter.items, filter.capacity), keys: `${number(filter.items)} of ${number(filter.capacity)} keys, ${bytes(filter.bytes)}`,
		disk: bytes(table.bytes), free: recent.free_bytes ? bytes(recent.free_bytes) + " free" : "",
	};
	for (const name in show) $(name).textContent = show[name];
}

function chart(minutes) {
	const now = Math.floor(Date.now() / 60000) * 60, most = Math.max(1, ...minutes.map(m => m.kept + m.removed));
	$("chart").replaceChildren(...minutes.flatMap(m => [["kept", m.kept, m.kept], ["copies", m.removed, m.kept + m.removed]].map(([kind, n, top]) => {
		const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect");
		for (const [name, value] of Object.entries({ class: kind, x: 591 + (m.time - now) / 6, y: 120 - 118 * top / most, height: 118 * n / most, width: 8 })) bar.setAttribute(name, value);
		return bar;
	})));
	$("most").textContent = minutes.length ? "most: " + number(most) : "none yet";
}

let rows = 10; // shown of the removals

function removals(all) {
	$("none").hidden = all.length > 0;
	$("removals").hidden = all.length === 0;
	$("more").hidden = all.length <= rows;
	$("more").textContent = "Show all " + all.length;
	const focused = document.activeElement?.dataset.row, body = $("removals").tBodies[0];
	body.replaceChildren(...all.slice(0, rows).map(r => {
		const look = make("button", bdi(r.id), { className: "id", type: "button", onclick: () => explain($("text").value = r.id) });
		look.dataset.row = r.time + r.id;
		return make("tr", [ago(r.time) + " ago", look, bdi(r.of), r.exact ? "exact copy" : percent(r.score, 1) + " alike"].map((cell, i) => make("td", cell, { className: i === 3 ? "n" : "" })));
	}));
	if (focused) [...body.querySelectorAll("button")].find(b => b.dataset.row === focused)?.focus();
}

// explain asks about a text, or the id of a document.
async function explain(text) {
	$("asking").textContent = "…";
	$("answer").hidden = true;
	try {
		$("answer").replaceChildren(...shown(await ask("v1/explain?find=1&id=this%20text", text)));
		$("answer").hidden = false;
		$("answer").focus();
		$("asking").textContent = "";
	} catch (e) {
		$("asking").textContent = e.message;
	}
}

function shown({ report, removal, stored, later, earlier, reasons }) {
	const verdicts = { unique: " is new", related: " has much in common with ", mosaic: " is put together from several earlier documents", duplicate: " is a copy of " };
	const facts = [], why = removal ?? report;
	if (removal) facts.push(`removed ${ago(removal.time)} ago`);
	if (stored) facts.push(`kept ${ago(stored.time)} ago`, "document " + number(stored.number), ...(stored.batch ? ["batch " + stored.batch] : []));
	if (earlier) facts.push(why.exact ? "the whole text is the same" : percent(why.score, 1) + " alike");
	if (earlier && report && !report.exact) facts.push(`${report.shared} of ${report.segments} segments are in both`);
	if (report?.differs) facts.push("what differs: " + report.differs);
	if (report && !/\s/.test(later.parts[0].text.trim())) facts.push("no document known here has this id, so it was read as a text");
	const all = [
		make("p", [bdi(later.id), stored ? " is kept: it came first" : verdicts[removal ? "duplicate" : report.verdict], bdi(earlier?.id ?? "")], { className: "verdict" }),
		hint(facts.join(" · ")),
		make("div", [side("later text", later), ...(earlier ? [side("earlier text", earlier)] : [])], { className: "sides" }),
	];
	if (earlier?.parts && [...later.parts, ...earlier.parts].some(p => p.only || p.moved)) all.push(hint([make("mark", "only here"), " · ", make("mark", "elsewhere in the other", { className: "moved" }), " · all else is in both"]));
	if (earlier?.why && report?.sample.length) all.push(list("Passages in both", report.sample));
	if (reasons?.length) all.push(list("Why", reasons.map(r => r.says)));
	if (report?.also.length) all.push(list("Also in", report.also.map(a => a.id)));
	return all;
}

// fold shortens a long stretch that both texts have, if there is another.
function fold(text, i, parts) {
	const from = i ? 150 : 0, to = i + 1 < parts.length ? 150 : 0, n = text.length - from - to;
	return n < 200 || parts.length === 1 ? [text] : [text.slice(0, from), make("i", ` … ${number(n)} characters in both … `), text.slice(text.length - to)];
}

function side(title, { id, parts, cut, why }) {
	const head = make("h3", [title, bdi(id)]);
	if (!parts) return make("section", [head, hint(why)]);
	const marked = parts.flatMap((p, i) => p.only || p.moved ? make("mark", p.text, { className: p.moved ? "moved" : "only" }) : fold(p.text, i, parts));
	return make("section", [head, make("div", marked, { className: "text", tabIndex: 0, role: "region", ariaLabel: title }), hint(cut ? "Only the beginning is shown." : "")]);
}

$("more").onclick = () => refresh(rows = Infinity);
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
