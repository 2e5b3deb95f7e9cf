"""The report page: structure, escaping, numbers."""

import json
import os
import re
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

from multiboost import AdaBoostMHClassifier, FromClassifier, MultiBoostClassifier, write_report
from multiboost.report.charts import coarser
from multiboost.report.markup import Html, json_block, number, percent, short, tag
from multiboost.report.svg import Axes, linear_ticks, log_ticks

from .conftest import make_classes, make_labels

NASTY = '</script><script>alert("x")</script>'
VOID = {"meta", "input", "br", "hr", "link"}


class Page(HTMLParser):
    """A page as a list of elements, in order, each with what it holds."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.open, self.text = [], [], text
        self.feed(text)
        self.close()
        assert self.open == [], f"elements that were not closed: {[e['tag'] for e in self.open]}"

    def handle_starttag(self, name, attributes):
        element = {"tag": name, "text": "", "inside": [e["tag"] for e in self.open], **dict(attributes)}
        self.elements.append(element)
        if name not in VOID:
            self.open.append(element)

    def handle_startendtag(self, name, attributes):
        self.elements.append({"tag": name, "text": "", "inside": [e["tag"] for e in self.open], **dict(attributes)})

    def handle_endtag(self, name):
        assert self.open, f"</{name}> ends nothing"
        assert self.open[-1]["tag"] == name, f"</{name}> ends <{self.open[-1]['tag']}>"
        self.open.pop()

    def handle_data(self, data):
        for element in self.open:
            element["text"] += data

    def all(self, name, **attributes):
        return [e for e in self.elements if e["tag"] == name and all(e.get(k) == v for k, v in attributes.items())]

    def one(self, **attributes):
        (found,) = [e for e in self.elements if all(e.get(k) == v for k, v in attributes.items())]
        return found

    @property
    def data(self):
        return json.loads(self.one(id="data")["text"])


def report(folder, clf, X, y, **options):
    path = folder / "report.html"
    assert write_report(clf, X, y, path, **options) == path
    return Page(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """Four classes, trees, training rows given."""
    X, y = make_classes(400, 6, 4, noise=2.0)
    clf = MultiBoostClassifier("tree:6", 30, loss="exponential", subsample=1.0).fit(X[:200], y[:200])
    page = report(
        tmp_path_factory.mktemp("a"), clf, X[200:], y[200:], title="Four classes", X_train=X[:200], y_train=y[:200]
    )
    return clf, X, y, page


@pytest.fixture(scope="module")
def nasty(tmp_path_factory):
    """Stumps with column, category, class names that try to break out of the page."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {NASTY: rng.normal(size=300), "a\"b'c & <d>": rng.choice(["<i>x</i>", "]]>", "<!--", None], 300)}
    )
    label = np.array([f"<img src=x onerror=alert(1)>{NASTY}", "'\"&lt;"])
    y = label[(frame[NASTY] + (frame.iloc[:, 1] == "]]>") + 0.3 * rng.normal(size=300) > 0.3).astype(int)]
    clf = MultiBoostClassifier("stump", 15).fit(frame[:150], y[:150])
    return clf, frame, y, report(tmp_path_factory.mktemp("b"), clf, frame[150:], y[150:], title=f"<b>{NASTY}")


class TestStructure:
    def test_headings_are_in_order(self, digits, nasty):
        for page in (digits[3], nasty[3]):
            levels = [int(e["tag"][1]) for e in page.elements if re.fullmatch("h[1-6]", e["tag"])]
            assert levels[0] == 1
            assert levels.count(1) == 1
            assert all(b <= a + 1 for a, b in pairwise(levels))

    def test_language_title_and_viewport(self, digits):
        page = digits[3]
        assert page.all("html")[0]["lang"] == "en"
        assert page.all("title")[0]["text"] == page.all("h1")[0]["text"] == "Four classes"
        assert "width=device-width" in page.one(name="viewport")["content"]

    def test_pictures_have_words(self, digits, nasty):
        for page in (digits[3], nasty[3]):
            pictures = [e for e in page.all("svg") if e.get("aria-hidden") != "true"]
            assert len(pictures) >= 5
            for picture in pictures:
                assert picture["role"] == "img"
                assert len(picture["aria-label"]) > 10

    def test_tables_have_captions_and_scopes(self, digits, nasty):
        for page in (digits[3], nasty[3]):
            assert page.all("table")
            assert len(page.all("caption")) == len(page.all("table"))
            assert all(e["scope"] in ("row", "col") for e in page.all("th"))

    def test_links_and_identifiers(self, digits, nasty):
        for page in (digits[3], nasty[3]):
            ids = [e["id"] for e in page.elements if "id" in e]
            assert len(ids) == len(set(ids))
            for link in page.all("a"):
                assert link["href"][0] == "#"
                assert link["href"][1:] in ids
            for label in page.all("label"):
                assert label["for"] in ids

    def test_nothing_comes_from_elsewhere(self, digits, nasty):
        for page in (digits[3], nasty[3]):
            assert not any(k in e for e in page.elements for k in ("src", "srcset", "data", "action"))
            assert not page.all("link")
            style = page.all("style")[0]["text"]
            assert "url(" not in style
            assert "@import" not in style
            assert "default-src 'none'" in page.all("meta")[1]["content"]

    def test_sections(self, digits, nasty):
        sections = [e["id"] for e in digits[3].all("section")]
        expected = ["summary", "model", "learning", "margins", "confusion", "labels", "columns"]
        assert sections == [*expected, "dependence", "rules", "mistakes"]
        assert [e["id"] for e in nasty[3].all("section")] == [*expected, "shapes", "rules", "mistakes"]


