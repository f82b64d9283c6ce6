// Searches the sentences of a page in a worker, which is stopped where it takes too long, or when something else is sought:
// the page never waits.
const CHUNK = 500; // sentences that the worker is given at a time; it holds no others
let SECONDS = 5; // for a search in all sentences
let worker = null, halt = () => {}; // ends a search that goes on

const searcher = () => {
{% include "search.js" %}
onmessage = event => {
  data = event.data.names;
  try {
    postMessage(answer(event.data));
  } catch (error) {
    postMessage({ wrong: error.message });
  }
};
};

function started() {
  const source = `"use strict"; let data; const tagOf = ${tagOf}, arcOf = ${arcOf}, labelOf = ${labelOf}; (${searcher})()`;
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" })), made = new Worker(address);
  URL.revokeObjectURL(address);
  return made;
}

// Gives `then` the sentences in which a query is found, [{s, nodes: of each tree those to be marked}], of how many it is not
// known, and what is wrong with the query.
function seek(query, sentences, then) {
  halt();
  if (!query.trim()) return then(sentences.map(s => ({ s, nodes: (s.c.length ? s.c : [null]).map(() => new Set()) })), 0);
  const found = [], { tags, labels, arcs } = data, end = performance.now() + 1000 * SECONDS;
  let begin = 0, done = 0, over = 0;
  const stop = () => { worker.terminate(); worker = null; };
  const finish = wrong => {
    clearTimeout(late);
    halt = () => {};
    then(found, over + sentences.length - done, wrong);
  };
  const next = () => {
    const left = end - performance.now();
    begin = done;
    if (left < 0 || begin === sentences.length) return finish();
    const some = sentences.slice(begin, begin + CHUNK).map(({ w, t, h, d, c }) => ({ w, t, h, d, c }));
    worker.postMessage({ query, sentences: some, names: { tags, labels, arcs }, left });
  };
  const late = setTimeout(() => { stop(); finish(); }, end - performance.now() + 500); // products end by themselves
  halt = () => { clearTimeout(late); stop(); };
  try {
    worker ||= started();
  } catch (error) { // a browser that lets pages of files have none
    return finish(error.message);
  }
  worker.onerror = event => { stop(); finish(event.message); };
  worker.onmessage = ({ data: { found: more, over: left, wrong } }) => {
    if (wrong) return finish(wrong);
    for (const [at, sides] of more) {
      found.push({ s: sentences[begin + at], nodes: sides.map(side => new Set(side)) });
      done = begin + at + 1;
    }
    if (left === undefined) return;
    done = Math.min(begin + CHUNK, sentences.length);
    over += left;
    next();
  };
  next();
}
