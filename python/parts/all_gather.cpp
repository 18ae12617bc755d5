// SPDX-License-Identifier: Apache-2.0
#include <pybind11/trampoline_self_life_support.h>

#include "d5/level3_distributed/collectives/collective.hpp"
#include "level3_distributed/collective_class.hpp"
#include "level3_distributed/python_request.hpp"
#include "level3_distributed/started_calls.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

constexpr const char* kAllGatherHelp =
    R"(An algorithm of all-gather: d5.AllGather("ring"); base class of algorithms in Python, whose
`start(ranks, mine, all, counts)` puts every rank's `mine` into `all`, one after the other; `counts` are
the numbers of elements of each if they differ, or empty. The result of `start` is as in d5.AllReduce.)";

class PythonAllGather final : public AllGather, public py::trampoline_self_life_support {
 public:
  [[nodiscard]] std::unique_ptr<Request> start(Communicator& ranks, const Tensor& mine, Tensor& all,
                                               const RankCounts& counts) override {
    return call_python([&] {
      const py::function method =
          method_of<AllGather>(this, "start", "start(ranks, mine, all, counts)");
      return request_of(method(held(ranks), Tensor(mine), Tensor(all), counts),
                        "start of a d5.AllGather");
    });
  }
};

std::unique_ptr<StartedCall> start_by_all_gather(std::shared_ptr<AllGather> algorithm,
                                                 std::shared_ptr<Communicator> ranks,
                                                 ReadTensor mine, Tensor all,
                                                 const RankCounts& counts) {
  auto call = std::make_unique<StartedCall>(std::move(ranks), mine.tensor, std::move(all));
  call->algorithm = std::move(algorithm);
  call->request = static_cast<AllGather&>(*call->algorithm)
                      .start(*call->ranks, call->data, call->result, counts);
  return call;
}

}  // namespace

void register_all_gather(py::module_& m) {
  const auto released = py::call_guard<py::gil_scoped_release>();
  bind_collective<AllGather, PythonAllGather>(m, all_gathers(), "AllGather", "all_gathers",
                                              kAllGatherHelp)
      .def("start", &start_by_all_gather, py::arg("communicator").none(false), py::arg("mine"),
           py::arg("all"), py::arg("counts") = RankCounts(), released,
           "Gathers every rank's `mine` into `all`; in progress when it returns.");
}

}  // namespace d5::python