class TestEscaping:
    def test_names_stay_text(self, nasty):
        _, frame, y, page = nasty
        assert len(page.all("script")) == 2
        assert not page.all("img")
        assert not page.all("i")
        assert not page.all("b")
        assert not [k for e in page.elements for k in e if k.startswith("on")]
        assert page.all("h1")[0]["text"] == f"<b>{NASTY}"
        assert set(frame.columns) == {i["name"] for i in page.data["importances"]}
        assert {name for name, _ in page.data["data"]["classes"]} == set(y)
        assert "<!--" not in page.text

    def test_only_our_script_may_run(self, nasty):
        policy = nasty[3].all("meta")[1]["content"]
        assert re.search(r"script-src 'sha256-[A-Za-z0-9+/=]{44}'", policy)

    def test_markup(self):
        assert (
            tag("p", "<", Html("<b>"), None, title='"', hidden=True, lang=None)
            == '<p title="&quot;" hidden>&lt;<b></p>'
        )
        block = json_block({"a": "</script><!--&\u2028"}, "x")
        assert block.count("<") == 2
        assert json.loads(block.partition(">")[2].rpartition("<")[0]) == {"a": "</script><!--&\u2028"}
        with pytest.raises(ValueError, match="Out of range float values"):
            json_block(float("nan"), "x")


class TestNumbers:
    def test_headline(self, digits):
        clf, X, y, page = digits
        found, guess, P = page.data["evaluation"], clf.predict(X[200:]), clf.predict_proba(X[200:])
        assert found["error"] == pytest.approx(np.mean(guess != y[200:]), rel=1e-5)
        assert found["log_loss"] == pytest.approx(metrics.log_loss(y[200:], P), rel=1e-5)
        assert found["auc"] == pytest.approx(metrics.roc_auc_score(y[200:], P, multi_class="ovr"), rel=1e-5)
        cards = [e["text"] for e in page.all("dd")]
        assert cards[0] == percent(np.mean(guess != y[200:]))
        assert page.data["tasks"][0]["confusion"] == metrics.confusion_matrix(y[200:], guess).tolist()
        cells = [int(e["text"]) for e in page.all("td") if e.get("class") in ("zero", "right", "wrong")]
        assert cells == metrics.confusion_matrix(y[200:], guess).ravel().tolist()

    def test_learning_curves(self, digits):
        clf, X, y, page = digits
        found = page.data["learning"]
        assert found["rounds"] == list(range(1, 31))
        for part, name in ((slice(200, None), "error"), (slice(200), "training_error")):
            errors = [np.mean(p != y[part]) for p in clf.staged_predict(X[part])]
            np.testing.assert_allclose(found[name], errors, rtol=1e-5)
        np.testing.assert_allclose(found["bound"], np.cumprod(clf.history_["Z"]), rtol=1e-5)
        assert len(page.all("svg", **{"data-chart": "margins-training"})) == 1

    def test_lines_are_drawn_where_the_numbers_are(self, digits):
        clf, X, y, page = digits
        picture = page.all("svg", **{"data-chart": "error"})[0]
        left, top, width, height = map(float, picture["data-frame"].split())
        (x0, x1), (y0, y1) = (map(float, picture[k].split()) for k in ("data-x", "data-y"))
        path = page.all("path", **{"data-series": "given rows"})[0]["d"]
        points = np.array([list(map(float, p.split())) for p in re.findall(r"[ML]([^ML]+)", path)])
        np.testing.assert_allclose(x0 + (points[:, 0] - left) / width * (x1 - x0), np.arange(1, 31), atol=1e-3)
        errors = [np.mean(p != y[200:]) for p in clf.staged_predict(X[200:])]
        np.testing.assert_allclose(y1 - (points[:, 1] - top) / height * (y1 - y0), errors, atol=1e-4)

    def test_roc_and_reliability(self, digits):
        clf, X, y, page = digits
        for k, label in enumerate(page.data["labels"]):
            p = clf.predict_proba(X[200:])[:, k]
            assert label["auc"] == pytest.approx(metrics.roc_auc_score(y[200:] == k, p), rel=1e-5)
            assert metrics.auc(label["roc"]["fpr"], label["roc"]["tpr"]) == pytest.approx(label["auc"], abs=0.005)
            assert sum(label["reliability"]["weight"]) == 200
            assert len(page.all("svg", **{"data-chart": f"roc-{k}"})) == 1
            assert len(page.all("svg", **{"data-chart": f"reliability-{k}"})) == 1

    def test_shapes_and_rules(self, nasty):
        clf, frame, _, page = nasty
        assert len([e for e in page.all("svg") if e.get("data-chart", "").startswith("shape-")]) == 2
        assert {s["name"] for s in page.data["shapes"]} == set(frame.columns)
        words = [e["text"] for e in page.all("code", **{"class": "words"})]
        assert len(words) == 8
        assert all(text.startswith("if ") for text in words)
        assert f"alpha {clf.learning_rate_}" in page.all("h3")[3]["text"]

    def test_weights(self, tmp_path):
        X, y = make_classes(200, 3, 3, noise=3.0)
        clf = MultiBoostClassifier("stump", 5).fit(X, y)
        weight = np.random.default_rng(0).random(200)
        page = report(tmp_path, clf, X, y, sample_weight=weight)
        assert page.data["evaluation"]["error"] == pytest.approx(1 - clf.score(X, y, weight), rel=1e-5)
        assert page.data["evaluation"]["weight"] == pytest.approx(weight.sum(), rel=1e-5)

    def test_the_same_model_gives_the_same_page(self, digits, tmp_path):
        clf, X, y, page = digits
        again = report(tmp_path, clf, X[200:], y[200:], title="Four classes", X_train=X[:200], y_train=y[:200])
        assert again.text == page.text


