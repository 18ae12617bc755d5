#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: benchmarks/overlap_map_agreement.sh [PROGRAM [FOLDER [OPTION...]]]
#
# Measures the slowdown map of five kernels twice, within 6 minutes, each in rounds whose ranks are started anew, and tells
# which share of the cells agrees within their intervals: 95% or more is the goal. Nothing else should run. Options are
# those of 'd5 overlap map'.
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
