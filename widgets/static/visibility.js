// Visibility of an element to a user: it is on the page, and a readable part of it is inside the window.

/** Minimum readable height in pixels. */
const READABLE = 80;

/**
 * Report whether an element is visible, as soon as the browser knows. A page in a background tab counts as visible,
 * since the user finds the element there on return.
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
