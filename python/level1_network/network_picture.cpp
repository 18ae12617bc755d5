// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/picture/network_drawing.hpp"

#include "level1_network/network.hpp"

namespace d5::python {

void bind_network_picture() {
  auto network = py::reinterpret_borrow<py::class_<Network>>(py::type::of<Network>());
  network
      .def(
          "svg", [](const Network& n) { return to_svg(n); },
          py::call_guard<py::gil_scoped_release>(),
          "The graph as an SVG file's text, from top to bottom. Raises Unsupported for a graph "
          "that is too large to look at.")
      .def(
          "dot", [](const Network& n) { return to_dot(n); },
          py::call_guard<py::gil_scoped_release>(), "The graph in Graphviz's language.");
}

}  // namespace d5::python
