"""Measurements of a page's accessibility: axe-core's rules, and the contrast of its text.

axe-core is one of the packages that `make test` puts into js/node_modules where npm is installed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page

AXE = Path(__file__).resolve().parents[2] / "js" / "node_modules" / "axe-core" / "axe.min.js"
IMPACTS = ("serious", "critical")
ENOUGH_CONTRAST = 4.5  # WCAG 2.2, 1.4.3, for text of ordinary size

# The lowest contrast of any visible text with what is behind it (WCAG 2.2, 1.4.3), disabled controls aside.
CONTRAST = """() => {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const rgba = (text) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = text;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const over = (top, below) => [0, 1, 2].map((k) => (top[k] * top[3] + below[k] * (255 - top[3])) / 255);
  const luminance = (color) => {
    const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = color.map((v) => linear(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const backdrop = (element) => {
    if (!element) return rgba("Canvas").slice(0, 3);
    return over(rgba(getComputedStyle(element).backgroundColor), backdrop(element.parentElement));
  };
  let worst = [21, ""];
  for (const element of document.querySelectorAll(".hs *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !element.checkVisibility() || element.disabled) continue;
    const behind = backdrop(element);
    const [a, b] = [luminance(over(rgba(getComputedStyle(element).color), behind)), luminance(behind)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < worst[0]) worst = [ratio, `${element.className}: ${element.textContent}`];
  }
  return worst;
}"""


def violations(root: Locator) -> list[str]:
    """Return axe-core's serious and critical findings inside an element: a line for each element and rule."""
    page = root.page
    if not page.evaluate("() => Boolean(window.axe)"):
        page.evaluate(f"{AXE.read_text(encoding='utf-8')}; null")
    script = "async (root) => (await axe.run(root, { resultTypes: ['violations'] })).violations"
    results: list[dict[str, Any]] = root.evaluate(script)
    return [
        f"{rule['id']} ({rule['impact']}): {rule['help']}: {node['html'][:200]}: {_measured(node)}"
        for rule in results
        if rule["impact"] in IMPACTS
        for node in rule["nodes"]
    ]


def _measured(node: dict[str, Any]) -> str:
    return "; ".join(str(check["message"]) for check in [*node["any"], *node["all"], *node["none"]])


def lowest_contrast(page: Page) -> tuple[float, str]:
    """Return the lowest contrast of any visible text of the panels on a page, and the text."""
    ratio, where = page.evaluate(CONTRAST)
    return float(ratio), str(where)
