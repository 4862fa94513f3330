// One step as a flow chart: what goes where in this model, with shapes and values.

import { Answer } from "./answers.js";
import { ramp } from "./colours.js";
import { el, fill } from "./dom.js";
import { shortly, strip } from "./workings.js";
import { say } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";

export class Flow {
  constructor(app) {
    this.answer = new Answer(app);
    this.box = el("section", { class: "flow" });
    new ResizeObserver(() => this.#arrows()).observe(this.box);
  }

  update(scene) {
    const { focus, sheet, state } = scene;
    const unit = sheet.asks.units[focus.ask ?? 0];
    const told = this.answer.get("/inside/flow", { ...scene.query, step: scene.stepOf(unit?.tokens[0] ?? 0) });
    if (this.answer.error) return fill(this.box, el("p", { class: "note" }, this.answer.error.message));
    if (!told) return undefined;
    const key = [this.answer.key, state.lang, scene.dark].join("|");
    if (key === this.shown) return undefined;
    Object.assign(this, { shown: key, told });
    this.cards = new Map(told.nodes.map((node) => [node.id, this.#card(scene, node)]));
    const bands = told.groups.map(({ id, label }) => el("div", { class: "band" }, el("h3", {}, label), el("div", { class: "cards" }, told.nodes.filter(({ group }) => group === id).map((node) => this.cards.get(node.id)))));
    this.lines = document.createElementNS(SVG, "svg");
    this.lines.setAttribute("aria-hidden", "true");
    fill(this.box, el("h2", {}, say("flow", { architecture: told.architecture })), el("p", { class: "note" }, say(told.writes ? "flowSaid" : "flowRead", { reads: told.reads, writes: told.writes })),
      el("div", { class: "chart" }, this.lines, bands), this.#top(told));
    this.#arrows();
    return undefined;
  }

  #card(scene, { label, kind, formula, shape, norm, numbers, attention, id }) {
    const canvas = el("canvas", { "aria-hidden": "true" });
    if (numbers?.length) strip(canvas, numbers, ramp("both", scene.dark), 12, 8);
    const inputs = this.told.edges.filter(({ to }) => to === id).map(({ from }) => this.told.nodes.find((node) => node.id === from)?.label).filter(Boolean);
    return el(attention ? "button" : "div", {
      class: `card ${kind}`, type: attention ? "button" : null, title: `${inputs.length ? `← ${inputs.join(", ")}\n` : ""}${(numbers ?? []).map(shortly).join("  ")}`,
      on: attention ? { click: () => scene.show(attention) } : {},
    }, el("strong", {}, label), formula ? el("span", { class: "formula" }, formula) : null, shape.length ? el("span", { class: "note" }, `${shape.join(" × ")} · ‖${norm.toFixed(1)}‖`) : null, numbers?.length ? canvas : null,
    inputs.length ? el("span", { class: "unseen" }, say("flowFrom", { inputs: inputs.join(", ") })) : null);
  }

  #top({ top }) {
    if (!top.length) return null;
    return el("table", { class: "one" }, el("caption", {}, say("flowTop")), el("tbody", {}, top.slice(0, 5).map(({ text, probability }) => el("tr", {}, el("th", { scope: "row", dir: "auto" }, text.trim() || "␣"), el("td", {}, probability.toFixed(3))))));
  }

  // From card to card, wherever the page has put them.
  #arrows() {
    if (!this.lines?.isConnected) return;
    const { left, top, width, height } = this.lines.parentElement.getBoundingClientRect();
    this.lines.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const paths = this.told.edges.map(({ from, to }) => {
      const [a, b] = [from, to].map((id) => this.cards.get(id)?.getBoundingClientRect());
      if (!a || !b) return "";
      const beside = Math.abs(a.top - b.top) < 20;
      const [x1, y1] = beside ? [a.right - left, a.top + a.height / 2 - top] : [a.left + a.width / 2 - left, a.bottom - top];
      const [x2, y2] = beside ? [b.left - left, b.top + b.height / 2 - top] : [b.left + b.width / 2 - left, b.top - top];
      const bend = beside ? Math.min(40, Math.abs(x2 - x1) / 2) : Math.min(60, Math.abs(y2 - y1) / 2);
      return beside ? `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}` : `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`;
    });
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", paths.join(""));
    this.lines.replaceChildren(path);
  }
}
