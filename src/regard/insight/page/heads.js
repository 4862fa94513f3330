// All heads of all layers, each in small, with what it does: one canvas, and over it a button for each.

import { darkest, pixelsOf } from "./colours.js";
import { el, fill } from "./dom.js";
import { measured, SORTS } from "./measures.js";
import { CanvasPen, pictured } from "./pen.js";
import { figure, say } from "./words.js";

const PIXELS = 64, BREATH = 40; // milliseconds

export class Heads {
  constructor() {
    this.canvas = el("canvas", { "aria-hidden": "true" });
    this.buttons = el("div", { class: "thumbs", role: "group" });
    this.bar = el("div", { class: "bar" });
    this.note = el("p", { class: "note" });
    this.box = el("section", { class: "heads" }, this.bar, el("div", { class: "surface" }, this.canvas, this.buttons), this.note);
    this.found = new Map(); // name → measures of its heads
    this.trace = null;
    this.key = null;
    this.box.addEventListener("keydown", (event) => this.#move(event));
  }

  update(scene) {
    const layers = scene.trace.layers(scene.attention.family);
    this.box.hidden = layers.length * scene.attention.heads < 2;
    if (this.box.hidden) return;
    if (this.trace !== scene.trace) [this.trace, this.found] = [scene.trace, new Map()];
    this.#fetch(scene, layers);
    const here = layers.filter(({ name }) => this.found.has(name));
    const key = [scene.trace.id, scene.attention.family, scene.state.sort, scene.state.lang, here.length, scene.dark, scene.state.palette, this.box.clientWidth].join("|");
    const chosen = [scene.attention.name, scene.state.head].join("|");
    if (key === this.key && chosen === this.chosen) return;
    if (key !== this.key) this.#draw(scene, layers);
    [this.key, this.chosen] = [key, chosen];
    this.#choose(scene);
  }

  // Layer after layer, with a breath now and then, so that the page answers meanwhile; drawn whenever one must be waited for.
  async #fetch(scene, layers) {
    const trace = scene.trace;
    if (this.fetching === trace || layers.every(({ name }) => this.found.has(name))) return;
    this.fetching = trace;
    let breathed = performance.now(), whole = false;
    try {
      for (const layer of layers.filter(({ name }) => !this.found.has(name))) {
        if (!trace.has(layer.name)) {
          scene.redraw();
          await trace.need(layer.name);
        } else if (performance.now() - breathed > BREATH) {
          await new Promise((done) => setTimeout(done));
          breathed = performance.now();
        }
        if (this.trace !== trace) return;
        this.found.set(layer.name, measured(layer, trace.rough(layer.name), PIXELS));
      }
      whole = true;
    } catch {
      // what cannot be fetched is told by whoever shows it
    } finally {
      if (this.fetching === trace) this.fetching = null;
      if (whole && this.trace === trace) scene.redraw();
    }
  }

