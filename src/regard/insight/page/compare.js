// The tab "compare": the same view of something else beside it, and the difference.

import { ramp } from "./colours.js";
import { choice, el, fill, rich } from "./dom.js";
import { drawMatrix, drawOver, matrixAt, matrixPlan } from "./matrix.js";
import { described } from "./reading.js";
import { largest, sheetOf } from "./sheet.js";
import { Surface } from "./surface.js";
import { chosenAttention, Trace } from "./trace.js";
import { figure, say } from "./words.js";

const KINDS = ["text", "head", "model", "update"];

export class Comparing {
  constructor(app) {
    this.app = app;
    this.bar = el("div", { class: "bar" });
    this.pick = el("div", { class: "controls" });
    this.note = el("p", { class: "note" });
    this.said = el("p", { class: "said" });
    this.traces = new Map();
    this.surfaces = ["first", "second", "difference"].map((name, place) => {
      const surface = new Surface({ name, at: (x, y) => this.drawn?.[place] && matrixAt(this.drawn[place].plan, this.drawn[place].sheet, x, y), hover: (at) => this.#hover(place, at), pin: () => {}, keys: () => {} });
      surface.box.tabIndex = -1;
      const title = el("figcaption", { class: "note" });
      return { surface, title, figure: el("figure", {}, title, el("div", { class: "view" }, surface.box)) };
    });
    this.grid = el("div", { class: "compared" }, this.surfaces.map((one) => one.figure));
    this.box = el("section", { class: "comparing" }, this.bar, this.pick, this.said, this.note, this.grid);
  }

  update(scene) {
    const { state } = scene;
    const kinds = KINDS.filter((kind) => this.#possible(scene, kind));
    const kind = kinds.includes(state.other) ? state.other : kinds[0];
    fill(this.bar, choice(say("compareWith"), kinds.map((one) => ({ value: one, text: say(`other.${one}`) })), kind, (other) => scene.set({ other, than: "" })));
    this.#picker(scene, kind);
    const second = this.#second(kind === "text" && !state.than ? { ...scene, state: { ...state, than: this.#suggested(scene) } } : scene, kind);
    this.grid.hidden = !second;
    if (second) this.#draw(scene, second);
  }

  // Until somebody has chosen: the first example that is not looked at.
  #suggested({ about, query }) {
    return about?.examples.find((text) => text !== query.text) ?? "";
  }

  #possible({ attention, trace, models, can }, kind) {
    if (kind === "head") return attention.heads > 1 || trace.layers(attention.family).length > 1;
    if (kind === "model") return models.filter(({ attends }) => attends).length > 1;
    return kind === "text" ? this.app.live : can("checkpoint");
  }

  // What it is compared with is chosen here; `than` of the address holds it.
  #picker(scene, kind) {
    const { state, models, query, attention, trace } = scene;
    const key = [kind, state.lang, state.than, query.model, query.text, attention.name, this.run?.updates.length].join("|");
    if (key === this.picked) return;
    this.picked = key;
    const set = (than, quiet) => scene.set({ other: kind, than: String(than) }, quiet);
    const select = (label, options) => el("label", {}, el("span", {}, label), el("select", { "data-control": "than", on: { change: (event) => set(event.target.value) } }, el("option", { value: "" }, "…"), options.map(([value, text]) => el("option", { value, selected: String(value) === state.than }, text))));
    if (kind === "text") {
      const area = el("input", { type: "text", id: "than", value: state.than || this.#suggested(scene), placeholder: say("otherText"), "aria-label": say("otherText"), dir: "auto", "data-control": "than", on: { change: (event) => set(event.target.value.trim()) } });
      const others = (scene.about?.examples ?? []).filter((text) => text !== query.text && text !== state.than);
      fill(this.pick, el("label", { class: "wide" }, area), others.slice(0, 3).map((text) => el("button", { type: "button", class: "example", dir: "auto", on: { click: () => set(text) } }, text)));
    } else if (kind === "model") fill(this.pick, select(say("model"), models.filter(({ attends, name }) => attends && name !== query.model).map(({ name }) => [name, name])));
    else if (kind === "head") fill(this.pick, select(say("head"), trace.layers(attention.family).flatMap(({ layer, heads, name }) => [["mean", say("mean")], ...Array.from({ length: heads }, (_, head) => [head, head])].map(([head, text]) => [`${name}:${head}`, `${layer === null ? "" : `${say("layerN", { n: layer })} · `}${text}`]))));
    else this.#scrubber(scene, set);
  }

  #scrubber(scene, set) {
    if (!this.run || this.run.model !== scene.query.model) {
      this.app.remote.json("/inside/run", { model: scene.query.model }).then((run) => { this.run = run; this.picked = null; scene.redraw(); }, (error) => fill(this.note, error.message));
      return fill(this.pick);
    }
    const { updates, sentences } = this.run;
    const [sentence, update] = checkpointOf(scene.state.than, this.run);
    const told = el("output", {}, say("updateN", { n: update }));
    const input = (event) => { told.textContent = say("updateN", { n: updates[Number(event.target.value)] }); set(`${sentence}:${updates[Number(event.target.value)]}`, true); };
    return fill(this.pick,
      el("label", {}, el("span", {}, say("sentence")), el("select", { "data-control": "sentence", on: { change: (event) => set(`${event.target.value}:${update}`) } }, sentences.map(({ text }, place) => el("option", { value: place, selected: place === sentence }, text)))),
      el("label", {}, el("span", {}, say("update")), el("input", { type: "range", min: 0, max: updates.length - 1, value: updates.indexOf(update), "data-control": "update", on: { input } }), told));
  }

  // Two sheets; null while the second is fetched.
  #second(scene, kind) {
    const { state, query, sheet, attention } = scene;
    const head = state.head;
    fill(this.note);
    if (kind === "head") {
      const [name, which] = state.than.split(":");
      const other = scene.trace.get(name);
      if (!other) return null;
      if (!scene.trace.has(name)) return this.app.fetch(scene.trace, name, false) ?? null;
      return { first: sheet, second: sheetOf(scene.trace, name, which === "mean" ? "mean" : Number(which), state), titles: [`${attention.name} · ${head}`, `${name} · ${which}`] };
    }
    if (kind === "update") {
      if (!this.run) return null;
      const [sentence, update] = checkpointOf(state.than, this.run);
      const last = this.run.updates.at(-1);
      const [now, then] = [last, update].map((one) => this.#trace(scene, "/inside/checkpoint", { model: query.model, update: one, sentence, format: "float16" }));
      if (!now || !then) return null;
      return { first: seen(now, scene), second: seen(then, scene), titles: [say("updateN", { n: last }), say("updateN", { n: update })] };
    }
    if (!state.than) return null;
    const other = kind === "text" ? { ...query, text: state.than, second: null } : { ...query, model: state.than, second: null, generate: 0 };
    const trace = this.#trace(scene, "/attention", { ...other, format: "float16" });
    return trace && { first: sheet, second: seen(trace, scene), titles: kind === "text" ? [query.text, state.than] : [query.model, state.than] };
  }

  // A few of them are kept, so that a slider can go back and forth.
  #trace(scene, path, body) {
    const key = JSON.stringify([path, body]);
    if (!this.traces.has(key)) {
      this.traces.set(key, null);
      this.app.remote.tensors(path, body).then((found) => this.traces.set(key, new Trace(found)), (error) => { this.traces.delete(key); fill(this.note, error.message); this.failed = key; }).finally(() => scene.redraw());
      if (this.traces.size > 40) this.traces.delete(this.traces.keys().next().value);
    }
    return this.traces.get(key) ?? null;
  }

