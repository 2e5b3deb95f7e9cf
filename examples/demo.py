"""The main job, on the digits that come with scikit-learn: train, look, save, load, predict."""

import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import train_test_split

from multiboost import MultiBoostClassifier, load_model


def main() -> None:
    """Run the demo."""
    digits = load_digits()
    X_train, X_test, y_train, y_test = train_test_split(digits.data, digits.target, test_size=500, random_state=0)
    print(f"digits: {len(X_train)} training images of 8 x 8 pixels, {len(X_test)} test images, 10 classes")
    print("training (the first run also compiles the kernels, once)")
    begin = perf_counter()
    clf = MultiBoostClassifier(verbose=1).fit(X_train, y_train)
    print(f"trained {clf.n_estimators_} rounds of {clf.base_learner_} in {perf_counter() - begin:.1f} s")

    predicted = clf.predict(X_test)
    print(f"test error: {100 * np.mean(predicted != y_test):.1f} %")

    table = confusion_matrix(y_test, predicted)
    np.fill_diagonal(table, 0)
    print("confusions, most frequent first:")
    for k in np.argsort(-table, axis=None, kind="stable")[:5]:
        true, taken = np.unravel_index(k, table.shape)
        if table[true, taken]:
            print(f"  {true} taken for {taken}: {table[true, taken]} of {np.sum(y_test == true)}")

    print("most used pixels (row_column) and their share of the gain:")
    share = clf.feature_importances_
    for j in np.argsort(-share)[:5]:
        print(f"  {digits.feature_names[j]}: {100 * share[j]:.1f} %")

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "digits.mb"
        clf.save(path)
        loaded = load_model(path)
        same = np.array_equal(loaded.decision_function(X_test), clf.decision_function(X_test))
        print(f"saved to {path.name} ({path.stat().st_size / 1e6:.1f} MB), loaded again, scores the same: {same}")
        print(f"first five from the file: {loaded.predict(X_test[:5])}, truth: {y_test[:5]}")


if __name__ == "__main__":
    main()
