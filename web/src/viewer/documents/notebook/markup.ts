/** Markdown cells and formulas as nodes of this page: sanitised, without addresses, formulas by KaTeX. */

import DOMPurify from "dompurify";
import katex from "katex";
import renderMath from "katex/contrib/auto-render";
import "katex/dist/katex.min.css";

/** `trust: false` keeps links and files out of formulas; expansions and sizes are limited. */
const SAFE = { throwOnError: false, trust: false, maxExpand: 500, maxSize: 40, strict: "ignore" as const };
const DELIMITERS = [
  { left: "$$", right: "$$", display: true },
  { left: "\\[", right: "\\]", display: true },
  { left: "\\(", right: "\\)", display: false },
  { left: "$", right: "$", display: false },
];
const TAGS = [
  "p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong",
  "s", "del", "a", "img", "table", "thead", "tbody", "tr", "th", "td", "sup", "sub",
]; // prettier-ignore

/** `beside` returns the address of a delivered file by its name, if it exists. */
export function written(html: string, beside: (name: string) => string | undefined): DocumentFragment {
  const clean = DOMPurify.sanitize(html, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ["href", "src", "alt", "align", "start"],
    RETURN_DOM_FRAGMENT: true,
  });
  for (const link of clean.querySelectorAll("a")) {
    // Show a link's target as text; following it would leave the viewer.
    const target = link.getAttribute("href") ?? "";
    link.removeAttribute("href");
    link.title = target;
    link.className = "link";
  }
  for (const image of clean.querySelectorAll("img")) {
    const name = image.getAttribute("src") ?? "";
    const near = name.startsWith("data:image/") ? name : beside(name);
    if (near) image.src = near;
    else image.replaceWith(`[picture: ${image.alt || name}]`);
  }
  const holder = document.createElement("div");
  holder.append(clean);
  renderMath(holder, { ...SAFE, delimiters: DELIMITERS });
  const out = document.createDocumentFragment();
  out.append(...holder.childNodes);
  return out;
}

/** A LaTeX output: Jupyter writes it with or without its delimiters. */
export function formula(text: string): HTMLElement {
  const bare = text.trim().replace(/^\${1,2}|\${1,2}$/g, "").replace(/^\\\[|\\\]$/g, "");
  const out = document.createElement("div");
  katex.render(bare.replace(/^\\displaystyle/, ""), out, { ...SAFE, displayMode: true });
  return out;
}

/** Remove terminal colours and other control codes. */
export function plain(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, "");
}
