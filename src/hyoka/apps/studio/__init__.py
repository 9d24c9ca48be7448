# SPDX-License-Identifier: Apache-2.0
"""Hyoka Studio: the laboratory in a browser, over the public functions of the library.

A *room* is a part of it: Home, Board, Study, Runs, Match, Learning. To add one: a module in `rooms`
with a `ROOM`, a line in `rooms.ROOMS`, templates in `templates/NAME/`, and, if it needs them,
`static/NAME.css` and `static/NAME.js`, an ES module that may import others of `static/NAME/` and
`static/studio/`. Classes that rooms share (`.cards`, `.toolbar`, `.split`, `.chip`, `.drawer`) are
in `static/studio.css`. A room uses:

- `studio_of(request)`: the folder (`.folder`), the allowed engines (`.engines`),
  the runs (`.runs`);
- `pages.page` and `pages.fragment`: rendered templates; names and comments are escaped;
- `pages.address`: an address that contains its state;
- `pages.watch`: a stream of changes for the browser;
- `hyoka.reporting`'s blocks (tables, charts, boards, sections, pages), which templates show by the
  filter `html`; `templates/blocks.html` has what only the studio shows in several rooms.

Endpoints are plain functions (they run in threads) or, for streams, coroutines. They raise
`hyoka.Error` with a sentence for people; anything else becomes "something went wrong".
GET changes nothing. Paths come from `folder.path(text)`, players and evaluators from
`engines.agent(text)`: neither lets a request access more than the user allows.
"""

from hyoka.apps.studio.allowed_engines import Engines
from hyoka.apps.studio.folder import Folder
from hyoka.apps.studio.pages import Studio
from hyoka.apps.studio.server import serve, studio_app

__all__ = ["Engines", "Folder", "Studio", "serve", "studio_app"]
