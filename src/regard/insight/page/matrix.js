// The matrix: who asks, downwards; what is read, across. One picture of cells, and over it what the mouse is at.

import { cssColour, inkOn, pixelsOf } from "./colours.js";
import { breadthOf, clipped } from "./pen.js";

const SIZE = 13, LABEL = 150, MOST = 40, EDGE = 14;

// Where everything goes. room: pixels across.
export function matrixPlan(sheet, room, titles) {
  const { T, S, asks, reads } = sheet;
  const beside = Math.min(LABEL, Math.max(breadthOf(titles.asks, 12) + 8, ...sample(asks.labels).map((text) => breadthOf(text, SIZE))));
  const left = Math.ceil(Math.min(beside, room * 0.3)) + 12;
  const least = S > 160 ? 1.5 : S > 60 ? 5 : 9;
  const free = (room - left - EDGE) / Math.max(1, S);
  const scale = devicePixelRatio || 1;
  const cell = Math.max(1 / scale, Math.floor(Math.max(least, Math.min(MOST, free, 760 / Math.max(1, T) + 8)) * scale) / scale);
  const longest = Math.min(LABEL, Math.max(0, ...sample(reads.labels).map((text) => breadthOf(text, SIZE))));
  const turned = longest > cell - 6;
  const above = turned ? longest * 0.82 + 16 : 24;
  const step = Math.max(1, Math.ceil((SIZE + 3) / cell));
  const lean = turned && S ? Math.max(0, breadthOf(clipped(reads.labels[S - 1], LABEL, SIZE), SIZE) * 0.58 - cell / 2) : 0;
  const top = above + 24;
  return {
    left, top, cell, turned, step, labelled: left - 12,
    width: Math.max(left + S * cell + Math.max(EDGE, lean + 6), 240), height: top + T * cell + 44, titles,
  };
}

// At most some hundred labels are measured: of many, the longest ones.
function sample(labels) {
  return labels.length < 200 ? labels : [...labels].sort((a, b) => b.length - a.length).slice(0, 100);
}

// look: colours, level (weight → 0…1), ink, soft, line, paper; legend: what the bar says; rows: how many are shown
export function drawMatrix(pen, sheet, plan, look, rows = sheet.T) {
  const { T, S, values } = sheet;
  const { left, top, cell } = plan;
  const [wide, high] = [S * cell, T * cell];
  const shown = rows < T ? values.map((value, i) => (i < rows * S ? value : 0)) : values;
  pen.cells(pixelsOf(shown, look.level, look.colours), S, T, left, top, wide, high);
  if (cell >= 9) ruled(pen, S, T, left, top, cell, look.line);
  pen.rect(left, top, wide, high, { stroke: look.line });
  for (const place of look.borders?.reads ?? []) pen.line(left + place * cell, top - 6, left + place * cell, top + high, { stroke: look.soft, dash: [3, 3] });
  for (const place of look.borders?.asks ?? []) pen.line(left - 6, top + place * cell, left + wide, top + place * cell, { stroke: look.soft, dash: [3, 3] });
  if (cell >= 24) numbered(pen, sheet, plan, look, rows);
  for (const [t, s, sure] of look.gold ?? []) pen.rect(left + s * cell + 2, top + t * cell + 2, cell - 4, cell - 4, { stroke: sure ? look.mark : look.soft, thick: 2 });
  labelled(pen, sheet, plan, look);
  legend(pen, plan, look, top + high + 18);
}

function ruled(pen, S, T, left, top, cell, stroke) {
  for (let s = 1; s < S; s++) pen.line(left + s * cell, top, left + s * cell, top + T * cell, { stroke, thick: 0.5 });
  for (let t = 1; t < T; t++) pen.line(left, top + t * cell, left + S * cell, top + t * cell, { stroke, thick: 0.5 });
}

