// The server that the page comes from.

import { unpacked } from "./tensors.js";

const CODES = { 401: "invalid_api_key", 413: "too_long", 503: "busy", 504: "timeout" }; // for APIs without such words
const KEY = "regard-key";

// Why there is no answer. code: one word; more: what the server says of it.
export class Trouble extends Error {
  constructor(code, { error = "", found = "", wanted = "", do: advice = "" } = {}) {
    super(error || code);
    Object.assign(this, { code, found, wanted, advice });
  }
}

export class Remote {
  constructor() {
    this.key = kept();
  }

  // Until the tab is closed.
  unlock(key) {
    this.key = key;
    try {
      sessionStorage.setItem(KEY, key);
    } catch {
      // then it is asked for again
    }
  }

  async info() {
    return (await this.ask("/info")).json();
  }

  // body: what POST /attention takes
  async attention(body, signal) {
    return this.tensors("/attention", body, signal);
  }

  // a safetensors file
  async tensors(path, body, signal) {
    return unpacked(await (await this.ask(path, body, signal)).arrayBuffer());
  }

  async json(path, body, signal) {
    return (await this.ask(path, body, signal)).json();
  }

  async ask(path, body = null, signal = undefined) {
    const headers = { ...(body ? { "content-type": "application/json" } : {}), ...(this.key ? { authorization: `Bearer ${this.key}` } : {}) };
    let answer;
    try {
      answer = await fetch(path, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body), signal });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Trouble("gone");
    }
    if (answer.ok) return answer;
    let told = {};
    try {
      told = await answer.json();
    } catch {
      // a proxy may answer with something else
    }
    throw new Trouble(told.code || CODES[answer.status] || "http", typeof told.error === "string" ? told : { error: `HTTP ${answer.status}` });
  }
}

function kept() {
  try {
    return sessionStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}
