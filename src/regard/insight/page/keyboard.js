// Keys that work everywhere on the page but where somebody types.

import { chosenAttention, Trace } from "./trace.js";

export function listenToKeys(app) {
  addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]")) return;
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches?.("input, textarea, select")) return;
    const act = ACTS[event.key];
    if (!act || (event.key !== "?" && !(app.trace instanceof Trace))) return;
    act(app);
    event.preventDefault();
  });
}

const ACTS = {
  Escape: (app) => app.looking.release(),
  "[": (app) => layer(app, -1),
  "]": (app) => layer(app, 1),
  ",": (app) => head(app, -1),
  ".": (app) => head(app, 1),
  w: (app) => app.store.set({ words: !app.store.state.words }),
  m: (app) => app.store.set({ marks: !app.store.state.marks }),
  v: (app) => app.store.set({ view: { matrix: "lines", lines: "table", table: "matrix" }[app.store.state.view] ?? "matrix" }),
  "?": (app) => app.top.show(),
};

function layer(app, step) {
  const now = chosenAttention(app.trace, app.store.state);
  const layers = app.trace.layers(now.family);
  const next = layers[layers.indexOf(now) + step];
  if (next) app.store.set({ layer: next.layer });
}

// The mean stands before the first head.
function head(app, step) {
  const { heads } = chosenAttention(app.trace, app.store.state);
  const now = app.store.state.head === "mean" ? -1 : app.store.state.head;
  const next = Math.max(-1, Math.min(heads - 1, now + step));
  app.store.set({ head: next < 0 ? "mean" : next });
}