class TestKinds:
    @pytest.mark.parametrize("loss", ["exponential", "logistic"])
    def test_labels_with_unknown_ones(self, tmp_path, loss):
        X, Y = make_labels(200, 5, 4)
        Y = Y.astype(float)
        Y[::5, 1], Y[:, 3] = np.nan, np.where(np.arange(200) < 100, Y[:, 3], np.nan)
        clf = MultiBoostClassifier("tree:4", 10, loss=loss).fit(X[:100], Y[:100])
        page = report(tmp_path, clf, X[100:], pd.DataFrame(Y[100:]))
        known = ~np.isnan(Y[100:])
        wrong = (clf.predict(X[100:]) != Y[100:]) & known
        assert page.data["evaluation"]["hamming_loss"] == pytest.approx(wrong.sum() / known.sum(), rel=1e-5)
        assert page.data["labels"][3]["auc"] is None
        assert page.data["learning"]["error"][-1] == page.data["evaluation"]["hamming_loss"]
        assert bool(page.data["learning"]["bound"]) == (loss == "exponential")
        assert "undefined" in page.text

    def test_tasks(self, tmp_path):
        X, Y = make_labels(200, 5, 3)
        y = np.stack([Y[:, 0] + 2 * Y[:, 1], Y[:, 2]], axis=1).astype(float)
        clf = MultiBoostClassifier("product:2", 10, loss="exponential").fit(X, y)
        y[::3, 0] = np.nan
        page = report(tmp_path, clf, X, y)
        assert [len(t["classes"]) for t in page.data["tasks"]] == [4, 2]
        assert page.data["evaluation"]["error"] == pytest.approx(1 - clf.score(X, y), rel=1e-5)

    def test_one_round_and_no_mistakes(self, tmp_path):
        X = np.arange(20.0)[:, None]
        clf = AdaBoostMHClassifier("stump", 1).fit(X, X[:, 0] > 9)
        page = report(tmp_path, clf, X, X[:, 0] > 9)
        assert page.data["evaluation"]["error"] == 0
        assert "There are none." in page.one(id="mistakes")["text"]

    def test_classifiers_as_base_learners(self, tmp_path):
        from sklearn.naive_bayes import GaussianNB

        X, y = make_classes(150, 3, 3)
        clf = MultiBoostClassifier(FromClassifier(GaussianNB()), 3, votes="discrete").fit(X, y)
        page = report(tmp_path, clf, X, y)
        assert "No cut uses a column" in page.one(id="columns")["text"]
        assert "GaussianNB 1 says yes" in page.one(id="rules")["text"]


