// SPDX-License-Identifier: Apache-2.0
#include <pybind11/trampoline_self_life_support.h>

#include "d5/level3_distributed/collectives/collective.hpp"
#include "level3_distributed/collective_class.hpp"
#include "level3_distributed/python_request.hpp"
#include "level3_distributed/started_calls.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

constexpr const char* kBroadcastHelp =
    R"(An algorithm of broadcast: d5.Broadcast("binomial"); base class of algorithms in Python, whose
`start(ranks, tensor, root)` overwrites the tensor with that of rank `root`. The result of `start` is as in
d5.AllReduce.)";

class PythonBroadcast final : public Broadcast, public py::trampoline_self_life_support {
 public:
  [[nodiscard]] std::unique_ptr<Request> start(Communicator& ranks, Tensor& data,
                                               int root) override {
    return call_python([&] {
      const py::function method = method_of<Broadcast>(this, "start", "start(ranks, tensor, root)");
      return request_of(method(held(ranks), Tensor(data), root), "start of a d5.Broadcast");
    });
  }
};

std::unique_ptr<StartedCall> start_by_broadcast(std::shared_ptr<Broadcast> algorithm,
                                                std::shared_ptr<Communicator> ranks, Tensor tensor,
                                                int root) {
  auto call = std::make_unique<StartedCall>(std::move(ranks), std::move(tensor));
  call->algorithm = std::move(algorithm);
  call->request = static_cast<Broadcast&>(*call->algorithm).start(*call->ranks, call->data, root);
  return call;
}

}  // namespace

void register_broadcast(py::module_& m) {
  const auto released = py::call_guard<py::gil_scoped_release>();
  bind_collective<Broadcast, PythonBroadcast>(m, broadcasts(), "Broadcast", "broadcasts",
                                              kBroadcastHelp)
      .def("start", &start_by_broadcast, py::arg("communicator").none(false), py::arg("tensor"),
           py::arg("root") = 0, released, "Broadcasts in place; in progress when it returns.");
}

}  // namespace d5::python
