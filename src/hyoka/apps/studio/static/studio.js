// SPDX-License-Identifier: Apache-2.0
// @ts-check
// What all rooms share. A room's script is a module too, and imports what it needs of these.
import "./studio/fields.js";
import "./studio/frame.js";
import "./studio/streams.js";
import "./studio/tips.js";
import "./studio/uploads.js";
