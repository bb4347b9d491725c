"""A session as one page: complete, loading nothing, small; the panel's button saves it."""

from __future__ import annotations

import os
import re
import struct
import zlib
from base64 import b64decode
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from panel_page import PanelPage
from plain_session import PlainCapture, PlainSession, PlainTensor
from playwright.sync_api import Page

from hookscope.engine import Tensor, grad, nn
from hookscope.engine.debug import DebugSession, check_gradient
from hookscope.widgets import export_html
from hookscope.widgets.static_html import drawings, export
from hookscope.widgets.views.captures import static_html
from tests.browser.accessibility import AXE, violations


class Shifted(nn.Cell):
    """A cell with a fault in one element and a custom bprop."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(4, 4)
        self.relu = nn.ReLU()

    def construct(self, x: Tensor) -> Tensor:
        return self.relu(self.dense(x)) + x


@pytest.fixture(scope="module")
def trained_session() -> DebugSession:
    net = Shifted()
    x = np.ones((3, 4), np.float32)
    x[1, 2] = np.nan
    with DebugSession(net, conditions=["nan"], breaks=["relu"]) as session:
        for _ in range(2):
            grad(lambda x: net(x).sum())(Tensor(x))
    session.attach_hook("dense", "forward")
    session.gradient_checks["dense"] = check_gradient(net.dense, Tensor(np.ones((3, 4), np.float32)))
    for step, loss in ((1, 2.0), (2, 1.0)):
        session.history.add_loss(step, loss, "weights", lambda: "")
    return session


def read(page: str) -> str:
    """Return the text of the page's body."""
    return " ".join(re.sub(r"<[^>]*>", " ", page.partition("<body")[2]).split())


def test_the_page_has_all_of_the_session(trained_session: DebugSession) -> None:
    page = export.export_page(trained_session)
    assert [*re.findall(r'<h2 id="(\w+)">', page)] == [
        "stop",
        "findings",
        "gradients",
        "training",
        "cells",
        "timeline",
        "parameters",
        "hooks",
        "conditions",
    ]
    text = read(page)
    assert "Skipped pause" in text
    assert trained_session.gradient_checks["dense"].summary in text
    assert trained_session.findings()[0].advice in text
    assert "relu ReLU gave 3x4" in text
    assert "Step 2:" in text
    assert "dense#0 forward input[0] 3x4 float32 nan" in text
    assert "dense.weight 4x4 float32" in text
    assert "dense forward" in text


def test_a_loss_is_drawn_by_step(session: PlainSession) -> None:
    for step, loss in enumerate((4.0, 2.0, float("nan"), 1.0), 1):
        session.history.add_loss(step, loss, "weights", lambda: "")
    page = export.export_page(session)
    assert 'aria-label="loss by step"' in page
    assert "loss 4 in step 1, 1 in step 4" in page


def test_the_page_is_the_same_every_time(trained_session: DebugSession) -> None:
    assert export.export_page(trained_session) == export.export_page(trained_session)


