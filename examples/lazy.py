"""Features on demand: a digit is read with as few measurements of its image as it needs.

Single pixels are cheap.  Blurred images and moments are dear.  MDDAG knows what they cost, and rows that need no dear
feature never compute one.
"""

import numpy as np
from sklearn.datasets import load_digits

from multiboost import AdaBoostMHClassifier, MDDAGClassifier


def moment(image, p, q):
    """A central moment of an image, taken again and again to make it slow."""
    for _ in range(20):
        total = image.sum() + 1e-9
        y, x = np.mgrid[:8, :8]
        cx, cy = (x * image).sum() / total, (y * image).sum() / total
        found = ((x - cx) ** p * (y - cy) ** q * image).sum() / total
    return found


def main():
    images, y = load_digits(return_X_y=True)
    images, y = images.reshape(-1, 8, 8), (y >= 5).astype(int)
    features = {f"pixel {i},{j}": (lambda image, i=i, j=j: image[i, j]) for i in range(8) for j in range(8)}
    features |= {f"moment {p}{q}": (lambda image, p=p, q=q: moment(image, p, q)) for p in range(4) for q in range(4)}
    import pandas as pd

    table = pd.DataFrame({name: [function(image) for image in images] for name, function in features.items()})
    train, test = slice(0, 1200), slice(1200, None)
    full = AdaBoostMHClassifier("stump", n_estimators=300).fit(table[train], y[train])
    costs = {name: 20.0 if name.startswith("moment") else 1.0 for name in features}
    lean = MDDAGClassifier(full, beta=0.0005, costs=costs, n_episodes=500_000, random_state=0).fit(
        table[train], y[train]
    )
    for name, clf in (("all base classifiers", full), ("MDDAG", lean)):
        found = clf.predict_lazy(images[test], features)
        n = len(found.answers)
        dear = sum(count for feature, count in found.calls.items() if feature.startswith("moment")) / n
        cheap = sum(found.calls.values()) / n - dear
        print(
            f"{name}: accuracy {np.mean(found.answers == y[test]):.3f}, {found.n_evaluated.mean():.0f} evaluations, "
            f"{cheap:.1f} pixels and {dear:.1f} moments a row, "
            f"{1e3 * sum(found.seconds.values()) / n:.2f} ms of features"
        )


if __name__ == "__main__":
    main()
