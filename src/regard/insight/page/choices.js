// Tokens that are forced, and tokens as they are shown.

export const forcedIds = ({ force }) => (force ? force.split(",").map(Number).filter(Number.isInteger) : []);

export const visible = (text) => text.replaceAll("\n", "↵").replaceAll("\t", "⇥").replace(/^ | $/g, "") || "␣";
