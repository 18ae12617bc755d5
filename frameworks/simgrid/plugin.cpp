// SPDX-License-Identifier: Apache-2.0
// Entry point of the plug-in: SimGrid as a network for simulated ranks.
#include "d5/core/entries/plugin.hpp"

#include <simgrid/version.h>

#include "flow_network.hpp"

namespace d5::simgrid {
namespace {

void fill(Framework& framework) {
  framework.part<NativeNetworks>().add(
      "simgrid",
      SimulatedNetworkEntry::of<FlowNetwork>("flow-level simulation: flows share the links of a "
                                             "topology (star, fat tree, torus, dragonfly)"));
}

}  // namespace
}  // namespace d5::simgrid

#define D5_SIMGRID_TEXT(number) #number
#define D5_SIMGRID_VERSION(major, minor) D5_SIMGRID_TEXT(major) "." D5_SIMGRID_TEXT(minor)
D5_FRAMEWORK_PLUGIN("simgrid", D5_SIMGRID_VERSION(SIMGRID_VERSION_MAJOR, SIMGRID_VERSION_MINOR),
                    d5::simgrid::fill)
