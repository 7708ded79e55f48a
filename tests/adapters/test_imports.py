"""Libraries that adapters adapt to are imported by these alone; where there is none, it is said how to get it."""

import json
import subprocess
import sys

EXTRAS = {"river": "river", "skactiveml": "activeml"}
CODE = f"""
import importlib, json, sys
import quercus, quercus.adapters
quercus.ConfidenceTree
told = {{name: [name in sys.modules] for name in {list(EXTRAS)}}}
for name in told:
    sys.modules[name] = None
    try:
        importlib.import_module(f"quercus.adapters.{{name}}")
    except ImportError as error:
        told[name].append(str(error))
print(json.dumps(told))
"""


def test_libraries_are_imported_only_by_their_adapters_and_missing_ones_are_named():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    for name, (imported, message) in json.loads(done.stdout).items():
        assert not imported
        assert f"pip install 'quercus[{EXTRAS[name]}]'" in message
