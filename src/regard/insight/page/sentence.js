// The sentence itself: rest on a word, and what it looks at is shaded.

import { cssColour, inkOn } from "./colours.js";
import { el, fill } from "./dom.js";
import { say } from "./words.js";

export class Sentence {
  constructor() {
    this.box = el("div", { class: "sentence" });
    this.key = null;
    this.rows = [];
  }

  update(scene) {
    const { sheet, trace } = scene;
    const key = [trace.id, sheet.axes.join(), scene.state.words, scene.state.marks, scene.state.lang].join("|");
    if (key !== this.key) this.#build(scene);
    this.key = key;
    this.#shade(scene);
  }

  #build(scene) {
    const { sheet, trace } = scene;
    const sides = sheet.same ? [["both", sheet.axes[0], sheet.asks]] : [["read", sheet.axes[1], sheet.reads], ["ask", sheet.axes[0], sheet.asks]];
    this.rows = sides.map(([side, name, units]) => this.#row(scene, side, trace.rows[name], units));
    const also = Object.keys(trace.rows).includes("prediction") && !sheet.axes.includes("prediction") && !sheet.axes.includes("target");
    const quiet = also ? el("p", { class: "also", dir: "auto", lang: trace.rows.prediction.language }, trace.rows.prediction.text) : null;
    fill(this.box, this.rows.map(({ title, list }) => el("div", { class: "line" }, title, list)), quiet);
  }

  #row(scene, side, row, units) {
    const letters = Array.from(row.text);
    const title = el("span", { class: "side", id: `side-${side}` }, say(side === "both" ? "both" : side === "ask" ? "asks" : "reads"));
    const spans = units.units.map((unit, place) => el("span", {
      role: "option", "aria-selected": "false", tabIndex: -1, class: unit.special ? "token special" : "token", "data-place": place,
    }, unit.label));
    const parts = [];
    let end = 0;
    units.units.forEach(({ tokens, special }, place) => {
      const start = Math.min(...tokens.map((i) => row.tokens[i].start));
      const between = letters.slice(end, start).join("");
      if (between.includes("\n")) parts.push(el("br"));
      else if (place && (/\s/.test(between) || special || units.units[place - 1].special)) parts.push(" ");
      parts.push(spans[place]);
      end = Math.max(end, ...tokens.map((i) => row.tokens[i].end));
    });
    const list = el("div", { class: "words", role: "listbox", "aria-labelledby": `side-${side}`, dir: "auto", lang: row.language || null, "data-side": side }, parts);
    this.#listen(scene, list, spans, side);
    if (spans[0]) spans[0].tabIndex = 0;
    return { side, title, list, spans };
  }

  #listen(scene, list, spans, side) {
    const meant = (place) => (side === "read" ? { ask: null, read: place } : { ask: place, read: null });
    const placeOf = (event) => event.target.closest("[data-place]")?.dataset.place;
    list.addEventListener("pointerover", (event) => event.pointerType !== "touch" && placeOf(event) !== undefined && scene.hover(meant(Number(placeOf(event)))));
    list.addEventListener("pointerleave", () => scene.hover(null));
    list.addEventListener("click", (event) => placeOf(event) !== undefined && scene.pin(meant(Number(placeOf(event)))));
    list.addEventListener("focusin", (event) => placeOf(event) !== undefined && event.target.matches(":focus-visible") && scene.hover(meant(Number(placeOf(event)))));
    list.addEventListener("focusout", () => scene.hover(null));
    list.addEventListener("keydown", (event) => {
      const place = Number(placeOf(event));
      if (event.key === "Enter" || event.key === " ") scene.pin(meant(place));
      else {
        const forward = getComputedStyle(list).direction === "rtl" ? -1 : 1;
        const step = { ArrowRight: forward, ArrowDown: 1, ArrowLeft: -forward, ArrowUp: -1, Home: -1e6, End: 1e6 }[event.key];
        if (!step) return;
        const next = spans[Math.max(0, Math.min(spans.length - 1, place + step))];
        spans.forEach((span) => (span.tabIndex = span === next ? 0 : -1));
        next.focus();
      }
      event.preventDefault();
      event.stopPropagation();
    });
  }

  #shade({ sheet, focus, colours, level, rows, pinned }) {
    const { ask, read } = focus;
    for (const { side, spans } of this.rows) {
      spans.forEach((span, place) => {
        const own = side === "read" ? read === place : ask === place || (side === "both" && read === place && ask === null);
        let weight = null;
        if (side !== "ask" && ask !== null) weight = sheet.values[ask * sheet.S + place];
        else if (side !== "read" && ask === null && read !== null) weight = sheet.values[place * sheet.S + read];
        paint(span, weight === null ? null : level(weight), colours);
        const name = `${span.classList.contains("special") ? "token special" : "token"}${own ? " own" : ""}${side === "ask" && place >= rows ? " later" : ""}`;
        if (span.className !== name) span.className = name;
        const chosen = String(side === "read" ? pinned.read === place : pinned.ask === place);
        if (span.getAttribute("aria-selected") !== chosen) span.setAttribute("aria-selected", chosen);
      });
    }
  }
}

function paint(span, level, colours) {
  const back = level === null || level < 0.02 ? "" : cssColour(colours, level);
  if (span.dataset.back === back) return;
  span.dataset.back = back;
  span.style.backgroundColor = back;
  span.style.color = back ? inkOn(colours, level) : "";
}
