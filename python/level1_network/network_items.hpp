// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings.hpp"
#include "d5/level1_network/graph/network.hpp"

namespace d5::python {

/// A live view of a network's nodes or parameters; it keeps the network alive.
template <class Item>
struct NetworkItems {
  Network network;
};
using NetworkNodes = NetworkItems<onnx::Node>;
using NetworkParameters = NetworkItems<Parameter>;

void bind_network_items(py::module_& m);

}  // namespace d5::python
