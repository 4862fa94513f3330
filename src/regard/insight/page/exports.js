// What can be taken away: pictures, numbers, the page itself, and the way to the same in Python.

import { download, el, fill } from "./dom.js";
import { CanvasPen, SvgPen } from "./pen.js";
import { say } from "./words.js";

const SAVES = { png: savePng, svg: saveSvg, csv: saveCsv, json: saveJson, html: saveHtml };

export class Exports {
  constructor() {
    this.box = el("div", { class: "exports" });
    this.key = null;
  }

  update(scene) {
    this.scene = scene;
    if (this.key === scene.state.lang) return;
    this.key = scene.state.lang;
    const saves = Object.keys(SAVES).map((kind) => el("button", { type: "button", class: "quiet", "data-save": kind, on: { click: () => this.#save(kind) } }, say(`save.${kind}`)));
    const python = el("button", { type: "button", class: "quiet", "data-save": "python", on: { click: () => this.#copy(python, inPython(this.scene)) } }, say("copyPython"));
    const link = el("button", { type: "button", class: "quiet", "data-save": "link", on: { click: () => this.#copy(link, location.href) } }, say("copyLink"));
    fill(this.box, el("span", { class: "name", title: say("saveTitle") }, say("save")), saves, python, this.scene.live ? link : null);
  }

  async #save(kind) {
    try {
      await SAVES[kind](this.scene);
    } catch (error) {
      this.scene.trouble(error);
    }
  }

  async #copy(button, text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = el("textarea", { value: text });
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    const before = button.textContent;
    button.textContent = say("copied");
    setTimeout(() => (button.textContent = before), 1500);
  }
}

// decoder.2.cross-head-3, and so on
function fileName({ attention, state }, suffix) {
  const head = attention.heads > 1 ? `-${state.head === "mean" ? "mean" : `head-${state.head}`}` : "";
  return `${attention.name}${head}.${suffix}`;
}

async function savePng(scene) {
  const canvas = el("canvas");
  scene.views.drawn((width, height) => new CanvasPen(canvas, width, height, 2));
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  download(fileName(scene, "png"), blob, "image/png");
}

function saveSvg(scene) {
  const pen = scene.views.drawn((width, height) => new SvgPen(width, height, `${scene.trace.meta.model ?? ""} ${scene.attention.name}`.trim()));
  download(fileName(scene, "svg"), pen.toString(), "image/svg+xml");
}

// One weight a line.
function saveCsv(scene) {
  const { sheet } = scene;
  const quoted = (text) => `"${text.replaceAll('"', '""')}"`;
  const lines = ["asks_place,asks,reads_place,reads,weight"];
  for (let t = 0; t < sheet.T; t++) {
    for (let s = 0; s < sheet.S; s++) lines.push(`${t},${quoted(sheet.asks.labels[t])},${s},${quoted(sheet.reads.labels[s])},${round(sheet.values[t * sheet.S + s])}`);
  }
  download(fileName(scene, "csv"), `${lines.join("\n")}\n`, "text/csv;charset=utf-8");
}

const round = (weight) => Number(weight.toFixed(6));

// All attentions, as `regard.insight.Trace.load` reads them.
async function saveJson({ trace }) {
  for (const { name } of trace.attentions) await trace.need(name, true);
  const rows = Object.fromEntries(Object.entries(trace.rows).map(([name, { text, language, tokens }]) => [name, {
    text, language, tokens: tokens.map((token) => ({ surface: token.text, start: token.start, end: token.end, special: token.special, ids: [] })),
  }]));
  const axes = Object.fromEntries(trace.attentions.map(({ name, axes: both }) => [name, both]));
  const weights = Object.fromEntries(trace.attentions.map((one) => [one.name, nested(one, trace.weights(one.name))]));
  download("trace.json", JSON.stringify({ format: "regard.trace", version: 1, rows, axes, meta: trace.meta, weights }), "application/json");
}

function nested({ heads, T, S }, { data, one }) {
  return Array.from({ length: heads }, (_, h) => Array.from({ length: T }, (_, t) => Array.from({ length: S }, (_, s) => round(data[(h * T + t) * S + s] / one))));
}

async function saveHtml(scene) {
  download("look.html", await scene.page(), "text/html");
}

export function inPython({ trace, attention, state }) {
  const text = (value) => JSON.stringify(value);
  const lines = ["import regard", "", `model = regard.load(${text(state.model || trace.meta.model || "MODEL")})`];
  const row = trace.rows.source ?? trace.rows.text;
  const given = state.text || row?.text || "";
  const more = state.generate ? `, generate=${state.generate}, temperature=0.0` : state.second !== null && state.second !== "" ? `, ${text(state.second)}` : "";
  lines.push(`trace = model.attention(${text(given)}${more})`);
  const view = `trace${state.words ? ".by_words()" : ""}${state.marks ? "" : ".without_specials()"}`;
  lines.push(`${view}.weights_of(${text(attention.name)}, ${state.head === "mean" ? '"mean"' : state.head})  # asks × reads from`);
  return `${lines.join("\n")}\n`;
}
