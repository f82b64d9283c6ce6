// What is typed is parsed by the server; of a sentence that is shown words can be picked, over which a constituent
// must be, or must not be.
let picked = null; // of which sentence, its first word and the one after the last
let asked = 0;

// Asks the server; gives the sentences of its answer to `then`, with the page's numbers of tags and labels.
async function ask(what, then) {
  const number = ++asked, state = $("state");
  state.className = "";
  state.value = "parsing …";
  try {
    const answer = await fetch("page", { method: "POST", body: JSON.stringify({ ...what, best: Number($("best").value) }) });
    const said = await answer.json();
    if (number !== asked) return; // something else was asked since
    if (!answer.ok) throw new Error(said.error);
    const [tags, labels, arcs] = ["tags", "labels", "arcs"].map(kind => said[kind].map(name => {
      const at = data[kind].indexOf(name);
      return at < 0 ? data[kind].push(name) - 1 : at;
    }));
    for (const s of said.sentences) {
      s.t = s.t.map(id => tags[id]);
      s.d = s.d.map(id => arcs[id]);
      s.c = s.c.map(([parents, own, looks]) => [parents, own.map(id => labels[id]), looks]);
    }
    data.sure ||= said.sure;
    state.value = "";
    then(said.sentences);
  } catch (error) {
    if (number !== asked) return;
    state.className = "wrong";
    state.value = error instanceof TypeError ? "the server does not answer" : error.message;
  }
}

// Parses a sentence again, as it is wanted: spans of words that must be constituents, or must not.
function reparse(s, wanted) {
  ask({ sentences: [{ tokens: s.w, ...wanted }] }, ([made]) => {
    if (made.error) throw new Error(made.error);
    data.sentences[data.sentences.indexOf(s)] = Object.assign(made, { i: s.i, wanted });
    picked = null;
    relist();
  });
}

// The first word begins a span, the second ends it, on whichever side; a third one begins anew.
function pick(s, i) {
  const more = picked?.s === s && picked.end === picked.first + 1;
  picked = more ? { s, first: Math.min(picked.first, i), end: Math.max(picked.end, i + 1) } : { s, first: i, end: i + 1 };
  mark(s);
}

function press(parent, text, then) {
  return Object.assign(html(parent, "button", text), { type: "button", onclick: then });
}

// What is wanted of a sentence, what may be, and which words are picked.
function mark(s) {
  const bar = $("wanted"), wanted = s.wanted || { require: [], forbid: [] }, words = ([first, end]) => s.w.slice(first, end).join(" ");
  const is = picked?.s === s;
  document.querySelectorAll("#sentence button").forEach((button, i) => button.setAttribute("aria-pressed", is && picked.first <= i && i < picked.end));
  bar.textContent = "";
  for (const kind in wanted) for (const span of wanted[kind]) {
    const told = html(bar, "span", `${kind === "forbid" ? "no " : ""}${span[2] || "constituent"}: ${words(span)} `);
    told.className = "told";
    press(told, "×", () => reparse(s, { ...wanted, [kind]: wanted[kind].filter(one => one !== span) })).ariaLabel = "forget this";
  }
  if (!is) return;
  const span = [picked.first, picked.end];
  html(bar, "span", `“${words(span)}”`);
  const label = html(html(bar, "label", "label "), "input");
  Object.assign(label, { id: "label", placeholder: "any" }).setAttribute("list", "labels");
  const want = kind => reparse(s, { ...wanted, [kind]: [...wanted[kind], label.value.trim() ? [...span, label.value.trim()] : span] });
  html(bar, "button", "require");
  press(bar, "forbid", () => want("forbid"));
  press(bar, "cancel", () => { picked = null; mark(s); });
  bar.onsubmit = event => {
    event.preventDefault();
    want("require");
  };
}

// The words of a sentence that is shown, as buttons.
function shown(s, hit, line) {
  $("pictures").onclick = null;
  if (s.error) return;
  line.textContent = `${s.i}:`;
  s.w.forEach((word, i) => {
    line.append(" ");
    const button = press(line, word, () => pick(s, i));
    button.title = "the first and the last word of a constituent can be picked";
    if (hit[i]) button.className = "hit";
  });
  html($("pictures"), "form").id = "wanted";
  $("pictures").onclick = event => {
    const word = event.target.closest("[data-word]");
    if (word) pick(s, Number(word.dataset.word));
  };
  mark(s);
}

function showParts() {
  for (const part of ["filters", "help", "browser"]) $(part).hidden = !data.sentences.length;
  showSure();
}

function begin() {
  showParts();
  $("text").addEventListener("keydown", event => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    $("ask").requestSubmit();
  });
  $("ask").onsubmit = event => {
    event.preventDefault();
    ask({ text: $("text").value }, sentences => {
      data.sentences = sentences;
      showParts();
      relist(0);
      $("labels").textContent = "";
      for (const label of [...data.labels].sort()) html($("labels"), "option").value = label;
      if (!sentences.length) $("state").value = "there are no words in it";
    });
  };
}
