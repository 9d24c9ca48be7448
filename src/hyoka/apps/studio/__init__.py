# SPDX-License-Identifier: Apache-2.0
"""Hyoka Studio: the laboratory in a browser, over the public functions of the library.

A *room* is a part of it: Home, Board, Study, Runs, Match, Learning. To add one: a module in `rooms`
with a `ROOM`, a line in `rooms.ROOMS`, templates in `templates/NAME/`, and, if it needs them,
`static/NAME.css` and `static/NAME.js`. What a room is given:

- `studio_of(request)`: the folder (`.folder`), the engines that may be started (`.engines`), the
  runs (`.runs`);
- `pages.page` and `pages.fragment`: templates rendered, names and comments being text;
- `pages.address`: an address with its state in it;
- `events.watch`: what changes, told to the browser as it does;
- `drawings.chart` and `drawings.board`: pictures for a page, in the page's colours.

Endpoints are plain functions (they run in threads) or, for streams, coroutines. They raise
`hyoka.Error` with a sentence for whoever looks; anything else becomes "something went wrong".
GET changes nothing. Paths come from `folder.path(text)`, players and evaluators from
`engines.spec(text)`: neither lets a request reach beyond what the user has allowed.
"""

from hyoka.apps.studio.allowed_engines import Engines
from hyoka.apps.studio.folder import Folder
from hyoka.apps.studio.server import serve, studio_app
from hyoka.apps.studio.state import Studio

__all__ = ["Engines", "Folder", "Studio", "serve", "studio_app"]
