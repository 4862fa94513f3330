// The first tab: one attention of one text, in all views that belong together.

import { Answer } from "./answers.js";
import { darkest, PALETTES, ramp, SHADES } from "./colours.js";
import { Comparing } from "./compare.js";
import { Controls } from "./controls.js";
import { Decoding } from "./decoding.js";
import { choice, el, fill, rich } from "./dom.js";
import { Exports } from "./exports.js";
import { linksIn, linksOf, scored } from "./gold.js";
import { Growing } from "./growing.js";
import { Heads } from "./heads.js";
import { described, firstToken, hiddenShare } from "./reading.js";
import { Sentence } from "./sentence.js";
import { evenSheet, largest, sheetOf } from "./sheet.js";
import { Stepping } from "./stepping.js";
import { Tabs } from "./tabs.js";
import { chosenAttention } from "./trace.js";
import { Views } from "./views.js";
import { figure, say } from "./words.js";

export class Looking {
  constructor(app) {
    this.app = app;
    this.hovered = null;
    this.known = new Answer(app);
    Object.assign(this, { sentence: new Sentence(), controls: new Controls(), views: new Views(), heads: new Heads(), growing: new Growing(), exports: new Exports() });
    this.said = el("p", { class: "said", "aria-live": "polite", id: "said" });
    this.switch = el("div", { class: "switch" });
    this.remarks = el("p", { class: "note remarks" });
    this.honest = el("details", { class: "honest" });
    const look = { box: el("div", {}, el("div", { class: "pictures" },
      el("div", { class: "large" }, el("div", { class: "bar" }, this.switch, this.growing.box), this.views.box, this.remarks), this.heads.box), this.exports.box),
    update: (scene) => [this.growing, this.views, this.heads, this.exports].forEach((part) => part.update(scene)) };
    this.tabs = new Tabs({ look, steps: new Stepping(app), decode: new Decoding(app), compare: new Comparing(app) });
    this.box = el("section", { class: "looking" }, this.sentence.box, this.said, this.tabs.list, this.controls.box, this.tabs.box, this.honest);
    new ResizeObserver(() => app.redraw()).observe(this.views.box);
  }

  update(given, state) {
    const trace = this.app.seenAs(given, state.how);
    if (!trace) return undefined;
    const attention = chosenAttention(trace, state);
    if (!trace.has(attention.name)) return this.app.fetch(trace, attention.name, false);
    if (!trace.has(attention.name, true) && trace.more) this.app.fetch(trace, attention.name, true);
    const scene = this.#scene(trace, state, attention);
    this.scene = scene;
    this.controls.box.hidden = state.tab === "decode";
    for (const part of [this.controls, this.sentence, this.tabs]) part.update(scene);
    this.#say(scene);
    return undefined;
  }

  #scene(trace, state, attention) {
    const head = state.head === "mean" ? "mean" : Math.min(state.head, attention.heads - 1);
    const key = [trace.id, attention.name, head, state.words, state.marks, state.how, trace.has(attention.name, true)].join("|");
    if (this.key !== key) [this.key, this.sheet] = [key, sheetOf(trace, attention.name, head, state)];
    const sheet = this.sheet;
    if (this.firstOf !== sheet) [this.firstOf, this.first] = [sheet, firstToken(sheet)];
    const even = state.base ? evenSheet(trace, attention.name, state) : null;
    const shown = even ? { ...sheet, values: sheet.values.map((weight, i) => weight - even.values[i]) } : sheet;
    const dark = this.app.dark;
    const most = even ? largest(shown.values.map(Math.abs)) : darkest(largest(sheet.values), sheet.S);
    const shade = SHADES[state.scale]?.(most) ?? SHADES.most(most);
    const level = (weight) => (weight < state.min ? 0 : shade(weight));
    const plain = ramp(PALETTES.includes(state.palette) ? state.palette : "blue", dark);
    const pinned = this.#pinned(sheet, state);
    return {
      trace, state: { ...state, head }, attention, key, sheet, even, shown, dark, plain, level, pinned,
      colours: plain, focus: this.hovered ?? (pinned.ask === null && pinned.read === null ? { ask: this.first, read: null } : pinned),
      rows: state.step === null ? sheet.T : Math.max(1, Math.min(sheet.T, state.step)), hows: this.app.hows(trace, attention), views: this.views, live: this.app.live,
      ...this.app.around(), stepOf: (token) => (attention.axes[0] === "source" ? 0 : token), show: (name) => this.#show(trace, name), narrow: innerWidth < 960,
      look: { ...this.app.inks(), ...shades(even, most, shade, level, plain, dark, state), gold: this.#gold(trace, sheet, state), borders: borders(trace, attention, sheet) },
      set: (changes, quiet) => this.app.store.set(changes, quiet), redraw: () => this.app.redraw(), trouble: (error) => this.app.trouble(error), page: () => this.app.page(),
      hover: (focus) => this.#hover(focus), pin: (focus) => this.#pin(focus),
    };
  }

