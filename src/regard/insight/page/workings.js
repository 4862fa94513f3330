// One cell, step by step: score, scale, mask, softmax, × values, with the numbers of the model.

import { Answer } from "./answers.js";
import { cssColour, inkOn, ramp } from "./colours.js";
import { choice, el, fill, rich, starred } from "./dom.js";
import { CanvasPen } from "./pen.js";
import { say } from "./words.js";

const ROWS = 40, CELLS = 64;
const COLUMNS = { raw: "raw", scaled: "scores", masked: "masked", softmax: "softmax", focused: "weights", hard: "weights", weights: "weights", context: "reach" };

export class Workings {
  constructor(app) {
    this.answer = new Answer(app);
    this.stage = null;
    this.box = el("section", { class: "workings" });
  }

  update(scene) {
    const { state, attention, sheet, focus, trace } = scene;
    const ask = focus.ask ?? 0;
    const read = scene.pinned.read !== null && focus.read !== null ? strongestToken(scene, ask, focus.read) : null;
    const head = state.head === "mean" ? 0 : state.head;
    const body = { ...scene.query, name: attention.name, head, row: sheet.asks.units[ask]?.tokens[0] ?? 0, column: read };
    const told = this.answer.get("/inside/workings", body);
    if (this.answer.error) return fill(this.box, el("p", { class: "note" }, this.answer.error.message));
    if (!told) return undefined;
    const key = [this.answer.key, this.stage, state.lang, scene.dark].join("|");
    if (key === this.shown) return undefined;
    this.shown = key;
    const stage = told.stages.includes(this.stage) ? this.stage : "weights";
    const pick = (next) => { this.stage = next; scene.redraw(); };
    fill(this.box,
      el("h2", {}, rich(say("workingsOf", { asks: starred(tokenName(told.asks)), reads: starred(tokenName(told.keys[told.column])), name: told.name, head: told.head }))),
      told.heads > 1 && state.head === "mean" ? el("p", { class: "note" }, say("workingsHead")) : null,
      el("div", { class: "bar" }, choice(say("stage"), told.stages.map((one) => ({ value: one, text: say(`stage.${one}`) })), stage, pick), this.#scrubber(told, stage, pick)),
      el("p", { class: "formula" }, told.formula), el("p", { class: "said" }, rich(stageSaid(told, stage))),
      el("div", { class: "split" }, this.#table(scene, told, stage), this.#vectors(scene, told)));
    return undefined;
  }

  #scrubber({ stages }, stage, pick) {
    return el("input", { type: "range", min: 0, max: stages.length - 1, value: stages.indexOf(stage), "aria-label": say("stage"), "data-control": "stage", on: { input: (event) => pick(stages[Number(event.target.value)]) } });
  }

  // A line a key, a column a stage; what comes after the chosen stage is not there yet.
  #table(scene, told, stage) {
    const until = told.stages.slice(0, told.stages.indexOf(stage) + 1);
    const order = told.keys.map((_, place) => place);
    const shown = order.length <= ROWS ? order : [...order].sort((a, b) => told.weights[b] - told.weights[a]).slice(0, ROWS).sort((a, b) => a - b);
    const colours = ramp("blue", scene.dark);
    const cell = (place, one) => {
      const value = told[COLUMNS[one]][place];
      const share = one === "context" ? told.weights[place] : ["softmax", "weights", "focused", "hard"].includes(one) ? value : null;
      const node = el("td", {}, one === "context" ? `${told.weights[place].toFixed(2)} × ${value.toFixed(2)}` : shortly(value));
      if (share !== null) Object.assign(node.style, { backgroundColor: cssColour(colours, share), color: inkOn(colours, share) });
      return node;
    };
    return el("div", { class: "tables", tabIndex: 0, role: "region", "aria-label": say("workingsTable") }, el("table", { "data-table": "workings" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, say("reads")), until.map((one) => el("th", { scope: "col" }, say(`stage.${one}`))))),
      el("tbody", {}, shown.map((place) => el("tr", { class: place === told.column ? "own" : "" }, el("th", { scope: "row", dir: "auto" }, tokenName(told.keys[place])), until.map((one) => cell(place, one)))))),
      shown.length < order.length ? el("p", { class: "note" }, say("workingsCut", { n: shown.length, all: order.length })) : null);
  }

  // The vectors themselves, a cell a number.
  #vectors(scene, { vectors }) {
    const both = ramp("both", scene.dark);
    return el("div", { class: "vectors" }, Object.entries(vectors).map(([name, { size, norm, numbers }]) => {
      const canvas = el("canvas", { role: "img", "aria-label": `${name}: ${numbers.slice(0, 8).map(shortly).join(", ")}` });
      strip(canvas, numbers.slice(0, CELLS), both);
      return el("div", { class: "strip" }, el("span", { class: "side" }, name), canvas, el("span", { class: "note" }, `${size} · ‖${norm.toFixed(2)}‖`));
    }));
  }
}

export function strip(canvas, numbers, colours, cell = 9, high = 18) {
  const width = Math.max(1, numbers.length) * cell;
  const pen = new CanvasPen(canvas, width, high);
  Object.assign(canvas.style, { width: `${width}px`, height: `${high}px`, maxWidth: "100%" });
  const most = Math.max(1e-9, ...numbers.map(Math.abs));
  numbers.forEach((value, place) => pen.rect(place * cell, 0, cell - 1, high, { fill: cssColour(colours, 0.5 + value / (2 * most)) }));
}

// Of a word, the token that gets most.
function strongestToken({ trace, attention, sheet }, ask, read) {
  const tokens = sheet.reads.units[read].tokens;
  const { data } = trace.weights(attention.name);
  const begin = sheet.asks.units[ask].tokens[0] * attention.S;
  return tokens.reduce((best, token) => (data[begin + token] > data[begin + best] ? token : best), tokens[0]);
}

const tokenName = ({ text }) => text.trim() || "␣";

export const shortly = (value) => (value === null ? "−∞" : Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 0.995 || value === 0 ? value.toFixed(2) : value.toFixed(3));

function stageSaid(told, stage) {
  const { column, keys, raw, scale, scores, mask, softmax, weights, reach, context_norm: norm } = told;
  return say(`stageSaid.${stage}`, {
    token: starred(tokenName(keys[column])), raw: shortly(raw[column]), scale: scale === null ? "1" : scale.toFixed(3), score: shortly(scores[column]),
    may: mask.filter(Boolean).length, all: mask.length, softmax: shortly(softmax[column]), weight: shortly(weights[column]), reach: shortly(reach[column]),
    added: shortly(weights[column] * reach[column]), norm: shortly(norm), centre: told.centre === null ? "" : shortly(told.centre),
  });
}
