// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "flow_engine.hpp"
#include "topology.hpp"

namespace d5::simgrid {

/// A `FlowEngine` in a separate process, a fork that is controlled over a socket: SimGrid has one
/// engine per process, and aborts on failure. The process ends with this object, or with its
/// parent.
class FlowProcess {
 public:
  /// Throws: IoError if no process can be started.
  FlowProcess(const ClusterDescription& cluster, const Topology& topology, int hosts);
  ~FlowProcess();
  FlowProcess(const FlowProcess&) = delete;
  FlowProcess& operator=(const FlowProcess&) = delete;

  /// Starts `flows`, then advances. Throws: Unsupported with SimGrid's message if it failed.
  [[nodiscard]] Arrivals ask(const std::vector<Flow>& flows, double limit);

 private:
  [[noreturn]] void fail();

  std::string network_;
  pid_t process_ = -1;
  int socket_ = -1;
  int words_ = -1;  ///< a file in memory: what the process writes to stderr
};

}  // namespace d5::simgrid