  #draw(scene, { first, second, titles }) {
    const shared = differing(first, second);
    const width = Math.max(260, (this.box.clientWidth - 48) / (scene.narrow ? 1 : shared ? 3 : 2));
    const most = Math.max(largest(first.values), largest(second.values));
    const look = { ...scene.look, level: (weight) => weight / (most || 1), colours: scene.plain, gold: [], borders: null, legend: { low: "0", high: figure(most), what: say("weight") } };
    const span = shared ? largest(shared.sheet.values.map(Math.abs)) || 1 : 1;
    const both = { ...look, level: (weight) => 0.5 + weight / (2 * span), colours: ramp("both", scene.dark), legend: { low: `−${figure(span)}`, high: `+${figure(span)}`, what: say("compareDifference") } };
    const names = { asks: say("asksAxis"), reads: say("readsAxis") };
    this.drawn = [[first, look], [second, look], [shared?.sheet, both]].map(([sheet, ink]) => sheet && { sheet, ink, plan: matrixPlan(sheet, width, names) });
    this.shared = shared;
    this.surfaces.forEach(({ surface, title, figure: box }, place) => {
      const one = this.drawn[place];
      box.hidden = !one;
      if (!one) return;
      fill(title, [titles[0], titles[1], say("compareMap", { n: shared?.sheet.T, m: shared?.sheet.S })][place]);
      surface.box.setAttribute("aria-label", title.textContent);
      surface.draw(one.plan.width, one.plan.height, (pen) => drawMatrix(pen, one.sheet, one.plan, one.ink));
    });
    if (!shared) fill(this.note, say("compareNothing"));
    this.#over(scene.look);
    this.look = scene.look;
  }

  // The same token in all three, as far as it is there.
  #hover(place, at) {
    if (!this.drawn) return;
    const pairs = this.shared ?? { asks: [], reads: [] };
    const common = (side, here) => (here === null ? null : place === 2 ? here : pairs[side].findIndex((pair) => pair[place] === here));
    const to = (side, index, which) => (index === null || index < 0 ? null : which === 2 ? index : pairs[side][index][which]);
    this.at = [0, 1, 2].map((which) => {
      if (!at) return null;
      if (which === place) return at;
      return { ask: to("asks", common("asks", at.ask), which), read: to("reads", common("reads", at.read), which) };
    });
    this.#over(this.look);
    const told = [0, 1].map((which) => this.at[which] && (this.at[which].ask !== null || this.at[which].read !== null) && described(this.drawn[which].sheet, this.at[which])).filter(Boolean);
    fill(this.said, told.flatMap((text, i) => [i ? el("br") : "", ...rich(text)]));
  }

  #over(look) {
    this.drawn.forEach((one, place) => one && this.surfaces[place].surface.drawOver((pen) => this.at?.[place] && drawOver(pen, one.sheet, one.plan, this.at[place], look)));
  }
}

