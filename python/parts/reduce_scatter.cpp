// SPDX-License-Identifier: Apache-2.0
#include <pybind11/trampoline_self_life_support.h>

#include "d5/level3_distributed/collectives/collective.hpp"
#include "level3_distributed/collective_class.hpp"
#include "level3_distributed/python_request.hpp"
#include "level3_distributed/started_calls.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

constexpr const char* kReduceScatterHelp =
    R"(An algorithm of reduce-scatter: d5.ReduceScatter("ring"); base class of algorithms in Python, whose
`start(ranks, all, mine, reduction, counts)` reduces part r of `all` into rank r's `mine`; `counts` are the
numbers of elements of each part if they differ, or empty. The result of `start` is as in d5.AllReduce.)";

class PythonReduceScatter final : public ReduceScatter, public py::trampoline_self_life_support {
 public:
  [[nodiscard]] std::unique_ptr<Request> start(Communicator& ranks, const Tensor& all, Tensor& mine,
                                               Reduction reduction,
                                               const RankCounts& counts) override {
    return call_python([&] {
      const py::function method =
          method_of<ReduceScatter>(this, "start", "start(ranks, all, mine, reduction, counts)");
      return request_of(
          method(held(ranks), Tensor(all), Tensor(mine), reduction_word(reduction), counts),
          "start of a d5.ReduceScatter");
    });
  }
};

std::unique_ptr<StartedCall> start_by_reduce_scatter(std::shared_ptr<ReduceScatter> algorithm,
                                                     std::shared_ptr<Communicator> ranks,
                                                     ReadTensor all, Tensor mine,
                                                     const std::string& reduction,
                                                     const RankCounts& counts) {
  auto call = std::make_unique<StartedCall>(std::move(ranks), all.tensor, std::move(mine));
  call->algorithm = std::move(algorithm);
  call->request =
      static_cast<ReduceScatter&>(*call->algorithm)
          .start(*call->ranks, call->data, call->result, reduction_of(reduction), counts);
  return call;
}

}  // namespace

void register_reduce_scatter(py::module_& m) {
  const auto released = py::call_guard<py::gil_scoped_release>();
  bind_collective<ReduceScatter, PythonReduceScatter>(m, reduce_scatters(), "ReduceScatter",
                                                      "reduce_scatters", kReduceScatterHelp)
      .def("start", &start_by_reduce_scatter, py::arg("communicator").none(false), py::arg("all"),
           py::arg("mine"), py::arg("reduction") = "sum", py::arg("counts") = RankCounts(),
           released,
           "Reduces `all`, and puts this rank's part into `mine`; in progress when it returns.");
}

}  // namespace d5::python
