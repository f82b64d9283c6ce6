// The list of sentences, and the pictures of one of them.
const $ = id => document.getElementById(id);
const SHOWN = 100;

function html(parent, name, text) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  parent.appendChild(made);
  return made;
}

const placeOf = s => [s.file, s.source, s.i].filter(Boolean).join(" ");

// Whether each token is in what was found in any of the trees.
function coveredBy(s, nodes) {
  const trees = s.c.map((tree, k) => within(tree || s.c[0], nodes[k]));
  return s.w.map((_, i) => trees.some(tree => tree[i]) || nodes.some(side => side.has(i)));
}

// Words from one on, with marks.
function write(parent, s, hit, from) {
  if (from) parent.append("… ");
  for (let i = from, end; i < s.w.length; i = end) {
    for (end = i + 1; end < s.w.length && hit[end] === hit[i];) end++;
    if (i > from) parent.append(" ");
    if (hit[i]) html(parent, "mark", s.w.slice(i, end).join(" "));
    else parent.append(s.w.slice(i, end).join(" "));
  }
}

// page: title: of a sentence, before its words in the list; figures: of a sentence, [caption, tree, look] of each
// picture of a tree; arcs: the caption of the d-tree; fits: whether a sentence is shown at all; orders: by the
// values of #order, how to compare sentences; note: behind the number of sentences; shown: if there, is called with a
// sentence that is shown, whether each of its words is in what was found, and the paragraph with its words
// Returns what lists the sentences anew, and shows one of those that are listed.
function browse(page) {
  let found = [], current = -1, listed = 0, entering = false, slow = 0;

  function list(at = 0, then = () => {}) {
    $("list").ariaBusy = "true";
    clearTimeout(slow);
    slow = setTimeout(() => { $("count").textContent = "searching …"; }, 300);
    seek($("query").value, data.sentences.filter(page.fits), (all, over, wrong) => {
      clearTimeout(slow);
      $("list").ariaBusy = "false";
      if (wrong) $("count").textContent = wrong;
      else listAll(all, over, at);
      if (entering) enter();
      then();
    });
  }

  function listAll(all, over, at) {
    found = all;
    const order = $("order") && page.orders[$("order").value];
    if (order) found.sort((a, b) => order(a.s, b.s));
    const number = count => count.toLocaleString("en");
    $("count").textContent = `${number(found.length)} of ${number(data.sentences.length)} sentences${page.note}${over ? `; ${number(over)} not searched: that takes too long` : ""}`;
    $("list").textContent = $("pictures").textContent = "";
    listed = 0;
    current = -1;
    boxes = [];
    rescale();
    more();
    go(Math.min(at, found.length - 1)); // a tree that was parsed again may be found no longer
  }

  function enter() {
    entering = $("list").ariaBusy === "true"; // a list that is made later would take the focus away
    if (!entering && found.length) $("list").children[current].focus();
  }

  function more() {
    const box = $("list");
    if (box.lastChild && listed) box.lastChild.remove();
    found.slice(listed, listed + SHOWN).forEach(({ s, nodes }, k) => {
      const button = html(box, "button", page.title(s)), at = listed + k, hit = coveredBy(s, nodes);
      // Of a line that is cut at its end, the hit is shown, too.
      write(html(button, "span"), s, hit, Math.max(0, hit.indexOf(true) - 3));
      button.onclick = () => go(at);
    });
    listed = Math.min(listed + SHOWN, found.length);
    const last = html(box, "button", "more");
    last.hidden = listed === found.length;
    last.onclick = more;
  }

  function go(at) {
    if (at < 0 || at >= found.length) return;
    while (at >= listed) more();
    const buttons = $("list").children;
    if (current >= 0) buttons[current].removeAttribute("aria-current");
    current = at;
    buttons[at].setAttribute("aria-current", "true");
    if ($("list").contains(document.activeElement)) buttons[at].focus();
    const list = $("list"), { offsetTop: top, offsetHeight: height } = buttons[at];
    list.scrollTop = Math.max(top + height - list.clientHeight, Math.min(top, list.scrollTop));
    show();
  }

  function show() {
    if (current < 0) return;
    const { s, nodes } = found[current], box = $("pictures"), compact = $("compact").checked, hit = coveredBy(s, nodes);
    const trees = s.c.filter(tree => tree), middles = middlesOf(s, trees, [...s.w.keys()], compact);
    box.textContent = "";
    const sentence = html(box, "p", `${placeOf(s)}: `);
    sentence.id = "sentence";
    write(sentence, s, hit, 0);
    page.shown?.(s, hit, sentence);
    const common = { middles, compact };
    boxes = page.figures(s).map(([caption, tree, look], k) => {
      const folded = foldsOf(s, tree, nodes[k]);
      return figure(s, caption, tree, box => drawTree(box, s, { ...common, tree, look, found: nodes[k], folded, caption }), folded);
    });
    const tokens = new Set(nodes.flatMap(side => [...side]));
    boxes.push(figure(s, page.arcs, null, box => drawArcs(box, s, { ...common, found: tokens, inside: hit, caption: page.arcs })));
    // Pictures stand side by side where they can be read there.
    box.style.setProperty("--wide", `${Math.ceil(SMALLEST * most(boxes.map(one => one.firstChild.viewBox.baseVal.width))) + 16}px`);
    rescale();
    (box.querySelector("mark") || sentence).scrollIntoView({ block: "nearest" });
    reach(boxes.find(one => one.querySelector(".found, .within")));
  }

  const steps = { ArrowDown: 1, ArrowUp: -1 };
  const keys = {
    n: () => go(current + 1), p: () => go(current - 1), "/": () => $("query").select(),
    "+": () => zoomBy(1.25), "-": () => zoomBy(0.8), 0: () => zoomTo(1), f: () => zoomTo("fit"), c: () => $("compact").click(),
  };
  $("list").addEventListener("keydown", event => {
    if (!steps[event.key]) return;
    event.preventDefault();
    go(current + steps[event.key]);
  });
  document.addEventListener("keydown", event => {
    const typed = event.target.closest("input:not([type=checkbox]), select, textarea");
    if (event.ctrlKey || event.metaKey || event.altKey || typed || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  let waiting = 0;
  const listNow = () => { clearTimeout(waiting); waiting = 0; list(); };
  $("query").oninput = () => {
    clearTimeout(waiting);
    entering = false;
    if (data.sentences.length > 5000) waiting = setTimeout(listNow, 200);
    else listNow();
  };
  $("query").addEventListener("keydown", event => {
    if (event.key !== "Enter") return;
    if (waiting) listNow();
    enter();
  });
  $("previous").onclick = keys.p;
  $("next").onclick = keys.n;
  $("smaller").onclick = keys["-"];
  $("larger").onclick = keys["+"];
  $("full").onclick = keys[0];
  $("fit").onclick = keys.f;
  $("compact").onchange = $("level").oninput = show;
  window.onresize = rescale;
  for (const select of document.querySelectorAll("#filters select")) select.onchange = () => list();
  list(0, () => scrollTo(0, 0));
  return (at = current) => list(Math.max(0, at));
}