// The sheet of another trace that stands where the first one's does: same family, layer and head, or the nearest.
function seen(trace, { state, attention }) {
  const wanted = trace.families.includes(attention.family) ? attention.family : null;
  const other = chosenAttention(trace, { family: wanted, layer: attention.layer });
  return sheetOf(trace, other.name, state.head === "mean" ? "mean" : Math.min(state.head, other.heads - 1), state);
}

function checkpointOf(than, { updates, sentences }) {
  const [sentence, update] = than.split(":").map(Number);
  return [sentence >= 0 && sentence < sentences.length ? sentence : sentences.length - 1, updates.includes(update) ? update : updates[0]];
}

// What two sheets have in common, in the same order, and how their weights differ there; null if that is next to nothing.
function differing(first, second) {
  const asks = inCommon(first.asks.labels, second.asks.labels), reads = inCommon(first.reads.labels, second.reads.labels);
  if (asks.length < 2 || reads.length < 2) return null;
  const values = new Float32Array(asks.length * reads.length);
  asks.forEach(([t1, t2], t) => reads.forEach(([s1, s2], s) => { values[t * reads.length + s] = second.values[t2 * second.S + s2] - first.values[t1 * first.S + s1]; }));
  const side = (from, pairs) => ({ ...from, labels: pairs.map(([place]) => from.labels[place]), units: pairs.map(([place]) => from.units[place]), length: pairs.length });
  return { asks, reads, sheet: { ...first, asks: side(first.asks, asks), reads: side(first.reads, reads), values, T: asks.length, S: reads.length } };
}

// The longest common subsequence, as pairs of places.
function inCommon(a, b) {
  const long = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--) long[i][j] = a[i] === b[j] ? long[i + 1][j + 1] + 1 : Math.max(long[i + 1][j], long[i][j + 1]);
  const found = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) found.push([i++, j++]);
    else if (long[i + 1][j] >= long[i][j + 1]) i++;
    else j++;
  }
  return found;
}
