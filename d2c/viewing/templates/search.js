// Search in the language of docs/search.md, that of Tregex; `d2c search` has the same. A pattern is read into nodes
// {label, name, same, alike, said}, and what is said of a node: {kind: all, either, not, maybe, parts} or {has, node}.
// A page runs this in a worker (seek.js), since a regular expression has no end of time that this could keep.
const TOKEN = new RegExp(String.raw`\s*(?:(?<words>"[^"]*")|(?<regex>\/(?:\\.|[^\/\\])*\/)|(?<arc>arc:[^\s()&|[\]=]+)`
  + String.raw`|(?<exactly><\.\.\.)|(?<chain>[<>.,]\+)`
  + "|(?<relation><<<|(?:<<|>>)[,\\-`:#]?|[<>][,\\-`:#]|<=|[<>]|\\$(?:\\+\\+|--|\\.\\.|,,|[-+.,])?|\\.\\.?|,,?|==|:)"
  + String.raw`|(?<number>-?\d+)|(?<any>__)`
  + String.raw`|(?<name>(?:_ROOT_|(?:PRP|WP)\$(?![-+.,])|[^\s0-9(\/|@!#%&)=?\[\]><~_.,$:{};"])`
  + String.raw`(?:\|(?:PRP|WP)\$(?![-+.,])|[^\s(\/@!#%&)=?\[\]><~.,$:{};"])*)`
  + String.raw`|(?<mark>[()\[\]{};&|!?@#%=~])|(?<end>$))`, "uy");
