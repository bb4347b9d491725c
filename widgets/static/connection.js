// Connection to the kernel that a panel belongs to. JupyterLab and Notebook 7 detect its loss first, and emit signals
// of the kernel behind the widgets' manager; the widget's model itself is notified of restarts only. On a page without
// such a kernel object, a missing reply is the only sign, and it may also mean a busy kernel.

/** @typedef {"live" | "silent" | "away" | "gone"} Connection */

/** Texts for each kind of lost connection: a word for the status, and a line with advice. */
export const NOTES = {
  live: ["", ""],
  silent: ["", "The kernel has not answered so far: it is busy, or gone."],
  away: ["no connection", "No connection to the kernel. This panel is live again when it is back; Kernel > Reconnect to Kernel tries at once."],
  gone: ["kernel gone", "The kernel that this panel belongs to is gone. Run the cell again for a live panel."],
};
/** Kernel states after which its process is replaced or gone. */
const ENDED = ["autorestarting", "dead", "restarting", "terminating"];
/** Milliseconds that a user waits for a reply before the panel reports that there is none. */
const PATIENCE = 5000;

/**
 * @param {import("./types.js").Model} model
 * @param {(now: Connection) => void} changed called on each change
 */
export function watchConnection(model, changed) {
  /** @type {Connection} */
  let now = "live";
  let ended = false;
  let silent = false;
  let replyTimer = 0;
  // Another restart or another kernel is irrelevant: a panel belongs to the kernel at its creation.
  const kernel = model.widget_manager?.kernel;
  const signals = [kernel?.statusChanged, kernel?.connectionStatusChanged, kernel?.disposed].filter((signal) => typeof signal?.connect === "function");

  function look() {
    ended ||= Boolean(kernel?.isDisposed) || ENDED.includes(kernel?.status ?? "");
    set(ended ? "gone" : (kernel?.connectionStatus ?? "connected") !== "connected" ? "away" : silent ? "silent" : "live");
  }

  /** @param {Connection} next */
  function set(next) {
    if (next === now) return;
    now = next;
    clearTimeout(replyTimer);
    replyTimer = 0;
    changed(now);
  }

  /** Record that nothing can be sent, or nothing more will arrive. */
  function end() {
    ended = true;
    look();
  }

  /** Record that a message arrived from Python. */
  function messageReceived() {
    clearTimeout(replyTimer);
    replyTimer = 0;
    ended = silent = false;
    look();
  }

  /** Record a request by the user. */
  function requestSent() {
    replyTimer ||= window.setTimeout(() => {
      replyTimer = 0;
      // An idle kernel that does not reply has no such panel: it was restarted without a notification to this page.
      ended ||= kernel?.status === "idle";
      silent = true;
      look();
    }, PATIENCE);
  }

  const events = { "comm:close": end, destroy: end };
  for (const signal of signals) signal?.connect(look);
  for (const [event, callback] of Object.entries(events)) model.on(event, callback);

  return {
    get now() {
      return now;
    },
    requestSent,
    messageReceived,
    end,
    look,
    destroy() {
      clearTimeout(replyTimer);
      for (const signal of signals) signal?.disconnect(look);
      for (const [event, callback] of Object.entries(events)) model.off(event, callback);
    },
  };
}
