// Marks of wrong and missed brackets, by which sentences are chosen and put in order.

// The marks of a sentence as {tree, node, label, error, routes}; of gold, a node that several routes miss in
// the same way comes once.
function marksOf(s) {
  const marks = new Map();
  s.c.forEach((tree, side) => {
    for (const [node, error, route] of tree ? tree[2] : []) {
      const key = side + " " + node + " " + error;
      if (!marks.has(key)) marks.set(key, { tree: side, node, label: tree[1][node - s.w.length], error, routes: [] });
      marks.get(key).routes.push(side ? side - 1 : route);
    }
  });
  return [...marks.values()];
}

function explain(mark) {
  const names = mark.routes.map(route => data.routes[route]).join(", ");
  return (mark.tree ? "wrong: " : `missed by ${names}: `) + data.errors[mark.error];
}

function choices(select, names, all) {
  html(select, "option", all).value = "";
  names.forEach(([name, value]) => html(select, "option", name || "(none)").value = value);
}

const marked = new Map(data.sentences.map(s => [s, marksOf(s)]));
const used = new Set([...marked.values()].flatMap(marks => marks.map(mark => mark.label)));
choices($("label"), [...used].map(id => [data.labels[id], id]).sort((a, b) => a[0] < b[0] ? -1 : 1), "any");
choices($("error"), data.errors.map((name, index) => [name, index]), "any, or none");
choices($("route"), data.routes.map((name, index) => [name, index]), "any");

browse({
  title: s => `${s.i}: F1 ${s.f.map(f => f.toFixed(1)).join(" / ")}, ${s.w.length} tokens`,
  note: `; F1 of ${data.routes.join(" / ")}`,
  arcs: "d-tree",
  figures: s => ["gold", ...data.routes].map((name, side) => {
    const caption = side ? `${name}, F1 ${s.f[side - 1].toFixed(1)}` + (s.c[side] ? "" : ", equal to gold") : name;
    const own = new Map();
    for (const mark of marked.get(s)) if (mark.tree === side) own.set(mark.node, [...own.get(mark.node) || [], mark]);
    return [caption, s.c[side] || s.c[0], node => own.has(node)
      ? { name: side ? "wrong" : "missed", title: own.get(node).map(explain).join("\n") } : {}];
  }),
  fits: s => {
    const [label, error, route] = ["label", "error", "route"].map(id => $(id).value);
    return label + error + route === "" || marked.get(s).some(mark => (label === "" || mark.label === +label)
      && (error === "" || mark.error === +error) && (route === "" || mark.routes.includes(+route)));
  },
  orders: {
    errors: (a, b) => marked.get(b).length - marked.get(a).length,
    number: (a, b) => a.i - b.i,
  },
});
