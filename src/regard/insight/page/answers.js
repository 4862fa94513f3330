// The answer to a question that changes while it is asked: only the last one counts.

export class Answer {
  constructor(app) {
    this.app = app;
    this.key = null;
    this.value = null;
    this.error = null;
  }

  // What the server says to this; null until it has. While a new answer is awaited, the one before stays as `value`.
  get(path, body) {
    const key = JSON.stringify([path, body]);
    if (key !== this.key) this.#ask(key, path, body);
    return this.done ? this.value : null;
  }

  #ask(key, path, body) {
    this.request?.abort();
    const request = (this.request = new AbortController());
    Object.assign(this, { key, done: false, error: null });
    this.app.remote.json(path, body, request.signal).then(
      (value) => key === this.key && Object.assign(this, { value, done: true }),
      (error) => key === this.key && error.name !== "AbortError" && Object.assign(this, { error }),
    ).finally(() => this.app.redraw());
  }
}
