"""Scores as classifiers and rankers show them."""

from __future__ import annotations

from .fitted import Fitted


class Deciding(Fitted):
    """A fitted estimator whose scores mean something by themselves; those of numbers are predictions."""

    def decision_function(self, X):
        """Scores F: one for each label or grade; a single one for binary targets (the second class) and "lambdarank".

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_labels)
            Labels of all tasks side by side for multi-task targets.
        """
        scores = self._scores(X)  # checks that there is a model
        return self.model_.shaped(scores)

    def staged_decision_function(self, X):
        """`decision_function` after every round.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Yields
        ------
        ndarray
        """
        for scores in self._staged_scores(X):
            yield self.model_.shaped(scores).copy()