class TestSize:
    def test_many_labels_columns_rounds_and_rows(self, tmp_path):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(3000, 60))
        Y = (X[:, :50] + rng.normal(size=(3000, 50)) > 0.5).astype(int)
        clf = MultiBoostClassifier("stump", 300, loss="logistic").fit(X[:1500], Y[:1500])
        page = report(tmp_path, clf, X[1500:], Y[1500:])
        assert len(page.text) < 1_500_000
        assert len(page.data["labels"]) == len(page.data["tasks"]) == 30
        assert len(page.data["importances"]) == 30
        assert "20 more labels left out" in page.text
        assert re.search(r"\d+ more columns left out", page.text)
        assert len(page.data["learning"]["rounds"]) == 200

    def test_many_classes(self, tmp_path):
        X, y = make_classes(1500, 4, 40)
        clf = MultiBoostClassifier("tree:40", 10, loss="exponential").fit(X, y)
        page = report(tmp_path, clf, X, y)
        assert "10 more classes left out" in page.one(id="confusion")["text"]
        assert page.data["tasks"][0]["confusion"] is None
        assert len(page.text) < 800_000

    def test_many_steps_become_few(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(2000, 1))
        y = (np.sin(4 * X[:, 0]) + rng.normal(size=2000) > 0).astype(int)
        from multiboost import additive_shapes

        shape = additive_shapes(MultiBoostClassifier("tree:8", 100).fit(X, y)).shapes[0]
        assert len(shape.thresholds) > 60
        thresholds, values = coarser(shape, [0], at_most=40)
        assert (len(thresholds), values.shape) == (40, (41, 1))
        assert set(thresholds) <= set(shape.thresholds)
        assert values.min() >= shape.values.min()
        same = coarser(shape, [0], at_most=10_000)
        np.testing.assert_array_equal(same[1], shape.values)


class TestFile:
    def test_nothing_is_left_where_writing_fails(self, digits, tmp_path, monkeypatch):
        clf, X, y, _ = digits
        path = tmp_path / "r.html"
        path.write_text("old")

        def fail(*_):
            raise OSError("disk full")

        monkeypatch.setattr(os, "replace", fail)
        with pytest.raises(OSError, match="disk full"):
            write_report(clf, X, y, path)
        assert os.listdir(tmp_path) == ["r.html"]
        assert path.read_text() == "old"

    def test_refused(self, digits, tmp_path):
        clf, X, y, _ = digits
        with pytest.raises(ValueError, match="go together"):
            write_report(clf, X, y, tmp_path / "r.html", X_train=X)
        assert os.listdir(tmp_path) == []


class TestPieces:
    def test_ticks(self):
        assert linear_ticks(0, 1) == [0, 0.2, 0.4, 0.6, 0.8, 1]
        assert linear_ticks(-1, 1, 4) == [-1, -0.5, 0, 0.5, 1]
        assert linear_ticks(3, 3) == [3]
        assert log_ticks(1e-3, 10) == [1e-3, 1e-2, 1e-1, 1, 10]
        assert 1.0 in log_ticks(1e-16, 1e14)
        assert len(log_ticks(1e-16, 1e14)) <= 8
        assert log_ticks(0.6, 0.95)[0] == 0.6
        # More than two decades without three powers of ten in them.
        assert log_ticks(0.0102, 3.2) == pytest.approx([0.02, 0.05, 0.1, 0.2, 0.5, 1, 2])

    def test_numbers_for_people(self):
        assert number(None) == percent(None) == "\u2013"
        assert number(-3.0) == "\u22123"
        assert number(0.12345) == "0.123"
        assert number(6.18e-16) == "6.18\u00b710\u207b\u00b9\u2076"
        assert number(1e14) == "10\u00b9\u2074"
        assert number(53_512.3) == "53500"
        assert number(1_234_567) == "1234567"
        assert number(-2.5e6 - 0.5) == "\u22122500000"
        assert percent(0.0) == "0\u00a0%"
        assert percent(0.0163) == "1.63\u00a0%"
        assert short("x" * 100).endswith("\u2026")

    def test_gaps_and_single_points(self):
        axes = Axes((0, 10), (0, 1), width=100, height=100, left=0, right=0, top=0, bottom=0)
        axes.line([0, 5, 10], [0.0, None, 1.0], "s0")
        assert 'd="M0 100M100 0"' in axes.marks[0]
        axes.line([5], [0.5], "s0")
        assert 'd="M50 50l0 0"' in axes.marks[1]
