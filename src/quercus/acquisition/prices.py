"""What features cost: alone or in groups, and what must have been bought before what."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from quercus.arguments import check_number
from quercus.schema.refusals import listed


class Prices:
    """The items that can be bought, numbered by their first column, with their features and prices.

    Parameters
    ----------
    names
        The features, in order.
    costs
        Price by feature or group; 1 for what is not named.
    groups
        Features that are bought together, by the name of the group.
    requires
        For an item those that must have been bought before.
    open
        Whether names that are no features yet are left out instead of refused.

    Attributes
    ----------
    items
        Name of each item: of its feature, or of its group.
    members
        Positions of the features of each item.
    costs
        Price of each item.
    needs
        Numbers of the items that each item needs.

    Examples
    --------
    >>> prices = Prices(["age", "hb", "mri", "crp"], {"blood": 20, "age": 0}, {"blood": ["hb", "crp"]})
    >>> prices.items, prices.members, prices.costs
    (['age', 'blood', 'mri'], [[0], [1, 3], [2]], [0.0, 20.0, 1.0])
    >>> Prices(["age"], {"aeg": 5})
    Traceback (most recent call last):
        ...
    ValueError: costs names 'aeg', which is neither a feature nor a group; there are 'age'.
    """

    def __init__(
        self,
        names: Sequence[str],
        costs: Any = None,
        groups: Any = None,
        requires: Any = None,
        open: bool = False,
    ) -> None:
        costs, groups, requires = read_costs(costs), read_groups(groups), read_requires(requires)
        self.names = list(names)
        self.places = {name: place for place, name in enumerate(self.names)}
        self.group_of = {feature: group for group, features in groups.items() for feature in features}
        self._check_groups(groups, open)
        self.items: list[str] = []
        self.members: list[list[int]] = []
        self.numbers: dict[str, int] = {}
        for place, name in enumerate(self.names):
            item = self.group_of.get(name, name)
            if item not in self.numbers:
                self.numbers[item] = len(self.items)
                self.items.append(item)
                self.members.append([])
            self.members[self.numbers[item]].append(place)
        for item in costs:
            self._check_item(item, "costs", open)
        self.costs: list[float] = [costs.get(item, 1.0) for item in self.items]
        self.needs = self._read_needs(requires, open)

    def features(self, item: str) -> list[str]:
        """Return the names of the features of an item.

        Parameters
        ----------
        item
            Its name.

        Examples
        --------
        >>> Prices(["hb", "crp"], groups={"blood": ["crp", "hb"]}).features("blood")
        ['hb', 'crp']
        """
        return [self.names[place] for place in self.members[self.numbers[item]]]

    def price(self, item: str) -> float:
        """Return the price of an item.

        Parameters
        ----------
        item
            Its name.

        Examples
        --------
        >>> Prices(["age", "mri"], {"mri": 500}).price("mri")
        500.0
        """
        return self.costs[self.numbers[item]]

    def check_item(self, item: Any) -> str:
        """Return the name of an item, or refuse what is none.

        Parameters
        ----------
        item
            What a user gave.

        Examples
        --------
        >>> Prices(["hb", "crp"], groups={"blood": ["crp", "hb"]}).check_item("hb")
        Traceback (most recent call last):
            ...
        ValueError: 'hb' cannot be bought alone; it is in the group 'blood'.
        """
        if not isinstance(item, str):
            raise TypeError(f"{item!r} is no name; name a feature or a group: {listed(self.items)}.")
        if item not in self.numbers:
            if item in self.places:
                raise ValueError(f"{item!r} cannot be bought alone; it is in the group {self.group_of[item]!r}.")
            raise ValueError(f"there is nothing named {item!r} to buy; there are {listed(self.items)}.")
        return item

    def _check_groups(self, groups: Mapping[str, list[str]], open: bool) -> None:
        for group, features in groups.items():
            if group in self.places:
                raise ValueError(f"the group {group!r} has the name of a feature; give it a name of its own.")
            for feature in features:
                if feature not in self.places and not open:
                    raise ValueError(
                        f"groups[{group!r}] names {feature!r}, which is no feature; the features are "
                        f"{listed(self.names)}."
                    )

    def _check_item(self, item: str, where: str, open: bool) -> bool:
        """Refuse a name that is no item; tell whether it is one already."""
        if item in self.numbers:
            return True
        if item in self.group_of:
            raise ValueError(
                f"{where} names {item!r}, which is bought with the group {self.group_of[item]!r}; name the group."
            )
        if not open:
            raise ValueError(
                f"{where} names {item!r}, which is neither a feature nor a group; there are {listed(self.items)}."
            )
        return False

    def _read_needs(self, requires: Mapping[str, list[str]], open: bool) -> list[list[int]]:
        needs: list[list[int]] = [[] for _ in self.items]
        for item, others in requires.items():
            known = self._check_item(item, "requires", open)
            there = [self._check_item(other, f"requires[{item!r}]", open) for other in others]
            if known:
                number = self.numbers[item]
                found = [self.numbers[other] for other, is_there in zip(others, there, strict=True) if is_there]
                needs[number] = found if all(there) else [*found, number]
        return needs


class PriceTables(NamedTuple):
    """Prices of the features that are learned (`own`) and of all that are named (`all`), and what they follow from.

    Examples
    --------
    >>> PriceTables.of(["age"], {"age": 3, "mri": 9}, None, None, open=True).all.names
    ['age', 'mri']
    """

    given: tuple[Any, Any, Any]
    names: int
    own: Prices
    all: Prices

    @classmethod
    def of(
        cls,
        names: Sequence[str] | None,
        costs: Any,
        groups: Any,
        requires: Any,
        more: Sequence[str] = (),
        open: bool = False,
    ) -> PriceTables:
        """Return the prices of a learner.

        Parameters
        ----------
        names
            The features that are learned; None before anything was.
        costs, groups, requires
            As in `Prices`.
        more
            Features that are named elsewhere.
        open
            Whether new features may come later.
        """
        given = (costs, groups, requires)
        own = Prices([], *given, open=True) if names is None else Prices(names, *given, open=open)
        named = [*declared(*given), *more] if names is None or open else []
        whole = list(dict.fromkeys([*own.names, *named]))
        every = own if whole == own.names else Prices(whole, *given)
        return cls(copy.deepcopy(given), -1 if names is None else len(own.names), own, every)


def declared(costs: Any, groups: Any, requires: Any) -> list[str]:
    """Return the features that are named, in the order of their naming.

    Parameters
    ----------
    costs, groups, requires
        As in `Prices`.

    Examples
    --------
    >>> declared({"mri": 500, "blood": 20, "age": 0}, {"blood": ["hb", "crp"]}, None)
    ['mri', 'hb', 'crp', 'age']
    """
    costs, groups, requires = read_costs(costs), read_groups(groups), read_requires(requires)
    found: dict[str, None] = {}
    for item in [*costs, *groups, *requires, *(other for others in requires.values() for other in others)]:
        found |= dict.fromkeys(groups.get(item, [item]))
    return list(found)


def read_costs(costs: Any) -> dict[str, float]:
    """Return prices by name, or refuse what is none.

    Parameters
    ----------
    costs
        What a user gave.

    Examples
    --------
    >>> read_costs({"mri": -5})
    Traceback (most recent call last):
        ...
    ValueError: costs['mri']=-5 is out of range; give a number of at least 0.
    """
    for name, price in _read_mapping("costs", costs, "{'mri': 500}").items():
        check_number(f"costs[{name!r}]", price, least=0)
    return {name: float(price) for name, price in (costs or {}).items()}


def read_groups(groups: Any) -> dict[str, list[str]]:
    """Return the features of each group, or refuse groups that are empty or share a feature.

    Parameters
    ----------
    groups
        What a user gave.

    Examples
    --------
    >>> read_groups({"blood": ["hb"], "iron": ["hb"]})
    Traceback (most recent call last):
        ...
    ValueError: groups has 'hb' twice, in 'blood' and in 'iron'; a feature is in at most one group.
    """
    found = {name: _read_names("groups", name, part) for name, part in _read_groups(groups).items()}
    seen: dict[str, str] = {}
    for group, features in found.items():
        if not features:
            raise ValueError(f"groups[{group!r}] is empty; name its features, or leave it out.")
        for feature in features:
            if feature in seen:
                raise ValueError(
                    f"groups has {feature!r} twice, in {seen[feature]!r} and in {group!r}; a feature is in at most one "
                    "group."
                )
            if feature in found:
                raise ValueError(f"groups[{group!r}] names {feature!r}, which is a group; name features.")
            seen[feature] = group
    return found


def read_requires(requires: Any) -> dict[str, list[str]]:
    """Return what each item requires, or refuse requirements that go in a circle.

    Parameters
    ----------
    requires
        What a user gave.

    Examples
    --------
    >>> read_requires({"mri": ["blood"], "blood": ["mri"]})
    Traceback (most recent call last):
        ...
    ValueError: requires goes in a circle: 'mri' requires 'blood' requires 'mri'; leave one of them out.
    """
    example = "{'mri': ['blood']}"
    given = _read_mapping("requires", requires, example)
    found = {name: _read_names("requires", name, part) for name, part in given.items()}
    done: set[str] = set()
    for start in found:
        _check_circle(found, start, [], done)
    return found


def _check_circle(requires: Mapping[str, list[str]], item: str, above: list[str], done: set[str]) -> None:
    if item in above:
        circle = " requires ".join(map(repr, [*above[above.index(item) :], item]))
        raise ValueError(f"requires goes in a circle: {circle}; leave one of them out.")
    if item not in done:
        for other in requires.get(item, []):
            _check_circle(requires, other, [*above, item], done)
        done.add(item)


def _read_groups(groups: Any) -> Mapping[str, Any]:
    return _read_mapping("groups", groups, "{'blood': ['hb', 'crp']}")


def _read_mapping(name: str, value: Any, example: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise TypeError(f"{name}={value!r} is no dict; write it as {example}.")
    for key in value:
        if not isinstance(key, str):
            raise TypeError(f"{name} holds the name {key!r}, a {type(key).__name__}; name features by strings.")
    return value


def _read_names(name: str, key: str, part: Any) -> list[str]:
    if isinstance(part, str | bytes | Mapping) or not isinstance(part, Iterable):
        raise TypeError(f"{name}[{key!r}]={part!r} is no list of names; write [{part!r}].")
    names = list(part)
    for entry in names:
        if not isinstance(entry, str):
            raise TypeError(f"{name}[{key!r}] holds {entry!r}, a {type(entry).__name__}; name features by strings.")
    return list(dict.fromkeys(names)) if name == "requires" else names


def read_limit(name: str, value: Any) -> Any:
    """Return a limit of money, None for no limit, or refuse what is none.

    Parameters
    ----------
    name
        Of the argument.
    value
        What was given.

    Examples
    --------
    >>> read_limit("budget", -1)
    Traceback (most recent call last):
        ...
    ValueError: budget=-1 is out of range; give a number of at least 0.
    """
    if value is not None:
        check_number(name, value, least=0)
    return value
