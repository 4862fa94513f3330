// What went wrong, in plain words, and what can be done.

import { el, fill } from "./dom.js";
import { knows, say } from "./words.js";

export class Notice {
  constructor() {
    this.box = el("div", { class: "notice", role: "alert", hidden: true });
  }

  clear() {
    this.box.hidden = true;
    fill(this.box);
  }

  // trouble: what `remote.js` throws; again: what is done once more
  tell(trouble, again = null) {
    const code = trouble.code && knows(trouble.code) ? trouble.code : trouble.code ? "invalid" : "unexpected";
    const plain = ["invalid", "unexpected", "http"].includes(code) || (trouble.message !== trouble.code && !trouble.found) ? trouble.message : "";
    const told = [["found", trouble.found], ["wanted", trouble.wanted]].filter(([, text]) => text).map(([key, text]) => `${say(key)}: ${text}`).join(" · ");
    this.box.hidden = false;
    this.box.dataset.code = code;
    fill(this.box, el("strong", {}, say(code)), plain ? el("p", {}, plain) : null, told ? el("p", { class: "note" }, told) : null,
      code === "gone" ? el("p", {}, say("goneDo")) : null, trouble.hint ? el("p", {}, trouble.hint) : null,
      again ? el("button", { type: "button", class: "quiet", on: { click: again } }, say("again")) : null);
  }

  // Asks for the key of the server.
  ask(wrong, given) {
    const input = el("input", { type: "password", id: "key", autocomplete: "off", required: true });
    this.box.hidden = false;
    this.box.dataset.code = "locked";
    fill(this.box, el("strong", {}, say(wrong ? "wrongKey" : "locked")),
      el("form", { class: "key", on: { submit: (event) => { event.preventDefault(); given(input.value.trim()); } } },
        el("label", {}, el("span", {}, say("key")), input), el("button", { type: "submit", class: "go" }, say("unlock"))),
      el("p", { class: "note" }, say("keyNote")));
    input.focus();
  }
}
