"""What scikit-learn asks of an object with parameters, given without importing scikit-learn before it is needed.

Importing it takes several times as long as to load a model and answer a row. So models do not inherit from its
`BaseEstimator`; `clone`, pipelines, searches and its checks take them all the same, since they ask what an object can
do. Parameters are handled here; pictures, tags and the routing of metadata are the methods of `BaseEstimator` itself.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections import defaultdict
from collections.abc import Callable
from types import MethodType
from typing import Any, Self

# Arguments that every form of text shows alike, and that need no copy.
_PLAIN = (type(None), bool, int, float, str)
_LINE = 80


def not_fitted(message: str) -> Exception:
    """Return scikit-learn's `NotFittedError`.

    Parameters
    ----------
    message
        What it says.

    Examples
    --------
    >>> raise not_fitted("it has learned nothing.")
    Traceback (most recent call last):
        ...
    sklearn.exceptions.NotFittedError: it has learned nothing.
    """
    from sklearn.exceptions import NotFittedError

    return NotFittedError(message)  # type: ignore[no-any-return]


class AvailableIf:
    """A method that only some objects of a class have; `hasattr` tells which.

    Parameters
    ----------
    check
        Tells of an object whether it has the method.
    method
        The method.
    """

    def __init__(self, check: Callable[[Any], Any], method: Callable[..., Any]) -> None:
        self._check, self._method = check, method
        described: Any = self
        functools.update_wrapper(described, method)

    def __get__(self, model: Any, owner: type) -> Any:
        if model is None:
            return self._method
        message = f"This {owner.__name__!r} has no attribute {self._method.__name__!r}"
        try:
            is_there = self._check(model)
        except Exception as error:
            raise AttributeError(message) from error
        if not is_there:
            raise AttributeError(message)
        return MethodType(self._method, model)


def available_if(check: Callable[[Any], Any]) -> Any:
    """Make a method one that only some objects have.

    Parameters
    ----------
    check
        Tells of an object whether it has the method.

    Examples
    --------
    >>> class Oak:
    ...     def __init__(self, age):
    ...         self.age = age
    ...     @available_if(lambda oak: oak.age > 40)
    ...     def acorns(self):
    ...         return "many"
    >>> hasattr(Oak(10), "acorns"), Oak(50).acorns()
    (False, 'many')
    """
    return functools.partial(AvailableIf, check)


class Borrowed:
    """What scikit-learn's `BaseEstimator` has under the same name, looked up when it is asked for."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, model: Any, owner: type) -> Any:
        from sklearn.base import BaseEstimator

        # Not every version has every name.
        return inspect.getattr_static(BaseEstimator, self._name).__get__(model, owner)


class Requests:
    """The method ``set_VERB_request`` of a class that has the verb.

    Parameters
    ----------
    verb
        ``"fit"``, for instance.
    """

    def __init__(self, verb: str) -> None:
        self._verb = verb

    def __get__(self, model: Any, owner: type) -> Any:
        from sklearn.utils._metadata_requests import RequestMethod

        names = inspect.signature(getattr(owner, self._verb)).parameters
        return RequestMethod(self._verb, sorted(set(names) - {"self", "X", "y"})).__get__(model, owner)


class Estimator:
    """Base of what has parameters: the arguments of its constructor, which keeps each under its name.

    Examples
    --------
    >>> class Oak(Estimator):
    ...     def __init__(self, age=0):
    ...         self.age = age
    >>> Oak(age=7).get_params(), Oak().set_params(age=9)
    ({'age': 7}, Oak(age=9))
    """

    __sklearn_tags__ = Borrowed()
    _get_params_html = Borrowed()
    _get_fitted_attr_html = Borrowed()
    _html_repr = Borrowed()
    _repr_html_ = Borrowed()
    _repr_html_inner = Borrowed()
    _repr_mimebundle_ = Borrowed()
    get_metadata_routing = Borrowed()
    _get_metadata_request = Borrowed()
    _get_class_level_metadata_request_values = Borrowed()
    # Before scikit-learn 1.8.
    _get_default_requests = Borrowed()
    _build_request_for_signature = Borrowed()
    set_fit_request = Requests("fit")
    set_partial_fit_request = Requests("partial_fit")
    set_score_request = Requests("score")

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Return the names of the parameters, sorted."""
        named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        given = inspect.signature(cls.__init__).parameters.values()
        return sorted(each.name for each in given if each.name != "self" and each.kind in named)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep
            Whether those of parameters that have parameters themselves are to be among them, as ``learner__seed``.
        """
        params: dict[str, Any] = {}
        for name in self._get_param_names():
            value = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                params |= {f"{name}__{inner}": each for inner, each in value.get_params().items()}
            params[name] = value
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; ``learner__seed`` is the parameter ``seed`` of the parameter ``learner``.

        Parameters
        ----------
        params
            New values.
        """
        names = self._get_param_names()
        nested: defaultdict[str, dict[str, Any]] = defaultdict(dict)
        for full, value in params.items():
            name, is_nested, inner = full.partition("__")
            if name not in names:
                raise ValueError(f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {names!r}.")
            if is_nested:
                nested[name][inner] = value
            else:
                setattr(self, name, value)
        for name, inside in nested.items():
            getattr(self, name).set_params(**inside)
        return self

    def _new(self) -> Self:
        """Return another with the same parameters that has learned nothing; what `clone` returns."""
        params = self.get_params(deep=False)
        if not all(isinstance(value, _PLAIN) for value in params.values()):
            from sklearn.base import clone

            params = {name: clone(value, safe=False) for name, value in params.items()}
        return type(self)(**params)

    def __repr__(self) -> str:
        # As scikit-learn writes it, who alone knows how where it is long, or where it was told to write otherwise.
        params = self.get_params(deep=False)
        if "sklearn" not in sys.modules and all(isinstance(value, _PLAIN) for value in params.values()):
            given = inspect.signature(type(self)).parameters
            changed = [f"{name}={each!r}" for name, each in params.items() if repr(each) != repr(given[name].default)]
            line = f"{type(self).__name__}({', '.join(changed)})"
            if len(line) < _LINE:
                return line
        from sklearn.base import BaseEstimator

        shown = type(type(self).__name__, (BaseEstimator,), {"__init__": type(self).__init__})
        twin: Any = object.__new__(shown)
        vars(twin).update(params)
        return str(BaseEstimator.__repr__(twin))

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if hasattr(self, name)]
