// The same as a table: for screen readers, and for who wants the figures.

import { el, fill } from "./dom.js";
import { ranked } from "./sheet.js";
import { figure, say } from "./words.js";

const WHOLE = 1600; // up to so many cells all of them are told

export class Table {
  constructor() {
    this.box = el("div", { class: "tables", tabIndex: 0 });
    this.key = null;
  }

  update(scene) {
    const { sheet, focus, state } = scene;
    const key = [scene.key, focus.ask, focus.read, state.lang].join("|");
    if (key === this.key) return;
    this.key = key;
    this.box.setAttribute("aria-label", say("table"));
    fill(this.box, this.#one(sheet, focus), sheet.T * sheet.S <= WHOLE ? this.#all(sheet) : el("p", { class: "note" }, say("tableLarge", { n: sheet.T * sheet.S })));
  }

  // What one token gives, or gets, the largest first.
  #one(sheet, { ask, read }) {
    if (ask === null && read === null) return null;
    const rows = ranked(sheet, ask !== null ? { ask } : { read }, 50, 0.0005);
    const [side, own] = ask !== null ? [sheet.reads, sheet.asks.labels[ask]] : [sheet.asks, sheet.reads.labels[read]];
    return el("table", { class: "one", "data-table": "one" },
      el("caption", {}, say(ask !== null ? "tableGives" : "tableGets", { token: own })),
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, say(ask !== null ? "reads" : "asks")), el("th", { scope: "col" }, say("weight")))),
      el("tbody", {}, rows.map(({ weight, place }) => el("tr", {}, el("th", { scope: "row", dir: "auto" }, side.labels[place]), el("td", {}, figure(weight, 3))))));
  }

  #all(sheet) {
    const head = sheet.reads.labels.map((label) => el("th", { scope: "col", dir: "auto" }, label));
    const rows = sheet.asks.labels.map((label, t) => el("tr", {}, el("th", { scope: "row", dir: "auto" }, label),
      Array.from(sheet.values.subarray(t * sheet.S, (t + 1) * sheet.S), (weight) => el("td", {}, figure(weight, 3)))));
    return el("table", { class: "all", "data-table": "all" }, el("caption", {}, say("tableAll")),
      el("thead", {}, el("tr", {}, el("td", {}), head)), el("tbody", {}, rows));
  }
}
