// The list of sentences, and the pictures of one of them.
const $ = id => document.getElementById(id);
const SHOWN = 100;

function html(parent, name, text) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  parent.appendChild(made);
  return made;
}

// page: title: of a sentence, before its words in the list; figures: of a sentence, [caption, tree, look] of each
// picture of a tree; arcs: the caption of the d-tree; fits: whether a sentence is shown at all; orders: by the
// values of #order, how to compare sentences; note: behind the number of sentences
function browse(page) {
  let found = [], current = -1, listed = 0;

  function list() {
    let terms = [];
    try {
      terms = termsOf($("query").value);
    } catch (error) {
      $("count").textContent = error.message;
      return;
    }
    found = [];
    for (const s of data.sentences) {
      const nodes = page.fits(s) && search(terms, s);
      if (nodes) found.push({ s, nodes });
    }
    const order = $("order") && page.orders[$("order").value];
    if (order) found.sort((a, b) => order(a.s, b.s));
    const number = count => count.toLocaleString("en");
    $("count").textContent = `${number(found.length)} of ${number(data.sentences.length)} sentences${page.note}`;
    $("list").textContent = $("pictures").textContent = "";
    listed = 0;
    current = -1;
    more();
    go(0);
  }

  function more() {
    const box = $("list");
    if (box.lastChild && listed) box.lastChild.remove();
    found.slice(listed, listed + SHOWN).forEach(({ s }, k) => {
      const button = html(box, "button", page.title(s)), at = listed + k;
      html(button, "span", s.w.join(" "));
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
    show(found[at]);
  }

  function show({ s, nodes }) {
    const box = $("pictures"), x = columns(s);
    box.textContent = "";
    // Pictures stand side by side where they can be read there.
    box.style.setProperty("--wide", `${Math.ceil(SMALLEST * widthTo(s, x)) + 16}px`);
    html(box, "p", `${s.f ? s.f + " " : ""}${s.i}: ${s.w.join(" ")}`).id = "sentence";
    const figures = page.figures(s), boxes = [...figures.map(figure => figure[0]), page.arcs].map(caption => {
      const figure = html(box, "figure");
      html(figure, "figcaption", caption);
      return html(figure, "div");
    });
    figures.forEach(([_, tree, look], k) => drawTree(boxes[k], s, x, tree, look, nodes[k]));
    drawArcs(boxes[figures.length], s, x, new Set(nodes.flatMap(side => [...side])));
  }

  // Pictures of a sentence scroll together. Those that follow say so, too, and are not followed.
  $("pictures").addEventListener("scroll", event => {
    const left = event.target.scrollLeft;
    if (left === event.target.followed) return;
    for (const one of document.querySelectorAll("#pictures figure > div")) {
      one.scrollLeft = left;
      one.followed = one.scrollLeft;
    }
  }, true);

  const steps = { ArrowDown: 1, ArrowUp: -1, n: 1, p: -1 };
  $("list").addEventListener("keydown", event => {
    if (!event.key.startsWith("Arrow") || !steps[event.key]) return;
    event.preventDefault();
    go(current + steps[event.key]);
  });
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    if (event.key === "/") {
      event.preventDefault();
      $("query").select();
    } else if (steps[event.key] && event.key.length === 1) go(current + steps[event.key]);
  });
  let waiting = 0;
  const listNow = () => { clearTimeout(waiting); waiting = 0; list(); };
  $("query").oninput = () => {
    clearTimeout(waiting);
    if (data.sentences.length > 5000) waiting = setTimeout(listNow, 200);
    else listNow();
  };
  $("query").addEventListener("keydown", event => {
    if (event.key !== "Enter") return;
    if (waiting) listNow(); // a list that is made later would take the focus away
    if (found.length) $("list").children[current].focus();
  });
  $("previous").onclick = () => go(current - 1);
  $("next").onclick = () => go(current + 1);
  for (const select of document.querySelectorAll("#filters select")) select.onchange = list;
  list();
}