  #draw(scene, layers) {
    const { state } = scene;
    const entries = layers.flatMap((layer, row) => Array.from({ length: layer.heads }, (_, head) => ({ layer, head, row, column: head, of: this.found.get(layer.name)?.[head] })));
    const columns = Math.max(...layers.map(({ heads }) => heads));
    if (state.sort !== "layer") {
      entries.sort((a, b) => (b.of?.[state.sort] ?? -1) - (a.of?.[state.sort] ?? -1));
      entries.forEach((entry, place) => Object.assign(entry, { row: Math.floor(place / columns), column: place % columns }));
    }
    const side = state.sort === "layer" ? 22 : 0;
    const pitch = Math.max(20, Math.min(104, (this.box.clientWidth - side - 2) / columns));
    const size = pitch - (pitch > 40 ? 8 : 3), below = size > 42 ? 16 : pitch - size;
    const rows = Math.max(...entries.map(({ row }) => row)) + 1;
    const [width, height] = [side + columns * pitch, 16 + rows * (size + below)];
    const pen = new CanvasPen(this.canvas, width, height);
    Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
    for (const entry of entries) {
      Object.assign(entry, { x: side + entry.column * pitch, y: 16 + entry.row * (size + below), size });
      this.#thumb(pen, scene, entry, below);
    }
    if (state.sort === "layer") {
      layers.forEach(({ layer }, row) => pen.text(String(layer ?? ""), side - 8, 16 + row * (size + below) + size / 2, { size: 11, align: "right", fill: scene.look.soft }));
      for (let head = 0; head < columns; head++) pen.text(String(head), side + head * pitch + size / 2, 7, { size: 11, align: "center", fill: scene.look.soft });
    }
    this.#cover(scene, entries);
    this.#label(scene, layers);
  }

  #thumb(pen, scene, { x, y, size, of, layer }, below) {
    const { look, state } = scene;
    if (!of) return pen.rect(x, y, size, size, { stroke: look.line });
    if (of.colours !== scene.plain) { // painted once, drawn as often as others come
      const most = darkest(Math.max(...of.small), layer.S);
      Object.assign(of, { colours: scene.plain, picture: pictured(pixelsOf(of.small, (weight) => weight / most, scene.plain), of.wide, of.high) });
    }
    pen.picture(of.picture, x, y, size, size);
    pen.rect(x, y, size, size, { stroke: look.line, thick: 0.5 });
    const tag = state.sort === "layer" ? of.tag && say(`tag.${of.tag}`) : figure(of[state.sort]);
    if (below >= 16 && tag) pen.text(tag, x + size / 2, y + size + 8, { size: 10, align: "center", fill: look.soft });
    return undefined;
  }

  // A button for each head: for keys, and for who cannot see the picture.
  #cover(scene, entries) {
    this.focused = this.buttons.contains(document.activeElement);
    fill(this.buttons, entries.map(({ layer, head, of, x, y, size, row, column }) => {
      const figures = of ? SORTS.map((sort) => `${say(`sort.${sort}`)} ${figure(of[sort])}`).join(", ") : "";
      const label = `${layer.layer === null ? "" : `${say("layerN", { n: layer.layer })}, `}${say("headN", { n: head })}${of?.tag ? `: ${say(`tag.${of.tag}`)}` : ""}`;
      const button = el("button", {
        type: "button", class: "thumb", title: `${label}\n${figures}`, "aria-label": `${label}. ${figures}`,
        "data-row": row, "data-column": column, "data-name": layer.name, "data-head": head,
        on: { click: () => scene.set({ layer: layer.layer, head: button.getAttribute("aria-pressed") === "true" ? "mean" : head }) },
      });
      Object.assign(button.style, { left: `${x}px`, top: `${y}px`, width: `${size}px`, height: `${size}px` });
      return button;
    }));
  }

  // Which of them is looked at; of a mean, all that it is made of.
  #choose({ attention, state }) {
    let first = null;
    for (const button of this.buttons.children) {
      const here = button.dataset.name === attention.name, chosen = here && button.dataset.head === String(state.head);
      button.setAttribute("aria-pressed", String(chosen));
      button.classList.toggle("among", here && state.head === "mean");
      button.tabIndex = -1;
      if (!first && (chosen || (here && state.head === "mean"))) first = button;
    }
    if (first) first.tabIndex = 0;
    if (this.focused) first?.focus();
    this.focused = false;
  }

  #label(scene, layers) {
    const { state } = scene;
    this.buttons.setAttribute("aria-label", say("heads"));
    const options = ["layer", ...SORTS].map((sort) => el("option", { value: sort, selected: sort === state.sort }, say(`sort.${sort}`)));
    fill(this.bar, el("h2", {}, say("heads")), el("label", {}, el("span", {}, say("sortBy")), el("select", { "data-control": "sort", on: { change: (event) => scene.set({ sort: event.target.value }) } }, options)));
    const left = layers.filter(({ name }) => !this.found.has(name)).length;
    fill(this.note, left ? say("layersComing", { n: left }) : say("headsNote"));
  }

  #move(event) {
    const at = event.target.closest(".thumb");
    const [down, across] = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key] ?? [0, 0];
    if (!at || (!down && !across)) return;
    event.preventDefault();
    event.stopPropagation();
    const next = this.buttons.querySelector(`[data-row="${Number(at.dataset.row) + down}"][data-column="${Number(at.dataset.column) + across}"]`);
    if (!next) return;
    for (const button of this.buttons.children) button.tabIndex = button === next ? 0 : -1;
    next.focus();
  }
}
