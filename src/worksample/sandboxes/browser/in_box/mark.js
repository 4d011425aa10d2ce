// Gives every element of a document an id, `bid`, that lasts, and says what can be seen and acted on.
// Runs in a world of its own, so that what a page did to its built-in functions does not reach it.
(prefix, offsetX, offsetY, most, shown, onlyVisible) => {
  const ROLES = new Set(["button", "link", "checkbox", "radio", "menuitem", "menuitemcheckbox", "menuitemradio", "option",
    "tab", "switch", "textbox", "searchbox", "combobox", "listbox", "slider", "spinbutton", "treeitem", "gridcell"]);
  const TAGS = new Set(["A", "BUTTON", "INPUT", "SELECT", "TEXTAREA", "SUMMARY", "OPTION", "LABEL", "VIDEO", "AUDIO"]);
  const width = innerWidth, height = innerHeight, own = new RegExp("^" + prefix + "[0-9]+$");
  const frameOwn = new RegExp("^" + prefix + "[a-z][A-Z]*$");
  const seen = new Set(), fresh = [], frames = [], found = [];
  let count = 0, next = 0, nextFrame = 0, cut = false;
  const roots = [document];
  while (roots.length && !cut) {
    for (const element of roots.shift().querySelectorAll("*")) {
      if (++count > most) { cut = true; break; }
      if (element.shadowRoot) roots.push(element.shadowRoot);
      const frame = element.tagName === "IFRAME" || element.tagName === "FRAME";
      const bid = element.getAttribute("bid") || "";
      if ((frame ? frameOwn : own).test(bid) && !seen.has(bid)) {
        seen.add(bid);
        const rest = bid.slice(prefix.length);
        if (frame) {
          let n = rest.charCodeAt(0) - 97;
          for (const c of rest.slice(1)) n = n * 26 + c.charCodeAt(0) - 65 + 26;
          nextFrame = Math.max(nextFrame, n + 1);
        } else if (rest.length < 10) next = Math.max(next, Number(rest) + 1);
      } else fresh.push(element);
      found.push(element);
    }
  }
  const letters = (n) => {
    let text = "";
    while (n >= 26) { text = String.fromCharCode(65 + n % 26) + text; n = Math.floor(n / 26) - 1; }
    return String.fromCharCode(97 + n) + text;
  };
  for (const element of fresh) {
    const frame = element.tagName === "IFRAME" || element.tagName === "FRAME";
    element.setAttribute("bid", prefix + (frame ? letters(nextFrame++) : next++));
  }
  const rows = [];
  for (const element of found) {
    const box = element.getBoundingClientRect(), bid = element.getAttribute("bid");
    const inside = box.right > 0 && box.bottom > 0 && box.left < width && box.top < height;
    const visible = box.width > 0 && box.height > 0 && inside
      && element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    if (element.tagName === "IFRAME" || element.tagName === "FRAME") {
      frames.push([bid, offsetX + box.left + element.clientLeft, offsetY + box.top + element.clientTop]);
    }
    if (!visible) continue;
    const role = (element.getAttribute("role") || "").split(" ")[0];
    const usable = (TAGS.has(element.tagName) && (element.tagName !== "A" || element.hasAttribute("href")))
      || ROLES.has(role) || element.isContentEditable && !element.parentElement?.isContentEditable
      || element.hasAttribute("onclick") || element.tabIndex >= 0 && element.hasAttribute("tabindex");
    const able = usable && !element.disabled && element.getAttribute("aria-disabled") !== "true";
    const name = able ? (element.getAttribute("aria-label") || element.innerText || element.value
      || element.getAttribute("placeholder") || element.getAttribute("title") || element.getAttribute("alt")
      || element.getAttribute("name") || "") : "";
    rows.push([bid, able ? 1 : 0, Math.round(offsetX + box.left), Math.round(offsetY + box.top), Math.round(box.width),
      Math.round(box.height), able ? role || element.tagName.toLowerCase() : "",
      String(name).replace(/\s+/g, " ").trim().slice(0, 80)]);
  }
  const page = { width, height, left: Math.round(scrollX), top: Math.round(scrollY),
    whole: [document.documentElement?.scrollWidth || 0, document.documentElement?.scrollHeight || 0] };
  return { rows, frames: frames.slice(0, 50), count, cut, page, dom: shown > 0 ? dom(document.documentElement) : "" };

  function dom(root) {
    const KEPT = ["bid", "id", "name", "type", "href", "src", "value", "placeholder", "alt", "title", "role", "for",
      "aria-label", "aria-expanded", "checked", "disabled", "selected", "action", "method", "contenteditable"];
    const LEFT = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "LINK", "META"]);
    const visible = new Set(rows.map((row) => row[0]));
    let room = shown;
    const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
    const said = (node, depth) => {
      if (room <= 0 || depth > 200) return "";
      if (node.nodeType === 3) {
        const text = escaped(node.data.replace(/\s+/g, " ").trim());
        room -= text.length;
        return text;
      }
      if (node.nodeType !== 1 || LEFT.has(node.tagName)) return "";
      const tag = node.tagName.toLowerCase();
      let open = "<" + tag;
      for (const key of KEPT) {
        if (!node.hasAttribute(key)) continue;
        const value = node.getAttribute(key).slice(0, 300).replace(/"/g, "&quot;");
        open += value ? ` ${key}="${value}"` : ` ${key}`;
      }
      open += ">";
      room -= open.length + tag.length + 3;
      if (tag === "iframe" || tag === "frame") return `${open}\u0000${node.getAttribute("bid")}\u0000</${tag}>`;
      if (tag === "svg") return open + `</${tag}>`;
      const within = [];
      for (const child of [...(node.shadowRoot?.childNodes || []), ...node.childNodes]) within.push(said(child, depth + 1));
      const inner = within.filter(Boolean).join("");
      if (onlyVisible && !visible.has(node.getAttribute("bid")) && !/<[a-z]/.test(inner)) return "";
      return `${open}${inner}</${tag}>\n`;
    };
    return root ? said(root, 0) : "";
  }
}
