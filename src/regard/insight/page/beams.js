// The search as a tree: what was kept, what was dropped, which hypothesis won.

import { Answer } from "./answers.js";
import { forcedIds, visible } from "./choices.js";
import { el, fill } from "./dom.js";
import { breadthOf, CanvasPen } from "./pen.js";
import { say } from "./words.js";

const LINE = 26, COLUMN = 92, MOST_NODES = 400;

export class Beams {
  constructor(app) {
    this.answer = new Answer(app);
    this.canvas = el("canvas", { role: "img" });
    this.list = el("ol", { class: "hypotheses" });
    this.frame = el("div", { class: "view", tabIndex: 0, role: "region" }, this.canvas);
    this.box = el("section", { class: "beams" });
    this.follow = 0;
    this.all = false; // of many that came to an end, the best are listed first
  }

  update(scene) {
    const { state } = scene;
    const told = this.answer.get("/inside/beams", { model: scene.query.model, text: scene.query.text, forced: forcedIds(state), beam: state.beam || 5, max_new_tokens: scene.continues ? 8 : null });
    if (this.answer.error) return fill(this.box, el("p", { class: "note" }, this.answer.error.message));
    const key = [this.answer.key, Boolean(told), this.follow, this.all, state.lang, scene.dark].join("|");
    if (!told || key === this.shown) return undefined;
    this.shown = key;
    if (this.follow >= told.hypotheses.length) this.follow = 0;
    fill(this.box, el("h2", {}, say("beams", { n: told.beam })), el("p", { class: "note" }, say("beamsNote")), this.list, this.#rest(scene, told), this.frame);
    this.frame.setAttribute("aria-label", say("beamsTree"));
    fill(this.list, told.hypotheses.slice(0, this.#listed(told)).map((one, place) => el("li", {}, el("button", { type: "button", class: "quiet", "aria-pressed": String(place === this.follow), disabled: !one.text && !scene.continues, on: { click: () => this.#choose(scene, told, place) } }, el("span", { dir: "auto" }, one.text || say("beamsEmpty"))), el("span", { class: "note" }, ` ${one.score.toFixed(3)}`))));
    this.#draw(scene, told);
    return undefined;
  }

  #listed(told) {
    return this.all ? told.hypotheses.length : Math.max(told.beam, this.follow + 1);
  }

  #rest(scene, told) {
    if (told.hypotheses.length <= told.beam) return null;
    const toggle = () => { this.all = !this.all; scene.redraw(); };
    return el("button", { type: "button", class: "quiet", "aria-expanded": String(this.all), on: { click: toggle } }, say(this.all ? "beamsFewer" : "beamsAll", { n: told.hypotheses.length }));
  }

  // The attention follows: the hypothesis becomes what is looked at.
  #choose(scene, told, place) {
    this.follow = place;
    if (scene.continues) scene.redraw();
    else scene.ask({ ...scene.query, second: place ? told.hypotheses[place].text : null });
    scene.redraw();
  }

  #draw(scene, told) {
    const { nodes, path } = laidOut(told, this.follow, this.#listed(told));
    const width = (Math.max(0, ...nodes.map(({ step }) => step)) + 1) * COLUMN + 20, height = (Math.max(0, ...nodes.map(({ y }) => y)) + 1) * LINE + 10;
    const pen = new CanvasPen(this.canvas, width, height);
    Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
    this.canvas.setAttribute("aria-label", say("beamsLabel", { n: nodes.length, text: told.hypotheses[this.follow]?.text ?? "" }));
    const at = ({ step, y }) => [10 + step * COLUMN, 10 + (y + 0.5) * LINE];
    const { look } = scene;
    for (const node of nodes) {
      const [x, y] = at(node), chosen = path.has(node.node);
      const parent = node.parent === null ? null : nodes.find((one) => one.node === node.parent);
      if (parent) {
        const [from, height1] = at(parent), begin = from + Math.min(COLUMN - 16, breadthOf(visible(parent.text), 13) + 6);
        pen.curve([begin, height1, begin + 14, height1, x - 18, y, x - 3, y], { stroke: chosen ? look.accent : look.edge, thick: chosen ? 2 : 1, alpha: node.state === "dropped" ? 0.35 : 0.8 });
      }
    }
    for (const node of nodes) {
      const [x, y] = at(node), chosen = path.has(node.node);
      const text = node.state === "finished" ? "■" : visible(node.text);
      pen.text(text, x, y, { size: 13, weight: chosen ? 600 : 400, fill: chosen ? look.accent : node.state === "dropped" ? look.soft : look.ink });
    }
  }
}

// Each leaf has a line of its own; who has children stands at the first of them. What leads to no hypothesis of the list is left out, and of large
// trees also what was dropped on the way to one.
function laidOut({ nodes, hypotheses }, follow, listed) {
  const path = new Set(hypotheses[follow]?.path ?? []), ways = new Set(hypotheses.slice(0, listed).flatMap((one) => one.path));
  const near = nodes.filter(({ node, parent, state }) => ways.has(node) || (state === "dropped" && (parent === null || ways.has(parent))));
  const shown = near.length <= MOST_NODES ? near : near.filter(({ node }) => ways.has(node));
  const children = new Map();
  for (const node of shown) children.set(node.parent, [...(children.get(node.parent) ?? []), node]);
  let line = 0;
  const found = [];
  const place = (node) => {
    const below = (children.get(node.node) ?? []).sort((a, b) => b.score - a.score);
    const y = line;
    below.forEach(place);
    if (!below.length) line += 1;
    found.push({ ...node, y });
  };
  (children.get(null) ?? []).sort((a, b) => b.score - a.score).forEach(place);
  return { nodes: found, path };
}
