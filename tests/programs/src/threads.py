# SPDX-License-Identifier: BSD-2-Clause
# Waits for a line; then a thread works, and a forked child. All of it, the modules too, has run once before.
import json
import os
import re
import sys
import threading


def work(n):
    return len(json.dumps({str(i): re.sub("a", "b", "banana%d" % i) for i in range(n)}))


def in_thread(n):
    thread = threading.Thread(target=work, args=(n,))
    thread.start()
    thread.join()


in_thread(1)
print("ready", flush=True)
sys.stdin.readline()
in_thread(4)
child = os.fork()
if not child:
    os._exit(work(4) == 0)
_, status = os.waitpid(child, 0)
os._exit(status)
