#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A build says within half a minute how long the rest of it takes, by its own first steps: scripts/build's `show_steps`,
# given the lines of a build whose first 2 of 100 steps take eleven seconds.
set -euo pipefail
eval "$(sed -n '/^show_steps() {$/,/^}$/p' "$(dirname "$0")/../../scripts/build")"
said=$({ echo "[1/100] first"; sleep 11; echo "[2/100] second"; echo "[3/100] third"; echo "[100/100] last"; } | show_steps 2>&1)
expected="[build] 1%, 1 of 100 steps
[build] 2%, 2 of 100 steps, about 9 min left
[build] 100%, 100 of 100 steps, 0 min"
[ "$said" = "$expected" ] || [ "$said" = "${expected/9 min/10 min}" ] || { printf 'expected:\n%s\ngot:\n%s\n' "$expected" "$said"; exit 1; }
