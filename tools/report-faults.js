/* Used by check_report.py. find() returns the faults of the current page of `sealcomb study --report` as a list of messages.
   make plants a fault of each kind in a page without faults. */
({
find() {
  const found = [];
  const fault = (kind, what) => found.push(`${kind}: ${what}`);
  const quote = (text) => `"${text.trim().replace(/\s+/g, " ").slice(0, 50)}"`;
  const seen = (element) => element.checkVisibility({ visibilityProperty: true });
  const inside = (inner, outer, slack = 1) =>
    inner.left >= outer.left - slack && inner.right <= outer.right + slack && inner.top >= outer.top - slack && inner.bottom <= outer.bottom + slack;
  const apart = (a, b, slack = 1) =>
    a.right <= b.left + slack || b.right <= a.left + slack || a.bottom <= b.top + slack || b.bottom <= a.top + slack;

  /* The page fits the width of the window. */
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) {
    const widest = [...document.body.querySelectorAll("*")].filter((e) => e.getBoundingClientRect().right > innerWidth + 0.5 && !e.closest(".scroll"));
    fault("overflow", `the page is ${root.scrollWidth} wide in a window of ${innerWidth}: ${widest.slice(0, 3).map((e) => `${e.tagName}.${e.className}`).join(", ")}`);
  }

  /* Every piece of text on one line, with the element that contains it. */
  const pieces = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (walker.nextNode()) {
    const node = walker.currentNode, element = node.parentElement;
    if (!node.data.trim() || element.closest("script, noscript, select, #tip") || !seen(element)) continue;
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) if (box.width > 0.5 && box.height > 0.5) pieces.push({ text: node.data, element, box });
  }

  /* No element clips text. Text that is scrolled out of view completely is not clipped. */
  const styles = new Map();
  const clips = (element) => {
    if (!styles.has(element)) {
      const style = getComputedStyle(element), x = style.overflowX, y = style.overflowY;
      styles.set(element, x === "visible" && y === "visible" ? null : { scrolls: x === "auto" || x === "scroll" });
    }
    return styles.get(element);
  };
  const visible = pieces.filter(({ text, element, box }) => {
    for (let outer = element; outer && outer !== document.body; outer = outer.parentElement) {
      const clip = clips(outer);
      if (!clip) continue;
      const frame = outer.getBoundingClientRect();
      let { left } = frame;
      const stays = clip.scrolls && outer.querySelector("th");
      if (stays && element.closest("tr")?.cells[0] !== element.closest("th, td")) left = stays.getBoundingClientRect().right;
      const room = { left, right: frame.right, top: frame.top, bottom: frame.bottom };
      if (inside(box, room)) continue;
      if (!clip.scrolls || !(box.right <= room.left + 1 || box.left >= room.right - 1)) fault("cut", `${quote(text)} in ${outer.tagName}.${outer.getAttribute("class")}`);
      return false;
    }
    return true;
  });

  /* No text overlaps other text. Lines of one paragraph may touch. */
  const bodies = visible.map(({ text, box }) => ({ text, left: box.left, right: box.right, top: box.top + box.height * 0.18, bottom: box.bottom - box.height * 0.18 }))
    .sort((a, b) => a.top - b.top);
  bodies.forEach((a, i) => {
    for (let j = i + 1; j < bodies.length && bodies[j].top < a.bottom; j++)
      if (!apart(a, bodies[j])) fault("overlap", `${quote(a.text)} and ${quote(bodies[j].text)}`);
  });

  /* No mark of a chart crosses a label or leaves the chart. */
  for (const chart of document.querySelectorAll("figure svg[role=img]")) {
    const frame = chart.getBoundingClientRect();
    const labels = [...chart.querySelectorAll("text")].map((label) => ({ text: label.textContent, box: label.getBoundingClientRect() }));
    for (const mark of chart.querySelectorAll("[data-series]")) {
      const name = mark.dataset.series;
      let boxes = [mark.getBoundingClientRect()];
      if (mark.tagName === "polyline") {
        const points = [...mark.points].map((p) => ({ x: p.x + frame.left, y: p.y + frame.top }));
        boxes = points.flatMap((p, i) => (i === 0 ? [] : Array.from({ length: 21 }, (_, t) => {
          const x = points[i - 1].x + ((p.x - points[i - 1].x) * t) / 20, y = points[i - 1].y + ((p.y - points[i - 1].y) * t) / 20;
          return { left: x, right: x, top: y, bottom: y };
        })));
      }
      for (const box of boxes) {
        if (!inside(box, frame, 2)) { fault("outside", `a mark of ${name} in ${quote(chart.getAttribute("aria-label"))}`); break; }
        const struck = labels.find((label) => !apart(label.box, box, 1.5));
        if (struck) { fault("struck", `${quote(struck.text)} by a mark of ${name} in ${quote(chart.getAttribute("aria-label"))}`); break; }
      }
    }
  }

  /* A legend names exactly the drawn series. */
  for (const figure of document.querySelectorAll("figure")) {
    if (!seen(figure)) continue;
    const named = new Set([...figure.querySelectorAll("[data-legend]")].map((e) => e.dataset.legend));
    const drawn = new Set([...figure.querySelectorAll("[data-series]")].map((e) => e.dataset.series));
    for (const name of named) if (!drawn.has(name)) fault("legend", `"${name}" is in the legend but not drawn`);
    for (const name of drawn) if (!named.has(name)) fault("legend", `"${name}" is drawn but not in the legend`);
  }

  /* No cost is negative. */
  for (const cell of document.querySelectorAll("td"))
    if (/^[-−–]\s*\d/.test(cell.textContent.trim())) fault("negative", `${quote(cell.textContent)} in the table of ${quote(cell.closest("section").querySelector("h2").textContent)}`);

  /* The papers' figures are for sealing with AES-128. They are not shown for anything else. */
  for (const scope of document.querySelectorAll(".scope")) {
    const section = scope.closest("section");
    if (section.hidden || !/opening|Serpent|AES-(192|256)/.test(scope.textContent.replace(/\(.*\)/, ""))) continue;
    if (/201[45]/.test(section.innerText)) fault("papers", `figures of the papers for "${scope.textContent}"`);
  }

  /* Heat maps show the selected cipher, and their axes have titles. */
  const cipher = document.querySelector("#cipher").value;
  for (const map of document.querySelectorAll(".maps > div")) {
    const title = map.querySelector("h3").textContent;
    if (!title.startsWith(cipher)) fault("cipher", `a heat map of ${title}, but ${cipher} is selected`);
    if ([...map.querySelectorAll("text")].filter((label) => /[a-z]{4}/.test(label.textContent)).length < 2) fault("axes", `the heat map of ${title} lacks axis titles`);
  }

  /* The data of the page and the current selection. */
  const { study, algorithms, papers } = JSON.parse(document.querySelector("#data").textContent);
  const [lengths, direction] = ["#lengths", "#direction"].map((control) => document.querySelector(control).value);
  const paperOf = (algorithm) => papers.modes.find((mode) => mode.id === algorithm.id);
  const shortId = (algorithm) => algorithm.id.slice(algorithm.id.indexOf("-") + 1);

  /* Charts have a title at each axis. */
  for (const chart of document.querySelectorAll("figure svg[role=img]")) {
    if (!seen(chart) || chart.closest(".maps")) continue;
    const titles = [...chart.querySelectorAll("text:not(.ink)")].filter((label) => /[a-z]{4}/.test(label.textContent)).length;
    if (titles < (chart.querySelector("polyline") ? 2 : 1)) fault("axes", `missing axis titles at ${quote(chart.getAttribute("aria-label"))}`);
  }

  /* If a filter names modes by the last parts of their ids, exactly those modes are shown. */
  const words = document.querySelector("#modes").value.toLowerCase().split(/[,\s]+/).filter(Boolean);
  const chosen = algorithms.filter((algorithm) => words.includes(shortId(algorithm)));
  if (words.length && words.every((word) => chosen.some((algorithm) => shortId(algorithm) === word))) {
    const namesOf = (algorithm) => [algorithm.mode, algorithm.id, algorithm.name, paperOf(algorithm)?.name].filter(Boolean);
    const names = new Set(chosen.flatMap(namesOf)), others = new Set(algorithms.flatMap(namesOf).filter((name) => !names.has(name)));
    const shown = [...document.querySelectorAll("section .body td, section .body th, section .body h3, section .body text.ink")].filter(seen);
    for (const element of shown) {
      const text = element.textContent.trim(), name = element.tagName === "H3" ? text.split(",")[0] : text;
      if (others.has(name)) fault("filter", `${name} is shown, but ${words} is selected, in ${element.closest("section").id}`);
    }
    const labels = [...document.querySelectorAll("#speed text.ink")].map((label) => label.textContent);
    for (const { id, mode } of chosen.filter((algorithm) => algorithm.cipher === cipher)) {
      const result = study.results.some((r) => r.algorithm === id && r.backend === study.machine.backend && r.schedule === "auto" && String(r.lengths) === lengths && r.direction === direction);
      if (result && !labels.includes(mode)) fault("filter", `${mode} is selected but not shown`);
    }
  }

  /* The page shows the conditions of the measurement, and "unknown" for missing ones. */
  const facts = new Map([...document.querySelectorAll(".facts div")].map((one) => [one.querySelector("dt").textContent.toLowerCase().split(" ").at(-1), one.querySelector("dd").textContent]));
  const conditions = { ...study.conditions, cpu: study.machine.cpu, backend: study.machine.backend, counts: study.machine.cycles };
  for (const name of ["cpu", "backend", "counts", "date", "version", "commit", "kernel", "compiler", "governor", "load"]) {
    const expected = String(conditions[name] ?? "unknown"), text = facts.get(name) ?? "";
    const right = { date: () => text.startsWith(expected.slice(0, 10)), commit: () => text.startsWith(expected.slice(0, 7)), load: () => text === expected || Math.abs(text - expected) < 0.01 };
    if (!(right[name] ?? (() => text === expected.trim()))()) fault("conditions", `${name} is ${quote(text)}, not ${quote(expected)}`);
  }

  /* The folded page fits in four windows of a computer. */
  const open = document.querySelectorAll("#sections section > details[open]").length;
  if (!open && innerWidth >= 1024 && root.scrollHeight > 4 * innerHeight) fault("height", `the folded page has ${root.scrollHeight} pixels in a window of ${innerHeight}`);

  /* Visible sections have a summary and a body. */
  for (const section of document.querySelectorAll("section")) {
    if (!seen(section)) continue;
    const gist = section.querySelector(".gist"), body = section.querySelector(".body");
    if (gist && !gist.textContent.trim()) fault("gist", `no summary at ${section.id}`);
    if (seen(body) && body.getBoundingClientRect().height < 10) fault("empty", section.id);
  }

  /* Text has the contrast that WCAG requires (4.5 to 1). */
  const channel = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const luminance = (color) => {
    const [red, green, blue] = color.match(/[\d.]+/g).slice(0, 3).map((value) => channel(value / 255));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ratioOf = (one, other) => {
    const [bright, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
    return (bright + 0.05) / (dark + 0.05);
  };
  const checked = new Set();
  for (const { text, element } of visible) {
    const color = element.closest("svg") ? getComputedStyle(element).fill : getComputedStyle(element).color;
    let behind = element, ground = "";
    for (; behind && !ground; behind = behind.parentElement) {
      const own = getComputedStyle(behind).backgroundColor;
      if (own.startsWith("rgb(")) ground = own;
    }
    const pair = `${color} on ${ground}`;
    if (!ground || checked.has(pair)) continue;
    checked.add(pair);
    const ratio = ratioOf(color, ground);
    if (ratio < 4.5) fault("contrast", `${ratio.toFixed(1)} to 1 at ${quote(text)}: ${pair}`);
  }

  /* The papers' curves differ from the measured ones: dashed, with the contrast that WCAG requires (3 to 1), and on top. */
  for (const box of document.querySelectorAll("figure .many > div")) {
    const chart = box.querySelector("svg[role=img]"), title = box.querySelector("h3").textContent;
    if (!seen(box) || box.closest(".maps")) continue;
    const legend = new Map([...box.closest("figure").querySelectorAll("[data-legend]")].map((one) => [one.dataset.legend, one.textContent]));
    const lines = [...chart.querySelectorAll("polyline")], isPapers = (one) => /20\d\d/.test(legend.get(one.dataset.series));
    const looks = lines.map((one) => `${getComputedStyle(one).stroke}, dashes ${getComputedStyle(one).strokeDasharray}`);
    lines.forEach((one, i) => {
      if (!isPapers(one)) return;
      const style = getComputedStyle(one), name = `${legend.get(one.dataset.series)} at ${quote(title)}`;
      const ratio = ratioOf(style.stroke, getComputedStyle(box.closest("section")).backgroundColor);
      if (style.strokeDasharray === "none" || looks.indexOf(looks[i]) !== i) fault("dashes", `${name} looks like another curve`);
      if (ratio < 3 || style.stroke.startsWith("rgba") || parseFloat(style.strokeWidth) < 1.5 || style.opacity * style.strokeOpacity < 1) fault("pale", `${ratio.toFixed(1)} to 1, ${style.strokeWidth} wide: ${name}`);
      if (lines.slice(i).some((other) => !isPapers(other))) fault("buried", `${name} is drawn below other curves`);
    });
    const own = box.closest("#length") && algorithms.find((algorithm) => algorithm.name === title);
    const figures = own && direction === "seal" && paperOf(own)?.by_length;
    if (figures && lines.filter((one) => isPapers(one) && seen(one)).length < 2) fault("curve", `no curves of the papers at ${quote(title)}`);
  }
  return found;
},

make: {
  overflow: () => document.querySelector("#speed").insertAdjacentHTML("beforeend", '<div style="width:3000px">wide</div>'),
  overlap: () => document.querySelector("h2").insertAdjacentHTML("afterend", '<b style="position:absolute;margin-top:-24px">on it</b>'),
  cut: () => { document.querySelector("#bound td").innerHTML = '<div style="overflow:hidden;width:20px">0.123456</div>'; },
  struck: () => document.querySelector("#speed svg[role=img] [data-series=batch]").setAttribute("cx", 20),
  outside: () => document.querySelector("#speed svg[role=img] [data-series=batch]").setAttribute("cx", -40),
  legend: () => document.querySelector(".legend").insertAdjacentHTML("beforeend", '<span data-legend="ghost">ghost</span>'),
  negative: () => { document.querySelector("#costs td").textContent = "-12"; },
  papers: () => { document.querySelector("#speed .scope").textContent = "AES-128 · opening"; },
  cipher: () => { document.querySelector(".maps h3").textContent = "Serpent-128-OCB3"; },
  axes: () => document.querySelector(".maps > div").querySelectorAll("text").forEach((label) => label.remove()),
  contrast: () => { document.querySelector("#speed .scope").style.color = "rgb(128, 128, 128)"; },
  filter: () => {
    const modes = document.querySelector("#modes");
    modes.value = "gcm";
    modes.dispatchEvent(new Event("input"));
    document.querySelector("#bound tbody").insertAdjacentHTML("beforeend", "<tr><th>CBC</th></tr>");
  },
  conditions: () => document.querySelectorAll(".facts dd").forEach((value) => { if (value.textContent === "unknown") value.textContent = ""; }),
  height: () => {
    document.querySelector("#collapse").click();
    document.querySelector("#speed").style.height = "3600px";
  },
  gist: () => { document.querySelector("#heat .gist").textContent = ""; },
  empty: () => { document.querySelector("#units .body").innerHTML = ""; },
  dashes: () => document.querySelector("#length polyline[data-series='batch-2014']").removeAttribute("stroke-dasharray"),
  pale: () => document.querySelector("#length polyline[data-series='batch-2014']").setAttribute("stroke", "var(--line)"),
  buried: () => {
    const line = document.querySelector("#length polyline[data-series='batch-2014']");
    line.parentElement.prepend(line);
  },
  curve: () => document.querySelectorAll("#length polyline[data-series$='-2014']").forEach((line) => line.remove()),
},
})
