// SPDX-License-Identifier: Apache-2.0
#include "d5/core/plot.hpp"

#include <fmt/format.h>

#include "bindings.hpp"

namespace d5::python {

void bind_plot(py::module_& m) {
  py::class_<Plot>(m, "Plot", "A picture of numbers, which a notebook shows.")
      .def_readonly("name", &Plot::name)
      .def_readonly("title", &Plot::title)
      .def_property_readonly(
          "empty", [](const Plot& plot) { return plot.marks.empty(); },
          "Whether there is nothing to draw.")
      .def(
          "svg", [](const Plot& plot, int width) { return to_svg(plot, width); },
          py::arg("width") = 640, "The text of an SVG file; width in pixels.")
      .def(
          "png",
          [](const Plot& plot, int width, double scale) {
            return py::bytes(to_png(plot, width, scale));
          },
          py::arg("width") = 640, py::arg("scale") = 2.0,
          "The bytes of a PNG file, `scale` pixels to one of the SVG's. Raises Unsupported where "
          "librsvg is absent.")
      .def("_repr_svg_", [](const Plot& plot) { return to_svg(plot); })
      .def("__repr__", [](const Plot& plot) {
        return fmt::format("<d5.Plot {}: {} marks>", printable(plot.name), plot.marks.size());
      });
}

}  // namespace d5::python
