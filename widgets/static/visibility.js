// Visibility of an element to a user: it is on the page, and a readable part of it is inside the window.

/** Minimum readable height in pixels. */
const READABLE = 80;

/**
 * Report whether an element is visible, as soon as the browser knows. A page in a background tab counts as visible,
 * since the user finds the element there on return.
 * @param {Element} element
 * @param {(visible: boolean) => void} report
 */
export function reportVisibility(element, report) {
  if (document.hidden || !element.isConnected) {
    report(element.isConnected && element.getClientRects().length > 0);
    return;
  }
  const observer = new IntersectionObserver(([entry]) => {
    observer.disconnect();
    const { boundingClientRect: box, intersectionRect: visibleBox } = entry;
    // The entry may be from before the element was removed.
    report(element.isConnected && box.height > 0 && visibleBox.height >= Math.min(READABLE, box.height));
  });
  observer.observe(element);
}