  #pinned(sheet, { ask, read }) {
    const at = (side, token) => (!(token >= 0 && token < side.of.length) || token === null || side.of[token] < 0 ? null : side.of[token]);
    return { ask: at(sheet.asks, ask), read: at(sheet.reads, read) };
  }

  #hover(focus) {
    if (same(focus, this.hovered)) return;
    this.hovered = focus;
    this.app.redraw();
  }

  // Kept in the address as tokens, so that it stays when words are taken apart.
  #pin(focus) {
    const { sheet, pinned } = this.scene;
    const let_go = !focus || same(focus, pinned);
    const token = (side, place) => (place === null ? null : side.units[place].tokens[0]);
    if (let_go) this.app.store.set({ ask: null, read: null });
    else this.app.store.set({ ask: token(sheet.asks, focus.ask), read: token(sheet.reads, focus.read) });
  }

  // An attention by its name.
  #show(trace, name) {
    const { family, layer } = trace.get(name) ?? {};
    if (family) this.app.store.set({ tab: "look", family, layer, head: "mean" });
  }

  release() {
    this.hovered = null;
    this.app.store.set({ ask: null, read: null });
  }

  // Links that were given, or that the server knows.
  #gold(trace, sheet, state) {
    if (!state.gold) {
      const known = sheet.axes.join() === "prediction,source" && this.#knownLinks(trace);
      return known ? linksIn(trace, sheet, known) : [];
    }
    if (!state.words || state.marks) return [];
    return linksOf(state.gold).filter(([t, s]) => t < sheet.T && s < sheet.S);
  }

  #knownLinks(trace) {
    const { can, query } = this.app.around();
    return can("gold") ? this.known.get("/inside/gold", { model: query.model, text: query.text, second: trace.rows.prediction.text })?.gold : null;
  }

  #say(scene) {
    const { state, sheet, focus, trace, attention } = scene;
    const told = described(sheet, focus, scene.even);
    fill(this.said, told ? rich(told) : say("hint"));
    this.said.dataset.exact = String(trace.has(attention.name, true));
    fill(this.switch, choice(say("view"), ["matrix", "lines", "table"].map((view) => ({ value: view, text: say(`view.${view}`) })), state.view, (view) => scene.set({ view })));
    const links = scene.look.gold;
    const aer = state.gold && links.length ? scored(sheet, links) : null;
    const known = !state.gold && links.length ? this.#knownLinks(trace)?.heads : null;
    const own = known?.find((one) => one.name === attention.name && one.head === state.head && one.shift === "predicts");
    fill(this.remarks, [
      !state.marks && say("hiddenAll", { share: `${(hiddenShare(sheet) * 100).toFixed(0)} %` }),
      state.gold && !aer && say("goldWords"),
      own && say("goldKnown", { aer: figure(own.aer), best: figure(known[0].aer), name: known[0].name, head: known[0].head === "mean" ? say("mean") : known[0].head }),
      aer && say("goldSaid", { aer: figure(aer.aer), precision: figure(aer.precision), recall: figure(aer.recall) }),
      say(trace.has(attention.name, true) ? "exact" : "rough"),
    ].filter(Boolean).join(" · "));
    if (this.honestIn !== state.lang) fill(this.honest, el("summary", {}, say("honest")), el("p", {}, say("honestMore")));
    this.honestIn = state.lang;
  }
}

const same = (a, b) => a === b || (a && b && a.ask === b.ask && a.read === b.read);

// What a picture needs to know of colours. Differences have two, and nothing in the middle.
function shades(even, most, shade, level, plain, dark, state) {
  if (even) {
    const both = (weight) => 0.5 + weight / (2 * (most || 1));
    return { level: both, colours: ramp("both", dark), stroke: "", legend: { low: `−${figure(most)}`, high: `+${figure(most)}`, what: say("difference") } };
  }
  const top = state.scale === "one" ? 1 : most;
  return { level, colours: plain, legend: { low: "0", high: figure(top), what: say("weight") } };
}

// Where a second text begins.
function borders(trace, { axes }, sheet) {
  const ends = (name, side) => {
    const row = trace.rows[name];
    const seps = side.units.flatMap(({ tokens, special }, place) => (special && row.tokens[tokens[0]].text === "[SEP]" ? [place + 1] : []));
    return seps.filter((place) => place < side.length);
  };
  return { asks: ends(axes[0], sheet.asks), reads: ends(axes[1], sheet.reads) };
}

