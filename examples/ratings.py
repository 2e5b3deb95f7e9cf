"""Collaborative filtering with products of two indicators, on a generated table of ratings.

A rating depends on the pair (user, item).  An indicator says whether a user is in some set of
users, or an item in some set of items; the product of two of them says "these users like
these items, and the others the other ones".  Boosting adds up such sentences: a factorisation
of the rating matrix into signs, which takes further columns, such as age and genre, as it is.

Needs pandas.
"""

from time import perf_counter

import numpy as np
import pandas as pd

from multiboost import Indicator, MultiBoostClassifier, Product

N_USERS, N_ITEMS, N_RATINGS, N_GENRES = 1500, 200, 40000, 8
PAIR, ALL = ["user", "item"], ["user", "item", "age", "genre"]


def ratings(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns user, item, age of the user and genre of the item; ratings from 1 to 5."""
    rng = np.random.default_rng(seed)
    activity = rng.pareto(1.0, N_USERS) + 0.1  # a few users rate a lot, most of them little
    user = rng.choice(N_USERS, N_RATINGS, p=activity / activity.sum())
    item = rng.integers(0, N_ITEMS, N_RATINGS)
    age, genre = rng.integers(15, 80, N_USERS), rng.integers(0, N_GENRES, N_ITEMS)

    # What nobody sees: kind users and good items, personal taste, and genres that divide the generations.
    kindness, quality = 0.5 * rng.normal(size=N_USERS), 0.5 * rng.normal(size=N_ITEMS)
    taste, trait = rng.normal(size=(N_USERS, 2)), rng.normal(size=(N_ITEMS, 2))
    generation, fashion = np.where(age < 35, 1, -1), rng.normal(size=N_GENRES)
    score = kindness[user] + quality[item] + 0.5 * rng.normal(size=N_RATINGS)
    score += 0.55 * (taste[user] * trait[item]).sum(axis=1)
    score += 1.2 * generation[user] * fashion[genre[item]]

    # Text columns are nominal without being told; numbers that are names would need nominal_features.
    X = pd.DataFrame(
        {
            "user": [f"user {k}" for k in user],
            "item": [f"item {k}" for k in item],
            "age": age[user],
            "genre": [f"genre {k}" for k in genre[item]],
        }
    )
    return X, 1 + np.digitize(score, np.quantile(score, (0.1, 0.3, 0.6, 0.85)))


class Means:
    """Mean of the user plus mean of the item minus mean of all, rounded; one who is not known counts as average."""

    def __init__(self, *columns: str):
        self.columns = columns

    def fit(self, X, y):
        """Means of all, and how much the means of a user or item are above."""
        self.mean = y.mean()
        self.above = {name: pd.Series(y - self.mean).groupby(X[name].to_numpy()).mean() for name in self.columns}
        return self

    def predict(self, X):
        """Ratings."""
        found = self.mean + sum(X[name].map(above).fillna(0) for name, above in self.above.items())
        return np.rint(found).clip(1, 5).to_numpy().astype(int)


def boosted(base_learner) -> MultiBoostClassifier:
    """Real votes and big steps; a user of fewer than 20 ratings is as good as unknown.

    Any set of ages is also a set of users, so that with every user known by name nothing is left for the age to
    explain, and nothing is learned for users who are new.  Those with few ratings, taken together as unknown, teach
    what age says, which is all that is known of a new user.
    """
    return MultiBoostClassifier(base_learner, n_estimators=100, learning_rate=0.5, min_category_rows=20)


def main() -> None:
    """Compare on held-out ratings of known users, and on all ratings of users left out."""
    X, y = ratings(seed=7)  # settings were tried on another seed
    rng = np.random.default_rng(0)
    is_new = X["user"].isin([f"user {k}" for k in np.flatnonzero(rng.random(N_USERS) < 0.1)]).to_numpy()
    train = ~is_new & (rng.random(len(y)) < 0.8)
    parts = {"known users": ~is_new & ~train, "new users": is_new}
    counts = ", ".join(f"{part.sum()} held out of {name}" for name, part in parts.items())
    print(f"{train.sum()} ratings for training, {counts}; {N_USERS} users, {N_ITEMS} items\n")

    methods = {
        "means of users": (Means("user"), PAIR),
        "means of items": (Means("item"), PAIR),
        "means of users + items": (Means("user", "item"), PAIR),
        # Additive, too, but it aims at the class and not at a mean.
        "boosted indicators": (boosted(Indicator()), PAIR),
        "boosted products of two": (boosted(Product(2, Indicator())), PAIR),
        # Product(2) takes thresholds of numeric columns, too.
        "the same, with age and genre": (boosted(Product(2)), ALL),
    }
    print(f"{'error, % (mean distance)':30}" + "".join(f"{name:>18}" for name in parts) + f"{'fit':>10}")
    for name, (model, columns) in methods.items():
        begin = perf_counter()
        model.fit(X.loc[train, columns], y[train])
        seconds = perf_counter() - begin
        cells = []
        for part in parts.values():
            predicted = model.predict(X.loc[part, columns])
            cells.append(f"{100 * np.mean(predicted != y[part]):.1f} ({np.abs(predicted - y[part]).mean():.2f})")
        print(f"{name:30}" + "".join(f"{cell:>18}" for cell in cells) + f"{seconds:8.1f} s", flush=True)

    share = dict(zip(ALL, model.feature_importances_, strict=True))
    print("\nshare of the gain: " + ", ".join(f"{name} {100 * value:.0f} %" for name, value in share.items()))
    print("(a set of genres is a set of items, and all items are known: nothing is left for the genre to explain)")


if __name__ == "__main__":
    main()
