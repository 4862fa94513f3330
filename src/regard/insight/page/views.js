// The large picture: matrix, lines or table, whichever is chosen; all show the same sheet and the same focus.

import { el, fill } from "./dom.js";
import { drawLines, drawLinesOver, linesAt, linesPlan } from "./lines.js";
import { drawMatrix, drawOver, matrixAt, matrixPlan } from "./matrix.js";
import { Surface } from "./surface.js";
import { Table } from "./table.js";
import { say } from "./words.js";

const PICTURES = {
  matrix: {
    plan: matrixPlan, label: "matrixLabel", at: (scene, plan, x, y) => matrixAt(plan, scene.sheet, x, y),
    draw: (pen, scene, plan) => drawMatrix(pen, scene.shown, plan, scene.look, scene.rows),
    over: (pen, scene, plan) => drawOver(pen, scene.sheet, plan, scene.focus, scene.look),
  },
  lines: {
    plan: linesPlan, label: "linesLabel", at: (scene, plan, x, y) => linesAt(plan, x, y),
    draw: (pen, scene, plan) => drawLines(pen, scene.sheet, plan, scene.look, scene.rows, scene.state.min),
    over: (pen, scene, plan) => drawLinesOver(pen, scene.sheet, plan, scene.focus, scene.look, scene.state.min),
  },
};

export class Views {
  constructor() {
    this.table = new Table();
    this.box = el("div", { class: "view" });
    this.surface = new Surface({
      name: "main",
      at: (x, y) => this.plan && PICTURES[this.kind].at(this.scene, this.plan, x, y),
      hover: (focus) => this.scene.hover(focus),
      pin: (focus) => this.scene.pin(focus),
      keys: (event) => this.#keys(event),
    });
    this.key = null;
    this.plan = null;
  }

  update(scene) {
    this.scene = scene;
    const before = this.kind;
    this.kind = scene.state.view in PICTURES ? scene.state.view : "table";
    if (this.kind === "table") {
      if (before !== "table") fill(this.box, this.table.box);
      this.key = null;
      return this.table.update(scene);
    }
    if (before === "table" || before === undefined) fill(this.box, this.surface.box);
    const key = [scene.key, this.kind, scene.rows, scene.state.min, scene.state.scale, scene.state.palette, scene.state.base, scene.state.gold, scene.dark, scene.state.lang, this.box.clientWidth].join("|");
    if (key !== this.key) this.#draw();
    this.key = key;
    this.surface.drawOver((pen) => PICTURES[this.kind].over(pen, scene, this.plan));
    return undefined;
  }

  #draw() {
    const picture = PICTURES[this.kind];
    this.plan = picture.plan(this.scene.sheet, this.box.clientWidth, titles());
    this.surface.box.setAttribute("aria-label", say(picture.label, { asks: this.scene.sheet.T, reads: this.scene.sheet.S }));
    this.surface.draw(this.plan.width, this.plan.height, (pen) => picture.draw(pen, this.scene, this.plan));
  }

  #keys(event) {
    const { sheet, focus } = this.scene;
    const [down, across] = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key] ?? [0, 0];
    if (event.key === "Enter" || event.key === " ") this.scene.pin(focus);
    else if (!down && !across) return;
    else {
      const move = (at, step, length) => (step ? Math.max(0, Math.min(length - 1, at === null ? 0 : at + step)) : at);
      this.scene.hover({ ask: move(focus.ask, down, sheet.T), read: move(focus.read, across, sheet.S) });
    }
    event.preventDefault();
  }

  // The picture as it is, drawn with another pen: for PNG and SVG. make(width, height) gives the pen.
  drawn(make) {
    const kind = this.kind === "table" ? "matrix" : this.kind;
    const plan = PICTURES[kind].plan(this.scene.sheet, Math.max(640, this.box.clientWidth), titles());
    const pen = make(plan.width, plan.height);
    pen.rect(0, 0, plan.width, plan.height, { fill: this.scene.look.paper });
    PICTURES[kind].draw(pen, this.scene, plan);
    const { ask, read } = this.scene.pinned;
    if (ask !== null || read !== null) PICTURES[kind].over(pen, { ...this.scene, focus: this.scene.pinned }, plan);
    return pen;
  }
}

const titles = () => ({ asks: say("asksAxis"), reads: say("readsAxis") });
