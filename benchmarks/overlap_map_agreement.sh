#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: benchmarks/overlap_map_agreement.sh [PROGRAM [FOLDER [OPTION...]]]
#
# Measures the slowdown map of five kernels twice, within 6 minutes, with new ranks in each round,
# and prints the share of cells that agree within their intervals; the goal is 95% or more. Nothing
# else should run. Options are those of 'd5 overlap map'.
set -eu
program=${1:-build/release/bin/d5}
folder=${2:-overlap-maps}
[ $# -ge 1 ] && shift
[ $# -ge 1 ] && shift
mkdir -p "$folder"
for map in first second; do
  "$program" overlap map --threads 1 --framework onednn --budget 170s --quiet --out "$folder/$map.json" "$@"
done
"$program" overlap map --compare "$folder/first.json" "$folder/second.json"
