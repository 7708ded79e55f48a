"""What runs MOA: its jar, Java, and drivers that are compiled the first time.

The jar is the one inside the capymoa package, which is found but never imported (its own dependencies are not needed),
or $CAPYMOA_MOA_JAR.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import tempfile
import zipfile
from functools import cache
from pathlib import Path

from experiments.peers.stream_files import Result

_SIZE_AGENT = "sizeof.agent.SizeOfAgent"


class MissingError(Exception):
    """Says what is needed and not there."""


def find_jar() -> Path:
    spec = importlib.util.find_spec("capymoa")
    if given := os.environ.get("CAPYMOA_MOA_JAR"):
        jar = Path(given)
    elif spec is not None and spec.submodule_search_locations:
        jar = Path(spec.submodule_search_locations[0]) / "jar" / "moa.jar"
    else:
        raise MissingError("capymoa, which holds moa.jar, is not installed (pip install --no-deps capymoa)")
    if not jar.is_file():
        raise MissingError("there is no moa.jar in the installed capymoa, nor at $CAPYMOA_MOA_JAR")
    return jar


def find_java() -> tuple[str, str]:
    """Return java and the javac beside it: the two must be of one version."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home) / "bin") if home else None)
    if java is None:
        raise MissingError("there is no java on the PATH (a JDK, 17 or later, is needed)")
    javac = shutil.which("javac", path=str(Path(java).resolve().parent))
    if javac is None:
        raise MissingError("there is a java but no javac beside it (a JDK is needed, not only a JRE)")
    return java, javac


def missing_moa() -> str | None:
    """Return what is needed and not there."""
    try:
        find_jar()
        find_java()
    except MissingError as error:
        return str(error)
    return None


def run_driver(name: str, *arguments: object) -> Result:
    """Return what a driver in Java tells, in a JVM of its own; it is compiled the first time.

    Parameters
    ----------
    name
        Of its class, whose file stands beside this one.
    arguments
        Of its command line.
    """
    done = subprocess.run([*_compile(name)[1], *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{name}: {(done.stderr.strip().splitlines() or ['no reason is given'])[0]}")
    result: Result = json.loads(done.stdout.strip().splitlines()[-1])
    return result


@cache
def _compile(name: str) -> tuple[tempfile.TemporaryDirectory[str], list[str]]:
    """Return the folder of a compiled driver, which lives as long as this process, and the command that runs it."""
    jar, (java, javac) = find_jar(), find_java()
    folder = tempfile.TemporaryDirectory()
    driver = Path(__file__).with_name(f"{name}.java")
    subprocess.run([javac, "-cp", str(jar), "-d", folder.name, str(driver)], check=True)
    agent = _size_agent(jar, Path(folder.name)) if name == "Prequential" else []
    return folder, [java, *agent, "-cp", f"{jar}{os.pathsep}{folder.name}", name]


def _size_agent(jar: Path, folder: Path) -> list[str]:
    """Return the options that let MOA measure its own size: an agent in moa.jar, which lacks only the manifest."""
    with zipfile.ZipFile(jar) as archive:
        if _SIZE_AGENT.replace(".", "/") + ".class" not in archive.namelist():
            return []
    agent = folder / "agent.jar"
    with zipfile.ZipFile(agent, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", f"Manifest-Version: 1.0\nPremain-Class: {_SIZE_AGENT}\n")
    # Without these the agent skips what it may not look into, and reports too little.
    opened = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in ("java.lang", "java.util")]
    return [f"-javaagent:{agent}", *opened]