def test_the_file_holds_the_page(trained_session: DebugSession, tmp_path: Path) -> None:
    path = export_html(trained_session, tmp_path / "session.html")
    assert path.read_text(encoding="utf-8") == export.export_page(trained_session)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_browser_shows_it_without_loading_or_running_anything(
    trained_session: DebugSession, page: Page, tmp_path: Path, theme: Any
) -> None:
    page.set_viewport_size({"width": 480, "height": 700})
    page.emulate_media(color_scheme=theme)
    complaints: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("request", lambda request: requests.append(request.url.partition(":")[0]))
    page.goto(export_html(trained_session, tmp_path / "session.html").as_uri())
    page.get_by_text("dense#0 forward output").last.click()
    heatmap = page.get_by_role("img", name="heatmap").locator("visible=true")
    assert heatmap.evaluate("image => [image.naturalWidth, image.naturalHeight]") == [4, 3]
    assert page.evaluate("document.documentElement.scrollWidth") <= 480
    assert complaints == []
    assert set(requests) <= {"file", "data"}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_is_accessible(trained_session: DebugSession, page: Page, tmp_path: Path, theme: Any) -> None:
    if not AXE.exists():
        reason = "axe-core is not installed: with Node and npm, `make test` or `make lint` puts it into js/node_modules"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)
    page.emulate_media(color_scheme=theme)
    page.goto(export_html(trained_session, tmp_path / "session.html").as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    assert violations(page.locator("html")) == []


def test_a_long_session_is_cut_and_marked_captures_stay(session: PlainSession) -> None:
    first = session.capture(hits=["nan"], slot="the first")
    value = PlainTensor(np.arange(6.0, dtype=np.float32).reshape(2, 3))
    session.captures.extend(PlainCapture(k, "block", value, step=k // 10) for k in range(1, 20_000))
    page = export.export_page(session)
    assert "19,500 of 20,000 captures left out" in page
    assert first.slot in page
    assert page.count("<img") == static_html.MAX_EXPORTED_HEATMAPS
    assert len(page) < 2_000_000


def test_large_values_make_no_large_page(session: PlainSession) -> None:
    generator = np.random.default_rng(0)
    for _ in range(80):
        session.captures.append(
            PlainCapture(len(session.captures), "block", PlainTensor(generator.standard_normal((200, 300))))
        )
    page = export.export_page(session)
    assert len(page) < 2_000_000
    assert "50x60 of its elements, at equal distances" in page


def pixels_of(image: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the palette and the indices into it, by the PNG specification."""
    match = re.search(r"base64,([^\"]*)", image)
    assert match is not None
    data = b64decode(match[1])
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        chunks[kind] = data[at + 8 : at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size : at + 12 + size])[0] == zlib.crc32(kind + chunks[kind])
        at += 12 + size
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, width + 1)
    assert not lines[:, 0].any()
    colors, opaque = np.frombuffer(chunks[b"PLTE"], np.uint8), np.frombuffer(chunks[b"tRNS"], np.uint8)
    return np.column_stack([colors.reshape(-1, 3), opaque]), lines[:, 1:]


def test_a_heatmap_is_blue_below_zero_red_above_and_at_zero_as_the_page_behind_it() -> None:
    matrix = np.array([[-2.0, 0.0, 1.0], [np.nan, np.inf, 2.0]])
    palette, indices = pixels_of(drawings.heatmap("x", matrix))
    colours = palette[indices].tolist()
    assert colours[0][0] == [33, 102, 172, 255]
    assert colours[0][1][3] == 0
    assert colours[0][2] == [178, 24, 43, 128]
    assert colours[1] == [[230, 0, 230, 255], [40, 215, 60, 255], [178, 24, 43, 255]]


def test_a_heatmap_in_which_all_is_the_same_says_so_in_words() -> None:
    assert "all 4,096 values are 0</figcaption>" in drawings.matrix_figure(np.zeros((64, 64)))
    assert "all 6 values are NaN" in drawings.matrix_figure(np.full((2, 3), np.nan))
    assert "all " not in drawings.matrix_figure(np.eye(3))


@pytest.mark.parametrize("matrix", [np.zeros((2, 2)), np.full((3, 1), np.nan), np.full((2, 2), 1.7e308)])
def test_odd_matrices_are_drawn_too(matrix: np.ndarray) -> None:
    palette, indices = pixels_of(drawings.heatmap("x", matrix))
    assert indices.max() < len(palette)


def test_a_histogram_of_the_largest_numbers_has_its_zero_in_the_middle() -> None:
    assert "M96.0 0v" in drawings.histogram([1] * 64, -1.7e308, 1.7e308)


def test_the_button_saves_the_page(panel_page: PanelPage) -> None:
    panel_page.panel.session.capture()  # type: ignore[attr-defined]
    with panel_page.page.expect_download() as download:
        panel_page.page.get_by_role("button", name="Export").click()
        panel_page.until(
            lambda: panel_page.page.get_by_role("button", name="Export").get_attribute("aria-busy") is None
        )
    assert download.value.suggested_filename == "hookscope-Net.html"
    assert Path(download.value.path()).read_text(encoding="utf-8") == export.export_page(panel_page.panel.session)