function numbered(pen, { T, S, values }, { left, top, cell }, { level, colours, digits }, rows) {
  for (let t = 0; t < Math.min(T, rows); t++) {
    for (let s = 0; s < S; s++) {
      const weight = values[t * S + s];
      if (Math.abs(weight) < 0.05) continue;
      const text = (digits ?? ((w) => w.toFixed(2).replace(/^(-?)0/, "$1")))(weight);
      pen.text(text, left + (s + 0.5) * cell, top + (t + 0.5) * cell, { size: cell < 32 ? 10 : 11, align: "center", fill: inkOn(colours, level(weight)) });
    }
  }
}

function labelled(pen, { asks, reads, S, T }, { left, top, cell, turned, step, labelled: most, titles }, { ink, soft }) {
  pen.text(titles.reads, left, 11, { size: 12, fill: soft });
  pen.text(titles.asks, left - 10, top - 12, { size: 12, fill: soft, align: "right" });
  for (let t = 0; t < T; t += step) {
    const text = clipped(asks.labels[t], most, SIZE);
    pen.text(text, left - 8, top + (t + 0.5) * cell, { size: SIZE, align: "right", fill: asks.units[t].special ? soft : ink });
  }
  for (let s = 0; s < S; s += step) {
    const text = clipped(reads.labels[s], LABEL, SIZE);
    const [x, fill] = [left + (s + 0.5) * cell, reads.units[s].special ? soft : ink];
    if (turned) pen.text(text, x + 3, top - 7, { size: SIZE, angle: -55, fill });
    else pen.text(text, x, top - 12, { size: SIZE, align: "center", fill });
  }
}

function legend(pen, { left, width }, { colours, soft, line, legend: words }, y) {
  const long = Math.min(120, width - left - 100);
  if (long < 40) return;
  for (let i = 0; i < long; i += 2) pen.rect(left + i, y, 2, 8, { fill: cssColour(colours, i / (long - 1)) });
  pen.rect(left, y, long, 8, { stroke: line });
  pen.text(words.low, left, y + 17, { size: 11, fill: soft });
  pen.text(words.high, left + long, y + 17, { size: 11, fill: soft, align: "right" });
  pen.text(words.what, left + long + 8, y + 4, { size: 11, fill: soft });
}

// What lies over the cells: the row, the column, the cell that is meant.
export function drawOver(pen, sheet, plan, { ask, read }, look) {
  const { left, top, cell, labelled: most, step, turned } = plan;
  const thick = cell < 4 ? 1 : 1.5;
  if (ask !== null) pen.rect(left, top + ask * cell, sheet.S * cell, cell, { stroke: look.accent, thick });
  if (read !== null) pen.rect(left + read * cell, top, cell, sheet.T * cell, { stroke: look.accent, thick });
  if (ask !== null && step > 1) tagged(pen, clipped(sheet.asks.labels[ask], most, SIZE), left - 8, top + (ask + 0.5) * cell, "right", look);
  if (read !== null && (step > 1 || turned)) {
    const text = clipped(sheet.reads.labels[read], LABEL, SIZE);
    const x = Math.max(left, Math.min(left + (read + 0.5) * cell - breadthOf(text, SIZE) / 2, plan.width - breadthOf(text, SIZE) - 6));
    tagged(pen, text, x, top - 12, "left", look);
  }
}

function tagged(pen, text, x, y, align, { accent, paper }) {
  const wide = breadthOf(text, SIZE) + 8;
  pen.rect(align === "right" ? x - wide + 4 : x - 4, y - 10, wide, 20, { fill: accent });
  pen.text(text, x, y, { size: SIZE, align, fill: paper });
}

// The cell at a point of the picture; null beside it.
export function matrixAt({ left, top, cell }, { T, S }, x, y) {
  const [s, t] = [Math.floor((x - left) / cell), Math.floor((y - top) / cell)];
  if (s >= S || t >= T || (s < 0 && t < 0)) return null;
  return { ask: t >= 0 ? t : null, read: s >= 0 ? s : null };
}

