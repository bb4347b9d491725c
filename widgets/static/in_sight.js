// Keeps one row of a scrolled list where a person sees it, whatever happens to the list, unless they scrolled away from it.

export class InSight {
  /** @param {HTMLElement} view what scrolls @param {HTMLElement} head what covers its first lines @param {number} height of a row */
  constructor(view, head, height) {
    this.view = view;
    this.head = head;
    this.height = height;
    this.follows = true;
    /** Where this has put the list; from anywhere else a person has scrolled it there. */
    this.placed = 0;
    /** How far below the head the row was when it was last seen. */
    this.offset = 0;
  }

  #room() {
    return Math.max(0, this.view.clientHeight - this.head.offsetHeight - this.height);
  }

  /** @param {number} position of the row, or -1 */
  #sees(position) {
    const below = position * this.height - this.view.scrollTop;
    return below > -this.height / 2 && below < this.#room() + this.height / 2;
  }

  /** The list has moved: by this, or by a person, who may have left the row or come back to it. @param {number} position of the row, or -1 */
  scrolled(position) {
    const { scrollTop, clientHeight } = this.view;
    if (!clientHeight || Math.abs(scrollTop - this.placed) < 1) return;
    this.placed = scrollTop;
    if (position < 0) return;
    this.follows = this.#sees(position);
    this.offset = position * this.height - scrollTop;
  }

  /** The row is looked for: show it. @param {number} position or -1 @param {number} above so many rows that belong to it */
  show(position, above) {
    this.follows = true;
    this.offset = position * this.height - this.view.scrollTop;
    this.keep(position, above);
  }

  /** Rows, their order or the room have changed: the row stays where it was on the screen. @param {number} position or -1 @param {number} above */
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
