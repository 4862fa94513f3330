// What is looked at: which attention, layer and head, and how it is shown.

import { PALETTES } from "./colours.js";
import { check, choice, el, fill } from "./dom.js";
import { figure, knows, say } from "./words.js";

export class Controls {
  constructor() {
    this.main = el("div", { class: "controls" });
    this.rest = el("div", { class: "rest" });
    this.more = el("details", { class: "more" });
    this.box = el("div", { class: "bars" }, this.main, this.more);
    this.key = null;
  }

  update(scene) {
    const { state, trace, attention } = scene;
    const key = [trace.id, attention.name, state.head, state.words, state.marks, state.scale, state.base, state.palette, state.how, state.lang, scene.hows.join(), state.tab].join("|");
    if (key === this.key) return;
    this.key = key;
    const again = document.activeElement?.dataset?.control;
    fill(this.main, this.#families(scene), this.#layer(scene), this.#head(scene), this.#hows(scene),
      check(say("words"), state.words, (on) => scene.set({ words: on }), say("wordsTitle")),
      this.#hasMarks(scene) ? check(say("marks"), state.marks, (on) => scene.set({ marks: on }), say("marksTitle")) : null);
    fill(this.rest, this.#min(scene), this.#select("scale", ["most", "one", "root"], scene), this.#select("palette", PALETTES, scene),
      check(say("base"), state.base, (on) => scene.set({ base: on }), say("baseTitle")), this.#gold(scene));
    fill(this.more, el("summary", {}, say("more")), this.rest);
    if (again) this.box.querySelector(`[data-control="${again}"]`)?.focus();
  }

  #families({ trace, attention, state, set }) {
    if (trace.families.length < 2) return null;
    const options = trace.families.map((family) => ({ value: family, text: familyName(family, trace), title: family }));
    return choice(say("attention"), options, attention.family, (family) => set({ family, layer: null, head: "mean", ask: null, read: null, step: null }));
  }

  #layer({ trace, attention, set }) {
    const layers = trace.layers(attention.family);
    if (layers.length < 2) return null;
    const options = layers.map(({ layer }) => el("option", { value: layer, selected: layer === attention.layer }, layer));
    return el("label", {}, el("span", {}, say("layer")), el("select", { "data-control": "layer", on: { change: (event) => set({ layer: Number(event.target.value) }) } }, options));
  }

  #head({ attention, state, set }) {
    if (attention.heads < 2) return null;
    const options = [el("option", { value: "mean", selected: state.head === "mean" }, say("mean")),
      ...Array.from({ length: attention.heads }, (_, head) => el("option", { value: head, selected: state.head === head }, head))];
    const change = (event) => set({ head: event.target.value === "mean" ? "mean" : Number(event.target.value) });
    return el("label", {}, el("span", {}, say("head")), el("select", { "data-control": "head", on: { change } }, options));
  }

  #hows({ hows, state, set }) {
    if (hows.length < 2 || state.tab === "steps") return null;
    return choice(say("how"), hows.map((how) => ({ value: how, text: say(`how.${how}`), title: say(`howTitle.${how}`) })), state.how, (how) => set({ how }));
  }

  #hasMarks({ trace, attention }) {
    return attention.axes.some((name) => trace.rows[name].tokens.some(({ special }) => special));
  }

  #min({ state, set }) {
    const told = el("output", {}, figure(state.min));
    const input = (event) => {
      told.textContent = figure(Number(event.target.value));
      set({ min: Number(event.target.value) }, true);
    };
    return el("label", {}, el("span", {}, say("min")), el("input", { type: "range", min: 0, max: 0.5, step: 0.01, value: state.min, "data-control": "min", on: { input } }), told);
  }

  #select(key, values, { state, set }) {
    const options = values.map((value) => el("option", { value, selected: state[key] === value }, say(`${key}.${value}`)));
    return el("label", {}, el("span", {}, say(key)), el("select", { "data-control": key, on: { change: (event) => set({ [key]: event.target.value }) } }, options));
  }

  #gold({ state, set, attention }) {
    if (attention.axes[0] === attention.axes[1]) return null;
    return el("label", { class: "wide" }, el("span", {}, say("gold")), el("input", { type: "text", value: state.gold, spellcheck: false, "data-control": "gold", on: { change: (event) => set({ gold: event.target.value.trim() }) } }));
  }
}

// "decoder.cross" in words; what has no word keeps its name.
export function familyName(family, trace) {
  const key = `family.${family}`;
  if ("source" in trace.rows && knows(`${key}.translate`)) return say(`${key}.translate`);
  return knows(key) ? say(key) : family;
}
