#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a user waits for: from the hit to the file, for the last 4 MB of a compiler's trace, and its parts.

The parts end where `trailcam run -v` says so; they are taken from when each of its lines comes.

    picture.py BUILD
"""
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

RUNS = 5
PARTS = [
    ("copy", "trailcam: hit "),
    ("save", "trailcam: debug: saved "),
    ("decode", "trailcam: debug: decoded "),
    ("write", "trailcam: wrote "),
]


def be_quick(priority):
    """So that others on the machine disturb little, where that is allowed."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(priority))
    except PermissionError:
        pass


def run(build, directory, nth):
    """The seconds of each part, by its name."""
    compiler = subprocess.check_output(["gcc", "-print-prog-name=cc1"], text=True).strip()
    command = [
        f"{build}/trailcam", "run", "-v", "--source", "translate", "--snapshot-size", "4M",
        "--keep-recording", f"{directory}/{nth}", "-t", "libc.so.6:exit", "-o", f"{directory}/{nth}.fxt.gz",
        "--", compiler, "-quiet", "-O2", "-o", "/dev/null", f"{build}/bench/input.i",
    ]
    took = {}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
                               preexec_fn=lambda: be_quick(1))
    last = time.monotonic()
    for line in process.stderr:
        now = time.monotonic()
        stopped = re.search(r"the trace was stopped .*, (\d+) ns after it", line)
        if stopped:
            took["stop"] = int(stopped.group(1)) / 1e9
            last = now
        for name, begin in PARTS:
            if line.startswith(begin) and "stop" in took:
                took[name] = now - last
                last = now
    if process.wait() or len(took) != 1 + len(PARTS):
        sys.exit(f"bench: the first picture: {' '.join(command)}: status {process.returncode}, {took}")
    took["in all"] = sum(took.values())
    return took


def main():
    be_quick(2)  # who takes the times comes first
    with tempfile.TemporaryDirectory() as directory:
        runs = [run(sys.argv[1], directory, nth) for nth in range(RUNS)]
    print("the first picture: from the hit to .fxt.gz, the last 4 MB of a compiler, translated")
    for name in runs[0]:
        figures = sorted(run[name] * 1000 for run in runs)
        print(f"  {name:<10} {statistics.median(figures):8.1f} ms  ({figures[0]:.1f} to {figures[-1]:.1f})")


main()
