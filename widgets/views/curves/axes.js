// Axes of a chart: the range of its numbers, positions on it, and ticks at round numbers. axes.py does the same for
// pages that run no script.

/** Maximum number of ticks of a logarithmic axis. */
const MOST_DECADES = 5;

export class Axis {
  /** @param {number} low @param {number} high a larger number @param {boolean} isLogarithmic */
  constructor(low, high, isLogarithmic) {
    this.low = low;
    this.high = high;
    this.isLogarithmic = isLogarithmic;
    this.from = isLogarithmic ? Math.log10(low) : low / 2; // halves, since a range may exceed the largest number
    this.to = isLogarithmic ? Math.log10(high) : high / 2;
  }

  /** Return where a number is between the low end (0) and the high one (1). @param {number} value */
  position(value) {
    return ((this.isLogarithmic ? Math.log10(value) : value / 2) - this.from) / (this.to - this.from);
  }

  /** Return about this number of round numbers on the axis. @param {number} most @returns {number[]} */
  ticks(most) {
    return this.isLogarithmic ? this.#decades() : this.#roundNumbers(most);
  }

  /** @param {number} most */
  #roundNumbers(most) {
    const step = roundStep(((this.to - this.from) / most) * 2);
    if (!(step > 0 && Number.isFinite(step) && Number.isFinite(this.low / step))) return [this.low, this.high];
    const first = Math.ceil(this.low / step - 1e-9);
    const last = Math.floor(this.high / step + 1e-9);
    return Array.from({ length: last - first + 1 }, (_, k) => (first + k) * step);
  }

  #decades() {
    const [first, last] = [Math.ceil(this.from - 1e-9), Math.floor(this.to + 1e-9)];
    if (last - first < 1) {
      const decade = Math.floor(this.from);
      const candidates = [decade, decade + 1].flatMap((power) => [1, 2, 3, 5].map((factor) => factor * 10 ** power));
      const inside = candidates.filter((value) => value >= this.low * (1 - 1e-9) && value <= this.high * (1 + 1e-9));
      return inside.length > 1 ? inside : this.#roundNumbersOfRange();
    }
    const stride = Math.ceil((last - first + 1) / MOST_DECADES);
    return Array.from({ length: Math.floor((last - first) / stride) + 1 }, (_, k) => 10 ** (first + k * stride));
  }

  /** Return round numbers of a logarithmic axis that is too short for powers of ten. */
  #roundNumbersOfRange() {
    return new Axis(this.low, this.high, false).ticks(3).filter((value) => value > 0);
  }
}

/**
 * Return an axis for the finite ones of these numbers; null if there are none.
 * @param {Iterable<number>} values @param {boolean} [isLogarithmic] for positive numbers
 */
export function axisOf(values, isLogarithmic = false) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) return null;
  if (high / 2 - low / 2 > 0 && (!isLogarithmic || Math.log10(high) > Math.log10(low))) return new Axis(low, high, isLogarithmic);
  if (isLogarithmic) return new Axis(Math.max(low / 2, Number.MIN_VALUE), Math.min(high * 2, Number.MAX_VALUE), true);
  const margin = Math.abs(low) / 10 || 1;
  return new Axis(low - margin, high + margin, false);
}

/** Return the next of 1, 2 and 5 times a power of ten. @param {number} step */
function roundStep(step) {
  const power = step > 0 ? 10 ** Math.floor(Math.log10(step)) : 0;
  return [1, 2, 5].map((factor) => factor * power).find((value) => value >= step * (1 - 1e-9)) ?? 10 * power;
}

/** Return the text of a tick: short, without rounding errors. @param {number} value */
export function tickText(value) {
  const size = Math.abs(value);
  if (!size) return "0";
  if (size >= 1e5 || size < 1e-4) return value.toExponential(3).replace(/\.?0*e\+?/, "e");
  return String(Number(value.toPrecision(4)));
}
