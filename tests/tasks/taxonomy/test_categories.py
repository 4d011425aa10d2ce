from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worksample.errors import UsageError
from worksample.tasks.taxonomy import TAXONOMIES, categories, lookup, suggest


def test_upwork_has_twelve_categories_and_64_subcategories_of_rli() -> None:
    found = categories("upwork")
    assert sum(not c.parent for c in found) == 12
    assert sum(bool(c.parent) for c in found) == 64


def test_ale_has_the_subdomains_of_public_cards() -> None:
    found = categories("ale")
    assert sum(not c.parent for c in found) == 14  # thirteen domains, and what the cards file under "other"
    assert sum(bool(c.parent) for c in found) == 51


def test_tac_has_seven_departments() -> None:
    assert len(categories("tac")) == 7


@pytest.mark.parametrize("taxonomy", TAXONOMIES)
def test_ids_are_unique_and_found(taxonomy: str) -> None:
    found = categories(taxonomy)
    assert len({c.id for c in found}) == len(found)
    for category in found:
        assert lookup(category.id) is category
        assert category.top in {c.id for c in found}
        assert category.taxonomy == taxonomy


@pytest.mark.parametrize(
    ("given", "near"),
    [
        ("upwork:writing/content-writting", "upwork:writing/content-writing"),
        ("upwork:accounting-consulting/accounting", "upwork:accounting-consulting/accounting-bookkeeping"),
        ("upwork:data/data-extraction-etl", "upwork:data-science-analytics/data-extraction-etl"),
        ("tac:finanse", "tac:finance"),
        ("ale:business_finance/acounting", "ale:business_finance/accounting"),
    ],
)
def test_misspelt_id_names_the_nearest(given: str, near: str) -> None:
    with pytest.raises(UsageError, match="nearest") as caught:
        lookup(given)
    assert near in str(caught.value)


@given(st.text(max_size=40))
def test_suggestions_never_fail(text: str) -> None:
    assert all(lookup(s) for s in suggest(text))