const LABELS = ["words", "regex", "arc", "any", "name"], DEEPEST = 50, MOST_NODES = 200, MATCHES = 100_000;
const BASIC = /^(?:([-=|#^~_[]).*?\1|.)[^-=|#^~_[]*/su;

// Relations of A to B in a tree t of a sentence.
const lower = column => (t, a, b) => a < b && t[column][a] === t[column][b];
const sisters = (t, a, b) => t.parent[a] >= 0 && t.parent[a] === t.parent[b];
const nth = n => (t, a, b) => t.parent[b] === a && (n > 0 ? t.place[b] === n : t.place[b] - t.kids[a] - 1 === n);
const DIRECTED = {
  "<": (t, a, b) => t.parent[b] === a,
  "<<": (t, a, b) => a < b && b < t.end[a],
  "<:": (t, a, b) => t.parent[b] === a && t.kids[a] === 1,
  "<,": nth(1), "<-": nth(-1), "<`": nth(-1),
  "<#": (t, a, b) => t.parent[b] === a && t.head[a] === t.head[b],
  "<<,": lower("left"), "<<-": lower("end"), "<<`": lower("end"), "<<:": lower("unary"), "<<#": lower("head"),
  "$+": (t, a, b) => sisters(t, a, b) && b === t.end[a],
  "$++": (t, a, b) => sisters(t, a, b) && a < b,
  "$.": (t, a, b) => sisters(t, a, b) && t.first[b] === t.last[a] + 1,
  "$..": (t, a, b) => sisters(t, a, b) && t.last[a] < t.first[b],
  ".": (t, a, b) => t.first[b] === t.last[a] + 1,
  "..": (t, a, b) => t.last[a] < t.first[b],
};
const turned = relation => (t, a, b) => relation(t, b, a);
const RELATIONS = {
  ...DIRECTED, "==": (_, a, b) => a === b, ":": () => true, "$": (t, a, b) => sisters(t, a, b) && a !== b,
  "<=": (t, a, b) => a === b || t.parent[b] === a, "<<<": (t, a, b) => DIRECTED["<<"](t, a, b) && !t.kids[b],
};
for (const sign in DIRECTED) {
  const other = { "<": ">", "+": "-", ".": "," };
  RELATIONS[sign.includes("<") ? sign.replaceAll("<", ">") : sign.replace(/[+.]/gu, c => other[c])] = turned(DIRECTED[sign]);
}

// A relation, or a chain of it through nodes that fit a label.
const CHAINS = {
  "<": label => (t, a, b) => {
    let x = t.parent[b];
    while (x >= 0 && x !== a && label.ids(t).has(x)) x = t.parent[x];
    return x >= 0 && x === a;
  },
  ".": label => (t, a, b) => {
    const open = [t.last[a] + 1], seen = new Set(open);
    for (const at of open) {
      if (at === t.first[b]) return true;
      for (const x of label.ids(t)) if (t.first[x] === at && !seen.has(t.last[x] + 1)) {
        seen.add(t.last[x] + 1);
        open.push(t.last[x] + 1);
      }
    }
    return false;
  },
};
const MIRRORED = { "<": ["<", r => r], ">": ["<", turned], ".": [".", r => r], ",": [".", turned] };

// Which labels a node may have. word: only words are meant; arc: labels of the arcs to words are meant.
function fitting(fits, { word = false, arc = false, groups = [] } = {}) {
  const known = new Map(), label = { groups, word, arc, fits };
  const fit = text => {
    if (!known.has(text)) known.set(text, Boolean(fits(text)));
    return known.get(text);
  };
  // Whether a node may fit, before the nodes of a tree are known.
  label.mayBeIn = (s, tree) => arc || fit("ROOT") || s.w.some(fit) || s.t.some(id => fit(data.tags[id]))
    || Boolean(tree) && tree[1].some(id => fit(data.labels[id]));
  // The nodes that fit.
  let tree, found;
  label.ids = t => {
    if (t !== tree) {
      tree = t;
      found = new Set();
      t.label.forEach((text, x) => {
        if ((word || arc) && t.kids[x]) return;
        if (fit(arc ? arcOf(t.s, t.token[x]) : text)) found.add(x);
      });
    }
    return found;
  };
  return label;
}

// `*` stands for any letters. What lies between stars is taken where it is found first, \1 of (?=(...)), and never taken
// back: linear time.
function starred(text, flags) {
  const [first, ...parts] = text.split("*").map(part => part.replace(/[\\^$.+?()[\]{}|/]/gu, "\\$&"));
  const last = parts.length ? `.*${parts.pop()}` : "";
  const regex = new RegExp(`^${first}${parts.map((part, k) => `(?=(.*?${part}))\\${k + 1}`).join("")}${last}$`, "s" + flags);
  return one => regex.test(one);
}

function regular(text) {
  const insensitive = /^\(\?i\)|\(\?i:/u.test(text);
  return new RegExp(text.replace(/^\(\?i\)/u, "").replaceAll("(?i:", "(?:"), insensitive ? "i" : "");
}

const basicOf = text => (BASIC.exec(text) || [text])[0];

class Reader {
  constructor(text) {
    Object.assign(this, { text, at: 0, depth: 0, names: [], known: new Set(), hidden: false, rows: 0, size: 0 });
    this.next();
  }

  next() {
    const before = this.token;
    const match = this.peek();
    if (!match) {
      this.token = this.text.slice(this.at).trim()[0];
      this.begin = this.text.indexOf(this.token, this.at);
      this.fail("no part of the language");
    }
    [this.kind, this.token] = Object.entries(match.groups).find(([, token]) => token !== undefined);
    this.at = match.index + match[0].length;
    this.begin = this.at - this.token.length;
    return before;
  }

  peek(at = this.at) {
    TOKEN.lastIndex = at;
    return TOKEN.exec(this.text);
  }

  // Whether behind the token at hand another node begins, or nothing: no relation does.
  nodeFollows() {
    let match = this.peek();
    while (match && ["!", "("].includes(match.groups.mark)) match = this.peek(match.index + match[0].length);
    return Boolean(match) && ([...LABELS, "end"].some(kind => match.groups[kind] !== undefined) || "@=~".includes(match.groups.mark || " "));
  }

  fail(wrong) {
    const shown = `'${this.token}'`, short = shown.length > 40 ? `${shown.slice(0, 18)}...${shown.slice(-18)}` : shown;
    throw new Error(`the pattern at character ${this.begin + 1}, ${this.token ? short : "its end"}: ${wrong}`);
  }

  take(...tokens) {
    return ["mark", "relation"].includes(this.kind) && tokens.includes(this.token) ? this.next() : "";
  }

  expect(token) {
    if (!this.take(token)) this.fail(`${token} is missing here`);
  }

  inside(read) {
    if (++this.depth > DEEPEST) this.fail(`more than ${DEEPEST} brackets inside each other`);
    const made = read();
    this.depth--;
    return made;
  }

  pattern() {
    const nodes = [this.whole()];
    while (this.take("|")) {
      this.known = new Set();
      nodes.push(this.whole());
    }
    if (this.kind !== "end") this.fail("here a relation is missing, or a bracket closes that is not open");
    return { nodes, names: this.names };
  }

  whole() {
    let node;
    if (this.take("(")) {
      node = this.inside(() => this.whole());
      this.expect(")");
    } else node = this.node();
    if (!this.says()) return node;
    const said = this.either();
    return { ...node, said: node.said ? { kind: "all", parts: [node.said, said] } : said };
  }

  says() {
    return ["relation", "chain", "exactly"].includes(this.kind) || (this.kind === "mark" && "!?[(&".includes(this.token));
  }

  count(nodes) {
    this.size += nodes;
    if (this.size > MOST_NODES) this.fail(`a pattern has at most ${MOST_NODES} nodes`);
  }

  node() {
    this.count(1);
    if (this.take("=")) return { same: this.reference() };
    if (this.take("~")) return { alike: this.reference(), name: this.named() };
    const node = this.kind === "words" ? this.words() : { label: this.label() };
    return { ...node, name: this.named() };
  }

  reference() {
    if (!this.known.has(this.token)) this.fail("no node before it has this name");
    return this.next();
  }

  named() {
    if (!this.take("=")) return "";
    if (this.kind !== "name") this.fail("a name is missing here");
    if (this.hidden) this.fail("a node that must not be there cannot have a name");
    if (this.known.has(this.token)) this.fail("two nodes have this name");
    if (!this.names.includes(this.token)) this.names.push(this.token);
    this.known.add(this.token);
    return this.next();
  }

  label() {
    const negated = this.take("!"), basic = this.take("@"), { kind, token } = this;
    if (!LABELS.includes(kind) || kind === "words") this.fail("a label, a /regular expression/ or __ is missing here");
    let fits = () => true, regex;
    if (kind === "regex") {
      try {
        regex = regular(token.slice(1, -1));
      } catch (error) {
        this.fail(`no regular expression: ${error.message}`);
      }
      fits = text => regex.exec(text);
    } else if (kind === "arc") fits = starred(token.slice(4), "");
    else if (kind === "name") fits = text => token.replaceAll("_ROOT_", "ROOT").split("|").includes(text);
    this.next();
    const plain = fits, groups = [];
    if (basic) fits = text => plain(basicOf(text));
    const wanted = fits;
    if (negated) fits = text => !wanted(text);
    while (this.take("#")) {
      const number = this.kind === "number" ? Number(this.next()) : 0;
      this.expect("%");
      const most = regex ? new RegExp(`${regex.source}|`).exec("").length - 1 : 0;
      if (!regex || negated || !(number > 0 && number <= most) || this.kind !== "name") this.fail("#NUMBER%VARIABLE stands behind a /(regular) expression/ with so many groups");
      groups.push([number, this.next()]);
    }
    return fitting(fits, { groups, arc: kind === "arc" });
  }

  // Words in a row: the first one, and what is said of it. All of them are marked.
  words() {
    const row = this.next().replaceAll('"', "").split(/\s+/u).filter(Boolean);
    if (!row.length) this.fail("there are no words in the quotation marks before it");
    this.count(row.length - 1);
    let said;
    for (let i = row.length - 1; i >= 0; i--) {
      const label = fitting(starred(row[i], row[i] === row[i].toLowerCase() ? "i" : ""), { word: true });
      if (i === 0) return { label, said };
      said = { has: RELATIONS["."], node: { label, said, name: this.hidden ? "" : ` ${this.rows++}` } };
    }
    return null;
  }

  either() {
    const known = this.known, parts = [], names = new Set();
    for (;;) {
      parts.push(this.all());
      for (const name of this.known) names.add(name);
      if (this.token !== "|" || this.kind !== "mark" || this.nodeFollows()) break;
      this.known = new Set(known);
      this.next();
    }
    this.known = names;
    return parts.length === 1 ? parts[0] : { kind: "either", parts };
  }

  all() {
    const parts = [];
    while (this.says()) {
      this.take("&");
      parts.push(this.part());
    }
    return parts.length === 1 ? parts[0] : { kind: "all", parts };
  }

  part() {
    if (this.take("!")) {
      const hidden = this.hidden;
      this.hidden = true;
      const part = this.inside(() => ({ kind: "not", parts: [this.part()] }));
      this.hidden = hidden;
      return part;
    }
    if (this.take("?")) return { kind: "maybe", parts: [this.part()] };
    const bracket = this.take("[", "(");
    if (!bracket) return this.related();
    const part = this.inside(() => this.either());
    this.expect(bracket === "[" ? "]" : ")");
    return part;
  }

  related() {
    if (this.kind === "exactly") return this.exactly();
    if (this.kind === "chain") {
      const [step, turn] = MIRRORED[this.next()[0]], closing = { "(": ")", "[": "]" }[this.take("(", "[")];
      const label = this.label();
      if (closing) this.expect(closing);
      return { has: turn(CHAINS[step](label)), node: this.other() };
    }
    if (this.kind !== "relation") this.fail("a relation is missing here");
    const sign = this.next();
    if (this.kind === "number" && ["<", ">", "<-", ">-"].includes(sign)) {
      const number = Number(this.next()) * (sign.endsWith("-") ? -1 : 1);
      if (!number) this.fail("children are counted from 1, or from -1");
      return { has: sign[0] === "<" ? nth(number) : turned(nth(number)), node: this.other() };
    }
    return { has: RELATIONS[sign], node: this.other() };
  }

  other() {
    if (!this.take("(")) return this.node();
    const node = this.inside(() => this.whole());
    this.expect(")");
    return node;
  }

  exactly() {
    this.next();
    this.expect("{");
    const children = [this.other()];
    while (this.take(";")) children.push(this.other());
    this.expect("}");
    const parts = children.map((node, i) => ({ has: nth(i + 1), node }));
    const more = { has: nth(children.length + 1), node: { label: fitting(() => true) } };
    return { kind: "all", parts: [...parts, { kind: "not", parts: [more] }] };
  }
}

// The nodes of a tree in preorder: ROOT, then the constituents, tags and words below it; `token`, `node`: of each
// its token, if it is a word or tag, and its number in the page; of ROOT that of the node below it.
function nodesOf(s, tree) {
  const n = s.w.length, parents = tree ? tree[0].slice() : new Array(n).fill(n), top = parents.length, below = [];
  if (tree) parents[parents.length - 1] = top;
  for (let x = 0; x <= top; x++) below.push([]);
  parents.forEach((parent, x) => below[parent].push(x));
  const firsts = [];
  for (let x = 0; x <= top; x++) {
    if (x >= n) below[x].sort((a, b) => firsts[a] - firsts[b]);
    firsts.push(x < n ? x : firsts[below[x][0]]);
  }
  const t = { s, parent: [], end: [], first: [], last: [], label: [], token: [], node: [], kids: [], place: [], left: [], unary: [] };
  const add = (parent, place, kids, label, token, node) => {
    const made = { parent, place, kids, label, token, node, end: 0, first: token, last: token, left: 0, unary: 0 };
    for (const key in made) t[key].push(made[key]);
  };
  const stack = [[top, -1, 1]];
  while (stack.length) {
    const [x, parent, place] = stack.pop(), at = t.parent.length;
    if (x < n) {
      add(parent, place, 1, tagOf(s, x), x, x);
      add(at, 1, 0, s.w[x], x, x);
      continue;
    }
    add(parent, place, below[x].length, x === top ? "ROOT" : labelOf(s, tree, x), -1, x === top && tree ? top - 1 : x === top ? -1 : x);
    for (let k = below[x].length - 1; k >= 0; k--) stack.push([below[x][k], at, k + 1]);
  }
  for (let x = t.parent.length - 1; x >= 0; x--) {
    t.end[x] = Math.max(t.end[x], x + 1);
    t.left[x] = t.kids[x] ? t.left[x + 1] : x;
    t.unary[x] = t.kids[x] === 1 ? t.unary[x + 1] : x;
    const up = t.parent[x];
    if (up < 0) continue;
    t.end[up] = Math.max(t.end[up], t.end[x]);
    t.first[up] = t.first[up] < 0 ? t.first[x] : Math.min(t.first[up], t.first[x]);
    t.last[up] = Math.max(t.last[up], t.last[x]);
  }
  // A head is a token whose own head is outside, the first one where there are several.
  Object.defineProperty(t, "head", { configurable: true, get() {
    const head = t.parent.map((_, x) => t.token[x]);
    for (let x = t.parent.length - 1; x > 0; x--) {
      const up = t.parent[x], over = [head[x], head[up]].filter(i => i >= 0);
      const inside = i => { for (let y = t.tag[s.h[i] - 1]; y >= 0; y = t.parent[y]) if (y === up) return true; return false; };
      const free = over.filter(i => !inside(i));
      head[up] = free.length ? Math.min(...free) : Math.min(...over);
    }
    Object.defineProperty(t, "head", { value: head });
    return head;
  } });
  t.tag = [];
  t.token.forEach((token, x) => { if (token >= 0 && t.kids[x]) t.tag[token] = x; });
  return t;
}

// Ends a search that takes too long: `step` throws then.
const clock = {
  end: Infinity, steps: 0,
  start(left) { this.end = performance.now() + left; },
  step() { if (++this.steps % 1000 === 0) this.check(); },
  check() { if (performance.now() > this.end) throw new RangeError("the time is up"); },
};

// Each way in which a node of the pattern is the node x, as an object of names; `bound`: names so far.
function* waysOf(node, t, x, bound) {
  if (node.same && bound[node.same] !== x) return;
  if (node.alike && (bound[node.alike] === undefined || t.label[bound[node.alike]] !== t.label[x])) return;
  if (node.label && !node.label.ids(t).has(x)) return;
  let more = bound;
  for (const [number, variable] of node.label ? node.label.groups : []) {
    const text = (node.label.fits(t.label[x]) || [])[number] || "", key = `%${variable}`;
    if (more[key] !== undefined && more[key] !== text) return;
    more = { ...more, [key]: text };
  }
  if (node.name) more = { ...more, [node.name]: x };
  if (node.said) yield* waysIn(node.said, t, x, more);
  else yield more;
}

function* waysIn(said, t, x, bound, from = 0) {
  clock.step();
  if (said.has) {
    const { node } = said, ids = node.same ? [bound[node.same]].filter(id => id !== undefined) : node.label ? node.label.ids(t) : t.parent.keys();
    for (const y of ids) {
      clock.step();
      if (said.has(t, x, y)) yield* waysOf(node, t, y, bound);
    }
  } else if (said.kind === "all") {
    if (from === said.parts.length) yield bound;
    else for (const more of waysIn(said.parts[from], t, x, bound)) yield* waysIn(said, t, x, more, from + 1);
  } else if (said.kind === "not") {
    if (waysIn(said.parts[0], t, x, bound).next().done) yield bound;
  } else {
    let any = false;
    for (const part of said.parts) for (const more of waysIn(part, t, x, bound)) {
      any = true;
      yield more;
    }
    if (said.kind === "maybe" && !any) yield bound;
  }
}

// The pattern of a query. Throws an Error that says what cannot be read, and where.
const termsOf = query => new Reader(query).pattern();

// All matches in a tree: the names bound, and the node itself as "". Those with the same names come once.
function matchesIn(pattern, t) {
  const found = new Map();
  for (const node of pattern.nodes) for (const x of node.label ? node.label.ids(t) : []) {
    const named = pattern.names.length > 0 || node.said;
    for (const bound of waysOf(node, t, x, {})) {
      found.set([x, ...pattern.names.map(name => bound[name] ?? -1)].join(), { ...bound, "": x });
      if (found.size > MATCHES) throw new RangeError("too many matches");
      if (!named || !pattern.names.length) break;
    }
  }
  return [...found.values()];
}

// Of each tree of a sentence the nodes to be marked; null where the pattern is in none of them. Throws a RangeError over
// a limit.
function search(pattern, s) {
  const trees = s.c.length ? s.c : [null];
  clock.check();
  const sides = trees.map(tree => {
    const marked = new Set();
    if (!pattern.nodes.some(node => node.label.mayBeIn(s, tree || trees[0]))) return marked;
    const t = nodesOf(s, tree || trees[0]);
    for (const match of matchesIn(pattern, t)) {
      for (const key in match) if (key[0] !== "%") marked.add(t.node[match[key]]);
    }
    return marked;
  });
  return sides.some(side => side.size) ? sides : null;
}

// Answers what a page asks: a query, and some of its sentences with what the numbers in them mean; left: milliseconds for
// them. Says of sentences with matches their place among them and the nodes to be marked, the first at once, others with
// those of some milliseconds; in the end of how many it does not know, because they take too long.
let query, pattern;
function answer(asked) {
  if (asked.query !== query) pattern = termsOf(asked.query);
  query = asked.query;
  clock.start(asked.left);
  let found = [], over = 0, due = 0;
  asked.sentences.forEach((s, at) => {
    try {
      const sides = search(pattern, s);
      if (!sides) return;
      found.push([at, sides.map(side => [...side])]);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      over++;
    }
    if (performance.now() < due) return;
    postMessage({ found });
    found = [];
    due = performance.now() + 20;
  });
  return { found, over };
}
