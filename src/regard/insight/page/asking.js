// What is asked: the model, the text, a second text or how far to go on.

import { el, fill } from "./dom.js";
import { say } from "./words.js";

export class Asking {
  // look(): the text is to be looked at
  constructor(store, look) {
    this.store = store;
    this.text = el("textarea", { id: "text", rows: 1, spellcheck: false, autocomplete: "off", dir: "auto", on: { input: () => this.#grow(), keydown: (event) => this.#enter(event) } });
    this.second = el("textarea", { id: "second", rows: 1, spellcheck: false, dir: "auto", on: { input: () => this.#grow(), keydown: (event) => this.#enter(event) } });
    this.generate = el("input", { id: "generate", type: "number", min: 0, max: 200, value: 0 });
    this.button = el("button", { type: "submit", class: "go" });
    this.extra = el("div", { class: "extra" });
    this.examples = el("div", { class: "examples" });
    this.box = el("form", { class: "asking", on: { submit: (event) => { event.preventDefault(); look(this.asked()); } } },
      el("div", { class: "field" }, this.text, this.button), el("div", { class: "under" }, this.extra, this.examples));
    this.look = look;
    this.open = false;
  }

  asked() {
    return {
      text: this.text.value, second: this.open && this.#takesSecond() && (this.second.value.trim() || !this.about.verbs.includes("translate")) ? this.second.value : null,
      generate: this.#continues() ? Math.max(0, Math.min(200, Number(this.generate.value) || 0)) : 0,
    };
  }

  // state: what is looked at now; about: the model
  update(state, about, busy) {
    const other = this.about !== about;
    this.about = about;
    if (document.activeElement !== this.text || other) this.text.value = state.text;
    if (document.activeElement !== this.second) this.second.value = state.second ?? "";
    if (document.activeElement !== this.generate) this.generate.value = state.generate;
    this.open ||= state.second !== null;
    const label = say(this.#takesSecond() && !about.verbs.includes("translate") ? "text.pair" : "text");
    this.text.setAttribute("aria-label", label);
    this.text.placeholder = label;
    fill(this.button, say(busy ? "looking" : "look"));
    this.button.setAttribute("aria-busy", String(busy));
    this.#more(state);
    const others = about.examples.filter((text) => text !== state.text);
    fill(this.examples, others.length ? el("span", { class: "name" }, say("examples")) : null, others.map((text) =>
      el("button", { type: "button", class: "example", dir: "auto", title: text, on: { click: () => this.look({ ...this.asked(), text, second: null }) } }, text)));
    this.#grow();
  }

  #takesSecond() {
    return this.about && !this.#continues() && this.about.verbs.includes("attention");
  }

  #continues() {
    return this.about?.verbs.includes("complete");
  }

  #more(state) {
    const key = [this.about.name, this.open, state.lang].join("|");
    if (key === this.key) return;
    this.key = key;
    const translates = this.about.verbs.includes("translate");
    if (this.#continues()) fill(this.extra, el("label", { title: say("generateTitle") }, "+ ", this.generate, el("span", {}, ` ${say("generate")}`)));
    else if (!this.#takesSecond()) fill(this.extra);
    else if (!this.open) fill(this.extra, el("button", { type: "button", class: "quiet", on: { click: () => this.#unfold(true) } }, say(translates ? "addTranslation" : "addSecond")));
    else {
      this.second.setAttribute("aria-label", say(translates ? "second.translate" : "second"));
      this.second.placeholder = say(translates ? "second.translate" : "second");
      fill(this.extra, el("div", { class: "field" }, this.second, el("button", { type: "button", class: "quiet", on: { click: () => this.#unfold(false) } }, say("removeSecond"))));
    }
  }

  #unfold(open) {
    this.open = open;
    if (!open) this.second.value = "";
    this.#more(this.store.state);
    (open ? this.second : this.text).focus();
    if (!open && this.store.state.second !== null) this.look(this.asked());
  }

  #enter(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.look(this.asked());
  }

  #grow() {
    for (const area of [this.text, this.second]) {
      area.style.height = "auto";
      area.style.height = `${Math.min(area.scrollHeight, 240)}px`;
    }
  }
}
