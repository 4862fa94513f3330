// A translation as it is made, a step at a time.

import { el, fill } from "./dom.js";
import { say } from "./words.js";

const PAUSE = 220, LONGEST = 6000;

export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export class Growing {
  constructor() {
    this.button = el("button", { type: "button", class: "quiet", on: { click: () => (this.timer ? this.stop() : this.play()) } });
    this.slider = el("input", { type: "range", min: 1, "data-control": "step", on: { input: (event) => { this.stop(); this.#go(Number(event.target.value)); } } });
    this.told = el("output");
    this.name = el("span");
    this.box = el("div", { class: "growing" }, this.button, el("label", {}, this.name, this.slider), this.told);
    this.timer = null;
  }

  update(scene) {
    this.scene = scene;
    this.box.hidden = scene.attention.axes[0] !== "prediction" || scene.sheet.T < 2;
    if (this.box.hidden) return this.stop();
    const { T } = scene.sheet;
    this.slider.max = T;
    this.slider.value = scene.rows;
    this.button.hidden = still();
    fill(this.button, say(this.timer ? "pause" : "play"));
    fill(this.name, say("step"));
    fill(this.told, say("stepOf", { n: scene.rows, all: T }));
  }

  // From the beginning, or from where it was stopped.
  play() {
    if (still() || this.box.hidden) return;
    const { T } = this.scene.sheet;
    let row = this.scene.rows >= T ? 0 : this.scene.rows;
    const trace = this.scene.trace;
    this.timer = setInterval(() => {
      row += 1;
      if (this.scene.trace !== trace || row >= T) this.stop();
      if (this.scene.trace === trace) this.#go(row);
    }, Math.min(PAUSE, LONGEST / T));
    this.#go(Math.max(1, row));
  }

  stop() {
    clearInterval(this.timer);
    if (!this.timer) return;
    this.timer = null;
    this.scene?.redraw();
  }

  #go(row) {
    this.scene.set({ step: row >= this.scene.sheet.T ? null : row }, true);
    this.scene.redraw();
  }
}
