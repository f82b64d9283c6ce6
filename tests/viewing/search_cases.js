// Runs templates/search.js on cases from standard input; prints the matches in each tree of each, or what is wrong.
"use strict";
const fs = require("fs");
const { data, cases } = JSON.parse(fs.readFileSync(0, "utf8"));
const tagOf = (s, i) => data.tags[s.t[i]];
const arcOf = (s, i) => s.d.length ? data.arcs[s.d[i]] : "";
const labelOf = (s, tree, node) => data.labels[tree[1][node - s.w.length]];
const source = fs.readFileSync(process.argv[2], "utf8");
const { termsOf, nodesOf, matchesIn } = new Function(
  ...["data", "tagOf", "arcOf", "labelOf"], `${source}\nreturn { termsOf, nodesOf, matchesIn };`,
)(data, tagOf, arcOf, labelOf);

function found(pattern, sentence) {
  const terms = termsOf(pattern);
  return matchesIn(terms, nodesOf(sentence, sentence.c[0])).map(match => [match[""], ...terms.names.map(name => match[name] ?? -1)]);
}

console.log(JSON.stringify(cases.map(([pattern, sentence]) => {
  try {
    return found(pattern, data.sentences[sentence]);
  } catch (error) {
    return error.message;
  }
})));
