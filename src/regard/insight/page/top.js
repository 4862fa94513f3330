// The head of the page: its name, the model, language, colours, keys.

import { el, fill } from "./dom.js";
import { inChinese, say } from "./words.js";

const THEMES = ["", "light", "dark"];
const KEYS = [["Tab", "tab"], ["← ↑ ↓ →", "arrows"], ["Enter", "enter"], ["Esc", "esc"], ["[  ]", "layer"], [",  .", "head"], ["w", "words"], ["m", "marks"], ["v", "view"], ["?", "help"]];

export class Top {
  constructor(store) {
    this.store = store;
    this.box = document.getElementById("top");
    this.help = el("dialog", { class: "help" });
    document.body.append(this.help);
  }

  // models: those of the server; name: of the only one, in a saved page
  update(state, models, name) {
    const key = [state.lang, state.theme, state.model, models.map((one) => one.name).join(), name].join("|");
    if (key === this.key) return;
    this.key = key;
    const again = document.activeElement?.dataset?.control;
    fill(this.box,
      el("button", { type: "button", class: "skip", on: { click: () => document.getElementById("main").focus() } }, say("skip")),
      el("h1", {}, el("span", { class: "logo" }, "regard"), el("span", { class: "what" }, say("title"))),
      this.#model(state, models, name),
      el("div", { class: "end" },
        el("button", { type: "button", class: "quiet", title: say("languageTitle"), lang: inChinese() ? "en" : "zh", "data-control": "lang", on: { click: () => this.store.set({ lang: inChinese() ? "en" : "zh" }) } }, say("language")),
        el("label", {}, el("span", { class: "unseen" }, say("theme")), el("select", { "data-control": "theme", on: { change: (event) => this.store.set({ theme: event.target.value }) } }, THEMES.map((theme) => el("option", { value: theme, selected: theme === state.theme }, say(`theme.${theme}`))))),
        el("button", { type: "button", class: "quiet", title: say("keysTitle"), "data-control": "keys", on: { click: () => this.show() } }, say("keys"))));
    if (again) this.box.querySelector(`[data-control="${again}"]`)?.focus();
    document.title = `regard · ${state.model || name || say("title")}`;
  }

  #model(state, models, name) {
    if (!models.length) return name ? el("p", { class: "model" }, name) : null;
    const options = models.map((one) => el("option", { value: one.name, selected: one.name === state.model }, one.name));
    if (!models.some((one) => one.name === state.model)) options.unshift(el("option", { value: "", selected: true, disabled: true }, "…"));
    const change = (event) => this.store.set({ model: event.target.value, text: "", second: null, generate: 0, family: null, layer: null, head: "mean", ask: null, read: null, step: null, how: "raw" });
    return el("label", { class: "model" }, el("span", {}, say("model")), el("select", { id: "model", "data-control": "model", on: { change } }, options));
  }

  show() {
    fill(this.help, el("h2", {}, say("keysTitle")), el("dl", {}, KEYS.flatMap(([key, what]) => [el("dt", {}, key), el("dd", {}, say(`keys.${what}`))])),
      el("button", { type: "button", class: "quiet", on: { click: () => this.help.close() } }, say("close")));
    this.help.showModal();
  }
}
