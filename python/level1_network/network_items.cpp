// SPDX-License-Identifier: Apache-2.0
#include "level1_network/network_items.hpp"

#include <fmt/format.h>
#include <pybind11/typing.h>

#include <algorithm>
#include <span>

namespace d5::python {
namespace {

std::span<const onnx::Node> all_of(NetworkNodes& nodes) { return nodes.network.graph().nodes; }
std::span<const Parameter> all_of(NetworkParameters& parameters) {
  return parameters.network.parameters();
}

const onnx::Node& by_name(NetworkNodes& nodes, const std::string& name) {
  return nodes.network.node(name);
}
const Parameter& by_name(NetworkParameters& parameters, const std::string& name) {
  return parameters.network.parameter(name);
}

template <class Item>
const Item& at(NetworkItems<Item>& items, py::ssize_t index) {
  const auto all = all_of(items);
  const auto count = py::ssize_t(all.size());
  const py::ssize_t place = index < 0 ? index + count : index;
  if (place >= 0 && place < count) return all[std::size_t(place)];
  throw py::index_error(
      fmt::format("item {} of network {}, which has {}", index, items.network.name(), count));
}

template <class Item>
std::vector<Item> several(NetworkItems<Item>& items, const py::slice& slice) {
  const auto all = all_of(items);
  std::vector<Item> chosen;
  py::ssize_t begin = 0, end = 0, step = 0, count = 0;
  slice.compute(py::ssize_t(all.size()), &begin, &end, &step, &count);
  for (py::ssize_t i = 0; i < count; ++i) chosen.push_back(all[std::size_t(begin + i * step)]);
  return chosen;
}

template <class Item>
void bind_items(py::module_& m, const char* name, const char* about) {
  using Items = NetworkItems<Item>;
  const py::class_<Items> items =
      py::class_<Items>(m, name, about)
          .def("__len__", [](Items& all) { return all_of(all).size(); })
          .def(
              "__getitem__", [](Items& all, py::ssize_t index) { return at(all, index); },
              py::arg("index"))
          .def(
              "__getitem__", [](Items& all, const std::string& name) { return by_name(all, name); },
              py::arg("name"), "The item of that name.")
          .def("__getitem__", &several<Item>, py::arg("slice"))
          .def("__iter__",
               [](Items& all) {
                 py::list now;
                 for (const Item& item : all_of(all)) now.append(py::cast(item));
                 return py::typing::Iterator<Item>(py::iter(now));
               })
          .def("__contains__",
               [](Items& all, const Anything& wanted) {
                 const bool by_name = py::isinstance<py::str>(wanted);
                 if (!by_name && !py::isinstance<Item>(wanted)) return false;
                 return std::ranges::any_of(all_of(all), [&](const Item& item) {
                   return wanted.equal(by_name ? py::cast(item.name) : py::cast(item));
                 });
               })
          .def("__repr__", [name](Items& all) {
            return fmt::format("<d5.{} of {}: {}>", name, all.network.name(), all_of(all).size());
          });
  py::module_::import("collections.abc").attr("Sequence").attr("register")(items);
}

}  // namespace

void bind_network_items(py::module_& m) {
  bind_items<onnx::Node>(m, "Nodes",
                         "View of a network's nodes in an executable order, which follows edits. "
                         "By index or name; an item is a snapshot of the node.");
  bind_items<Parameter>(m, "Parameters",
                        "View of a network's parameters, in the order in which backpropagation "
                        "finishes their gradients, which follows edits. By index or name.");
}

}  // namespace d5::python
