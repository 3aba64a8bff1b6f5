"use strict";
// Draws the JSON beside it. Nothing from the analysed repository becomes markup: text is set as text, classes and
// numbers come from closed lists.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const SVG = "http://www.w3.org/2000/svg";
  const FORMS = ["full", "trimmed", "interface", "signature", "name"];
  const CERTAINTIES = ["certain", "likely", "possible"];
  const FIRST_OMITTED = 40;
  const WARNINGS = 60;
  const MANY_EDGES = 300;
  const at = (id) => document.getElementById(id);
  const number = (value) => value.toLocaleString("en-US");

  function make(tag, className, text) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  }

  const blocks = []; // by item: its button
  const columnOf = []; // by item: index of its column
  const grid = []; // by column: its buttons from top to bottom
  const board = at("board");
  let selected = null; // an item's index
  let current = null; // the one button that Tab reaches

  // ------------------------------------------------------------------------------------------------------ header

  function drawHeader() {
    document.title = `Context for ${data.target}`;
    at("heading").textContent = `Context for ${data.target}`;
    const whole = `all ${number(data.files_scanned)} files: ${number(data.naive_tokens)}`;
    const parts = [`${number(data.tokens)} ${data.tokenizer} tokens (${whole})`, `${number(data.items.length)} symbols`];
    if (data.left_out) parts.push(`${number(data.left_out)} left out`);
    at("figures").textContent = parts.join(" · ");
    const used = new Set(data.items.map((item) => item.form));
    for (const form of FORMS) {
      if (used.has(form)) addLegend(make("span", `swatch ${form}`), form);
    }
    if (data.left_out) addLegend(make("span", "swatch left-out"), "left out");
    const drawn = new Set(data.edges.map((edge) => edge.certainty));
    for (const certainty of CERTAINTIES) {
      if (drawn.has(certainty)) addLegend(make("span", `stroke ${certainty}`), certainty);
    }
    addLegend(null, "taller: more tokens (square root)");
  }

  function addLegend(mark, text) {
    const entry = make("li");
    if (mark) entry.append(mark);
    entry.append(text);
    at("legend").append(entry);
  }

  // ------------------------------------------------------------------------------------------------------ blocks

  const heightOf = (tokens) => Math.max(20, Math.round(14 + 2 * Math.sqrt(tokens)));

  function drawColumns() {
    for (const [index, column] of data.columns.entries()) {
      const box = addColumn(column.title, sizeOf(column));
      let path = null;
      let file = null;
      for (const number of column.items) {
        const item = data.items[number];
        columnOf[number] = index;
        if (item.inside === null && item.path !== path) {
          path = item.path;
          file = make("section", "file");
          const label = make("h3", "label");
          const cut = path.lastIndexOf("/") + 1;
          if (cut) label.append(make("span", "before", path.slice(0, cut)));
          label.append(make("span", "own", path.slice(cut)));
          label.title = path;
          file.append(label);
          box.append(file);
        }
        drawItem(number, item, file);
      }
    }
    if (data.omitted.length) drawOmitted();
  }

  function sizeOf(column) {
    const count = column.items.length;
    return `${number(count)} ${count === 1 ? "symbol" : "symbols"}, ${number(column.tokens)} tokens`;
  }

  function addColumn(title, note) {
    const box = make("section", "column");
    const heading = make("h2", "", title);
    heading.append(make("small", "", note));
    box.append(heading);
    board.append(box);
    grid.push([]);
    return box;
  }

  function drawItem(index, item, file) {
    const holder = item.inside === null ? null : blocks[item.inside].parentElement;
    const block = make("div", `block ${item.form}`);
    const button = addButton(block, labelOf(item, holder !== null), item.tokens, () => select(index, false));
    block.dataset.item = String(index);
    if (item.holds && item.form === "full") block.style.minHeight = `${heightOf(item.tokens)}px`;
    else button.style.minHeight = `${heightOf(item.tokens)}px`;
    if (item.holds) block.classList.add("holder");
    button.title = `${item.id}\n${item.form}, ${number(item.tokens)} tokens`;
    blocks[index] = button;
    (holder || file).append(block);
  }

  function addButton(block, label, tokens, action) {
    const button = make("button");
    button.type = "button";
    button.tabIndex = -1;
    button.append(label);
    if (tokens !== null) button.append(make("span", "size", number(tokens)));
    button.addEventListener("click", () => {
      moveTo(button, false);
      action();
    });
    block.append(button);
    grid[grid.length - 1].push(button);
    return button;
  }

  /** The last part of a name is not shortened before the parts in front of it are. */
  function labelOf(symbol, isInside) {
    const label = make("span", "label");
    const name = symbol.kind === "module" ? symbol.path.split("/").pop() : symbol.name;
    const cut = symbol.kind === "module" ? 0 : name.lastIndexOf(".") + 1;
    if (cut && !isInside) label.append(make("span", "before", name.slice(0, cut)));
    label.append(make("span", "own", name.slice(cut)));
    return label;
  }

  function drawOmitted() {
    const box = addColumn("left out", `${number(data.left_out)} ${data.left_out === 1 ? "symbol" : "symbols"}`);
    for (const group of data.omitted) {
      const section = make("section", "reason");
      section.append(make("h3", "", `${number(group.symbols.length)}: ${group.why}`));
      const draw = (symbols) => {
        for (const symbol of symbols) {
          const block = make("div", "block left-out");
          const button = addButton(block, labelOf(symbol, false), null, () => showOmitted(button, symbol, group));
          button.title = symbol.id;
          section.append(block);
        }
      };
      draw(group.symbols.slice(0, FIRST_OMITTED));
      const rest = group.symbols.slice(FIRST_OMITTED);
      if (rest.length) {
        const more = make("button", "more", `${number(rest.length)} more`);
        more.type = "button";
        more.addEventListener("click", () => {
          more.remove();
          draw(rest);
          drawEdges();
        });
        section.append(more);
      }
      box.append(section);
    }
  }

  // ------------------------------------------------------------------------------------------------------- edges

  let svg = null;

  function drawEdges() {
    if (svg) svg.remove();
    svg = document.createElementNS(SVG, "svg");
    svg.id = "edges";
    svg.setAttribute("aria-hidden", "true");
    svg.setAttribute("width", String(board.scrollWidth));
    svg.setAttribute("height", String(board.scrollHeight));
    const origin = board.getBoundingClientRect();
    const places = blocks.map((button) => button.getBoundingClientRect());
    for (const edge of data.edges) {
      if (!edge.brought && !at("all").checked && edge.from !== selected && edge.to !== selected) continue;
      const path = document.createElementNS(SVG, "path");
      path.setAttribute("d", curve(places[edge.from], places[edge.to], columnOf[edge.to] - columnOf[edge.from], origin));
      if (CERTAINTIES.includes(edge.certainty)) path.classList.add(edge.certainty);
      path.dataset.from = String(edge.from);
      path.dataset.to = String(edge.to);
      svg.append(path);
    }
    board.prepend(svg);
    markEdges();
  }

  function curve(from, to, columns, origin) {
    const y1 = from.top + Math.min(from.height / 2, 30) - origin.top;
    const y2 = to.top + Math.min(to.height / 2, 30) - origin.top;
    const isBack = columns < 0;
    const x1 = (isBack ? from.left : from.right) - origin.left;
    const x2 = (columns > 0 ? to.left : to.right) - origin.left;
    if (columns === 0) {
      const out = Math.max(x1, x2) + 14 + Math.min(Math.abs(y2 - y1) / 12, 48);
      return `M${x1} ${y1}C${out} ${y1} ${out} ${y2} ${x2} ${y2}`;
    }
    const bend = isBack ? -30 : 30;
    return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
  }

  function markEdges() {
    svg.classList.toggle("chosen", selected !== null);
    svg.classList.toggle("many", svg.childElementCount > MANY_EDGES);
    const chain = selected === null ? [] : data.items[selected].chain.map((step) => step.item);
    const onChain = new Set(chain.slice(1).flatMap((item, i) => [`${chain[i]} ${item}`, `${item} ${chain[i]}`]));
    for (const path of svg.querySelectorAll("path")) {
      const { from, to } = path.dataset;
      path.classList.toggle("near", Number(from) === selected || Number(to) === selected);
      path.classList.toggle("chain", onChain.has(`${from} ${to}`));
    }
  }

  // ------------------------------------------------------------------------------------------------------- panel

  function startPanel(title) {
    const panel = at("panel");
    panel.replaceChildren(make("h2", "code", title));
    panel.scrollTop = 0;
    return panel;
  }

  function select(index, scroll) {
    unmark();
    selected = index;
    const button = blocks[index];
    button.parentElement.classList.add("selected");
    button.setAttribute("aria-pressed", "true");
    if (scroll) button.scrollIntoView({ block: "center", inline: "center" });
    drawEdges();
    showItem(index);
  }

  function unmark() {
    selected = null;
    for (const block of board.querySelectorAll(".selected")) {
      block.classList.remove("selected");
      block.firstElementChild.removeAttribute("aria-pressed");
    }
  }

  function showItem(index) {
    const item = data.items[index];
    const panel = startPanel(item.id);
    const place = make("p");
    place.append(make("span", `badge ${item.form}`, item.form));
    place.append(make("span", "code", item.place));
    panel.append(place);
    panel.append(make("p", "soft", `${item.kind}, ${item.role}, ${number(item.tokens)} tokens; ${item.why}`));
    const terms = item.worth.map(([name, value]) => `${name} ${number(value)}`);
    if (terms.length) panel.append(make("p", "soft", `worth: ${terms.join(", ")}`));
    if (item.chain.length > 1) {
      panel.append(make("h3", "", "What brought it"));
      panel.append(chainOf(item.chain));
    }
    panel.append(make("h3", "", item.form === "full" ? "Source" : "As shown"));
    panel.append(listingOf(item));
    addNeighbours(panel, "Uses", index, "from", "to");
    addNeighbours(panel, "Used by", index, "to", "from");
  }

  function chainOf(chain) {
    const list = make("ol");
    for (const step of chain) {
      const entry = make("li", "code");
      if (step.certainty) entry.append(step.back ? "← " : "→ ");
      entry.append(step.item === null ? step.id : linkTo(step.item));
      if (step.certainty) {
        entry.append(make("span", "soft", ` (${step.certainty}, ${step.rule}) ${step.place}`));
      }
      list.append(entry);
    }
    return list;
  }

  function linkTo(index) {
    const link = make("button", "link code", data.items[index].id);
    link.type = "button";
    link.addEventListener("click", () => {
      moveTo(blocks[index], true);
      select(index, true);
    });
    return link;
  }

  function addNeighbours(panel, title, index, mine, other) {
    const edges = data.edges.filter((edge) => edge[mine] === index);
    if (!edges.length) return;
    panel.append(make("h3", "", title));
    const list = make("ul");
    for (const edge of edges) {
      const entry = make("li");
      entry.append(linkTo(edge[other]));
      entry.append(make("span", "soft", ` ${edge.kind}, ${edge.certainty}, ${edge.place}`));
      list.append(entry);
    }
    panel.append(list);
  }

  function listingOf(item) {
    const box = make("div", "listing");
    box.tabIndex = 0;
    const text = codeOf(item).replace(/\n$/, "");
    if (item.form === "full" && item.is_numbered) {
      const numbers = text.split("\n").map((_, i) => item.line + i);
      const gutter = make("pre", "numbers", numbers.join("\n"));
      gutter.setAttribute("aria-hidden", "true");
      box.append(gutter);
    }
    const listing = make("pre");
    listing.append(make("code", "", text));
    box.append(listing);
    return box;
  }

  /** What lies inside something shown in full is not written twice: its lines are cut out of the larger text. */
  function codeOf(item) {
    if (item.within === null) return item.code;
    const whole = data.items[item.within];
    const lines = whole.code.split("\n");
    return lines.slice(item.line - whole.line, item.end_line - whole.line + 1).join("\n");
  }

  function showOmitted(button, symbol, group) {
    unmark();
    button.parentElement.classList.add("selected");
    button.setAttribute("aria-pressed", "true");
    drawEdges();
    const panel = startPanel(symbol.id);
    panel.append(make("p", "code", symbol.place));
    panel.append(make("p", "soft", `${symbol.kind}, hop ${symbol.hop}; left out: ${group.why}`));
    if (group.fetch) {
      panel.append(make("h3", "", "To get it"));
      panel.append(make("code", "command", group.fetch.replace(/\bID\b/, () => symbol.id)));
    }
  }

  function showOverview() {
    unmark();
    const panel = startPanel(data.target);
    panel.append(make("p", "soft", "Click a symbol for its source and the chain of edges that brought it. Arrow keys move, Enter opens, Escape closes, / searches."));
    if (data.seeds) showSeeds(panel, data.seeds);
    if (data.warnings.length) {
      panel.append(make("h3", "", `Warnings (${number(data.warnings.length)})`));
      const list = make("ul");
      for (const warning of data.warnings.slice(0, WARNINGS)) {
        const entry = make("li");
        entry.append(make("span", "code", `${warning.path}:${warning.line}`), ` ${warning.message}`);
        list.append(entry);
      }
      const more = data.warnings.length - WARNINGS;
      if (more > 0) list.append(make("li", "soft", `and ${number(more)} more; --format json lists them all`));
      panel.append(list);
    }
    if (data.omitted.length) {
      panel.append(make("h3", "", "Left out"));
      const list = make("ul");
      for (const group of data.omitted) {
        const entry = make("li", "", `${number(group.symbols.length)}: ${group.why}`);
        if (group.fetch) entry.append(make("code", "command", group.fetch));
        list.append(entry);
      }
      panel.append(list);
    }
    if (svg) drawEdges();
  }

  function showSeeds(panel, seeds) {
    panel.append(make("h3", "", seeds.title));
    const list = make("ul");
    for (const mark of seeds.marks) {
      const entry = make("li");
      entry.append(make("span", "code", `${mark.place} ${mark.text}`), make("span", "soft", ` ${mark.note}`));
      list.append(entry);
    }
    for (const found of seeds.scores) list.append(make("li", "code", `${found.id} ${(found.score / 1000).toFixed(3)}`));
    for (const note of seeds.notes) list.append(make("li", "soft", note));
    panel.append(list);
  }

  // ---------------------------------------------------------------------------------------------------- keyboard

  function moveTo(button, focus) {
    if (current) current.tabIndex = -1;
    current = button;
    current.tabIndex = 0;
    if (focus) current.focus({ preventScroll: false });
  }

  function step(key) {
    const column = grid.findIndex((buttons) => buttons.includes(current));
    const row = grid[column].indexOf(current);
    if (key === "ArrowUp" || key === "ArrowDown") return grid[column][row + (key === "ArrowDown" ? 1 : -1)];
    if (key === "Home") return grid[column][0];
    if (key === "End") return grid[column][grid[column].length - 1];
    const beside = grid[column + (key === "ArrowRight" ? 1 : -1)] || [];
    const middle = (button) => button.getBoundingClientRect().top;
    const here = middle(current);
    return beside.reduce((best, b) => (!best || Math.abs(middle(b) - here) < Math.abs(middle(best) - here) ? b : best), null);
  }

  const MOVES = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End"];

  function listen() {
    board.addEventListener("keydown", (event) => {
      if (!MOVES.includes(event.key) || !current || event.target !== current) return;
      const next = step(event.key);
      if (next) moveTo(next, true);
      event.preventDefault();
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") showOverview();
      if (event.key === "/" && event.target !== at("filter")) {
        at("filter").focus();
        event.preventDefault();
      }
    });
    at("filter").addEventListener("input", applyFilter);
    at("tools").addEventListener("submit", (event) => event.preventDefault());
    at("all").addEventListener("change", drawEdges);
    window.addEventListener("resize", drawEdges);
  }

  function applyFilter() {
    const wanted = at("filter").value.trim().toLowerCase();
    let found = 0;
    for (const [index, item] of data.items.entries()) {
      const isFound = `${item.id} ${item.path}`.toLowerCase().includes(wanted);
      blocks[index].parentElement.classList.toggle("faded", !isFound);
      if (isFound && !found) blocks[index].scrollIntoView({ block: "nearest", inline: "nearest" });
      if (isFound) found += 1;
    }
    for (const block of board.querySelectorAll(".left-out")) {
      const isFound = block.firstElementChild.title.toLowerCase().includes(wanted);
      block.classList.toggle("faded", !isFound);
    }
    at("count").textContent = wanted ? `${number(found)} of ${number(data.items.length)}` : "";
  }

  drawHeader();
  drawColumns();
  drawEdges();
  listen();
  showOverview();
  if (blocks.length) moveTo(blocks[0], false);
  const target = board.children[data.middle + 1];
  if (target) target.scrollIntoView({ block: "nearest", inline: "center" });
  document.documentElement.dataset.ready = "yes";
})();
