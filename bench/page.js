// What bench/page.py does in the browser. Milliseconds that the page works: in handlers, and in the frame that draws.

globalThis.bench = {
  async worked(act, count) {
    const next = () => new Promise((done) => requestAnimationFrame(done));
    const times = [];
    for (let i = 0; i < count; i++) {
      await next();
      let begin = 0;
      const before = next().then(() => (begin = performance.now())); // in the frame that draws, ahead of the page's own drawing
      const start = performance.now();
      bench[act](i);
      const handled = performance.now() - start;
      await Promise.all([before, next()]); // in the same frame, behind it
      await bench.idle();
      times.push(handled + performance.now() - begin);
    }
    return times;
  },

  // Until the page has drawn all that it wants to, and style and layout are done.
  async idle() {
    while (regard.frame) await new Promise((done) => requestAnimationFrame(done));
    document.body.getBoundingClientRect();
  },

  hover(i) {
    const { surface, plan, scene } = regard.looking.views;
    const box = surface.base.getBoundingClientRect();
    const x = plan.left + (((i * 37) % scene.sheet.S) + 0.5) * plan.cell;
    const y = plan.top + (((i * 53) % scene.sheet.T) + 0.5) * plan.cell;
    surface.box.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + x, clientY: box.top + y, pointerType: "mouse" }));
  },

  lines(i) {
    const { scene } = regard.looking;
    scene.hover({ ask: (i * 31) % scene.sheet.T, read: null });
  },

  layer(i) {
    regard.store.set({ layer: i % 12, head: (i * 5) % 12 });
  },

  // From weights that are here to a picture of every head.
  async heads() {
    const { heads } = regard.looking;
    const begin = performance.now();
    heads.found.clear();
    heads.key = null;
    regard.redraw();
    while (heads.found.size < 12 || regard.frame) await new Promise((done) => setTimeout(done, 0));
    document.body.getBoundingClientRect();
    return performance.now() - begin;
  },
};
