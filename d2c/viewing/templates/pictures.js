// Pictures of a sentence: c-trees with crossing branches, and a d-tree, over words in the same columns; in the
// compact layout from left to right, beside words in the same lines.
const ROW = 40, LINE = 19;
const ruler = document.createElement("canvas").getContext("2d");
ruler.font = "bold 13px system-ui, sans-serif";
const widthOf = text => ruler.measureText(text).width;
const most = numbers => numbers.reduce((a, b) => a > b ? a : b, 0);
const sum = numbers => numbers.reduce((a, b) => a + b, 0);
const widest = texts => most(texts.map(widthOf));

function element(parent, name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (text !== undefined) made.textContent = text;
  parent.appendChild(made);
  return made;
}

// An empty picture with this room along the words, and over or beside them; it is shown when it has its size.
const picture = (box, compact, along, other, attributes) =>
  element(box, "svg", { viewBox: `0 0 ${compact ? other : along} ${compact ? along : other}`, display: "none", ...attributes });
const wordAt = (i, n) => i < n ? { "data-word": i } : {};
const tagOf = (s, i) => data.tags[s.t[i]];
const arcOf = (s, i) => s.d.length ? data.arcs[s.d[i]] : "";
const labelOf = (s, tree, node) => data.labels[tree[1][node - s.w.length]];

// Of each node, tokens first: children, first and last token, depth. Children come before parents.
function shapeOf(tree, n) {
  const parents = tree[0], kids = parents.map(() => []), first = [], last = [], depth = [];
  parents.forEach((parent, node) => { if (parent >= 0) kids[parent].push(node); });
  kids.forEach((below, node) => {
    first[node] = node < n ? node : below.reduce((a, kid) => Math.min(a, first[kid]), n);
    last[node] = node < n ? node : below.reduce((a, kid) => Math.max(a, last[kid]), 0);
  });
  for (let node = parents.length - 1; node >= 0; node--) depth[node] = parents[node] < 0 ? 1 : depth[parents[node]] + 1;
  return { kids, first, last, depth };
}

// Whether each node is one of these or below one.
function within(tree, nodes) {
  const inside = [];
  for (let node = tree[0].length - 1; node >= 0; node--) inside[node] = nodes.has(node) || (inside[tree[0][node]] ?? false);
  return inside;
}

const wordsIn = (s, tree, node) => {
  const inside = within(tree, new Set([node]));
  return s.w.filter((_, i) => inside[i]);
};
const shortened = words => words.length > 3 ? `${words[0]} … ${words[words.length - 1]}` : words.join(" ");

// As brackets, in the discontinuous format where there are gaps.
function brackets(s, tree) {
  const n = s.w.length, { kids, first, last } = shapeOf(tree, n), size = [], texts = [];
  const safe = text => text.replaceAll("(", "-LRB-").replaceAll(")", "-RRB-").replace(/\s/gu, "\u00a0");
  kids.forEach((below, node) => { size[node] = node < n ? 1 : sum(below.map(kid => size[kid])); });
  const gaps = size.some((count, node) => count <= last[node] - first[node]);
  kids.forEach((below, node) => {
    texts[node] = node < n ? `(${safe(tagOf(s, node))} ${gaps ? node + "=" : ""}${safe(s.w[node])})`
      : `(${safe(labelOf(s, tree, node))} ${below.sort((a, b) => first[a] - first[b]).map(kid => texts[kid]).join(" ")})`;
    for (const kid of below) texts[kid] = "";
  });
  return texts[texts.length - 1];
}

// The two layouts are one with its axes swapped: `along` the words, and a `level` over them, which is x or y.
const place = (compact, along, level) => compact ? { x: level, y: along + 4 } : { x: along, y: level };
// Leaves a point along its level, goes to another one, and ends on a third level.
const way = (compact, along, level, over, to, end) =>
  compact ? `M${level},${along} H${over} V${to} H${end}` : `M${along},${level} V${over} H${to} V${end}`;
const wedge = (compact, along, tip, base, half) =>
  compact ? `M${tip},${along} L${base},${along - half} v${2 * half} Z` : `M${along},${tip} L${along - half},${base} h${2 * half} Z`;

