// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/node/nodes_of_strands.hpp"

namespace d5::detail {
namespace {

thread_local NodesOfStrands* strands_of_thread = nullptr;

}  // namespace

NodesOfStrands*& nodes_of_strands() { return strands_of_thread; }

}  // namespace d5::detail
