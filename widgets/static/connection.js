// Whether the kernel that a panel belongs to is there. JupyterLab and Notebook 7 know it first, and say it in signals of
// the kernel behind the widgets' manager; the widget's model itself is told of a restart only. Where a page has no such
// kernel to ask, an answer that does not come is all there is to go by, and that may mean a busy kernel too.

/** @typedef {"live" | "silent" | "away" | "gone"} Connection */

/** What each lack of a kernel looks like: a word for the status, and the line that says what to do. */
export const LACKS = {
  live: ["", ""],
  silent: ["", "The kernel has not answered so far: it is busy, or gone."],
  away: ["no connection", "No connection to the kernel. This panel is live again when it is back; Kernel > Reconnect to Kernel tries at once."],
  gone: ["kernel gone", "The kernel that this panel belongs to is gone. Run the cell again for a live panel."],
};
/** The states of a kernel after which its process is another one, or none. */
const ENDED = ["autorestarting", "dead", "restarting", "terminating"];
/** A person waits for an answer; after so many milliseconds the panel says that there is none. */
const PATIENCE = 5000;

/**
 * @param {import("./types.js").Model} model
 * @param {(now: Connection) => void} changed is told of each change
 */
export function watchConnection(model, changed) {
  /** @type {Connection} */
  let now = "live";
  let ended = false;
  let silent = false;
  let waiting = 0;
  // Another restart or another kernel is no concern of a panel: it belongs to the kernel of now.
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
    clearTimeout(waiting);
    waiting = 0;
    changed(now);
  }

  /** Nothing can be sent, or nothing more comes. */
  function end() {
    ended = true;
    look();
  }

  /** Something came from Python. */
  function heard() {
    clearTimeout(waiting);
    waiting = 0;
    ended = silent = false;
    look();
  }

  /** A person asked for something. */
  function asked() {
    waiting ||= window.setTimeout(() => {
      waiting = 0;
      // A kernel that has nothing to do and does not answer has no such panel: it was restarted behind this page's back.
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
    asked,
    heard,
    end,
    look,
    destroy() {
      clearTimeout(waiting);
      for (const signal of signals) signal?.disconnect(look);
      for (const [event, callback] of Object.entries(events)) model.off(event, callback);
    },
  };
}
