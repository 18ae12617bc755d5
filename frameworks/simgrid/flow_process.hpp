// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "flow_engine.hpp"
#include "topology.hpp"

namespace d5::simgrid {

/// A `FlowEngine` in a process of its own, a fork of this one that is asked over a socket: SimGrid
/// has one engine a process, and aborts where it fails. It ends with this object, or this process.
class FlowProcess {
 public:
  /// Throws: IoError where there is no process to be had.
  FlowProcess(const NetworkDescription& network, const Topology& topology, int hosts);
  ~FlowProcess();
  FlowProcess(const FlowProcess&) = delete;
  FlowProcess& operator=(const FlowProcess&) = delete;

  /// Starts `flows`, then advances. Throws: Unsupported with what SimGrid said where it failed.
  [[nodiscard]] Arrivals ask(const std::vector<Flow>& flows, double limit);

 private:
  [[noreturn]] void fail();

  std::string network_;
  pid_t process_ = -1;
  int socket_ = -1;
  int words_ = -1;  ///< a file in memory: what the process writes to stderr
};

}  // namespace d5::simgrid
