"""The report in a real browser: it runs, it fits, it can be used by keyboard, it can be read.

Needs selenium, Chromium and its driver, found on the PATH or named by ``MULTIBOOST_CHROMIUM`` and
``MULTIBOOST_CHROMEDRIVER``; skipped where they are missing, unless ``MULTIBOOST_BROWSER`` is
"required".
"""

import os
import re
import shutil

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

from multiboost import MultiBoostClassifier, MultiBoostRanker, MultiBoostRegressor, additive_shapes, write_report

from .conftest import make_classes

NASTY = "</script><script>document.title='taken over'</script><img src=x onerror=alert(1)>"
PHONE, DESKTOP, PAPER = 360, 1100, 688  # PAPER: A4 without its margins, at 96 dots an inch


def absent(reason: str):
    """Skip, or fail where a browser was promised."""
    if os.environ.get("MULTIBOOST_BROWSER") == "required":
        pytest.fail(reason)
    pytest.skip(reason)


def program(variable: str, *names: str) -> str:
    found = os.environ.get(variable) or next(filter(None, map(shutil.which, names)), None)
    if not found:
        absent(f"no {names[0]} on this machine: install it or set {variable}")
    return found


@pytest.fixture(scope="module")
def browser():
    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
    except ImportError:
        absent("selenium is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = program("MULTIBOOST_CHROMIUM", "chromium", "chromium-browser", "google-chrome")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for argument in (
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
        "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage", "--hide-scrollbars",
    ):  # fmt: skip
        options.add_argument(argument)
    driver = webdriver.Chrome(options=options, service=Service(program("MULTIBOOST_CHROMEDRIVER", "chromedriver")))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Trees on four classes, stumps on columns with names that attack the page, 26 classes, two, numbers, rankings."""
    folder = tmp_path_factory.mktemp("pages")
    X, y = make_classes(400, 6, 4, noise=2.0)
    trees = MultiBoostClassifier("tree:6", 30, loss="exponential", subsample=1.0).fit(X[:200], y[:200])
    write_report(trees, X[200:], y[200:], folder / "trees.html", X_train=X[:200], y_train=y[:200])
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({NASTY: rng.normal(size=300), "kind": rng.choice([NASTY, "b", "c", None], 300)})
    label = np.array([NASTY, "a rather long name of a class that goes on and on", "z"])
    z = label[np.digitize(frame[NASTY] + (frame["kind"] == "b") + 0.5 * rng.normal(size=300), [-0.2, 0.9])]
    stumps = MultiBoostClassifier("stump", 25).fit(frame[:150], z[:150])
    write_report(stumps, frame[150:], z[150:], folder / "stumps.html", title=NASTY)
    named = frame[["kind"]].assign(**{f"a rather long name of column {j}": rng.normal(size=300) for j in range(4)})
    wide = named.iloc[:, 1:]
    letter = np.array([f"class {chr(65 + k)}" for k in range(26)])[np.arange(300) % 26]
    many = MultiBoostClassifier("tree:4", 5).fit(wide, letter)
    write_report(many, wide, letter, folder / "many.html")
    noise = rng.integers(0, 2, 300)
    two = MultiBoostClassifier("tree:4", 20, loss="logistic").fit(named[:150], noise[:150])
    write_report(two, named[150:], noise[150:], folder / "two.html", title="Noise")
    number = wide.iloc[:, 0] + 0.3 * rng.normal(size=300)
    numbers = MultiBoostRegressor("tree:4", 20).fit(wide[:150], number[:150])
    write_report(numbers, wide[150:], number[150:], folder / "numbers.html")
    grade, query = np.digitize(number, [0.5, 1.5]), np.arange(300) // 10
    ranker = MultiBoostRanker("tree:4", 20).fit(wide[:150], grade[:150], qid=query[:150])
    write_report(ranker, wide[150:], grade[150:], folder / "ranking.html", qid=query[150:])
    return {"trees": (trees, X, y), "stumps": (stumps, frame, z), "folder": folder}


def visit(browser, pages, name, width=DESKTOP, *, dark=False, media=""):
    """Open a page at a width, light or dark, on the screen or on paper."""
    phone = width < 500
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": phone}
    )
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": [scheme]})
    browser.get((pages["folder"] / f"{name}.html").as_uri())


def data_of(browser):
    return browser.execute_script("return JSON.parse(document.getElementById('data').textContent)")


TITLES = {
    "stumps": NASTY,
    "two": "Noise",
    "numbers": "MultiBoostRegressor report",
    "ranking": "MultiBoostRanker report",
}
PAGES = ["trees", "stumps", "many", "two", "numbers", "ranking"]


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [390, 1200])
@pytest.mark.parametrize("dark", [False, True])
def test_no_complaints(browser, pages, name, width, dark):
    """Neither errors nor blocked resources, whatever names say."""
    visit(browser, pages, name, width, dark=dark)
    assert browser.get_log("browser") == []
    assert browser.title == TITLES.get(name, "MultiBoostClassifier report")
    assert browser.execute_script("return document.images.length + document.scripts.length") == 2
    resources = browser.execute_script("return performance.getEntriesByType('resource').length")
    assert resources == 0


def line(browser, chart, series):
    """The points of a drawn line, in the units of its axes."""
    box = browser.execute_script(
        "const svg = document.querySelector(`svg[data-chart='${arguments[0]}']`);"
        "const path = [...svg.querySelectorAll('path')].find((p) => p.dataset.series === arguments[1]);"
        "const shown = getComputedStyle(path);"
        "return [svg.dataset.frame, svg.dataset.x, svg.dataset.y, svg.dataset.log || '', path.getAttribute('d'),"
        " shown.stroke, path.getBoundingClientRect().width]",
        chart,
        series,
    )
    left, top, width, height = map(float, box[0].split())
    (x0, x1), (y0, y1) = (list(map(float, b.split())) for b in box[1:3])
    assert box[5] != "none"
    assert box[6] > 50
    points = np.array([list(map(float, p.split())) for p in re.findall(r"[ML]([^ML]+)", box[4])])
    x = x0 + (points[:, 0] - left) / width * (x1 - x0)
    share = 1 - (points[:, 1] - top) / height
    return x, y0 * (y1 / y0) ** share if box[3] else y0 + share * (y1 - y0)


def test_curves_carry_the_right_numbers(browser, pages):
    visit(browser, pages, "trees")
    clf, X, y = pages["trees"]
    errors = [np.mean(p != y[200:]) for p in clf.staged_predict(X[200:])]
    np.testing.assert_allclose(data_of(browser)["learning"]["error"], errors, rtol=1e-5)
    x, drawn = line(browser, "error", "given rows")
    np.testing.assert_allclose(x, np.arange(1, 31), atol=1e-3)
    np.testing.assert_allclose(drawn, errors, atol=1e-4)
    np.testing.assert_allclose(line(browser, "risk", "training")[1], np.cumprod(clf.history_["Z"]), rtol=2e-3)
    for k in range(4):
        p = clf.predict_proba(X[200:])[:, k]
        x, drawn = line(browser, f"roc-{k}", "roc")
        assert metrics.auc(np.clip(x, 0, 1), drawn) == pytest.approx(metrics.roc_auc_score(y[200:] == k, p), abs=5e-3)
    cells = browser.execute_script("return [...document.querySelectorAll('.matrix tbody tr')].map((r) => r.innerText)")
    found = [[int(v) for v in row.split()[1:5]] for row in cells]
    np.testing.assert_array_equal(found, metrics.confusion_matrix(y[200:], clf.predict(X[200:])))


def test_margins_are_those_of_the_model(browser, pages):
    visit(browser, pages, "trees")
    clf, X, y = pages["trees"]
    rho = np.sort(clf.margins(X[200:], y[200:]).ravel())
    x, drawn = line(browser, "margins", "30")
    middle = np.abs(drawn - 0.5).argmin()
    assert np.mean(rho <= x[middle]) == pytest.approx(drawn[middle], abs=0.02)
    assert data_of(browser)["learning"]["margins"]["30"]["negative"] == pytest.approx(np.mean(rho < 0), rel=1e-5)


def test_shapes_are_those_of_the_model(browser, pages):
    visit(browser, pages, "stumps")
    clf = pages["stumps"][0]
    shape = next(s for s in additive_shapes(clf).shapes if s.name == NASTY)
    for k, name in enumerate(clf.classes_):
        x, drawn = line(browser, f"shape-{shape.column}", name)
        inside = (x[::2] + x[1::2]) / 2
        wide = np.abs(x[1::2] - x[::2]) > 1e-2
        np.testing.assert_allclose(drawn[::2][wide], shape(inside[wide])[:, k], atol=0.02)


def test_a_phone_scrolls_the_matrix_and_the_navigation(browser, pages):
    visit(browser, pages, "many", 390)
    for box in ("nav ul", "#confusion .scroll"):
        inside, outside = browser.execute_script(
            "const e = document.querySelector(arguments[0]); return [e.scrollWidth, e.clientWidth]", box
        )
        assert inside > outside > 0, box
    # What a row is called stays in sight.
    name_at = browser.execute_script(
        "const box = document.querySelector('#confusion .scroll'); box.scrollLeft = 200;"
        "return box.querySelector('tbody th').getBoundingClientRect().left - box.getBoundingClientRect().left"
    )
    assert abs(name_at) < 2


@pytest.mark.parametrize("name", ["many", "two", "numbers", "ranking"])
def test_names_break_between_words(browser, pages, name):
    visit(browser, pages, name, 390)
    seen, broken = browser.execute_script(
        """
        let seen = 0;
        const broken = [];
        for (const cell of document.querySelectorAll("#columns tbody th, .card dt, figcaption, h2")) {
          const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
          for (let node = walker.nextNode(); node; node = walker.nextNode())
            for (const word of node.textContent.matchAll(/[^ ]+/g)) {
              const range = document.createRange();
              range.setStart(node, word.index);
              range.setEnd(node, word.index + word[0].length);
              seen += 1;
              if (new Set([...range.getClientRects()].map((r) => r.top)).size > 1) broken.push(word[0]);
            }
        }
        return [seen, broken];
        """
    )
    assert seen > 50
    assert broken == []


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [320, PHONE, DESKTOP])
def test_nothing_scrolls_sideways(browser, pages, name, width):
    visit(browser, pages, name, width)
    browser.execute_script("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    outside = browser.execute_script(
        "return [...document.querySelectorAll('main *')].filter((e) => !e.closest('.scroll, svg, .hidden')"
        " && e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 80))"
    )
    assert outside == []
    letters = browser.execute_script(
        "return [...document.querySelectorAll('svg text')]"
        ".map((e) => parseFloat(getComputedStyle(e).fontSize) * Math.hypot(e.getScreenCTM().a, e.getScreenCTM().b))"
    )
    assert min(letters) >= 7, "letters in pictures can be read on a phone"
    assert max(letters) <= 20, "no picture is blown up"


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [390, 1200])
def test_words_are_inside_of_their_pictures(browser, pages, name, width):
    """No tick and no name is cut off, and none lies on another one of its side."""
    visit(browser, pages, name, width)
    cut, crossed = browser.execute_script(
        """
        const cut = [], crossed = [];
        for (const svg of document.querySelectorAll("svg")) {
          const box = svg.getBoundingClientRect();
          const words = [...svg.querySelectorAll("text")].filter((e) => e.textContent.trim());
          const boxes = words.map((e) => e.getBoundingClientRect());
          words.forEach((e, i) => {
            if (boxes[i].left < box.left - 1 || boxes[i].right > box.right + 1) cut.push(e.textContent);
            for (let k = 0; k < i; k += 1) {
              const [a, b] = [boxes[i], boxes[k]];
              const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
              const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
              if (wide > 1 && high > 0.35 * Math.min(a.height, b.height))
                crossed.push([svg.dataset.chart, e.textContent, words[k].textContent]);
            }
          });
        }
        return [cut, crossed];
        """
    )
    assert cut == []
    assert crossed == []


def test_paper(browser, pages):
    for name in ("trees", "stumps"):
        visit(browser, pages, name, PAPER, media="print", dark=True)
        hidden = browser.execute_script("return getComputedStyle(document.querySelector('nav')).display")
        assert hidden == "none"
        assert browser.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        pdf = browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True, "printBackground": True})
        assert len(pdf["data"]) > 10_000


def test_keyboard(browser, pages):
    """Tab visits links, slider, folded tables in the order of the page; all can be used."""
    from selenium.webdriver.common.keys import Keys

    visit(browser, pages, "trees")
    learning = data_of(browser)["learning"]
    body = browser.find_element("tag name", "body")
    visited = []
    for _ in range(60):
        (browser.switch_to.active_element if visited else body).send_keys(Keys.TAB)
        here = browser.switch_to.active_element
        if here == body or here in visited:
            break
        visited.append(here)
        if here.get_attribute("id") == "round":
            here.send_keys(Keys.ARROW_LEFT)
            said = browser.find_element("id", "reading").text
            assert said.startswith(f"{learning['rounds'][-2]}: ")
            shown = float(re.search(r", error ([\d.]+) %", said)[1])
            assert shown == pytest.approx(100 * learning["error"][-2], rel=5e-3)
            marker = browser.find_element("css selector", "svg[data-chart='error'] .marker")
            assert marker.value_of_css_property("visibility") == "visible"
        if here.tag_name == "summary":
            here.send_keys(Keys.ENTER)
            assert browser.execute_script("return arguments[0].parentElement.open", here)
        outline = browser.execute_script("return getComputedStyle(arguments[0]).outlineStyle", here)
        assert outline != "none", "where the keyboard is can be seen"
    kinds = [e.tag_name for e in visited]
    assert visited[0].get_attribute("class") == "skip"
    assert kinds.count("a") == 1 + len(browser.find_elements("css selector", "nav a"))
    assert kinds.count("input") == 1
    assert kinds.count("summary") == len(browser.find_elements("css selector", "summary"))
    in_order = browser.execute_script(
        "return arguments[0].every((e, i, all) => i === 0 ||"
        " all[i - 1].compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING)",
        visited,
    )
    assert in_order


def test_pointer_reads_the_curves(browser, pages):
    from selenium.webdriver import ActionChains

    visit(browser, pages, "trees")
    picture = browser.find_element("css selector", "svg[data-chart='risk']")
    ActionChains(browser).move_to_element(picture).perform()
    said = browser.find_element("id", "reading").text
    assert 10 < int(said.partition(":")[0]) < 20


CONTRAST = """
const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
function rgba(colour) {
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1);
  const d = canvas.getImageData(0, 0, 1, 1).data;
  return [d[0], d[1], d[2], d[3] / 255];
}
function over(top, below) {
  return [0, 1, 2].map((i) => top[3] * top[i] + (1 - top[3]) * below[i]).concat([1]);
}
function behind(element) {
  const layers = [];
  for (let e = element; e; e = e.parentElement) layers.unshift(rgba(getComputedStyle(e).backgroundColor));
  return layers.reduce((below, top) => over(top, below), [255, 255, 255, 1]);
}
function light(c) {
  const [r, g, b] = c.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
document.querySelectorAll("details").forEach((d) => { d.open = true; });
const poor = [];
let seen = 0;
for (const e of document.querySelectorAll("body *")) {
  const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
  if (!own || ["SCRIPT", "STYLE", "title"].includes(e.tagName) || e.closest("title")) continue;
  const style = getComputedStyle(e);
  const back = behind(e);
  const front = over(rgba(e.namespaceURI.endsWith("svg") ? style.fill : style.color), back);
  const [a, b] = [light(front), light(back)].sort((x, y) => y - x);
  seen += 1;
  if ((a + 0.05) / (b + 0.05) < 4.5) poor.push([e.outerHTML.slice(0, 90), (a + 0.05) / (b + 0.05)]);
}
return [seen, poor];
"""


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("dark", [False, True])
def test_contrast_of_all_words(browser, pages, name, dark):
    """WCAG 2.1, level AA: 4.5 to 1."""
    visit(browser, pages, name, dark=dark)
    seen, poor = browser.execute_script(CONTRAST)
    assert seen > 200
    assert poor == []
    page = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (page == "rgb(255, 255, 255)") != dark
