// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/started_calls.hpp"

#include <optional>
#include <string>
#include <utility>

#include "level3_distributed/python_request.hpp"
#include "level3_distributed/written_tensor.hpp"

namespace d5::python {
namespace {

using Started = std::unique_ptr<StartedCall>;
using Ranks = std::shared_ptr<Communicator>;

Started start_all_reduce(Ranks ranks, WrittenTensor data, const std::string& reduction) {
  auto call = std::make_unique<StartedCall>(std::move(ranks), std::move(data.tensor));
  call->request = call->ranks->start_all_reduce(call->data, reduction_of(reduction));
  return call;
}

Started start_broadcast(Ranks ranks, WrittenTensor data, int root) {
  auto call = std::make_unique<StartedCall>(std::move(ranks), std::move(data.tensor));
  call->request = call->ranks->start_broadcast(call->data, root);
  return call;
}

Started start_all_gather(Ranks ranks, ReadTensor mine, WrittenTensor all,
                         const RankCounts& counts) {
  auto call = std::make_unique<StartedCall>(std::move(ranks), mine.tensor, std::move(all.tensor));
  call->request = call->ranks->start_all_gather(call->data, call->result, counts);
  return call;
}

Started start_reduce_scatter(Ranks ranks, ReadTensor all, WrittenTensor mine,
                             const std::string& reduction, const RankCounts& counts) {
  auto call = std::make_unique<StartedCall>(std::move(ranks), all.tensor, std::move(mine.tensor));
  call->request =
      call->ranks->start_reduce_scatter(call->data, call->result, reduction_of(reduction), counts);
  return call;
}

Started start_gather(Ranks ranks, ReadTensor mine, std::optional<WrittenTensor> all, int root) {
  auto call = std::make_unique<StartedCall>(std::move(ranks), mine.tensor,
                                            all.value_or(WrittenTensor()).tensor);
  call->request = call->ranks->start_gather(call->data, call->result, root);
  return call;
}

Started start_scatter(Ranks ranks, std::optional<ReadTensor> all, WrittenTensor mine, int root) {
  auto call = std::make_unique<StartedCall>(std::move(ranks), all.value_or(ReadTensor()).tensor,
                                            std::move(mine.tensor));
  call->request = call->ranks->start_scatter(call->data, call->result, root);
  return call;
}

Started start_all_to_all(Ranks ranks, ReadTensor to_each, WrittenTensor from_each,
                         const RankCounts& to_counts, const RankCounts& from_counts) {
  auto call =
      std::make_unique<StartedCall>(std::move(ranks), to_each.tensor, std::move(from_each.tensor));
  call->request = call->ranks->start_all_to_all(call->data, call->result, to_counts, from_counts);
  return call;
}

Started start_barrier(Ranks ranks) {
  auto call = std::make_unique<StartedCall>(std::move(ranks));
  call->request = call->ranks->start_barrier();
  return call;
}

Started start_send(Ranks ranks, ReadTensor tensor, int to, int tag) {
  auto call = std::make_unique<StartedCall>(std::move(ranks), tensor.tensor);
  call->request = call->ranks->start_send(call->data, to, tag);
  return call;
}

Started start_receive(Ranks ranks, WrittenTensor into, int from, int tag) {
  auto call = std::make_unique<StartedCall>(std::move(ranks), std::move(into.tensor));
  call->request = call->ranks->start_receive(call->data, from, tag, &call->received);
  return call;
}

using ResourcesUsed = std::optional<std::pair<std::string, std::string>>;

ResourcesUsed resources_used(const StartedCall& call) {
  const auto used = call.request->used();
  if (!used) return std::nullopt;
  return std::pair(to_words(used->resources), used->ignored);
}

}  // namespace

StartedCall::~StartedCall() {  // without the GIL if its start failed
  std::optional<py::gil_scoped_release> released;
  if (PyGILState_Check() != 0) released.emplace();
  request.reset();
}

void bind_started_calls(py::module_& m, CommunicatorClass& communicator) {
  const auto released = py::call_guard<py::gil_scoped_release>();
  const RankCounts equal;
  py::class_<StartedCall>(m, "StartedCall",
                          "A call in progress: its tensors belong to d5 until it is done. All "
                          "ranks start calls in one order, like blocking calls.")
      .def("wait", &StartedCall::wait, released,
           "Waits until it is complete. Raises CommunicationError if a rank has failed.")
      .def("done", &StartedCall::done, released, "Whether it is complete; asking advances it.")
      .def("wait_for", &StartedCall::wait_for, py::arg("seconds"), released,
           "Waits at most that long. Returns whether it is complete.")
      .def_property_readonly(
          "received",
          [](const StartedCall& call) {
            return std::pair(call.received.from, call.received.elements);
          },
          "Sender and number of elements of a completed receive.")
      .def_property_readonly(
          "used", &resources_used,
          "Resources of a completed call with resources (Communicator.with_options): what it ran "
          "with, and what was ignored, with the reason; else None.");
  communicator
      .def("start_all_reduce", &start_all_reduce, py::arg("tensor"), py::arg("reduction") = "sum",
           released,
           "Reduces in place, a d5.Tensor or a writable dense array; `reduction`: sum, "
           "maximum or minimum.")
      .def("start_broadcast", &start_broadcast, py::arg("tensor"), py::arg("root") = 0, released,
           "Overwrites the tensor with that of rank `root`.")
      .def("start_all_gather", &start_all_gather, py::arg("mine"), py::arg("all"),
           py::arg("counts") = equal, released,
           "Gathers every rank's `mine` into `all`; `counts` are the numbers of elements of each, "
           "if they differ.")
      .def(
          "start_reduce_scatter", &start_reduce_scatter, py::arg("all"), py::arg("mine"),
          py::arg("reduction") = "sum", py::arg("counts") = equal, released,
          "Reduces `all`, which holds a part for each rank, and puts this rank's part into `mine`; "
          "`reduction`: sum, maximum or minimum.")
      .def("start_gather", &start_gather, py::arg("mine"), py::arg("all"), py::arg("root") = 0,
           released, "`all` is None elsewhere than on `root`.")
      .def("start_scatter", &start_scatter, py::arg("all"), py::arg("mine"), py::arg("root") = 0,
           released, "`all` is None elsewhere than on `root`.")
      .def("start_all_to_all", &start_all_to_all, py::arg("to_each"), py::arg("from_each"),
           py::arg("to_counts") = equal, py::arg("from_counts") = equal, released,
           "Sends a part of `to_each` to each rank, and receives one from each into `from_each`; "
           "counts are numbers of elements, if they differ.")
      .def("start_barrier", &start_barrier, released, "Completes when all ranks have called it.")
      .def("start_send", &start_send, py::arg("tensor"), py::arg("to"), py::arg("tag") = 0,
           released, "Sends the tensor to rank `to`, which receives it with the same `tag`.")
      .def("start_receive", &start_receive, py::arg("tensor"), py::arg("source"),
           py::arg("tag") = 0, released, "Receives from any rank if `source` is -1.")
      .def(
          "scale_local",
          [](Communicator& ranks, WrittenTensor data, double factor) {
            ranks.scale_local(data.tensor, factor);
          },
          py::arg("tensor"), py::arg("factor"), released, "Scales this rank's tensor in place.")
      .def("split", &Communicator::split, py::arg("color"), py::arg("order") = 0, released,
           "Group of the ranks with the same `color`; None for a negative one. A collective.")
      .def("group", &Communicator::group, py::arg("ranks"), released,
           "Group of these ranks, in this order. A collective of them alone.");
}

}  // namespace d5::python
