#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: benchmarks/prediction_tour.sh [PROGRAM [FOLDER]]
#
# Runs the five commands at the start of docs/reference/prediction.md, from this machine's profile to a cluster's curve and the
# slowdown of computation by communication, one after the other, within 15 minutes on two cores. The networks run in d5's
# own reference. Nothing else should run. PROGRAM is d5 (default build/release/bin/d5). FOLDER (default prediction-tour)
# gets the profile, the network, both result files, the trace and the pictures. Ends with the time of each command; the
# status is 1 if a command failed or all took longer than 15 minutes.
set -u
program=${1:-build/release/bin/d5}
folder=${2:-prediction-tour}
most=900
mkdir -p "$folder" || exit 2
times=""
failed=0
begin=$(date +%s)

run() {
  printf '\n$ d5 %s\n\n' "$*"
  since=$(date +%s)
  "$program" "$@" --quiet || failed=1
  times="$times$(printf '%5d s  d5 %s %s' $(($(date +%s) - since)) "$1" "$2")
"
}

run profile resnet-18 --batch 16 --copies 2 --out "$folder/profile.json"
run cluster calibrate --out "$folder/here.yaml"
run predict resnet-18 --nodes 1..128 --measure 1,2 --trace "$folder/trace.json" --pictures "$folder" \
  --out "$folder/prediction.json"
run overlap map --out "$folder/map.json" --pictures "$folder"
run overlap search --models lenet --out "$folder/search.json"

all=$(($(date +%s) - begin))
printf '\n%s%5d s  all, of %d\n' "$times" "$all" "$most"
[ "$failed" -eq 0 ] && [ "$all" -le "$most" ]
