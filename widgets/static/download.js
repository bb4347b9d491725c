// Export: Python sends the session as one HTML page, and the browser saves it, wherever the kernel runs.

import { make, setAttribute } from "./dom.js";

/** Milliseconds until the page's URL is revoked, since a browser may begin to read it later. */
const LIFETIME = 60_000;

/** @param {import("./types.js").Send} send */
export function createExport(send) {
  const button = make("button", {
    type: "button",
    class: "hs-button",
    text: "Export",
    title: "Save this session as one HTML page that needs no kernel",
    onclick: () => {
      setAttribute(button, "aria-busy", true);
      send({ type: "export" });
    },
  });

  /** @param {{name: string}} message @param {DataView[]} buffers */
  function save(message, buffers) {
    const page = new Blob([/** @type {DataView<ArrayBuffer>} */ (buffers[0])], { type: "text/html" });
    const address = URL.createObjectURL(page);
    // In the document, as some browsers require; JupyterLab intercepts link clicks only within its own pages.
    const link = make("a", { href: address, download: message.name, hidden: "" });
    document.body.append(link);
    link.click();
    link.remove();
    window.setTimeout(() => URL.revokeObjectURL(address), LIFETIME);
  }

  return { button, save, confirmed: () => setAttribute(button, "aria-busy", null) };
}
