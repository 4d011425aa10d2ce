"""From an item to what a browser gets of it: addresses in place of digests, Markdown as HTML."""

from __future__ import annotations

from worksample.app.schemas.work import ItemView, PaneView
from worksample.app.services import AppServices
from worksample.people import Account, Item, read_kept

from .rendering import render


def item_view(services: AppServices, session: str, account: Account, item: Item) -> ItemView:
    """`session`: the token that the panes' addresses are bound to. Raises StoreError, RecordMissing."""
    panes = {pane.label: pane.manifest for pane in item.shown}
    labels = services.capabilities.mint_all(session, account.id, item.id, panes, item.hidden)
    shown = tuple(
        PaneView(
            label=pane.label,
            note=pane.note,
            content=services.config.content_origin(labels[pane.label]) if pane.label in labels else None,
        )
        for pane in item.shown
    )
    return ItemView.model_validate(
        {
            **item.plain(),
            "shown": shown,
            "brief_html": render(item.brief),
            "notes_html": render(item.notes),
            "instructions_page": render(_page(services, item)),
        }
    )


def _page(services: AppServices, item: Item) -> str:
    """This form's page of the version under which the round runs."""
    told = services.people.instructions
    if told.digest != item.instructions:
        told = read_kept(services.store, item.instructions)
    return told.pages.get(item.protocol, "")
