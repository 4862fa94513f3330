// What can be done with a text: each tab has a part of its own, and all share the sentence above.

import { el, fill } from "./dom.js";
import { say } from "./words.js";

const NEEDS = { look: [], steps: ["workings"], decode: ["timeline", "beams", "fill"], compare: [] };

export class Tabs {
  // parts: by tab, each with box and update(scene)
  constructor(parts) {
    this.parts = parts;
    this.list = el("div", { class: "tabs", role: "tablist" });
    this.box = el("div", { class: "panel", role: "tabpanel" });
    this.list.addEventListener("keydown", (event) => this.#move(event));
  }

  update(scene) {
    const { state } = scene;
    const able = Object.keys(this.parts).filter((tab) => NEEDS[tab].length === 0 || NEEDS[tab].some(scene.can));
    const tab = able.includes(state.tab) ? state.tab : "look";
    const key = [able.join(), tab, state.lang].join("|");
    if (key !== this.key) {
      const inside = this.list.contains(document.activeElement);
      this.list.hidden = able.length < 2;
      fill(this.list, able.map((one) => el("button", { type: "button", role: "tab", id: `tab-${one}`, "aria-selected": String(one === tab), tabIndex: one === tab ? 0 : -1, on: { click: () => scene.set({ tab: one }) } }, say(`tab.${one}`))));
      this.box.setAttribute("aria-labelledby", `tab-${tab}`);
      if (this.box.firstChild !== this.parts[tab].box) fill(this.box, this.parts[tab].box);
      if (inside) this.list.querySelector('[tabindex="0"]')?.focus();
    }
    this.key = key;
    this.parts[tab].update(scene);
  }

  #move(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const tabs = [...this.list.children];
    tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length].click();
    event.preventDefault();
    event.stopPropagation();
  }
}
