// Whether a person can see an element: it is on the page, and a part of it that can be read is inside the window.

/** So many pixels of its height can be read. */
const READABLE = 80;

/**
 * Tell whether an element can be seen, as soon as the browser knows. A page behind another one counts as seen: whoever
 * comes back to it finds the element there.
 * @param {Element} element
 * @param {(visible: boolean) => void} tell
 */
export function whetherSeen(element, tell) {
  if (document.hidden || !element.isConnected) {
    tell(element.isConnected && element.getClientRects().length > 0);
    return;
  }
  const observer = new IntersectionObserver(([entry]) => {
    observer.disconnect();
    const { boundingClientRect: whole, intersectionRect: part } = entry;
    tell(whole.height > 0 && part.height >= Math.min(READABLE, whole.height));
  });
  observer.observe(element);
}
