// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/graph/partition.hpp"

#include <pybind11/trampoline_self_life_support.h>

#include "answered.hpp"
#include "long_call.hpp"
#include "part_kind.hpp"

namespace d5::python {
namespace {

constexpr const char* kPartitionHelp =
    R"(Cuts a network into parts, one for each rank; base class of partitions in Python.

    class Halves(d5.Partition):
        def cut(self, network, parts):
            nodes = len(network.nodes)
            return d5.cut_into_stages(network, [p * nodes // parts for p in range(parts)], batch=8)

Each node, parameter and output belongs to exactly one part.)";

class PythonPartition final : public Partition, public py::trampoline_self_life_support {
 public:
  [[nodiscard]] std::vector<NetworkPart> cut(const Network& network, int parts) const override {
    return call_python([&] {
      const py::function method = method_of<Partition>(
          this, "cut", "cut(network, parts), which returns a list of d5.NetworkPart");
      const py::object said = method(Network(network), parts);
      return answered<std::vector<NetworkPart>>(said, py::cast(this), "cut()",
                                                "a list of d5.NetworkPart");
    });
  }
};

}  // namespace

void register_partition(py::module_& m) {
  py::classh<Partition, PythonPartition> partition(m, "Partition", kPartitionHelp);
  partition.def(py::init<>())
      .def("cut", &Partition::cut, py::arg("network"), py::arg("parts"),
           py::call_guard<py::gil_scoped_release>(),
           "Cuts the network. Returns a d5.NetworkPart per part.");
  let_derive(partition);
  add_part_kind<Partition>(partitions(), "Partition");
  m.def(
      "cut_into_stages",
      [](const Network& network, const std::vector<std::size_t>& starts, std::int64_t batch,
         const std::map<std::string, std::int64_t>& dims) {
        return cut_into_stages(network, starts, {.batch = batch, .by_name = dims});
      },
      py::arg("network"), py::arg("starts"), py::kw_only(), py::arg("batch") = 1,
      py::arg("dims") = std::map<std::string, std::int64_t>(),
      py::call_guard<py::gil_scoped_release>(),
      "Cuts the network into stages of consecutive nodes, and returns a d5.NetworkPart for each; "
      "`starts` are the indices of each stage's first node, from 0 on. `batch` and `dims` are open "
      "sizes, as in random_inputs.");
}

}  // namespace d5::python
