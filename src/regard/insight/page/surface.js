// A picture that answers: a canvas for what stays, one over it for what moves, and nothing drawn twice in a frame.

import { el } from "./dom.js";
import { CanvasPen } from "./pen.js";

export class Surface {
  // at(x, y): what is at a point; hover, pin: who wants to know; keys(event): what the arrows do
  constructor({ at, hover, pin, keys, name }) {
    this.base = el("canvas", { "aria-hidden": "true" });
    this.over = el("canvas", { class: "over", "aria-hidden": "true" });
    this.box = el("div", { class: "surface", tabIndex: 0, role: "application", "data-surface": name }, this.base, this.over);
    this.size = [0, 0];
    const place = (event) => {
      const { left, top } = this.base.getBoundingClientRect();
      return at(event.clientX - left, event.clientY - top);
    };
    this.box.addEventListener("pointermove", (event) => event.pointerType !== "touch" && hover(place(event)));
    this.box.addEventListener("pointerleave", () => hover(null));
    this.box.addEventListener("click", (event) => pin(place(event)));
    this.box.addEventListener("keydown", keys);
  }

  // What stays.
  draw(width, height, act) {
    this.size = [width, height];
    for (const canvas of [this.base, this.over]) Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
    act(new CanvasPen(this.base, width, height));
  }

  // What moves.
  drawOver(act) {
    act(new CanvasPen(this.over, ...this.size));
  }
}
