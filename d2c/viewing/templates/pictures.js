// Pictures of a sentence: c-trees with crossing branches, and a d-tree, over words in the same columns.
const ROW = 40;
const ruler = document.createElement("canvas").getContext("2d");
ruler.font = "bold 13px system-ui, sans-serif";
const widthOf = text => ruler.measureText(text).width;
const most = numbers => numbers.reduce((a, b) => a > b ? a : b, 0);

function element(parent, name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (text !== undefined) made.textContent = text;
  parent.appendChild(made);
  return made;
}

const tagOf = (s, i) => data.tags[s.t[i]];
const arcOf = (s, i) => s.d.length ? data.arcs[s.d[i]] : "";
const labelOf = (s, tree, node) => data.labels[tree[1][node - s.w.length]];

// A picture; a wide one is made smaller, down to where it can still be read.
const SMALLEST = 0.7;
function picture(box, width, height, name) {
  const scale = Math.max(SMALLEST, Math.min(1, (box.clientWidth - 14) / width));
  return element(box, "svg", { viewBox: `0 0 ${width} ${height}`, width: width * scale, height: height * scale, class: name });
}

// x of the middle of each token; its word, tag, label of its arc and unary nodes over it have room.
function columns(s) {
  const texts = s.w.map((word, i) => [word, tagOf(s, i), arcOf(s, i)]);
  for (const tree of s.c.filter(tree => tree)) {
    const parents = tree[0], kids = new Array(parents.length).fill(0);
    for (const parent of parents) if (parent >= 0) kids[parent]++;
    texts.forEach((over, i) => {
      for (let node = parents[i]; node >= 0 && kids[node] === 1; node = parents[node]) over.push(labelOf(s, tree, node));
    });
  }
  let x = 6;
  return texts.map(over => {
    const width = most(over.map(widthOf)) + 14;
    x += width;
    return x - width / 2;
  });
}

const widthTo = (s, x) => x[x.length - 1] + widthOf(s.w[s.w.length - 1]) / 2 + 20;

// Words stand below; a node stands above its children, in the lowest row in which no other node's words
// lie between its own, so that branches cross but labels do not. Branches leave to the side at once and then
// go down, where nothing but what they lead to stands.
// look: of a node, what it looks like: a class, a title, how dark its shade is; found: nodes that were sought
function drawTree(box, s, middles, tree, look, found) {
  const n = s.w.length, parents = tree[0], total = parents.length;
  const kids = Array.from({ length: total }, () => []);
  parents.forEach((parent, node) => { if (parent >= 0) kids[parent].push(node); });
  const first = [], last = [], row = [], taken = [];
  for (let node = 0; node < total; node++) {
    first[node] = last[node] = node < n ? node : first[kids[node][0]];
    row[node] = 0;
    for (const kid of kids[node]) {
      first[node] = Math.min(first[node], first[kid]);
      last[node] = Math.max(last[node], last[kid]);
      row[node] = Math.max(row[node], 1 + row[kid]);
    }
    while ((taken[row[node]] || []).some(o => first[o] <= last[node] && last[o] >= first[node])) row[node]++;
    (taken[row[node]] ||= []).push(node);
  }
  const x = middles.slice(), height = 30 + ROW * most(row), y = node => height - ROW * row[node];
  for (let node = n; node < total; node++) x[node] = kids[node].reduce((sum, kid) => sum + x[kid], 0) / kids[node].length;
  const svg = picture(box, widthTo(s, x.slice(0, n)), height + 30, "tree");
  for (let node = 0; node < total; node++) {
    const up = parents[node];
    if (up >= 0) element(svg, "path", { d: `M${x[up]},${y(up)} v${ROW / 2 - 6} H${x[node]} V${y(node) - (node < n ? 12 : 10)}` });
  }
  for (let node = n; node < total; node++) {
    const label = labelOf(s, tree, node), { name = "", title, shade } = look(node), width = widthOf(label) + 8;
    const group = element(svg, "g", { class: name + (found.has(node) ? " found" : "") });
    const place = { x: x[node] - width / 2, y: y(node) - 10, width, height: 17, rx: 3 };
    element(group, "rect", place);
    if (shade) {
      const over = element(group, "g", { class: "shade" });
      element(over, "rect", { ...place, "fill-opacity": shade });
    }
    element(group, "text", { x: x[node], y: y(node) + 3 }, label);
    if (title) element(group, "title", {}, title);
  }
  words(svg, s, x, height, height + 20, found);
}

// Tags and words, at these heights.
function words(svg, s, x, tagged, written, found) {
  s.w.forEach((word, i) => {
    const name = found.has(i) ? " found" : "";
    element(svg, "text", { x: x[i], y: tagged, class: "tag" + name }, tagOf(s, i));
    element(svg, "text", { x: x[i], y: written, class: "word" + name }, word);
  });
}

// Arcs stand above the arcs that they cover or cross and that are shorter; that of the root comes from above.
// s.a: of tokens whose head is wrong, the right one
function drawArcs(box, s, x, found) {
  const n = s.w.length, gold = new Map(s.a), level = new Array(n).fill(0);
  const ends = s.h.map((head, m) => [Math.min(m, head - 1), Math.max(m, head - 1)]);
  const arcs = s.h.map((_, m) => m).filter(m => s.h[m] > 0 && s.h[m] <= n && s.h[m] !== m + 1);
  arcs.sort((a, b) => ends[a][1] - ends[a][0] - ends[b][1] + ends[b][0]);
  for (const m of arcs)
    level[m] = 1 + most(arcs.filter(k => level[k] && ends[k][0] < ends[m][1] && ends[k][1] > ends[m][0]).map(k => level[k]));
  const base = 30 + 20 * (most(level) + 1);
  const svg = picture(box, widthTo(s, x), base + 40, "arcs");
  for (let m = 0; m < n; m++) {
    const wrong = gold.has(m) ? " wrong" : "", arc = level[m] > 0, top = arc ? base - 20 * level[m] : 16;
    const from = arc ? x[s.h[m] - 1] + (m < s.h[m] - 1 ? -4 : 4) : x[m];
    const path = element(svg, "path", { d: `M${from},${base} V${top} H${x[m]} V${base - 4}`, class: wrong });
    element(svg, "path", { d: `M${x[m] - 3.5},${base - 6} h7 l-3.5,6 Z`, class: "tip" + wrong });
    const text = element(svg, "text", { x: (from + x[m]) / 2, y: top - 3, class: "arc" + wrong }, arcOf(s, m) || (arc ? "" : "root"));
    if (wrong) for (const one of [path, text])
      element(one, "title", {}, "gold head: " + (gold.get(m) ? s.w[gold.get(m) - 1] + " (" + gold.get(m) + ")" : "none, the root"));
  }
  words(svg, s, x, base + 30, base + 14, found);
}
