// Numbers as text, short enough for a table column.

/**
 * Format a statistic with this many significant digits, in exponent form if that is shorter.
 * @param {number} value
 * @param {number} [digits]
 */
export function formatNumber(value, digits = 4) {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e6) return String(value);
  if (size >= 1e5 || size < 1e-3) return value.toExponential(digits - 2);
  return value.toPrecision(digits);
}

/**
 * Format a count with thin spaces between groups of three digits.
 * @param {number} value
 */
export function formatCount(value) {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, "\u2009");
}

/**
 * Parse a number in Python's form, including inf and nan.
 * @param {string} text
 */
export function parseNumber(text) {
  if (text === "inf") return Infinity;
  if (text === "-inf") return -Infinity;
  return Number(text);
}

/**
 * Return a binary buffer from Python as numbers, copied if its offset is not a multiple of eight.
 * @param {DataView | undefined} view
 */
export function toFloat64(view) {
  if (!view) return new Float64Array(0);
  const length = view.byteLength >> 3;
  if (view.byteOffset % 8 === 0) return new Float64Array(view.buffer, view.byteOffset, length);
  return new Float64Array(view.buffer.slice(view.byteOffset, view.byteOffset + length * 8));
}
