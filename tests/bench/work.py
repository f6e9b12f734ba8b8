# SPDX-License-Identifier: BSD-2-Clause
# Something for an interpreter to do: many small calls, through tables of functions.
import json
import re

table = {str(i): [i, i * 2, "x" * (i % 7)] for i in range(400)}
for _ in range(60):
    text = json.dumps(table, indent=1)
    again = json.loads(text)
    length = sum(len(word) for word in re.findall(r"\w+", text))
    order = sorted(again, key=lambda key: (again[key][0] % 13, key))
