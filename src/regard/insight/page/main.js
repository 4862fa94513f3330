// Where the page begins: with what it holds, or with the server that it comes from.

import { App } from "./app.js";
import { listenToKeys } from "./keyboard.js";
import { Notice } from "./notice.js";
import { Trouble } from "./remote.js";
import { inflated, unpacked } from "./tensors.js";
import { Trace } from "./trace.js";

async function begin() {
  const data = document.getElementById("trace");
  let held = null;
  if (data) {
    const source = `<!doctype html>\n${document.documentElement.outerHTML}`;
    held = { trace: new Trace(unpacked(await inflated(data.textContent))), view: JSON.parse(data.dataset.view || "{}"), source };
  }
  const app = new App(held);
  globalThis.regard = app; // for who wants to look from the console
  listenToKeys(app);
  await app.start();
}

begin().catch((error) => {
  const notice = new Notice();
  document.getElementById("main").append(notice.box);
  notice.tell(document.getElementById("trace") ? Object.assign(new Trouble("broken"), { found: error.message }) : error);
  throw error;
});
