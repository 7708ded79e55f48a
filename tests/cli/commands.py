"""Running commands within the process of the tests."""

import csv
import random

from typer.testing import CliRunner

from quercus.cli.app import app


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def succeed(*arguments):
    done = invoke(*arguments)
    assert done.exit_code == 0, done.stderr or repr(done.exception)
    return done


def fail(*arguments):
    """Run a command that must be refused; return the one line that it says."""
    done = invoke(*arguments)
    assert done.exit_code == 2, (done.stdout, done.stderr, repr(done.exception))
    lines = [line for line in done.stderr.splitlines() if "note:" not in line and "compil" not in line]
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("quercus: ")
    return lines[0].removeprefix("quercus: ")


def write_loans(path, rows=1500):
    """Write a CSV of loans whose outcome the age tells in nine of ten cases."""
    chance = random.Random(3)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "age", "job", "zip", "owner", "when", "repaid"])
        for i in range(rows):
            age = chance.randint(18, 80)
            job, code = chance.choice(["clerk", "nurse", ""]), chance.choice(["01234", "99999"])
            repaid = (age > 40) != (chance.random() < 0.1)
            owner = chance.choice(["true", "false"])
            writer.writerow([i, age, job, code, owner, f"2024-01-{1 + i % 28:02d}", "good" if repaid else "bad"])
    return path
