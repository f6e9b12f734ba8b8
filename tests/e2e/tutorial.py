#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs a document's commands, in order, in one shell: each must succeed, and give the lines that the document shows below it, in that order, whatever the
numbers in them. A line counts as given if all its words of four letters and more are there.

Usage: tutorial.py DOCUMENT BUILD CHAPTER
CHAPTER is 1 for what stands below the document's first heading.
"""
import re
import subprocess
import sys


def examples(path, chapter):
    """(command, shown lines) of the chapter's indented blocks."""
    found = []
    at = 0
    for line in open(path):
        line = line.rstrip("\n")
        at += line.startswith("# ")
        if at != chapter:
            continue
        if line.startswith("    $ "):
            found.append((line[6:], []))
        elif line.startswith("    ") and found and found[-1] is not None:
            found[-1][1].append(line.strip())
        elif line.strip():
            found.append(None)
    return [example for example in found if example]


def words(line):
    return re.findall(r"[A-Za-z_]{4,}", line)


def missing(shown, given):
    """The first line of `shown` that is not among those given behind the one before it."""
    lines = iter(given)
    for line in shown:
        wanted = words(line)
        if wanted and not any(all(word in got for word in wanted) for got in lines):
            return line
    return None


def main():
    document, build, chapter = sys.argv[1:]
    environment = ""
    failures = 0
    for command, shown in examples(document, int(chapter)):
        if command.startswith("make "):
            continue
        if command.startswith("export "):
            environment += command.replace("$PWD/build", build) + "\n"
            continue
        ran = subprocess.run(["bash", "-c", "set -o pipefail\n" + environment + command], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, errors="replace")
        # Which of two runs took longer is the machine's affair.
        line = missing(shown, ran.stdout.replace("shorter than", "longer than").splitlines())
        if ran.returncode or line is not None:
            print(f"not ok - {command}: {f'exit status {ran.returncode}' if ran.returncode else f'no line {line!r}'}")
            print("".join(f"# {got}\n" for got in ran.stdout.splitlines()[:40]), end="")
            failures += 1
        else:
            print(f"ok - {command}")
    return failures > 0


sys.exit(main())
