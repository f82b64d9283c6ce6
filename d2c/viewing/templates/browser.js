// The list of sentences, and the pictures of one of them.
const $ = id => document.getElementById(id);
const SHOWN = 100;
const SMALLEST = 0.7; // of a wide picture that is made smaller by itself, to be read still

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
  let shown = []; // of the sentence: what redraws each picture
  let zoom = "auto"; // or "fit", or a number

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

  // Whether each token is in what was found in any of the trees.
  function coveredBy(s, nodes) {
    const trees = s.c.length ? s.c.map(tree => within(tree || s.c[0], nodes[s.c.indexOf(tree)])) : [];
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
    const sentence = html(box, "p", `${s.i}: `);
    sentence.id = "sentence";
    write(sentence, s, hit, 0);
    const common = { middles, compact };
    shown = page.figures(s).map(([caption, tree, look], k) => {
      const folded = foldsOf(s, tree, nodes[k]);
      return figure(s, caption, tree, box => drawTree(box, s, { ...common, tree, look, found: nodes[k], folded, caption }), folded);
    });
    const tokens = new Set(nodes.flatMap(side => [...side]));
    shown.push(figure(s, page.arcs, null, box => drawArcs(box, s, { ...common, found: tokens, inside: hit, caption: page.arcs })));
    // Pictures stand side by side where they can be read there.
    box.style.setProperty("--wide", `${Math.ceil(SMALLEST * most(shown.map(one => one.box.firstChild.viewBox.baseVal.width))) + 16}px`);
    rescale();
    (box.querySelector("mark") || sentence).scrollIntoView({ block: "nearest" });
    reach(shown.map(one => one.box).find(box => box.querySelector(".found, .within")));
  }

  // Nodes at the level below which trees are folded, but for those with something found inside.
  function foldsOf(s, tree, nodes) {
    const level = +$("level").value, { depth } = level > 0 ? shapeOf(tree, s.w.length) : {}, open = new Set();
    if (!depth) return new Set();
    for (const node of nodes) for (let up = tree[0][node]; up >= 0 && !open.has(up); up = tree[0][up]) open.add(up);
    return new Set([...depth.keys()].filter(node => node >= s.w.length && depth[node] === level && !open.has(node)));
  }

  // A picture with its buttons; folded: of a tree, the nodes that are.
  function figure(s, caption, tree, draw, folded) {
    const outer = html($("pictures"), "figure");
    html(outer, "figcaption", caption);
    const tools = html(outer, "span"), box = html(outer, "div");
    if (tree) html(tools, "button", "copy brackets").onclick = () => copy(brackets(s, tree));
    html(tools, "button", "save SVG").onclick = () => save(box.firstChild, `${s.i} ${caption}.svg`.replace(/[^\w.]+/gu, "-"));
    box.tabIndex = 0;
    draw(box);
    const toggle = node => {
      if (!folded.delete(node)) folded.add(node);
      box.textContent = "";
      draw(box);
      rescale();
      at(node).focus();
    };
    const at = node => box.querySelector(`[data-node="${node}"]`);
    const nodeOf = event => { const group = event.target.closest("[data-node]"); return group ? +group.dataset.node : -1; };
    box.onclick = event => { if (nodeOf(event) >= 0) toggle(nodeOf(event)); };
    box.onkeydown = event => {
      const node = nodeOf(event);
      if (node < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
      const parents = tree[0], near = parent => [...parents.keys()].filter(one => parents[one] === parent && at(one));
      const beside = near(parents[node]), k = beside.indexOf(node);
      const to = { ArrowUp: parents[node], ArrowDown: near(node)[0], ArrowLeft: beside[k - 1], ArrowRight: beside[k + 1] };
      if (event.key === "Enter" || event.key === " ") toggle(node);
      else if (event.key in to) at(to[event.key])?.focus();
      else return;
      event.preventDefault();
    };
    return { box };
  }

  function scaleOf(svg) {
    const fits = Math.min(1, (svg.parentNode.clientWidth - 14) / svg.viewBox.baseVal.width);
    return zoom === "auto" ? Math.max(SMALLEST, fits) : zoom === "fit" ? fits : zoom;
  }

  function rescale() {
    for (const { box } of shown) {
      const svg = box.firstChild, scale = scaleOf(svg), { width, height } = svg.viewBox.baseVal;
      svg.setAttribute("width", width * scale);
      svg.setAttribute("height", height * scale);
    }
    $("zoom").value = shown.length ? `${Math.round(100 * scaleOf(shown[0].box.firstChild))} %` : "";
  }

  // Zooms to "fit", a number, or by a factor; what is at a point of the screen, or in the middle, stays there.
  function zoomTo(to, event) {
    if (!shown.length) return;
    const frames = shown.map(({ box }) => {
      const { left, top } = box.getBoundingClientRect(), inside = event && box.contains(event.target);
      const x = inside ? event.clientX - left : box.clientWidth / 2, y = inside ? event.clientY - top : box.clientHeight / 2;
      return { box, x, y, right: box.scrollLeft + x, down: box.scrollTop + y, scale: scaleOf(box.firstChild) };
    });
    zoom = to;
    rescale();
    for (const { box, x, y, right, down, scale } of frames) {
      const factor = scaleOf(box.firstChild) / scale;
      box.scrollLeft = right * factor - x;
      box.scrollTop = down * factor - y;
    }
  }
  const zoomBy = (factor, event) => shown.length && zoomTo(Math.max(0.1, Math.min(5, factor * scaleOf(shown[0].box.firstChild))), event);

  // Scrolls to what was found, to its middle where there is room for all of it.
  function reach(box) {
    if (!box) return;
    const rects = [...box.querySelectorAll(".found, .within")].map(one => one.getBoundingClientRect()), frame = box.getBoundingClientRect();
    const offset = (low, high, size) => {
      const from = rects.reduce((a, one) => Math.min(a, one[low]), Infinity), to = most(rects.map(one => one[high]));
      return (to - from < size ? (from + to - size) / 2 : from - 10) - frame[low];
    };
    box.scrollLeft += offset("left", "right", box.clientWidth);
    box.scrollTop += offset("top", "bottom", box.clientHeight);
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch { // as some browsers do for pages of files
      const area = html(document.body, "textarea", text);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    $("said").value = "copied";
    setTimeout(() => { $("said").value = ""; }, 2000);
  }

  // With the styles of pictures in light colours, without variables, which many programs do not know.
  function save(svg, name) {
    const rules = [...document.styleSheets[0].cssRules], colours = rules.find(rule => rule.selectorText === ":root").style;
    const styles = rules.filter(rule => rule.selectorText?.startsWith("#pictures ")).map(rule => rule.cssText.replaceAll("#pictures ", ""));
    const whole = svg.cloneNode(true);
    element(whole, "style", {}, styles.join("\n").replace(/var\((--[\w-]+)\)/gu, (_, variable) => colours.getPropertyValue(variable)));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(whole)], { type: "image/svg+xml" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  // Pictures of a sentence scroll together along its words. Those that follow say so, too, and are not followed.
  $("pictures").addEventListener("scroll", event => {
    const side = $("compact").checked ? "scrollTop" : "scrollLeft", to = event.target[side];
    if (to === event.target.followed) return;
    for (const { box } of shown) {
      box[side] = to;
      box.followed = box[side];
    }
  }, true);

  $("pictures").addEventListener("wheel", event => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoomBy(event.deltaY < 0 ? 1.1 : 1 / 1.1, event);
  }, { passive: false });

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
    if (data.sentences.length > 5000) waiting = setTimeout(listNow, 200);
    else listNow();
  };
  $("query").addEventListener("keydown", event => {
    if (event.key !== "Enter") return;
    if (waiting) listNow(); // a list that is made later would take the focus away
    if (found.length) $("list").children[current].focus();
  });
  $("previous").onclick = keys.p;
  $("next").onclick = keys.n;
  $("smaller").onclick = keys["-"];
  $("larger").onclick = keys["+"];
  $("full").onclick = keys[0];
  $("fit").onclick = keys.f;
  $("compact").onchange = $("level").oninput = show;
  window.onresize = rescale;
  for (const select of document.querySelectorAll("#filters select")) select.onchange = list;
  list();
}
