// SPDX-License-Identifier: Apache-2.0
#include <pybind11/trampoline_self_life_support.h>

#include "d5/level3_distributed/collectives/collective.hpp"
#include "level3_distributed/collective_class.hpp"
#include "level3_distributed/python_request.hpp"
#include "level3_distributed/started_calls.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

constexpr const char* kAllReduceHelp =
    R"(An algorithm of all-reduce: d5.AllReduce("segmented_ring", segment_bytes=65536); base class of
algorithms in Python.

    class Gathered(d5.AllReduce):
        def start(self, ranks, tensor, reduction="sum"):
            all = ranks.all_gather(tensor)
            tensor.numpy()[...] = all.numpy().sum(axis=0)

It reduces in place, with the same bits on every rank. `start` returns None if it is done, or else an object
with `wait()` and `done()`, such as `ranks.start_all_reduce(tensor)` returns. All ranks call it in the same
order. `reduction` is "sum", "maximum" or "minimum".)";

class PythonAllReduce final : public AllReduce, public py::trampoline_self_life_support {
 public:
  [[nodiscard]] std::unique_ptr<Request> start(Communicator& ranks, Tensor& data,
                                               Reduction reduction) override {
    return call_python([&] {
      const py::function method =
          method_of<AllReduce>(this, "start", "start(ranks, tensor, reduction)");
      return request_of(method(held(ranks), Tensor(data), reduction_word(reduction)),
                        "start of a d5.AllReduce");
    });
  }
};

std::unique_ptr<StartedCall> start_by_all_reduce(std::shared_ptr<AllReduce> algorithm,
                                                 std::shared_ptr<Communicator> ranks, Tensor tensor,
                                                 const std::string& reduction) {
  auto call = std::make_unique<StartedCall>(std::move(ranks), std::move(tensor));
  call->algorithm = std::move(algorithm);
  call->request = static_cast<AllReduce&>(*call->algorithm)
                      .start(*call->ranks, call->data, reduction_of(reduction));
  return call;
}

}  // namespace

void register_all_reduce(py::module_& m) {
  const auto released = py::call_guard<py::gil_scoped_release>();
  bind_collective<AllReduce, PythonAllReduce>(m, all_reduces(), "AllReduce", "all_reduces",
                                              kAllReduceHelp)
      .def("start", &start_by_all_reduce, py::arg("communicator").none(false), py::arg("tensor"),
           py::arg("reduction") = "sum", released,
           "Reduces in place; in progress when it returns.");
}

}  // namespace d5::python
