// The tab "decoding": what was chosen at each step, what else could have been, and what comes of another choice.

import { Answer } from "./answers.js";
import { Beams } from "./beams.js";
import { forcedIds, visible } from "./choices.js";
import { el, fill } from "./dom.js";
import { say } from "./words.js";

const SHOWN = 5;

export class Decoding {
  constructor(app) {
    this.timeline = new Answer(app);
    this.filling = new Answer(app);
    this.beams = new Beams(app);
    this.bar = el("div", { class: "controls" });
    this.steps = el("ol", { class: "timeline", tabIndex: 0 });
    this.note = el("p", { class: "note" });
    this.text = el("p", { class: "words" });
    this.fills = el("div", { class: "fills" });
    this.box = el("div", { class: "decoding" }, this.fills, this.bar, this.text, this.note, this.steps, this.beams.box);
  }

  update(scene) {
    const writes = scene.can("timeline");
    for (const part of [this.bar, this.steps, this.text, this.note]) part.hidden = !writes;
    this.beams.box.hidden = !scene.can("beams");
    this.fills.hidden = !scene.can("fill");
    if (!this.fills.hidden) this.#fill(scene);
    if (writes) this.#time(scene);
    if (!this.beams.box.hidden) this.beams.update(scene);
  }

  #time(scene) {
    const { state } = scene;
    this.seed = state.seed;
    this.#controls(scene);
    const forced = forcedIds(state);
    const drawn = scene.continues ? { temperature: state.temperature, top_k: state.topk || null, top_p: state.topp, seed: state.seed, max_new_tokens: Math.max(state.generate || 0, 12) } : { beam: state.beam || null };
    const told = this.timeline.get("/inside/timeline", { model: scene.query.model, text: scene.query.text, forced, top: 8, ...drawn });
    if (this.timeline.error) return fill(this.note, this.timeline.error.message);
    const key = [this.timeline.key, Boolean(told), state.lang, scene.dark].join("|");
    if (!told || key === this.shown) return undefined;
    this.shown = key;
    this.steps.setAttribute("aria-label", say("timeline"));
    fill(this.text, scene.continues ? el("span", { class: "given", dir: "auto" }, scene.query.text) : null, el("span", { dir: "auto" }, told.text));
    fill(this.note, say("timelineSaid", { p: told.log_prob?.toFixed(2) ?? "−∞" }), " ", forced.length ? el("button", { type: "button", class: "quiet", on: { click: () => scene.set({ force: "" }) } }, say("unforce")) : null);
    fill(this.steps, told.steps.map((step, place) => this.#step(scene, told, step, place)));
    return undefined;
  }

  #step(scene, told, step, place) {
    const most = Math.max(...step.alternatives.map(({ probability }) => probability), step.probability);
    const listed = step.alternatives.some(({ id }) => id === step.id) ? step.alternatives : [step, ...step.alternatives];
    const force = (id) => scene.set({ force: [...told.ids.slice(0, place), id].join(",") });
    return el("li", { class: step.forced ? "forced" : "" }, el("strong", { dir: "auto" }, visible(step.text)), el("span", { class: "note" }, say("entropySaid", { nats: step.entropy.toFixed(2) })),
      listed.slice(0, SHOWN + 1).map(({ id, text, probability, drawn }) => {
        const bar = el("span", { class: "level" });
        bar.style.width = `${(100 * probability) / most}%`;
        const cut = drawn === 0 && step.candidates > 1; // of one candidate there is nothing to cut
        return el("button", { type: "button", class: `way${id === step.id ? " chosen" : ""}${cut ? " cut" : ""}`, title: say(cut ? "cutAway" : "force", { p: probability.toFixed(4), drawn: (drawn ?? 0).toFixed(4) }), on: { click: () => force(id) } },
          bar, el("span", { class: "what", dir: "auto" }, visible(text)), el("span", { class: "number" }, probability.toFixed(2)));
      }));
  }

  #controls(scene) {
    const { state } = scene;
    const key = [scene.continues, state.lang].join("|");
    if (key !== this.controlled) {
      const slide = (name, min, max, step) => {
        const told = el("output", {}, String(state[name]));
        const input = (event) => { told.textContent = event.target.value; scene.set({ [name]: Number(event.target.value) }, true); };
        return el("label", {}, el("span", {}, say(name)), el("input", { type: "range", min, max, step, value: state[name], "data-control": name, on: { input } }), told);
      };
      fill(this.bar, scene.continues ? [slide("temperature", 0, 2, 0.05), slide("topk", 0, 100, 1), slide("topp", 0.05, 1, 0.05), el("button", { type: "button", class: "quiet", on: { click: () => scene.set({ seed: this.seed + 1 }) } }, say("drawAgain"))] : slide("beam", 0, 10, 1));
    }
    this.controlled = key;
  }

  // Hidden words.
  #fill(scene) {
    const { state } = scene;
    const masked = scene.query.text.includes("[MASK]");
    const told = masked ? this.filling.get("/fill", { model: scene.query.model, text: scene.query.text, top: 8 }) : null;
    const key = [masked ? this.filling.key : "", Boolean(told), state.lang].join("|");
    if (key === this.filled) return;
    this.filled = key;
    const hide = (place) => () => scene.ask({ ...scene.query, text: scene.query.text.split(/(\s+)/).map((part, i) => (i === place ? part.replace(/[\p{L}\p{N}]+/u, "[MASK]") : part)).join("") });
    if (!masked) {
      fill(this.fills, el("h2", {}, say("fill")), el("p", { class: "note" }, say("fillHint")), el("p", { class: "words" }, scene.query.text.split(/(\s+)/).map((part, place) => (/[\p{L}\p{N}]/u.test(part) ? el("button", { type: "button", class: "hide", on: { click: hide(place) } }, part) : part))));
      return;
    }
    if (this.filling.error) return fill(this.fills, el("p", { class: "note" }, this.filling.error.message));
    fill(this.fills, el("h2", {}, say("fill")), (told?.masks ?? []).map((words, number) => el("table", { class: "one" }, el("caption", {}, say("fillN", { n: number + 1 })), el("tbody", {}, words.map(({ word, probability }) => el("tr", {}, el("th", { scope: "row" }, word), el("td", {}, probability.toFixed(3))))))));
  }
}
