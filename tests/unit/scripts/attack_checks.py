# SPDX-License-Identifier: Apache-2.0
"""Checks of the walk over all commands that fork, for `test_attack_commands.py`.

python attack_checks.py missing_folders|overwritten_inputs
"""

import re
import sys
import tempfile
from pathlib import Path
from unittest import mock

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[3] / "scripts"))
from attack import commands
from hyoka.apps.cli import command_options
from hyoka.apps.cli.command_table import COMMANDS


def missing_folders(ground: commands.Ground) -> None:
    """Every output in a missing folder is refused by the check.

    Not when the work is done: then the message would be that of the failed write.
    """
    tried, failed = 0, []
    for command in COMMANDS:
        for name, attacks in commands.attacks_on(command).items():
            found = [each for each in attacks if "'missing/x" in each.what and each.refused]
            for each in found if " as " not in name else []:
                with commands.built(command):
                    status, said = commands.tried(each, ground, 1.0)
                tried += 1
                if status != 2 or not re.search(r"missing: no such folder, for x", said):
                    failed.append((command.name, each.what, status, said[-200:]))
    assert tried >= 50
    assert failed == []


def overwritten_inputs(ground: commands.Ground) -> None:
    """The walk over pairs fails where outputs are not checked."""
    walk = commands.Walk(ground, 1.0, verbose=False)
    [command] = [each for each in COMMANDS if each.name == "records convert"]
    attacks = commands.attacks_on(command)["files as output"]
    walk.attack(command, attacks)
    assert not walk.tally.failures
    with mock.patch.object(command_options, "check_output"):
        walk.attack(command, attacks)
    assert any("changed records.txt" in failure for failure in walk.tally.failures)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "ground"
        folder.mkdir()
        commands.import_everything()
        {"missing_folders": missing_folders, "overwritten_inputs": overwritten_inputs}[sys.argv[1]](
            commands.Ground(folder)
        )
