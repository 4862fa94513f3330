// The tab "step by step": a cell, a step of the model, the places of tokens, what may not be seen.

import { Answer } from "./answers.js";
import { pixelsOf, ramp } from "./colours.js";
import { el, fill } from "./dom.js";
import { Flow } from "./flow.js";
import { CanvasPen } from "./pen.js";
import { Workings } from "./workings.js";
import { say } from "./words.js";

export class Stepping {
  constructor(app) {
    Object.assign(this, { workings: new Workings(app), flow: new Flow(app), positions: new Positions(app), masks: new Masks(app) });
    this.box = el("div", { class: "stepping" }, this.workings.box, this.flow.box, this.masks.box, this.positions.box);
  }

  update(scene) {
    for (const [part, verb] of [[this.workings, "workings"], [this.flow, "flow"], [this.masks, "masks"], [this.positions, "positions"]]) {
      part.box.hidden = !scene.can(verb);
      if (!part.box.hidden) part.update(scene);
    }
  }
}

class Positions {
  constructor(app) {
    this.answer = new Answer(app);
    this.canvas = el("canvas", { role: "img" });
    this.box = el("section", { class: "positions" });
  }

  update(scene) {
    const { sheet, state } = scene;
    const length = Math.max(8, sheet.asks.of.length, sheet.reads.of.length);
    const told = this.answer.get("/inside/positions", { model: scene.query.model, length: Math.min(length, scene.about?.limit ?? length), format: "json" });
    if (this.answer.error || told?.kind === "none") return fill(this.box);
    const key = [this.answer.key, Boolean(told), state.lang, scene.dark, this.box.clientWidth].join("|");
    if (!told || key === this.shown) return undefined;
    this.shown = key;
    fill(this.box, el("h2", {}, say("positions")), el("p", { class: "note" }, say(`positions.${told.kind}`, { width: told.width })), this.canvas);
    const values = Float32Array.from(told.numbers.flat());
    const most = values.reduce((best, value) => Math.max(best, Math.abs(value)), 1e-9);
    const width = Math.min(this.box.clientWidth || 600, told.width * 6), high = Math.max(3, Math.min(12, 480 / told.length)) * told.length;
    const pen = new CanvasPen(this.canvas, width, high);
    Object.assign(this.canvas.style, { width: `${width}px`, height: `${high}px` });
    this.canvas.setAttribute("aria-label", say("positionsLabel", { n: told.length, width: told.width }));
    pen.cells(pixelsOf(values, (value) => 0.5 + value / (2 * most), ramp("both", scene.dark)), told.width, told.length, 0, 0, width, high);
    return undefined;
  }
}

class Masks {
  constructor(app) {
    this.answer = new Answer(app);
    this.padding = 0;
    this.list = el("div", { class: "masks" });
    this.box = el("section");
  }

  update(scene) {
    const told = this.answer.get("/inside/masks", { ...scene.query, padding: this.padding });
    if (this.answer.error) return fill(this.box);
    const key = [this.answer.key, Boolean(told), scene.state.lang, scene.dark].join("|");
    if (!told || key === this.shown) return undefined;
    this.shown = key;
    const slider = el("input", { type: "range", min: 0, max: 8, value: this.padding, "data-control": "padding", on: { input: (event) => { this.padding = Number(event.target.value); scene.redraw(); } } });
    const again = document.activeElement?.dataset?.control === "padding";
    fill(this.box, el("h2", {}, say("masks")), el("label", {}, el("span", {}, say("padding")), slider, el("output", {}, String(this.padding))), this.list);
    if (again) slider.focus();
    const kinds = new Map();
    for (const [name, mask] of Object.entries(told.masks)) {
      const same = JSON.stringify([told.axes[name], mask]);
      kinds.set(same, { ...mask, names: [...(kinds.get(same)?.names ?? []), name] });
    }
    fill(this.list, [...kinds.values()].map((mask) => this.#figure(scene, mask)));
    return undefined;
  }

  #figure(scene, { kinds, rows, names }) {
    const [T, S] = [rows.length, rows[0]?.length ?? 0];
    const values = Float32Array.from(rows.join(""), (letter) => (letter === "1" ? 0.55 : 0));
    const cell = Math.max(1, Math.min(12, 220 / Math.max(S, T)));
    const canvas = el("canvas", { role: "img", "aria-label": say("maskLabel", { kinds: kinds.map((kind) => say(`mask.${kind}`)).join(say("and")) || say("mask.none") }) });
    const pen = new CanvasPen(canvas, S * cell, T * cell);
    Object.assign(canvas.style, { width: `${S * cell}px`, height: `${T * cell}px` });
    pen.cells(pixelsOf(values, (value) => value, ramp(scene.state.palette, scene.dark)), S, T, 0, 0, S * cell, T * cell);
    pen.rect(0, 0, S * cell, T * cell, { stroke: scene.look.line });
    return el("figure", {}, canvas, el("figcaption", { class: "note" }, `${kinds.map((kind) => say(`mask.${kind}`)).join(say("and")) || say("mask.none")} — ${names.length > 2 ? `${names[0]} … ${names.at(-1)}` : names.join(say("and"))}`));
  }
}
