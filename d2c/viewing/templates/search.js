// Queries: terms with blanks between them, all of which a sentence must have. A term is a name or quoted words,
// `!` before it (absent) or `>` (an arc), and, right behind it in brackets, terms that are inside what it finds.
const PIECE = /\s*(?:(!?)(>?)("[^"]+"?|[^\s"()]+)(\(?)|(\)))/uy;

// The terms of a query. Brackets at its end may be left open. Throws an Error that says what cannot be read.
function termsOf(query) {
  const open = [[]];
  PIECE.lastIndex = 0;
  for (let at = 0; query.slice(at).trim(); at = PIECE.lastIndex) {
    const piece = PIECE.exec(query);
    if (!piece || (piece[5] && open.length === 1)) throw new Error(`this cannot be read: ${query.slice(at).trim()}`);
    if (piece[5]) { open.pop(); continue; }
    const inner = piece[4] ? [] : null;
    const term = { absent: piece[1] !== "", inner, groups: remembered(finder(piece[2] !== "", piece[3])) };
    // Those with terms inside are looked for last: they take longer.
    if (inner) open[open.length - 1].push(term);
    else open[open.length - 1].unshift(term);
    if (inner) open.push(inner);
  }
  return open[0];
}

// The same function, which is asked for one tree many times.
function remembered(find) {
  let sentence, seen, last;
  return (s, tree) => {
    if (s !== sentence || tree !== seen) [sentence, seen, last] = [s, tree, find(s, tree)];
    return last;
  };
}

// What a name or quoted words find in a sentence with one of its trees: groups of nodes, tokens among them.
function finder(arc, text) {
  if (text[0] === '"') {
    const row = text.replaceAll('"', "").trim().split(/\s+/u).map(word => pattern(word, true));
    return s => s.w.flatMap((_, i) => row.every((one, k) => i + k < s.w.length && one.test(s.w[i + k])) ? [row.map((_, k) => i + k)] : []);
  }
  const exact = pattern(text, false), word = pattern(text, true);
  const ids = names => new Set(names.flatMap((name, id) => exact.test(name) ? [id] : []));
  if (arc) {
    const arcs = ids(data.arcs);
    return s => s.d.flatMap((id, i) => arcs.has(id) ? [[i]] : []);
  }
  const tags = ids(data.tags), labels = ids(data.labels);
  return (s, tree) => [
    ...s.w.flatMap((form, i) => tags.has(s.t[i]) || word.test(form) ? [[i]] : []),
    ...(tree ? tree[1].flatMap((id, k) => labels.has(id) ? [[s.w.length + k]] : []) : []),
  ];
}

// Of a whole text, in which `*` stands for any letters; of words, small letters for capitals, too.
function pattern(text, word) {
  const source = text.replace(/[\\^$.+?()[\]{}|/]/gu, "\\$&").replaceAll("*", ".*");
  return new RegExp(`^${source}$`, word && text === text.toLowerCase() ? "isu" : "su");
}

// The nodes that terms find in a tree, if it has what all of them ask for, inside a node where one is given.
function foundBy(terms, s, tree, above) {
  const inside = node => {
    if (above === undefined || (node === above && node < s.w.length)) return true;
    for (let up = tree ? tree[0][node] : -1; up >= 0; up = tree[0][up]) if (up === above) return true;
    return false;
  };
  const found = [];
  for (const { absent, inner, groups } of terms) {
    let hits = groups(s, tree).filter(group => group.every(inside));
    if (inner) hits = hits.map(group => [group, foundBy(inner, s, tree, group[0])]).filter(hit => hit[1]).map(hit => hit.flat());
    if (absent === hits.length > 0) return null;
    if (!absent) found.push(...hits.flat());
  }
  return found;
}

// Of each tree of a sentence the nodes found; null where no tree has what the terms ask for.
function search(terms, s) {
  const trees = s.c.length ? s.c : [null], sides = trees.map(tree => foundBy(terms, s, tree || trees[0]));
  return sides.some(side => side) ? sides.map(side => new Set(side || [])) : null;
}