// The middle of each leaf along the words; side by side its text, tag, label of its arc and unary nodes over it
// have room. leaves: tokens and folded nodes
function middlesOf(s, trees, leaves, compact) {
  if (compact) return leaves.map((_, i) => LINE * i + 14);
  const over = leaves.map(leaf => leaf < s.w.length ? [s.w[leaf], tagOf(s, leaf), arcOf(s, leaf)]
    : [shortened(wordsIn(s, trees[0], leaf)), labelOf(s, trees[0], leaf)]);
  for (const tree of trees) {
    const parents = tree[0], kids = new Array(parents.length).fill(0);
    for (const parent of parents) if (parent >= 0) kids[parent]++;
    leaves.forEach((leaf, i) => {
      for (let node = parents[leaf]; node >= 0 && kids[node] === 1; node = parents[node]) over[i].push(labelOf(s, tree, node));
    });
  }
  let x = 6;
  return over.map(texts => {
    const width = widest(texts) + 14;
    x += width;
    return x - width / 2;
  });
}

// The room that leaves need along the words.
const roomFor = (at, texts, compact) => at.length ? at[at.length - 1] + (compact ? 14 : widthOf(texts[texts.length - 1]) / 2 + 20) : 20;

// A node stands above its children, in the lowest row in which no other node's words lie between its own, so
// that branches cross but labels do not.
function rowsOf(nodes, leaves, { kids, first, last }, n) {
  const rows = [], taken = [];
  for (const node of nodes) {
    let row = leaves.has(node) ? +(node >= n) : 1 + most(kids[node].map(kid => rows[kid]));
    while ((taken[row] || []).some(o => first[o] <= last[node] && last[o] >= first[node])) row++;
    (taken[rows[node] = row] ||= []).push(node);
  }
  return [rows, taken];
}

// Words stand below, or right of the tree. Branches leave to the side at once and then go down, where nothing but
// what they lead to stands.
// middles: of all tokens; look: of a node, what it looks like: a class, a title, how dark its shade is; found:
// nodes that were sought; folded: nodes whose words are one leaf
function drawTree(box, s, { middles, tree, look, found, folded, compact, caption }) {
  const n = s.w.length, parents = tree[0], shape = shapeOf(tree, n), { kids, first, depth } = shape;
  const shut = folded.size ? within(tree, folded) : [], inside = within(tree, found);
  const nodes = [...parents.keys()].filter(node => !(shut[node] && (!folded.has(node) || shut[parents[node]])));
  const leaves = nodes.filter(node => node < n || folded.has(node)).sort((a, b) => first[a] - first[b]);
  const texts = leaves.map(leaf => leaf < n ? s.w[leaf] : shortened(wordsIn(s, tree, leaf)));
  const labels = parents.map((_, node) => node < n ? tagOf(s, node) : labelOf(s, tree, node));
  if (folded.size) middles = middlesOf(s, [tree], leaves, compact);
  const at = [], [rows, taken] = rowsOf(nodes, new Set(leaves), shape, n), levels = [], drops = [];
  leaves.forEach((leaf, i) => { at[leaf] = middles[i]; });
  for (const node of nodes) at[node] ??= sum(kids[node].map(kid => at[kid])) / kids[node].length;
  let edge = compact ? 6 : 30 + ROW * (taken.length - 1);
  const base = edge + 20;
  for (const k of taken.keys()) {
    const row = compact ? taken.length - 1 - k : k, wide = widest((taken[row] || []).map(node => labels[node])) + 8;
    levels[row] = compact ? edge + wide / 2 : edge;
    drops[row] = compact ? edge + wide + 7 : edge + ROW / 2 - 6;
    edge += compact ? wide + 14 : -ROW;
  }
  const written = compact ? edge - 4 : base, room = roomFor(middles, texts, compact);
  const svg = picture(box, compact, room, written + (compact ? widest(texts) + 14 : 10), { class: "tree", role: "tree", "aria-label": `${caption}: ${s.w.join(" ")}` });
  for (const node of nodes) {
    const up = parents[node], level = levels[rows[node]], half = widthOf(labels[node]) / 2 + 3;
    if (up >= 0) element(svg, "path", { d: way(compact, at[up], levels[rows[up]], drops[rows[up]], at[node], level - (compact ? half : node < n ? 12 : 10)) });
  }
  leaves.forEach((leaf, i) => {
    const name = (found.has(leaf) ? " found" : "") + (inside[leaf] ? " within" : "");
    if (leaf < n) element(svg, "text", { ...place(compact, at[leaf], levels[0]), class: "tag" + name }, labels[leaf]);
    else element(svg, "path", { d: wedge(compact, at[leaf], levels[rows[leaf]], written - (compact ? 4 : 13), compact ? 6 : widthOf(texts[i]) / 2), class: "fold" });
    element(svg, "text", { ...place(compact, at[leaf], written), class: (leaf < n ? "word" : "words") + (compact ? " start" : "") + name, ...wordAt(leaf, n) }, texts[i]);
  });
  for (const node of nodes.filter(node => node >= n)) {
    const { name = "", title, shade } = look(node), width = widthOf(labels[node]) + 8;
    const { x, y } = compact ? { x: levels[rows[node]], y: at[node] } : { x: at[node], y: levels[rows[node]] };
    const group = element(svg, "g", {
      class: name + (found.has(node) ? " found" : ""), "data-node": node, role: "treeitem", tabindex: parents[node] < 0 ? 0 : -1,
      "aria-level": depth[node], "aria-expanded": !folded.has(node), "aria-label": `${labels[node]}: ${wordsIn(s, tree, node).join(" ")}`,
    });
    const label = { x: x - width / 2, y: y - 10, width, height: 17, rx: 3 };
    element(group, "rect", label);
    if (shade) element(element(group, "g", { class: "shade" }), "rect", { ...label, "fill-opacity": shade });
    element(group, "text", { x, y: y + 3 }, labels[node]);
    if (title) element(group, "title", {}, title);
  }
}

