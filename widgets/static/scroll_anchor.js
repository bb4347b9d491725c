// Keeps one row of a scrolled list in view when the list changes, unless the user has scrolled away from it.

export class ScrollAnchor {
  /** @param {HTMLElement} view the scrolling element @param {HTMLElement} head the element that covers its first lines @param {number} height the height of a row */
  constructor(view, head, height) {
    this.view = view;
    this.head = head;
    this.height = height;
    this.follows = true;
    /** The scroll position set by this object; any other position was set by the user. */
    this.placed = 0;
    /** The row's last visible distance below the head. */
    this.offset = 0;
  }

  #room() {
    return Math.max(0, this.view.clientHeight - this.head.offsetHeight - this.height);
  }

  /** @param {number} position the position of the row, or -1 */
  #sees(position) {
    const below = position * this.height - this.view.scrollTop;
    return below > -this.height / 2 && below < this.#room() + this.height / 2;
  }

  /** Handle a scroll by this object or by the user, who may have left the row or returned to it. @param {number} position the position of the row, or -1 */
  scrolled(position) {
    const { scrollTop, clientHeight } = this.view;
    if (!clientHeight || Math.abs(scrollTop - this.placed) < 1) return;
    this.placed = scrollTop;
    if (position < 0) return;
    this.follows = this.#sees(position);
    this.offset = position * this.height - scrollTop;
  }

  /** Scroll the row into view. @param {number} position the row's position, or -1 @param {number} above the number of rows above that belong to it */
  show(position, above) {
    this.follows = true;
    this.offset = position * this.height - this.view.scrollTop;
    this.keep(position, above);
  }

  /** Keep the row at its screen position after a change of the rows, their order or the height. @param {number} position the row's position, or -1 @param {number} above */
  keep(position, above) {
    if (!this.view.clientHeight) return;
    if (position >= 0 && this.follows) {
      if (this.offset < 0) this.offset = above * this.height;
      this.offset = Math.min(this.#room(), this.offset);
      this.view.scrollTop = position * this.height - this.offset;
      this.offset = position * this.height - this.view.scrollTop; // the list may end before
    }
    this.placed = this.view.scrollTop;
  }
}
