// Pictures in frames with buttons: folding, zoom, copies as brackets and as SVG files.
const SMALLEST = 0.7; // of a wide picture that is made smaller by itself, to be read still
let boxes = []; // that the pictures of the sentence are in
let zoom = "auto"; // or "fit", or a number

// Nodes below which trees are folded: those at the level, but where something is found inside, those beside the way to it.
function foldsOf(s, tree, nodes) {
  const level = +$("level").value, { depth } = level > 0 ? shapeOf(tree, s.w.length) : {}, open = new Set();
  if (!depth) return new Set();
  for (const node of nodes) for (let up = node; up >= 0 && !open.has(up); up = tree[0][up]) open.add(up);
  return new Set([...depth.keys()].filter(node => node >= s.w.length && !open.has(node) && (depth[node] === level || (depth[node] > level && open.has(tree[0][node])))));
}

// A picture with its buttons; folded: of a tree, the nodes that are.
function figure(s, caption, tree, draw, folded) {
  const outer = html($("pictures"), "figure");
  html(outer, "figcaption", caption);
  const tools = html(outer, "span"), box = html(outer, "div");
  if (tree) html(tools, "button", "copy brackets").onclick = () => copy(brackets(s, tree));
  html(tools, "button", "copy SVG").onclick = () => copy(svgText(box.firstChild));
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
  return box;
}

function scaleOf(svg) {
  const fits = Math.min(1, (svg.parentNode.clientWidth - 14) / svg.viewBox.baseVal.width);
  return zoom === "auto" ? Math.max(SMALLEST, fits) : zoom === "fit" ? fits : zoom;
}

function rescale() {
  const svgs = boxes.map(box => box.firstChild), scales = svgs.map(scaleOf); // all is read before anything is written
  svgs.forEach((svg, k) => {
    const { width, height } = svg.viewBox.baseVal;
    svg.setAttribute("width", width * scales[k]);
    svg.setAttribute("height", height * scales[k]);
    svg.removeAttribute("display");
  });
  $("zoom").value = svgs.length ? `${Math.round(100 * scales[0])} %` : "";
}

// Zooms to "fit" or a number; what is at a point of the screen, or in the middle, stays there.
function zoomTo(to, event) {
  const frames = boxes.map(box => {
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
const zoomBy = (factor, event) => boxes.length && zoomTo(Math.max(0.1, Math.min(5, factor * scaleOf(boxes[0].firstChild))), event);

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
  let done = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch { // as some browsers do for pages of files
    const area = html(document.body, "textarea", text);
    area.select();
    done = document.execCommand("copy");
    area.remove();
  }
  $("said").value = done ? "copied" : "the browser does not let pages copy";
  setTimeout(() => { $("said").value = ""; }, 2000);
}

// With the styles of pictures in light colours, without variables, which many programs do not know.
function svgText(svg) {
  const rules = [...document.styleSheets[0].cssRules], colours = rules.find(rule => rule.selectorText === ":root").style;
  const styles = rules.filter(rule => rule.selectorText?.startsWith("#pictures ")).map(rule => rule.cssText.replaceAll("#pictures ", ""));
  const whole = svg.cloneNode(true);
  element(whole, "style", {}, styles.join("\n").replace(/var\((--[\w-]+)\)/gu, (_, variable) => colours.getPropertyValue(variable)));
  return new XMLSerializer().serializeToString(whole);
}

function save(svg, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([svgText(svg)], { type: "image/svg+xml" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// Pictures of a sentence scroll together along its words. Those that follow say so, too, and are not followed.
$("pictures").addEventListener("scroll", event => {
  const side = $("compact").checked ? "scrollTop" : "scrollLeft", to = event.target[side];
  if (to === event.target.followed) return;
  for (const box of boxes) {
    box[side] = to;
    box.followed = box[side];
  }
}, true);

$("pictures").addEventListener("wheel", event => {
  if (!event.ctrlKey) return;
  event.preventDefault();
  zoomBy(event.deltaY < 0 ? 1.1 : 1 / 1.1, event);
}, { passive: false });
