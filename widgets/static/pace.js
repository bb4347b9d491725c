// Pacing of drawing during a run. The page draws on the cores that the run computes on, and a parallel matrix product
// waits for the slowest core. So drawing is limited to a share of the time, regardless of the cost of one drawing.

/** Ratio of the pause after a drawing to the drawing's duration. */
const REST = 50;
/** Maximum milliseconds between two drawings, so that the view does not seem frozen. */
const LONGEST = 2000;

export function createPace() {
  /** @type {Map<string, () => void>} */
  const held = new Map();
  let due = 0;
  let timer = 0;
  let count = 0;

  /** Run deferred drawings in order of arrival. */
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
      // After this frame's layout and painting.
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
     * Draw now, or a little later together with further updates.
     * @param {string} what a key: of two deferred drawings with the same key the later one counts; "" is always unique
     * @param {() => void} draw
     */
    draw(what, draw) {
      const key = what || `message ${++count}`;
      held.delete(key); // the later one is ordered after others in between
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
