// Elements, made in one call.

export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") for (const [event, act] of Object.entries(value)) node.addEventListener(event, act);
    else if (name === "class") node.className = value;
    else if (name in node && name !== "list" && name !== "form" && name !== "width" && name !== "height") node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

// Replaces what is inside, without losing the place of who is there by keyboard.
export function fill(node, ...children) {
  node.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

// "*bank* gives 0.61" with what is between stars as emphasis. A star in a word itself is written \u2217 before (see `starred`).
export function rich(text) {
  return text.split("*").map((part, place) => (place % 2 ? el("em", { dir: "auto" }, part.replaceAll("\u2217", "*")) : part));
}

export const starred = (label) => label.replaceAll("*", "\u2217");

// One of several, as buttons in a row: a group of radio buttons to a screen reader, arrows move within it.
export function choice(label, options, chosen, choose) {
  const buttons = options.map(({ value, text, title, disabled }) =>
    el("button", {
      type: "button",
      role: "radio",
      "aria-checked": String(value === chosen),
      tabIndex: value === chosen ? 0 : -1,
      title,
      disabled,
      "data-value": String(value),
      on: { click: () => choose(value) },
    }, text));
  if (!options.some(({ value }) => value === chosen) && buttons[0]) buttons[0].tabIndex = 0;
  const group = el("div", { class: "choice", role: "radiogroup", "aria-label": label }, buttons);
  group.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const able = options.filter((option) => !option.disabled);
    const place = able.findIndex(({ value }) => String(value) === event.target.dataset.value);
    const next = able[(place + step + able.length) % able.length];
    choose(next.value);
    requestAnimationFrame(() => document.querySelector(`[aria-label="${CSS.escape(label)}"] [data-value="${CSS.escape(String(next.value))}"]`)?.focus());
  });
  return group;
}

export function check(text, on, change, title) {
  return el("label", { class: "check", title }, el("input", { type: "checkbox", checked: on, on: { change: (event) => change(event.target.checked) } }), el("span", {}, text));
}

export function download(name, content, type) {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
