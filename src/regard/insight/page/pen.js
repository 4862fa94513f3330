// What pictures are drawn with: the same strokes on a canvas (screen, PNG) or as SVG.

export const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif';
const SVG_CELLS = 20_000; // more cells than this are a picture within the picture

const ruler = document.createElement("canvas").getContext("2d");

export function breadthOf(text, size = 13) {
  ruler.font = `${size}px ${FONT}`;
  return ruler.measureText(text).width;
}

// A label that is not broader than `most`, cut with … if it must be.
export function clipped(text, most, size = 13) {
  if (breadthOf(text, size) <= most) return text;
  const letters = Array.from(text);
  while (letters.length > 1 && breadthOf(`${letters.join("")}…`, size) > most) letters.pop();
  return `${letters.join("")}…`;
}

export class CanvasPen {
  constructor(canvas, width, height, scale = devicePixelRatio || 1) {
    this.canvas = canvas;
    const [wide, high] = [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
    if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high });
    this.on = canvas.getContext("2d");
    this.on.setTransform(scale, 0, 0, scale, 0, 0);
    this.on.clearRect(0, 0, width, height);
  }

  rect(x, y, width, height, { fill, stroke, thick = 1 }) {
    if (fill) {
      this.on.fillStyle = fill;
      this.on.fillRect(x, y, width, height);
    }
    if (stroke) {
      this.on.strokeStyle = stroke;
      this.on.lineWidth = thick;
      this.on.strokeRect(x, y, width, height);
    }
  }

  line(x1, y1, x2, y2, { stroke, thick = 1, dash = [] }) {
    this.on.setLineDash(dash);
    this.on.strokeStyle = stroke;
    this.on.lineWidth = thick;
    this.on.beginPath();
    this.on.moveTo(x1, y1);
    this.on.lineTo(x2, y2);
    this.on.stroke();
    this.on.setLineDash([]);
  }

  curve([x1, y1, x2, y2, x3, y3, x4, y4], { stroke, thick, alpha }) {
    this.on.globalAlpha = alpha;
    this.on.strokeStyle = stroke;
    this.on.lineWidth = thick;
    this.on.beginPath();
    this.on.moveTo(x1, y1);
    this.on.bezierCurveTo(x2, y2, x3, y3, x4, y4);
    this.on.stroke();
    this.on.globalAlpha = 1;
  }

  text(text, x, y, { size = 13, fill, align = "left", base = "middle", angle = 0, weight = 400 }) {
    this.on.save();
    this.on.translate(x, y);
    if (angle) this.on.rotate((angle * Math.PI) / 180);
    this.on.font = `${weight} ${size}px ${FONT}`;
    this.on.fillStyle = fill;
    this.on.textAlign = align;
    this.on.textBaseline = base;
    this.on.fillText(text, 0, 0);
    this.on.restore();
  }

  // A matrix of colours, a pixel a cell, as large as wanted and with sharp edges.
  cells(pixels, S, T, x, y, width, height) {
    if (!S || !T) return;
    this.picture(pictured(pixels, S, T), x, y, width, height);
  }

  picture(painted, x, y, width, height) {
    this.on.imageSmoothingEnabled = painted.width > width * 1.5;
    this.on.drawImage(painted, x, y, width, height);
  }
}

export function pictured(pixels, S, T) {
  const small = document.createElement("canvas");
  Object.assign(small, { width: S, height: T });
  small.getContext("2d").putImageData(new ImageData(pixels, S, T), 0, 0);
  return small;
}

const safe = (text) => String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;").replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, "");
const short = (number) => String(Math.round(number * 100) / 100);

export class SvgPen {
  constructor(width, height, title) {
    this.size = [width, height];
    this.title = title;
    this.parts = [];
  }

  rect(x, y, width, height, { fill = "none", stroke, thick = 1 }) {
    const edge = stroke ? ` stroke="${stroke}" stroke-width="${thick}"` : "";
    this.parts.push(`<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="${fill}"${edge}/>`);
  }

  line(x1, y1, x2, y2, { stroke, thick = 1, dash = [] }) {
    const dashes = dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : "";
    this.parts.push(`<path d="M${short(x1)} ${short(y1)}L${short(x2)} ${short(y2)}" stroke="${stroke}" stroke-width="${thick}"${dashes}/>`);
  }

  curve(points, { stroke, thick, alpha }) {
    const [x1, y1, ...rest] = points.map(short);
    this.parts.push(`<path d="M${x1} ${y1}C${rest.join(" ")}" fill="none" stroke="${stroke}" stroke-width="${short(thick)}" opacity="${short(alpha)}"/>`);
  }

  text(text, x, y, { size = 13, fill, align = "left", base = "middle", angle = 0, weight = 400 }) {
    const anchor = { left: "start", center: "middle", right: "end" }[align];
    const drop = { middle: 0.35, top: 0.8, alphabetic: 0, bottom: -0.2 }[base] * size;
    const turn = angle ? ` transform="rotate(${angle} ${short(x)} ${short(y)})"` : "";
    this.parts.push(`<text x="${short(x)}" y="${short(y)}" dy="${short(drop)}" font-size="${size}" font-weight="${weight}" fill="${fill}" text-anchor="${anchor}"${turn}>${safe(text)}</text>`);
  }

  cells(pixels, S, T, x, y, width, height) {
    if (S * T > SVG_CELLS) {
      const link = pictured(pixels, S, T).toDataURL("image/png");
      this.parts.push(`<image x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" preserveAspectRatio="none" style="image-rendering:pixelated" href="${link}"/>`);
      return;
    }
    const [wide, high] = [width / S, height / T];
    for (let i = 0; i < S * T; i++) {
      const fill = `#${[0, 1, 2].map((c) => pixels[i * 4 + c].toString(16).padStart(2, "0")).join("")}`;
      this.rect(x + (i % S) * wide, y + Math.floor(i / S) * high, wide, high, { fill });
    }
  }

  toString() {
    const [width, height] = this.size.map(short);
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family='${FONT}' shape-rendering="auto"><title>${safe(this.title)}</title>${this.parts.join("\n")}</svg>\n`;
  }
}
