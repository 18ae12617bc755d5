// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/results/environment.hpp"

namespace d5::detail {

/// Calls `field(name, member)` for each field of an environment, in the order of results files.
template <class Environment, class Field>
void for_each_field(Environment& e, Field&& field) {
  field("time", e.time);
  field("hostname", e.hostname);
  field("os", e.os);
  field("architecture", e.architecture);
  field("cpu", e.cpu);
  field("instruction_sets", e.instruction_sets);
  field("sockets", e.sockets);
  field("cores", e.cores);
  field("hardware_threads", e.hardware_threads);
  field("numa_nodes", e.numa_nodes);
  field("processor_limit", e.processor_limit);
  field("l1_bytes", e.l1_bytes);
  field("l2_bytes", e.l2_bytes);
  field("l3_bytes", e.l3_bytes);
  field("memory_bytes", e.memory_bytes);
  field("memory_limit_bytes", e.memory_limit_bytes);
  field("devices", e.devices);
  field("virtualisation", e.virtualisation);
  field("governor", e.governor);
  field("compiler", e.compiler);
  field("flags", e.flags);
  field("build_type", e.build_type);
  field("d5_version", e.d5_version);
  field("source_commit", e.source_commit);
  field("libraries", e.libraries);
  field("threads", e.threads);
  field("pinning", e.pinning);
  field("waiting", e.waiting);
  field("variables", e.variables);
  field("clock_seconds_per_read", e.clock_seconds_per_read);
  field("peak_float32_flop_rate", e.peak_float32_flop_rate);
  field("peak_float64_flop_rate", e.peak_float64_flop_rate);
  field("peak_byte_rate", e.peak_byte_rate);
  field("warnings", e.warnings);
}

}  // namespace d5::detail
