// Shows and hides what everpath has already worked out. No version is compared and no edge is followed here:
// `data` says, for every entry and both policies, where it goes next and how its road ends.
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const sections = [...document.querySelectorAll(".channel")];
  const tabs = [...document.querySelectorAll("[role=tab]")];
  const panel = $("panel"), find = $("find"), matches = $("matches"), said = $("said");
  const POLICIES = ["v0", "v1"];
  const WORDS = { stranded: "stranded", loop: "goes in a circle", error: "fails" }; // ends that need a reason
  let current = -1; // the channel that is shown
  let chosen = null; // the column that is installed, or a visitor
  let zoom = 1;
  let walks = [[], []]; // the columns that its roads go through, a policy each
  let lit = []; // the hops of those roads: [policy, from, to]
  let found = new Set(); // the columns that a search has found
  let stop = -1; // the column that the tab key stops at

  // Names come from a catalog and may hold anything: they are only ever put in as text.
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

  // ── the drawing: text until somebody looks there ──

  // Browsers that run scripts do not parse what is in <noscript>. It holds the whole drawing, an edge or a node a
  // line, made by everpath, which has escaped every name. Only lines near what is in sight become elements.
  const SVG = "http://www.w3.org/2000/svg";
  const drawings = [];
  const MOST_PASSING = 400; // more ranges that pass by lie closer than a screen can show: some of them look like all
  const drawing = (number = current) => (drawings[number] ??= unpacked(number));

  const parsed = (lines) => [...new DOMParser().parseFromString(`<svg xmlns="${SVG}">${lines.join("")}</svg>`, "image/svg+xml").documentElement.children].map((each) => document.adoptNode(each));

  function unpacked(number) {
    const source = sections[number].querySelector(".view > noscript"), lines = source.textContent.split("\n");
    const start = (mark) => lines.indexOf(`<g class="${mark}">`) + 1;
    const [edges, roads, nodes] = ["edges", "roads", "nodes"].map(start);
    const [svg] = parsed([...lines.slice(0, edges), "</g>", `<g class="roads"></g><g class="nodes"></g></svg>`]);
    source.replaceWith(svg);
    const layer = (name, from, to) => ({ group: svg.querySelector("." + name), lines: lines.slice(from, to), shown: new Map() });
    const here = { svg, number, edges: layer("edges", edges, roads - 2), nodes: layer("nodes", nodes, -3), roads: svg.querySelector(".roads"), sight: [0, -1] };
    // Of each edge its successor, the first and the last column that it lies over, and whether it is a range.
    here.spans = here.edges.lines.map((line) => {
      const [, to, from] = line.match(/ data-to="(\d+)" data-from="([\d ]*)"/);
      const columns = `${to} ${from}`.trim().split(" ").map(Number);
      const [low, high] = columns.reduce(([low, high], each) => [Math.min(low, each), Math.max(high, each)], [columns[0], columns[0]]);
      return { to: columns[0], low, high, isRange: line.startsWith('<g class="edge skipRange') };
    });
    return here;
  }

  // Makes the elements of a layer those of the wanted lines. What stays is not moved, and keeps the focus.
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

  // Draws what is in sight, and as much again on either side; nothing if all of it is there already.
  function look() {
    if (current < 0) return;
    follow();
    const here = drawing(), { scrollLeft, clientWidth } = view();
    // Slanted labels lean into sight from a few columns before it.
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

  // Gives the elements that are there the looks of what is chosen, found and walked.
  function dress() {
    const here = drawing(), on = new Set(walks.flat()), [low, high] = here.sight;
    here.nodes.shown.forEach((node, i) => {
      node.classList.toggle("on-road", on.has(i));
      node.classList.toggle("chosen", i === chosen);
      node.classList.toggle("match", found.has(i));
      node.setAttribute("aria-pressed", i === chosen);
      node.tabIndex = i === stop ? 0 : -1;
    });
    here.edges.shown.forEach((edge) => {
      // A range is shown from its own end only: whoever is old is in all of them.
      const accepts = edge.dataset.to === String(chosen);
      edge.classList.toggle("near", accepts || (!edge.matches(".skipRange") && edge.dataset.from.split(" ").includes(String(chosen))));
    });
    const near = lit.filter(([, from, to]) => Math.min(from, to) <= high && Math.max(from, to) >= low);
    here.roads.replaceChildren(...near.map((each) => hop(...each)));
  }

  const shape = (tag, attributes, ...children) => {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };

  // OLM v0 over the line, OLM v1 under it, bent as in the image of `-o svg`.
  function hop(policy, from, to) {
    const { nodes, axis } = channel(), [x, y] = nodes[from].at, [endX, endY] = nodes[to].at;
    const side = policy ? 1 : -1, far = Math.abs(endX - x), lean = (endX - x) * 0.22;
    const room = policy ? svg().viewBox.baseVal.height - y : y - axis;
    const lift = (side * Math.min(room - 12, 20 + far * 0.16)) / 0.75;
    const bend = [endX - lean, endY + lift], tip = [endX, endY + side * 8];
    const length = Math.hypot(tip[0] - bend[0], tip[1] - bend[1]) || 1;
    const dx = (tip[0] - bend[0]) / length, dy = (tip[1] - bend[1]) / length;
    const at = (...point) => point.map((value) => Math.round(value * 10) / 10).join(" ");
    const title = shape("title", {}, `OLM ${POLICIES[policy]}: ${nodes[from].name} goes to ${nodes[to].name}`);
    const path = `M${at(x, y + side * 8)}C${at(x + lean, y + lift)} ${at(...bend)} ${at(...tip)}`;
    const head = `M${at(...tip)}L${at(tip[0] - 6 * dx - 3.2 * dy, tip[1] - 6 * dy + 3.2 * dx)}L${at(tip[0] - 6 * dx + 3.2 * dy, tip[1] - 6 * dy - 3.2 * dx)}Z`;
    return shape("g", { class: `hop ${POLICIES[policy]} lit` }, title, shape("path", { d: path }), shape("path", { class: "tip", d: head }));
  }

  // ── the state, which is also the address: it can be sent to a colleague ──

  function state() {
    return new URLSearchParams(location.hash.slice(1));
  }

  function remember() {
    const address = new URLSearchParams({ channel: channel().name });
    if (chosen !== null) address.set("installed", typeof chosen === "number" ? channel().nodes[chosen].name : chosen.name);
    const { theme } = document.documentElement.dataset;
    if (theme) address.set("theme", theme);
    // Replaced, not pushed: nobody wants to go back through every entry they have looked at.
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
    const first = installed === null ? channel().lit[0] ?? channel().visitors[0] ?? null : named(installed);
    const unmet = [];
    if (wanted.has("channel") && number < 0) unmet.push(`The address asks for channel ${wanted.get("channel")}, which is not on this page.`);
    if (first !== null) choose(first, { keep: unmet.length > 0 });
    else if (installed !== null) unmet.push(`The address asks for ${installed}: ${elsewhere((each) => named(installed, each) !== null)}.`);
    if (unmet.length) tell(unmet);
  }

  // What an address asks for in vain, until something is chosen. The address stays as it was sent.
  function tell(unmet) {
    panel.prepend(...unmet.map((text) => make("p", text, "unmet")));
    said.textContent = [...unmet, said.textContent].join(" ");
  }

  // The entry that somebody means who types a name or a version; null when none is called so.
  function named(text, { nodes, visitors } = channel()) {
    const wanted = text.trim().toLowerCase();
    const bare = wanted.replace(/^v/, "");
    const called = (node) => node.name.toLowerCase() === wanted || (node.version && node.version.toLowerCase() === bare);
    const column = nodes.findIndex((node) => node.roads && called(node));
    if (column >= 0) return column;
    return visitors.find((visitor) => visitor.name.toLowerCase() === wanted || visitor.name.toLowerCase().endsWith(".v" + bare)) ?? null;
  }

  // ── channels ──

  function show(number) {
    current = number;
    stop = last();
    [chosen, walks, lit, found] = [null, [[], []], [], new Set()];
    sections.forEach((section, i) => (section.hidden = i !== number));
    tabs.forEach((tab, i) => {
      tab.setAttribute("aria-selected", i === number);
      tab.tabIndex = i === number ? 0 : -1;
    });
    tabs[number].scrollIntoView({ block: "nearest", inline: "nearest" });
    const width = svg().viewBox.baseVal.width;
    const whole = view().clientWidth / width;
    view().scrollLeft = width * 3; // so that nothing is drawn that is not looked at
    // A channel that nearly fits is fitted; a long one keeps its size, is scrolled, and starts at its head.
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

  // ── zoom and pan: the drawing lies in a box that scrolls, which mice, fingers and keys know how to do ──

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
      // Labels can be selected, and fingers scroll by themselves.
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
    // One path for all entries that look alike, the worst on top.
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

  // To an entry, wherever it is. It has to be drawn before it can have the focus.
  function go(column, focus) {
    stop = column;
    const x = channel().nodes[column].at[0] * zoom, box = view();
    if (x < box.scrollLeft + 60 || x > box.scrollLeft + box.clientWidth - 60) box.scrollLeft = x - box.clientWidth / 2;
    look();
    dress();
    if (focus) drawing().nodes.shown.get(column).focus({ preventScroll: true });
  }

  // The columns that a road goes through, as everpath has worked it out; a loop ends where it closes.
  function road(start, policy) {
    if (typeof start !== "number") return start.roads[policy].path;
    const path = [], seen = new Set([start]);
    for (let next = channel().nodes[start].roads?.[policy][0] ?? null; next !== null; next = channel().nodes[next].roads[policy][0]) {
      path.push(next);
      if (seen.has(next)) break;
      seen.add(next);
    }
    return path;
  }

  function draw() {
    walks = chosen === null ? [[], []] : POLICIES.map((_, policy) => road(chosen, policy));
    lit = walks.flatMap((walk, policy) => {
      const stops = typeof chosen === "number" ? [chosen, ...walk] : walk;
      return stops.slice(1).map((to, i) => [policy, stops[i], to]);
    });
    svg().classList.toggle("walking", chosen !== null);
    document.querySelector(".channels").classList.toggle("chosen", chosen !== null);
    const tick = sections[current].querySelector(".overview .chosen");
    tick?.setAttribute("d", typeof chosen === "number" ? `M${channel().nodes[chosen].at[0]} 0V30` : "");
    look();
    dress();
    panel.replaceChildren(...(chosen === null ? channelDetails() : entryDetails()));
    panel.scrollTop = 0;
    // To a screen reader the outcome, not the whole panel.
    said.textContent = chosen === null ? "" : [...panel.querySelectorAll("h2, .road h3, .end")].map((each) => each.firstChild.textContent).join(", ");
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
    const hurting = sorted.filter((each) => each.severity !== "note"), notes = sorted.filter((each) => each.severity === "note");
    const box = gradually(make("div"), "p", hurting.length, (i) => finding(hurting[i], withEntry), hurting.length > 60 ? [30, 0] : [60, 0]);
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
    parts.push(make("p", "Click an entry, or type its version, to see where OLM takes a cluster that has it installed.", "soft"));
    if (here.broken) parts.push(make("p", here.broken, "finding error"));
    else here.fresh.forEach((road, policy) => {
      const line = make("p", `A new install with OLM ${POLICIES[policy]} gets `);
      line.append(road.path.length ? link(road.path[0]) : "nothing: " + road.end);
      parts.push(line);
    });
    if (here.visitors.length) {
      const visitors = here.visitors.map((visitor) => {
        const button = make("button", visitor.name, "link");
        button.type = "button";
        button.addEventListener("click", () => choose(visitor));
        return button;
      });
      parts.push(make("h3", "Installed, and not in this channel"), listOf("ul", visitors));
    }
    parts.push(make("h3", here.findings.length ? "Findings" : "Nothing to find fault with"), findings(here.findings, true));
    return parts;
  }

  function entryDetails() {
    const node = typeof chosen === "number" ? channel().nodes[chosen] : { ...chosen, remarks: ["not in this channel"], edges: [] };
    const title = make("h2", node.name), close = make("button", "✕", "close");
    close.type = "button";
    close.setAttribute("aria-label", "Close (Escape)");
    close.addEventListener("click", clear);
    title.append(close);
    const parts = [title];
    if (node.version) parts.push(make("p", "version " + node.version, "soft"));
    if (node.remarks.length) parts.push(make("p", node.remarks.join("; ")));
    POLICIES.forEach((policy, i) => node.roads && parts.push(roadDetails(policy, walks[i], ending(node, i))));
    if (node.edges.length) parts.push(make("h3", "Takes over from"), listOf("ul", node.edges));
    const about = typeof chosen === "number" ? channel().findings.filter((each) => each.entry === chosen) : [];
    if (about.length) parts.push(make("h3", "Findings"), findings(about, false));
    return parts;
  }

  function ending(node, policy) {
    const road = node.roads[policy];
    return Array.isArray(road) ? { kind: road[1], text: channel().reasons[road[2]] } : { kind: road.kind, text: road.end };
  }

  function roadDetails(policy, walk, end) {
    const box = make("section", undefined, "road " + policy);
    const hops = walk.length === 0 ? "no hop" : walk.length === 1 ? "1 hop" : `${walk.length} hops`;
    box.append(make("h3", `OLM ${policy}: ${hops}`));
    box.append(make("p", WORDS[end.kind] ?? end.text, "end " + end.kind));
    if (WORDS[end.kind]) box.append(make("p", end.text, "why"));
    if (walk.length) box.append(hopList(walk));
    return box;
  }

  function hopList(walk) {
    const item = (i) => {
      const li = make("li");
      li.value = i + 1;
      li.append(link(walk[i]));
      return li;
    };
    return gradually(make("ol"), "li", walk.length, item, walk.length > 40 ? [10, 10] : [40, 0]);
  }

  // Of many the first and the last few, and the rest a hundred at a time: ten thousand buttons take seconds.
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
    matches.textContent = wanted === "" ? "" : found.size ? `${count} found, Enter chooses` : elsewhere(({ nodes }) => nodes.some((node) => node.roads && holds(node, wanted)));
    return found.size ? found.values().next().value : null;
  }

  const holds = (node, wanted) => node.name.toLowerCase().includes(wanted) || node.version.toLowerCase().includes(wanted);

  function elsewhere(has) {
    const other = data.channels.find(has);
    return other ? `not here, but in ${other.name}` : "not in this package; --installed draws its road";
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
      // Whoever has just selected a label wants to copy it.
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

  // ── light and dark, paper, and addresses that change under us ──

  $("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    remember();
  });
  // Tables are text, too, until somebody opens them.
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

  // On paper there is no panel to click through: the findings of a channel stand below it.
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
