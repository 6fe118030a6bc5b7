// The value is a list of faults. axeControls and axeName stay for the walk with Tab.
(() => {
  const shown = e => e.checkVisibility({visibilityProperty: true}) && e.getClientRects().length > 0;
  globalThis.axeName = e => {
    const all = [...document.querySelectorAll(":not(#axe)")];
    return `${e.tagName.toLowerCase()} ${all.indexOf(e)} ${e.outerHTML.slice(0, 80)}`;
  };
  const controls = () => [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex], [onclick], [role=button], [role=link], [role=checkbox]")]
    .filter(e => shown(e) && !e.disabled && e.type !== "hidden");
  globalThis.axeControls = () => controls().filter(e => e.tabIndex !== -1 || !e.hasAttribute("tabindex")).map(axeName);

  const canvas = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
  const parsed = new Map();
  const parse = css => { // [r, g, b, a] of any CSS colour
    if (parsed.has(css)) return [...parsed.get(css)];
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = css;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    parsed.set(css, [r, g, b, a / 255]);
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], under) => [r, g, b].map((c, i) => c * a + under[i] * (1 - a));
  const canvasColor = () => {
    const e = document.body.appendChild(document.createElement("i"));
    e.style.background = "Canvas";
    const color = parse(getComputedStyle(e).backgroundColor);
    e.remove();
    return color;
  };
  const bottom = canvasColor();
  const behind = e => {
    if (!e) return bottom;
    const under = behind(e.parentElement), own = parse(getComputedStyle(e).backgroundColor);
    own[3] *= opacity(e);
    return over(own, under);
  };
  const opacity = e => e ? getComputedStyle(e).opacity * opacity(e.parentElement) : 1;
  const light = c => c.slice(0, 3).map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const contrast = (a, b) => (Math.max(light(a), light(b)) + .05) / (Math.min(light(a), light(b)) + .05);

  const faults = [], told = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const e = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !shown(e) || /^(SCRIPT|STYLE|NOSCRIPT|TEMPLATE|OPTION)$/.test(e.tagName) || e.closest(":disabled")) continue;
    const style = getComputedStyle(e), under = behind(e);
    const color = parse(e instanceof SVGElement ? style.fill : style.color);
    color[3] *= opacity(e);
    const ratio = contrast(over(color, under), under);
    const what = `contrast ${ratio.toFixed(2)} of ${e.tagName}.${e.className.baseVal ?? e.className}`;
    if (ratio < 4.5 && !told.has(what)) {
      told.add(what);
      faults.push(`${what}: ${texts.currentNode.data.trim().slice(0, 40)}`);
    }
  }
  for (const e of controls()) {
    const named = (e.getAttribute("aria-labelledby") || "").split(" ").map(id => document.getElementById(id)?.textContent || "").join("");
    const label = e.ariaLabel || named || [...(e.labels || [])].map(l => l.textContent).join("") ||
      (/^(INPUT|SELECT|TEXTAREA)$/.test(e.tagName) ? "" : e.textContent) || e.title;
    if (!label.trim()) faults.push("no label: " + axeName(e));
  }
  if (!document.documentElement.lang) faults.push("no language");
  if (!document.title) faults.push("no title");
  const wide = document.documentElement.scrollWidth;
  if (wide > innerWidth) {
    const clipped = e => e && (getComputedStyle(e).overflowX !== "visible" || clipped(e.parentElement));
    const worst = [...document.body.querySelectorAll("*")].find(e => e.getBoundingClientRect().right > innerWidth + 1 && !clipped(e.parentElement));
    faults.push(`the page is ${wide} pixels wide, the window ${innerWidth}: ${worst ? axeName(worst) : ""}`);
  }
  return faults;
})()
