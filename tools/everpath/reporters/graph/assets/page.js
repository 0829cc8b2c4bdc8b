// Shows and hides what everpath has computed. No version is compared and no edge is evaluated here:
// `data` has, for every entry and both resolvers, the next hop and how its upgrade path ends.
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const sections = [...document.querySelectorAll(".channel")];
  const tabs = [...document.querySelectorAll("[role=tab]")];
  const panel = $("panel"), find = $("find"), matches = $("matches"), said = $("said");
  const RESOLVERS = ["v0", "v1"];
  const WORDS = { stranded: "stranded", loop: "updates in a cycle", error: "fails" }; // ends that need a reason
  let current = -1; // the channel that is shown
  let chosen = null; // the column that is installed, or an installed version that is not in the channel
  let zoom = 1;
  let paths = [[], []]; // the columns of its upgrade paths, one list for each resolver
  let highlighted = []; // the hops of those paths: [resolver, from, to]
  let found = new Set(); // the columns that match the search
  let stop = -1; // the column that the tab key focuses

  // Names come from a catalog and may contain anything: they are only inserted as text.
  const make = (tag, text, className) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (className) element.className = className;
    return element;
  };
  const channel = () => data.channels[current];
  const view = () => sections[current].querySelector(".view");
  const svg = () => drawing().svg;
  const last = () => channel().nodes.length - 1;

  // ── the drawing: text until it is in view ──

  // Browsers that run scripts do not parse <noscript>. It contains the whole drawing, one edge or node a line,
  // in which everpath has escaped every name. Only lines near the viewport become elements.
  const SVG = "http://www.w3.org/2000/svg";
  const drawings = [];
  const MOST_PASSING = 400; // more ranges are closer together than a screen can show, so only some are drawn
  const drawing = (number = current) => (drawings[number] ??= unpacked(number));

  const parsed = (lines) => [...new DOMParser().parseFromString(`<svg xmlns="${SVG}">${lines.join("")}</svg>`, "image/svg+xml").documentElement.children].map((each) => document.adoptNode(each));

  function unpacked(number) {
    const source = sections[number].querySelector(".view > noscript"), lines = source.textContent.split("\n");
    const start = (mark) => lines.indexOf(`<g class="${mark}">`) + 1;
    const [edges, hops, nodes] = ["edges", "paths", "nodes"].map(start);
    const [svg] = parsed([...lines.slice(0, edges), "</g>", `<g class="paths"></g><g class="nodes"></g></svg>`]);
    source.replaceWith(svg);
    const layer = (name, from, to) => ({ group: svg.querySelector("." + name), lines: lines.slice(from, to), shown: new Map() });
    const here = { svg, number, edges: layer("edges", edges, hops - 2), nodes: layer("nodes", nodes, -3), paths: svg.querySelector(".paths"), sight: [0, -1] };
    // For each edge: its successor, its first and last column, and whether it is a range.
    here.spans = here.edges.lines.map((line) => {
      const [, to, from] = line.match(/ data-to="(\d+)" data-from="([\d ]*)"/);
      const columns = `${to} ${from}`.trim().split(" ").map(Number);
      const [low, high] = columns.reduce(([low, high], each) => [Math.min(low, each), Math.max(high, each)], [columns[0], columns[0]]);
      return { to: columns[0], low, high, isRange: line.startsWith('<g class="edge skipRange') };
    });
    return here;
  }

  // Shows exactly the wanted lines of a layer. Elements that stay are not moved and keep the focus.
  function sync({ group, lines, shown }, wanted) {
    const keep = new Set(wanted), fresh = wanted.filter((i) => !shown.has(i));
    shown.forEach((element, i) => { if (!keep.has(i)) { element.remove(); shown.delete(i); } });
    parsed(fresh.map((i) => lines[i])).forEach((element, k) => shown.set(fresh[k], element));
    let place = group.firstChild;
    for (const i of wanted) {
      const element = shown.get(i);
      if (element === place) place = place.nextSibling;
      else group.insertBefore(element, place);
    }
  }

  // The first column that is not left of x.
  function columnAt(x, { nodes } = channel()) {
    let low = 0, high = nodes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (nodes[middle].at[0] < x) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // Draws the viewport and as much again on either side, unless it is drawn already.
  function look() {
    if (current < 0) return;
    follow();
    const here = drawing(), { scrollLeft, clientWidth } = view();
    // Slanted labels reach into the viewport from a few columns to the left.
    const first = columnAt(scrollLeft / zoom) - 5, beyond = columnAt((scrollLeft + clientWidth) / zoom) + 1;
    const [low, high] = here.sight;
    if (Math.max(first, 0) >= low && Math.min(beyond, last()) <= high && (stop < 0 || here.nodes.shown.has(stop))) return;
    const more = Math.max(beyond - first, 20);
    draft(here, first - more, beyond + more);
    dress();
  }

  function draft(here, first, beyond) {
    const { nodes } = data.channels[here.number];
    const [low, high] = (here.sight = [Math.max(first, 0), Math.min(beyond, nodes.length - 1)]);
    const columns = Array.from({ length: high - low + 1 }, (_, i) => low + i);
    if (here.number === current && stop >= 0 && (stop < low || stop > high)) columns.splice(stop < low ? 0 : columns.length, 0, stop);
    sync(here.nodes, columns);
    const near = [...here.spans.keys()].filter((i) => here.spans[i].low <= high && here.spans[i].high >= low);
    const passing = near.filter((i) => here.spans[i].isRange && (here.spans[i].to < low || here.spans[i].to > high));
    const left = new Set(passing.length > MOST_PASSING ? passing.filter((_, i) => i % Math.ceil(passing.length / MOST_PASSING)) : []);
    sync(here.edges, near.filter((i) => !left.has(i)));
  }

  // Sets the classes of drawn elements: chosen, matching the search, on a path.
  function dress() {
    const here = drawing(), on = new Set(paths.flat()), [low, high] = here.sight;
    here.nodes.shown.forEach((node, i) => {
      node.classList.toggle("on-path", on.has(i));
      node.classList.toggle("chosen", i === chosen);
      node.classList.toggle("match", found.has(i));
      node.setAttribute("aria-pressed", i === chosen);
      node.tabIndex = i === stop ? 0 : -1;
    });
    here.edges.shown.forEach((edge) => {
      // A range is highlighted from its own entry only: an old version is in all of them.
      const accepts = edge.dataset.to === String(chosen);
      edge.classList.toggle("near", accepts || (!edge.matches(".skipRange") && edge.dataset.from.split(" ").includes(String(chosen))));
    });
    const near = highlighted.filter(([, from, to]) => Math.min(from, to) <= high && Math.max(from, to) >= low);
    here.paths.replaceChildren(...near.map((each) => hop(...each)));
  }

  const shape = (tag, attributes, ...children) => {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };

  // OLM v0 above the row, OLM v1 below it, with the same curves as `-o svg`.
  function hop(resolver, from, to) {
    const { nodes, axis } = channel(), [x, y] = nodes[from].at, [endX, endY] = nodes[to].at;
    const side = resolver ? 1 : -1, far = Math.abs(endX - x), lean = (endX - x) * 0.22;
    const room = resolver ? svg().viewBox.baseVal.height - y : y - axis;
    const lift = (side * Math.min(room - 12, 20 + far * 0.16)) / 0.75;
    const bend = [endX - lean, endY + lift], tip = [endX, endY + side * 8];
    const length = Math.hypot(tip[0] - bend[0], tip[1] - bend[1]) || 1;
    const dx = (tip[0] - bend[0]) / length, dy = (tip[1] - bend[1]) / length;
    const at = (...point) => point.map((value) => Math.round(value * 10) / 10).join(" ");
    const title = shape("title", {}, `OLM ${RESOLVERS[resolver]}: ${nodes[from].name} updates to ${nodes[to].name}`);
    const path = `M${at(x, y + side * 8)}C${at(x + lean, y + lift)} ${at(...bend)} ${at(...tip)}`;
    const head = `M${at(...tip)}L${at(tip[0] - 6 * dx - 3.2 * dy, tip[1] - 6 * dy + 3.2 * dx)}L${at(tip[0] - 6 * dx + 3.2 * dy, tip[1] - 6 * dy - 3.2 * dx)}Z`;
    return shape("g", { class: `hop ${RESOLVERS[resolver]} lit` }, title, shape("path", { d: path }), shape("path", { class: "tip", d: head }));
  }

  // ── the state is stored in the address, so that it can be shared ──

  function state() {
    return new URLSearchParams(location.hash.slice(1));
  }

  function remember() {
    const address = new URLSearchParams({ channel: channel().name });
    if (chosen !== null) address.set("installed", typeof chosen === "number" ? channel().nodes[chosen].name : chosen.name);
    const { theme } = document.documentElement.dataset;
    if (theme) address.set("theme", theme);
    // Replaced, not pushed: the back button must not visit every chosen entry.
    try {
      history.replaceState(null, "", "#" + address);
    } catch {
      // Some browsers forbid it for files. The page works without.
    }
  }

  function restore() {
    const wanted = state();
    if (["light", "dark"].includes(wanted.get("theme"))) document.documentElement.dataset.theme = wanted.get("theme");
    const number = data.channels.findIndex((each) => each.name === wanted.get("channel"));
    show(Math.max(number, 0));
    const installed = wanted.get("installed");
    const first = installed === null ? channel().installed[0] ?? channel().installedElsewhere[0] ?? null : named(installed);
    const unmet = [];
    if (wanted.has("channel") && number < 0) unmet.push(`The address names channel ${wanted.get("channel")}, which is not on this page.`);
    if (first !== null) choose(first, { keep: unmet.length > 0 });
    else if (installed !== null) unmet.push(`The address names ${installed}: ${elsewhere((each) => named(installed, each) !== null)}.`);
    if (unmet.length) reportUnmet(unmet);
  }

  // Shows what the address names and this page does not have. The address is not changed.
  function reportUnmet(unmet) {
    panel.prepend(...unmet.map((text) => make("p", text, "unmet")));
    said.textContent = [...unmet, said.textContent].join(" ");
  }

  // The entry, or installed version, with this name or version; null if there is none.
  function named(text, { nodes, installedElsewhere } = channel()) {
    const wanted = text.trim().toLowerCase();
    const bare = wanted.replace(/^v/, "");
    const called = (node) => node.name.toLowerCase() === wanted || (node.version && node.version.toLowerCase() === bare);
    const column = nodes.findIndex((node) => node.paths && called(node));
    if (column >= 0) return column;
    return installedElsewhere.find(({ name }) => name.toLowerCase() === wanted || name.toLowerCase().endsWith(".v" + bare)) ?? null;
  }

  // ── channels ──

  function show(number) {
    current = number;
    stop = last();
    [chosen, paths, highlighted, found] = [null, [[], []], [], new Set()];
    sections.forEach((section, i) => (section.hidden = i !== number));
    tabs.forEach((tab, i) => {
      tab.setAttribute("aria-selected", i === number);
      tab.tabIndex = i === number ? 0 : -1;
    });
    tabs[number].scrollIntoView({ block: "nearest", inline: "nearest" });
    const width = svg().viewBox.baseVal.width;
    const whole = view().clientWidth / width;
    view().scrollLeft = width * 3; // so that nothing outside the viewport is drawn
    // A channel that nearly fits is scaled to fit; a long one keeps its size and is scrolled to its head.
    scale(whole < 1 && whole > 0.8 ? whole : whole > 1 ? Math.min(whole, 1.25) : 1);
    view().scrollLeft = width * zoom;
    overview();
    search();
    draw();
  }

  tabs.forEach((tab, i) => {
    tab.addEventListener("click", () => { show(i); remember(); });
    tab.addEventListener("keydown", (event) => {
      const target = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: tabs.length - 1 }[event.key];
      if (target === undefined) return;
      event.preventDefault();
      const next = (target + tabs.length) % tabs.length;
      show(next);
      tabs[next].focus();
      remember();
    });
  });

  // ── zoom and pan: the drawing is in a scrolling box ──

  function scale(factor, x = view().clientWidth / 2) {
    const box = view(), picture = svg(), size = picture.viewBox.baseVal;
    const point = (box.scrollLeft + x) / zoom;
    zoom = Math.min(3, Math.max(0.05, factor));
    picture.style.width = size.width * zoom + "px";
    picture.style.height = size.height * zoom + "px";
    box.scrollLeft = point * zoom - x;
    look();
  }
  const fit = () => scale(Math.min(1.25, view().clientWidth / svg().viewBox.baseVal.width));
  $("in").addEventListener("click", () => scale(zoom * 1.25));
  $("out").addEventListener("click", () => scale(zoom / 1.25));
  $("fit").addEventListener("click", fit);

  sections.forEach((section) => {
    const box = section.querySelector(".view");
    box.addEventListener("scroll", look);
    box.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      scale(zoom * Math.exp(-event.deltaY / 300), event.clientX - box.getBoundingClientRect().left);
    }, { passive: false });
    let from = null;
    box.addEventListener("pointerdown", (event) => {
      // Labels can be selected, and touch devices scroll natively.
      if (event.pointerType !== "mouse" || event.button || event.target.closest("text, .node")) return;
      from = { x: event.clientX + box.scrollLeft, y: event.clientY + box.scrollTop };
      box.setPointerCapture(event.pointerId);
      box.classList.add("dragged");
    });
    box.addEventListener("pointermove", (event) => {
      if (!from) return;
      box.scrollLeft = from.x - event.clientX;
      box.scrollTop = from.y - event.clientY;
    });
    const drop = () => { from = null; box.classList.remove("dragged"); };
    box.addEventListener("pointerup", drop);
    box.addEventListener("pointercancel", drop);
  });

  // ── a strip with all entries, for channels that do not fit ──

  function overview() {
    const section = sections[current];
    if (section.querySelector(".overview") || svg().viewBox.baseVal.width <= view().clientWidth / 0.8) return;
    const width = svg().viewBox.baseVal.width;
    const strip = shape("svg", { class: "overview", viewBox: `0 0 ${width} 30`, preserveAspectRatio: "none", "aria-hidden": "true" });
    // One path for all entries with the same look, the most severe on top.
    const ticks = {};
    drawing().nodes.lines.forEach((line, i) => {
      const states = new Set(line.match(/class="([^"]*)"/)[1].split(" "));
      const look = ["head", "error", "warning", "skipped", "deprecated", "absent"].find((each) => states.has(each)) ?? "";
      (ticks[look] ??= []).push(`M${channel().nodes[i].at[0]} ${["head", "error", "warning"].includes(look) ? 4 : 10}V26`);
    });
    for (const look of ["absent", "deprecated", "skipped", "", "warning", "error", "head"]) {
      if (ticks[look]) strip.append(shape("path", { class: "tick " + look, d: ticks[look].join("") }));
    }
    strip.append(shape("path", { class: "tick chosen" }), shape("rect", { class: "window", y: 0.5, height: 29 }));
    const go = (event) => {
      if (event.buttons !== 1) return;
      const box = strip.getBoundingClientRect();
      view().scrollLeft = ((event.clientX - box.left) / box.width) * width * zoom - view().clientWidth / 2;
    };
    strip.addEventListener("pointerdown", go);
    strip.addEventListener("pointermove", go);
    section.insertBefore(strip, view());
    follow();
  }

  function follow() {
    const frame = current < 0 ? null : sections[current].querySelector(".overview .window");
    if (!frame) return;
    frame.setAttribute("x", view().scrollLeft / zoom);
    frame.setAttribute("width", Math.min(view().clientWidth / zoom, svg().viewBox.baseVal.width));
  }

  // ── choosing what is installed ──

  function choose(what, { focus = false, keep = false } = {}) {
    chosen = what;
    svg().classList.remove("searching");
    draw();
    if (!keep) remember();
    if (typeof what === "number") go(what, focus);
  }

  // Scrolls to an entry. It must be drawn before it can be focused.
  function go(column, focus) {
    stop = column;
    const x = channel().nodes[column].at[0] * zoom, box = view();
    if (x < box.scrollLeft + 60 || x > box.scrollLeft + box.clientWidth - 60) box.scrollLeft = x - box.clientWidth / 2;
    look();
    dress();
    if (focus) drawing().nodes.shown.get(column).focus({ preventScroll: true });
  }

  // The columns of an upgrade path; a loop ends with the first column that is repeated.
  function hopsFrom(start, resolver) {
    if (typeof start !== "number") return start.paths[resolver].hops;
    const hops = [], seen = new Set([start]);
    for (let next = channel().nodes[start].paths?.[resolver][0] ?? null; next !== null; next = channel().nodes[next].paths[resolver][0]) {
      hops.push(next);
      if (seen.has(next)) break;
      seen.add(next);
    }
    return hops;
  }

  function draw() {
    paths = chosen === null ? [[], []] : RESOLVERS.map((_, resolver) => hopsFrom(chosen, resolver));
    highlighted = paths.flatMap((hops, resolver) => {
      const columns = typeof chosen === "number" ? [chosen, ...hops] : hops;
      return columns.slice(1).map((to, i) => [resolver, columns[i], to]);
    });
    svg().classList.toggle("showing-paths", chosen !== null);
    document.querySelector(".channels").classList.toggle("chosen", chosen !== null);
    const tick = sections[current].querySelector(".overview .chosen");
    tick?.setAttribute("d", typeof chosen === "number" ? `M${channel().nodes[chosen].at[0]} 0V30` : "");
    look();
    dress();
    panel.replaceChildren(...(chosen === null ? channelDetails() : entryDetails()));
    panel.scrollTop = 0;
    // Screen readers announce the result, not the whole panel.
    said.textContent = chosen === null ? "" : [...panel.querySelectorAll("h2, .upgrade-path h3, .end")].map((each) => each.firstChild.textContent).join(", ");
  }

  // ── the panel ──

  function link(column) {
    const button = make("button", channel().nodes[column].name, "link");
    button.type = "button";
    button.addEventListener("click", () => choose(column, { focus: true }));
    return button;
  }

  function listOf(tag, items) {
    const list = make(tag);
    list.append(...items.map((item) => { const li = make("li"); li.append(item); return li; }));
    return list;
  }

  function finding(each, withEntry) {
    const box = make("div", undefined, "finding " + each.severity);
    const { name, url } = data.rules[each.rule], rule = make("a", `${each.rule} ${name}`, "rule");
    rule.href = url;
    rule.rel = "noreferrer";
    const title = make("p", each.severity + " ");
    title.append(rule);
    box.append(title, make("p", each.message));
    if (each.because.length) box.append(listOf("ul", each.because.map((reason) => make("span", reason, "soft"))));
    if (each.fix) box.append(make("p", "Fix: " + each.fix, "fix"));
    if (each.where) box.append(make("p", each.where, "soft"));
    if (withEntry && each.entry !== null) { const p = make("p"); p.append(link(each.entry)); box.append(p); }
    return box;
  }

  const SEVERITIES = ["error", "warning", "note"];
  const bySeverity = (a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity);

  function findings(list, withEntry) {
    const sorted = [...list].sort(bySeverity);
    const problems = sorted.filter((each) => each.severity !== "note"), notes = sorted.filter((each) => each.severity === "note");
    const box = gradually(make("div"), "p", problems.length, (i) => finding(problems[i], withEntry), problems.length > 60 ? [30, 0] : [60, 0]);
    if (!notes.length) return box;
    const more = make("details");
    more.append(make("summary", notes.length === 1 ? "1 note" : `${notes.length.toLocaleString("en")} notes`));
    const unfold = () => gradually(more, "p", notes.length, (i) => finding(notes[i], withEntry), [30, 0]);
    more.addEventListener("toggle", unfold, { once: true });
    box.append(more);
    return box;
  }

  function channelDetails() {
    const here = channel(), parts = [make("h2", "Channel " + here.name)];
    parts.push(make("p", "Click an entry, or type its version, to see the upgrade paths of clusters that have it installed.", "soft"));
    if (here.broken) parts.push(make("p", here.broken, "finding error"));
    else here.newInstallation.forEach((path, resolver) => {
      const line = make("p", `A new installation with OLM ${RESOLVERS[resolver]} gets `);
      line.append(path.hops.length ? link(path.hops[0]) : "nothing: " + path.reason);
      parts.push(line);
    });
    if (here.installedElsewhere.length) {
      const buttons = here.installedElsewhere.map((installed) => {
        const button = make("button", installed.name, "link");
        button.type = "button";
        button.addEventListener("click", () => choose(installed));
        return button;
      });
      parts.push(make("h3", "Installed, and not in this channel"), listOf("ul", buttons));
    }
    parts.push(make("h3", here.findings.length ? "Findings" : "No findings"), findings(here.findings, true));
    return parts;
  }

  function entryDetails() {
    const node = typeof chosen === "number" ? channel().nodes[chosen] : { ...chosen, states: ["not in this channel"], edges: [] };
    const title = make("h2", node.name), close = make("button", "✕", "close");
    close.type = "button";
    close.setAttribute("aria-label", "Close (Escape)");
    close.addEventListener("click", clear);
    title.append(close);
    const parts = [title];
    if (node.version) parts.push(make("p", "version " + node.version, "soft"));
    if (node.states.length) parts.push(make("p", node.states.join("; ")));
    RESOLVERS.forEach((resolver, i) => node.paths && parts.push(pathDetails(resolver, paths[i], ending(node, i))));
    if (node.edges.length) parts.push(make("h3", "Accepts upgrades from"), listOf("ul", node.edges));
    const about = typeof chosen === "number" ? channel().findings.filter((each) => each.entry === chosen) : [];
    if (about.length) parts.push(make("h3", "Findings"), findings(about, false));
    return parts;
  }

  function ending(node, resolver) {
    const path = node.paths[resolver];
    return Array.isArray(path) ? { end: path[1], reason: channel().reasons[path[2]] } : path;
  }

  function pathDetails(resolver, hops, { end, reason }) {
    const box = make("section", undefined, "upgrade-path " + resolver);
    const count = hops.length === 0 ? "no hop" : hops.length === 1 ? "1 hop" : `${hops.length} hops`;
    box.append(make("h3", `OLM ${resolver}: ${count}`));
    box.append(make("p", WORDS[end] ?? reason, "end " + end));
    if (WORDS[end]) box.append(make("p", reason, "why"));
    if (hops.length) box.append(hopList(hops));
    return box;
  }

  function hopList(hops) {
    const item = (i) => {
      const li = make("li");
      li.value = i + 1;
      li.append(link(hops[i]));
      return li;
    };
    return gradually(make("ol"), "li", hops.length, item, hops.length > 40 ? [10, 10] : [40, 0]);
  }

  // Shows the first and the last few items and a button for a hundred more: ten thousand buttons take seconds.
  function gradually(list, tag, size, item, [before, after]) {
    const items = (from, to) => Array.from({ length: to - from }, (_, i) => item(from + i));
    let shown = Math.min(before, size);
    list.append(...items(0, shown));
    const end = size - after;
    if (shown >= end) return list;
    const more = make("button", undefined, "link"), gap = make(tag, undefined, "gap");
    const count = () => (more.textContent = `and ${(end - shown).toLocaleString("en")} more`);
    more.type = "button";
    more.addEventListener("click", () => {
      const next = Math.min(shown + 100, end), added = items(shown, next);
      gap.before(...added);
      added[0].querySelector("a, button").focus();
      shown = next;
      if (shown === end) gap.remove();
      else count();
    });
    count();
    gap.append(more);
    list.append(gap, ...items(end, size));
    return list;
  }

  function clear() {
    find.value = "";
    search();
    chosen = null;
    draw();
    remember();
  }

  // ── search ──

  function search() {
    const wanted = find.value.trim().toLowerCase();
    svg().classList.toggle("searching", wanted !== "");
    found = new Set(wanted === "" ? [] : [...channel().nodes.keys()].filter((i) => holds(channel().nodes[i], wanted)));
    dress();
    const count = found.size.toLocaleString("en");
    matches.textContent = wanted === "" ? "" : found.size ? `${count} found, Enter chooses` : elsewhere(({ nodes }) => nodes.some((node) => node.paths && holds(node, wanted)));
    return found.size ? found.values().next().value : null;
  }

  const holds = (node, wanted) => node.name.toLowerCase().includes(wanted) || node.version.toLowerCase().includes(wanted);

  function elsewhere(has) {
    const other = data.channels.find(has);
    return other ? `not here, but in ${other.name}` : "not in this package; --installed draws its path";
  }

  find.addEventListener("input", () => {
    const first = search();
    if (first !== null) go(first, false);
  });
  $("search").addEventListener("submit", (event) => {
    event.preventDefault();
    const meant = named(find.value) ?? search();
    if (find.value.trim() === "" || meant === null) return;
    choose(meant);
  });

  // ── the keyboard: one stop for the whole drawing, arrows inside it ──

  sections.forEach((section) => {
    const box = section.querySelector(".view");
    box.addEventListener("click", (event) => {
      const node = event.target.closest(".node");
      // A click that ends a selection of text chooses nothing.
      if (!node || !getSelection().isCollapsed) return;
      const column = Number(node.dataset.i);
      if (column === chosen) clear();
      else choose(column, { focus: true });
    });
    box.addEventListener("keydown", (event) => {
      const node = event.target.closest(".node");
      if (!node) return;
      const column = Number(node.dataset.i);
      const target = { ArrowLeft: column - 1, ArrowRight: column + 1, ArrowUp: column + 1, ArrowDown: column - 1, Home: 0, End: last() }[event.key];
      if (event.key === "Enter" || event.key === " ") choose(column, { focus: true });
      else if (target === undefined) return;
      else if (target >= 0 && target <= last()) go(target, true);
      event.preventDefault();
    });
  });

  addEventListener("keydown", (event) => {
    if (event.key === "Escape") clear();
    if (event.target.matches("input") || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = { "/": () => find.focus(), "+": () => scale(zoom * 1.25), "=": () => scale(zoom * 1.25), "-": () => scale(zoom / 1.25), 0: fit }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  // ── light and dark, print, and changes of the address ──

  $("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    remember();
  });
  // Tables are text until they are opened.
  const tabulate = (box) => box.querySelectorAll("noscript").forEach((each) => each.replaceWith(...new DOMParser().parseFromString(each.textContent, "text/html").body.children));
  sections.forEach((section) => section.querySelector("details").addEventListener("toggle", () => tabulate(section.querySelector("details")), { once: true }));
  let closed = [], printed = [];
  addEventListener("beforeprint", () => {
    sections.forEach((section, i) => {
      tabulate(section.querySelector("details"));
      if (!section.matches(".wide")) draft(drawing(i), 0, Infinity);
    });
    dress();
    closed = [...document.querySelectorAll(".channel details:not([open])")];
    closed.forEach((each) => (each.open = true));
    printed.forEach((each) => each.remove());
    printed = sections.flatMap(onPaper);
  });
  addEventListener("afterprint", () => {
    closed.forEach((each) => (each.open = false));
    printed.forEach((each) => each.remove());
  });

  // A print has no panel: the findings of a channel follow its drawing.
  function onPaper(section, number) {
    const all = data.channels[number].findings.filter((each) => each.severity !== "note").sort(bySeverity);
    if (!all.length) return [];
    const box = make("div", undefined, "printed");
    box.append(make("h3", "Findings"), ...all.map((each) => finding(each, false)));
    section.append(box);
    return [box];
  }
  addEventListener("resize", () => { overview(); look(); });
  addEventListener("hashchange", restore);
  restore();
})();
