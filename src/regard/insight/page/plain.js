// A model without attention: says so, and shows what it has instead.

import { ramp } from "./colours.js";
import { Decoding } from "./decoding.js";
import { el, fill } from "./dom.js";
import { Flow } from "./flow.js";
import { figure, say } from "./words.js";
import { strip } from "./workings.js";

export class Plain {
  constructor(app) {
    this.app = app;
    this.step = 0;
    this.flow = new Flow(app);
    this.decoding = new Decoding(app);
    this.told = el("div", {});
    this.slider = el("input", { type: "range", min: 0, value: 0, "data-control": "step", on: { input: (event) => { this.step = Number(event.target.value); app.redraw(); } } });
    this.name = el("span");
    this.steps = el("label", {}, this.name, this.slider);
    this.box = el("section", { class: "plain" }, this.told, this.steps, this.flow.box, this.decoding.box);
  }

  // What it answers: a translation or a class.
  async fetch(about, { text }, signal) {
    const { remote } = this.app;
    if (about.verbs.includes("translate")) {
      const told = await remote.json("/inside/timeline", { model: about.name, text, top: 8 }, signal);
      return { meta: { model: about.name }, text, said: told.text };
    }
    const told = await remote.json("/classify", { model: about.name, texts: [text] }, signal);
    const [{ label, probability }] = told.classes;
    return { meta: { model: about.name }, text, label, probability };
  }

  update(found, state) {
    const key = [found.text, found.said, found.label, state.lang].join("|");
    if (key !== this.key) this.#tell(found);
    this.key = key;
    const scene = { state, ...this.app.around(), dark: this.app.dark, look: this.app.inks(), redraw: () => this.app.redraw(), set: (changes, quiet) => this.app.store.set(changes, quiet), show: () => {}, stepOf: () => Math.min(this.step, Number(this.slider.max)), focus: { ask: 0 }, sheet: { asks: { units: [{ tokens: [0] }] } } };
    for (const part of [this.flow, this.decoding]) part.box.hidden = !scene.can(part === this.flow ? "flow" : "timeline");
    this.steps.hidden = this.flow.box.hidden;
    this.slider.max = Math.max(0, (this.decoding.timeline.value?.steps.length ?? 1) - 1);
    if (!this.flow.box.hidden) this.flow.update(scene);
    this.#vector(scene);
    if (!this.decoding.box.hidden) this.decoding.update(scene);
  }

  // The first numbers of the vector that all passes through.
  #vector({ dark }) {
    const node = this.flow.answer.value?.nodes.find(({ id }) => id === "c");
    const box = this.told.querySelector(".vector");
    if (!node || !box || box.dataset.of === this.flow.answer.key) return;
    box.dataset.of = this.flow.answer.key;
    const canvas = el("canvas", { "aria-hidden": "true" });
    strip(canvas, node.numbers, ramp("both", dark));
    box.setAttribute("aria-label", say("noneSize", { n: node.shape.at(-1) }));
    fill(box, el("span", {}, say("noneSize", { n: node.shape.at(-1) })), canvas, "…");
  }

  #tell(found) {
    this.step = 0;
    this.slider.value = 0;
    fill(this.name, say("noneStep"));
    const said = found.said ?? say("class", { label: found.label, p: figure(found.probability) });
    fill(this.told, el("h2", {}, say("none", { model: found.meta.model })), el("p", {}, say(found.said === undefined ? "noneClass" : "noneWhy")),
      el("h3", {}, say("noneInstead")),
      el("div", { class: "funnel" },
        el("div", {}, el("span", { class: "side" }, say("noneSource")), el("p", { class: "words", dir: "auto" }, found.text)),
        el("div", { class: "vector", role: "img", "aria-label": say("noneVector") }, el("span", {}, say("noneVector"))),
        el("div", {}, el("span", { class: "side" }, say("noneTarget")), el("p", { class: "words", dir: "auto", id: "answer" }, said))));
  }
}