// Arcs stand above the arcs that they cover or cross and that are shorter; that of the root comes from above. In
// the compact layout they stand to the right of the words.
// s.a: of tokens whose head is wrong, the right one; inside: whether a token is in what was found
function drawArcs(box, s, { middles: at, found, inside, compact, caption }) {
  const n = s.w.length, gold = new Map(s.a), level = new Array(n).fill(0);
  const ends = s.h.map((head, m) => [Math.min(m, head - 1), Math.max(m, head - 1)]);
  const arcs = s.h.map((_, m) => m).filter(m => s.h[m] > 0 && s.h[m] <= n && s.h[m] !== m + 1);
  arcs.sort((a, b) => ends[a][1] - ends[a][0] - ends[b][1] + ends[b][0]);
  for (const m of arcs)
    level[m] = 1 + most(arcs.filter(k => level[k] && ends[k][0] < ends[m][1] && ends[k][1] > ends[m][0]).map(k => level[k]));
  const names = s.w.map((_, m) => arcOf(s, m) || (level[m] ? "" : "root")), highest = most(level) + 1, down = compact ? 1 : -1;
  const tags = s.w.map((_, i) => tagOf(s, i)), step = compact ? Math.min(60, widest(names) + 4) : 20;
  const [tagged, written] = compact ? [16 + widest(s.w), 6] : [60 + 20 * highest, 44 + 20 * highest];
  const base = compact ? tagged + widest(tags) + 8 : written - 14;
  const svg = picture(box, compact, roomFor(at, s.w, compact), compact ? base + step * highest + widest(names) / 2 + 8 : tagged + 10,
    { class: "arcs", role: "img", "aria-label": `${caption}: ${s.w.join(" ")}` });
  for (let m = 0; m < n; m++) {
    const wrong = gold.has(m) ? " wrong" : "", top = base + down * step * (level[m] || highest);
    const from = level[m] ? at[s.h[m] - 1] + (m < s.h[m] - 1 ? -4 : 4) : at[m];
    const path = element(svg, "path", { d: way(compact, from, base, top, at[m], base + 4 * down), class: wrong });
    element(svg, "path", { d: wedge(compact, at[m], base, base + 6 * down, 3.5), class: "tip" + wrong });
    const text = element(svg, "text", { ...place(compact, (from + at[m]) / 2, compact ? top : top - 3), class: "arc" + wrong }, names[m]);
    if (wrong) for (const one of [path, text])
      element(one, "title", {}, "gold head: " + (gold.get(m) ? s.w[gold.get(m) - 1] + " (" + gold.get(m) + ")" : "none, the root"));
  }
  s.w.forEach((word, i) => {
    const name = (compact ? " start" : "") + (found.has(i) ? " found" : "") + (inside[i] ? " within" : "");
    element(svg, "text", { ...place(compact, at[i], tagged), class: "tag" + name }, tags[i]);
    element(svg, "text", { ...place(compact, at[i], written), class: "word" + name, ...wordAt(i, n) }, word);
  });
}
