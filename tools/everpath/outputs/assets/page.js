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

  // Names come from a catalog and may hold anything: they are only ever put in as text.
  const make = (tag, text, className) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (className) element.className = className;
    return element;
  };
  const channel = () => data.channels[current];
  const view = () => sections[current].querySelector(".view");
  const svg = () => sections[current].querySelector("svg.live");
  const nodes = () => [...svg().querySelectorAll(".node")];

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
    sections.forEach((section, i) => (section.hidden = i !== number));
    tabs.forEach((tab, i) => {
      tab.setAttribute("aria-selected", i === number);
      tab.tabIndex = i === number ? 0 : -1;
    });
    tabs[number].scrollIntoView({ block: "nearest", inline: "nearest" });
    chosen = null;
    const width = svg().viewBox.baseVal.width;
    const whole = view().clientWidth / width;
    // A channel that nearly fits is fitted; a long one keeps its size, is scrolled, and starts at its head.
    scale(whole < 1 && whole > 0.8 ? whole : whole > 1 ? Math.min(whole, 1.25) : 1);
    view().scrollLeft = width * zoom;
    overview();
    rove(nodes().length - 1);
    draw();
    search();
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
    follow();
  }
  const fit = () => scale(Math.min(1.25, view().clientWidth / svg().viewBox.baseVal.width));
  $("in").addEventListener("click", () => scale(zoom * 1.25));
  $("out").addEventListener("click", () => scale(zoom / 1.25));
  $("fit").addEventListener("click", fit);

  sections.forEach((section) => {
    const box = section.querySelector(".view");
    box.addEventListener("scroll", follow);
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

  const SVG = "http://www.w3.org/2000/svg";
  const draft = (tag, attributes) => {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };

  function overview() {
    const section = sections[current];
    if (section.querySelector(".overview") || svg().viewBox.baseVal.width <= view().clientWidth / 0.8) return;
    const width = svg().viewBox.baseVal.width;
    const strip = draft("svg", { class: "overview", viewBox: `0 0 ${width} 30`, preserveAspectRatio: "none", "aria-hidden": "true" });
    for (const node of nodes()) {
      const x = node.querySelector(".dot").cx.baseVal.value;
      strip.append(draft("line", { class: node.getAttribute("class"), x1: x, x2: x, y1: node.matches(".error, .warning, .head") ? 4 : 10, y2: 26 }));
    }
    strip.append(draft("rect", { class: "window", y: 0.5, height: 29 }));
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
    if (typeof what !== "number") return;
    rove(what);
    if (focus) nodes()[what].focus({ preventScroll: true });
    reveal(what);
  }

  function reveal(column) {
    const x = nodes()[column].querySelector(".dot").cx.baseVal.value * zoom, box = view();
    if (x < box.scrollLeft + 60 || x > box.scrollLeft + box.clientWidth - 60) box.scrollLeft = x - box.clientWidth / 2;
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

  // Only what changes is touched: a channel may have ten thousand entries.
  function mark(name, elements) {
    const wanted = new Set(elements);
    sections[current].querySelectorAll("." + name).forEach((each) => wanted.delete(each) || each.classList.remove(name));
    wanted.forEach((each) => each.classList.add(name));
  }

  function draw() {
    const picture = svg(), all = nodes();
    const walks = chosen === null ? [[], []] : POLICIES.map((_, policy) => road(chosen, policy));
    picture.classList.toggle("walking", chosen !== null);
    const on = new Set(walks.flat());
    const here = typeof chosen === "number" ? [chosen] : [], lines = sections[current].querySelectorAll(".overview line");
    mark("on-road", [...on].map((i) => all[i]));
    mark("chosen", here.flatMap((i) => lines.length ? [all[i], lines[i]] : [all[i]]));
    picture.querySelectorAll("[aria-pressed=true]").forEach((node) => node.setAttribute("aria-pressed", false));
    here.forEach((i) => all[i].setAttribute("aria-pressed", true));
    const from = walks.map((walk) => new Set([...here, ...walk]));
    mark("lit", [...picture.querySelectorAll(".hop")].filter((hop) => from[hop.matches(".v0") ? 0 : 1].has(Number(hop.dataset.from))));
    mark("near", [...picture.querySelectorAll(".edge")].filter((edge) => {
      // A range is shown from its own end only: whoever is old is in all of them.
      const accepts = edge.dataset.to === String(chosen);
      return accepts || (!edge.matches(".skipRange") && edge.dataset.from.split(" ").includes(String(chosen)));
    }));
    panel.replaceChildren(...(chosen === null ? channelDetails() : entryDetails(walks)));
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
    const rule = make("a", `${each.rule} ${each.name}`, "rule");
    rule.href = each.url;
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

  function findings(list, withEntry) {
    const order = { error: 0, warning: 1, note: 2 };
    const sorted = [...list].sort((a, b) => order[a.severity] - order[b.severity]);
    const hurting = sorted.filter((each) => each.severity !== "note"), notes = sorted.filter((each) => each.severity === "note");
    const parts = hurting.map((each) => finding(each, withEntry));
    if (notes.length) {
      const more = make("details");
      more.append(make("summary", notes.length === 1 ? "1 note" : `${notes.length} notes`), ...notes.map((each) => finding(each, withEntry)));
      parts.push(more);
    }
    return parts;
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
    parts.push(make("h3", here.findings.length ? "Findings" : "Nothing to find fault with"), ...findings(here.findings, true));
    return parts;
  }

  function entryDetails(walks) {
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
    const found = typeof chosen === "number" ? channel().findings.filter((each) => each.entry === chosen) : [];
    if (found.length) parts.push(make("h3", "Findings"), ...findings(found, false));
    return parts;
  }

  function ending(node, policy) {
    const road = node.roads[policy];
    return Array.isArray(road) ? { kind: road[1], text: road[2] } : { kind: road.kind, text: road.end };
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

  // Of a long road the beginning and the end, and the rest a hundred at a time: ten thousand buttons take seconds.
  function hopList(walk) {
    const list = make("ol"), [before, after] = walk.length > 40 ? [10, 10] : [walk.length, 0];
    const item = (i) => {
      const li = make("li");
      li.value = i + 1;
      li.append(link(walk[i]));
      return li;
    };
    const items = (from, to) => Array.from({ length: to - from }, (_, i) => item(from + i));
    list.append(...items(0, before));
    if (!after) return list;
    const end = walk.length - after, more = make("button", undefined, "link"), gap = make("li", undefined, "gap");
    let shown = before;
    const count = () => (more.textContent = `and ${(end - shown).toLocaleString("en")} more`);
    more.type = "button";
    more.addEventListener("click", () => {
      const next = Math.min(shown + 100, end), added = items(shown, next);
      gap.before(...added);
      added[0].firstChild.focus();
      shown = next;
      if (shown === end) gap.remove();
      else count();
    });
    count();
    gap.append(more);
    list.append(gap, ...items(end, walk.length));
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
    const found = wanted === "" ? [] : [...channel().nodes.keys()].filter((i) => holds(channel().nodes[i], wanted));
    const all = nodes();
    mark("match", found.map((i) => all[i]));
    matches.textContent = wanted === "" ? "" : found.length ? `${found.length} found, Enter chooses` : elsewhere(({ nodes }) => nodes.some((node) => node.roads && holds(node, wanted)));
    return found[0] ?? null;
  }

  const holds = (node, wanted) => node.name.toLowerCase().includes(wanted) || node.version.toLowerCase().includes(wanted);

  function elsewhere(has) {
    const other = data.channels.find(has);
    return other ? `not here, but in ${other.name}` : "not in this package; --installed draws its road";
  }

  find.addEventListener("input", () => {
    const first = search();
    if (first !== null) reveal(first);
  });
  $("search").addEventListener("submit", (event) => {
    event.preventDefault();
    const meant = named(find.value) ?? search();
    if (find.value.trim() === "" || meant === null) return;
    choose(meant);
  });

  // ── the keyboard: one stop for the whole drawing, arrows inside it ──

  function rove(column) {
    svg().querySelectorAll(".node[tabindex='0']").forEach((node) => (node.tabIndex = -1));
    if (column >= 0) nodes()[column].tabIndex = 0;
  }

  sections.forEach((section) => {
    const picture = section.querySelector("svg.live");
    picture.addEventListener("click", (event) => {
      const node = event.target.closest(".node");
      // Whoever has just selected a label wants to copy it.
      if (!node || !getSelection().isCollapsed) return;
      const column = Number(node.dataset.i);
      if (column === chosen) clear();
      else choose(column, { focus: true });
    });
    picture.addEventListener("keydown", (event) => {
      const node = event.target.closest(".node");
      if (!node) return;
      const column = Number(node.dataset.i), last = nodes().length - 1;
      const target = { ArrowLeft: column - 1, ArrowRight: column + 1, ArrowUp: column + 1, ArrowDown: column - 1, Home: 0, End: last }[event.key];
      if (event.key === "Enter" || event.key === " ") choose(column, { focus: true });
      else if (target === undefined) return;
      else if (target >= 0 && target <= last) {
        rove(target);
        nodes()[target].focus({ preventScroll: true });
        reveal(target);
      }
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
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    closed.forEach((each) => (each.open = true));
  });
  addEventListener("afterprint", () => closed.forEach((each) => (each.open = false)));
  addEventListener("resize", follow);
  addEventListener("hashchange", restore);
  restore();
})();
