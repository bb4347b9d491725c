// How often the page draws what a run sends. It does so on the cores that the run computes on, and a matrix product on
// all of them waits for the slowest: so drawing keeps to a share of the time, however long one drawing takes.

/** After a drawing, so many times as long is left to the run. */
const REST = 50;
/** The longest time between two drawings, in milliseconds: what is looked at must not seem to stand still. */
const LONGEST = 2000;

export function createPace() {
  /** @type {Map<string, () => void>} */
  const held = new Map();
  let due = 0;
  let timer = 0;
  let count = 0;

  /** Draw what was held back, in the order in which it came. */
  function flush() {
    clearTimeout(timer);
    timer = 0;
    if (!held.size) return;
    const start = performance.now();
    const draws = [...held.values()];
    held.clear();
    for (const draw of draws) draw();
    const spent = performance.now() - start;
    rest(spent);
    requestAnimationFrame((frame) => {
      // Behind this frame's layout and painting.
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        port1.close();
        rest(spent + performance.now() - frame);
      };
      port2.postMessage(null);
    });
  }

  /** @param {number} cost in milliseconds */
  function rest(cost) {
    due = performance.now() + Math.min(cost * REST, LONGEST);
  }

  return {
    /**
     * Draw now, or a little later together with what comes meanwhile.
     * @param {string} what of two drawings of the same the later one counts; "" is never the same
     * @param {() => void} draw
     */
    draw(what, draw) {
      const key = what || `message ${++count}`;
      held.delete(key); // the later one stands behind what has come between
      held.set(key, draw);
      const wait = due - performance.now();
      if (wait <= 0) flush();
      else if (!timer) timer = window.setTimeout(flush, wait);
    },
    flush,
    destroy() {
      clearTimeout(timer);
      held.clear();
    },
  };
}
