#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A Slurm of one node, on loopback, with a configuration of its own in a temporary folder. As root: munged and
# slurmd ask for it. Needs Debian's slurmctld, slurmd, slurm-client and munge; exit status 4 without them.
#
#   tests/serving/one_node_slurm.sh COMMAND...     runs COMMAND with SLURM_CONF set, then ends it all
set -euo pipefail
for tool in munged mungekey slurmctld slurmd sbatch scontrol; do
  command -v "$tool" >/dev/null || { echo "skipped: $tool is not there" >&2; exit 4; }
done
[ "$(id -u)" -eq 0 ] || { echo "skipped: slurmd needs root" >&2; exit 4; }

folder=$(mktemp -d /tmp/d5-slurm-XXXXXX)
chmod 755 "$folder"
mkdir -p "$folder"/{munge,state,spool}
node=$(hostname -s)
processes=()
finish() {
  for process in "${processes[@]}"; do kill "$process" 2>/dev/null || true; done
  for process in "${processes[@]}"; do wait "$process" 2>/dev/null || true; done
  rm -rf "$folder"
}
trap finish EXIT

# Any free ports: sockets that are open at once.
read -r controller daemon < <(python3 -c '
import socket
sockets = [socket.socket() for _ in range(2)]
for one in sockets:
    one.bind(("127.0.0.1", 0))
print(*(one.getsockname()[1] for one in sockets))')

mungekey --create --keyfile="$folder/munge/key"
chown -R munge: "$folder/munge"
socket="$folder/munge/socket"
setpriv --reuid=munge --regid=munge --clear-groups munged --foreground --key-file="$folder/munge/key" --socket="$socket" \
  --pid-file="$folder/munge/pid" --log-file="$folder/munge/log" --seed-file="$folder/munge/seed" 2>"$folder/munged.err" &
processes+=($!)

cat >"$folder/slurm.conf" <<CONF
ClusterName=d5
SlurmctldHost=$node(127.0.0.1)
SlurmUser=root
SlurmctldPort=$controller
SlurmdPort=$daemon
AuthType=auth/munge
AuthInfo=socket=$socket
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
NodeName=$node NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=main Nodes=$node Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF="$folder/slurm.conf"
slurmctld -D 2>"$folder/slurmctld.err" &
processes+=($!)
slurmd -D -N "$node" 2>"$folder/slurmd.err" &
processes+=($!)
for _ in $(seq 100); do
  sinfo -h -o %T 2>/dev/null | grep -q '^idle$' && break
  sleep 0.2
done
sinfo -h -o %T | grep -q '^idle$' || { tail -n 5 "$folder"/*.log "$folder"/*.err >&2; exit 1; }
"$@"
