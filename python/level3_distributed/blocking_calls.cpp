// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/blocking_calls.hpp"

#include <optional>

#include "d5/core/errors/error.hpp"
#include "level3_distributed/python_request.hpp"
#include "level3_distributed/written_tensor.hpp"

namespace d5::python {
namespace {

/// The given tensor, or memory for `parts` tensors like `like`, one after the other.
Tensor given_or_fresh(std::optional<WrittenTensor> given, const Tensor& like, std::int64_t parts,
                      const RankCounts& counts) {
  if (given) return given->tensor;
  if (!counts.empty()) {
    throw ValueError("ranks have different numbers of elements: give the tensor for the result");
  }
  std::vector<std::int64_t> dims{parts};
  const auto own = like.shape().dims();
  dims.insert(dims.end(), own.begin(), own.end());
  return Tensor::empty(like.dtype(), Shape(std::move(dims)));
}

/// Part 0 of `parts` along the first dimension.
Tensor part_like(const Tensor& all, std::int64_t parts) {
  std::vector<std::int64_t> dims(all.shape().begin(), all.shape().end());
  if (dims.empty() || dims[0] % parts != 0) {
    throw ShapeError("a tensor of " + to_string(all.desc()) + " has no part for each of " +
                     std::to_string(parts) + " ranks; give the tensor for the result");
  }
  dims[0] /= parts;
  return Tensor::empty(all.dtype(), Shape(std::move(dims)));
}

Tensor run_all_gather(Communicator& ranks, ReadTensor mine, std::optional<WrittenTensor> all,
                      const RankCounts& counts) {
  Tensor result = given_or_fresh(std::move(all), mine.tensor, ranks.size(), counts);
  ranks.all_gather(mine.tensor, result, counts);
  return result;
}

Tensor run_reduce_scatter(Communicator& ranks, ReadTensor all, std::optional<WrittenTensor> mine,
                          const std::string& reduction, const RankCounts& counts) {
  Tensor result = mine ? mine->tensor : part_like(all.tensor, ranks.size());
  ranks.reduce_scatter(all.tensor, result, reduction_of(reduction), counts);
  return result;
}

std::optional<Tensor> run_gather(Communicator& ranks, ReadTensor mine,
                                 std::optional<WrittenTensor> all, int root,
                                 const RankCounts& counts) {
  const bool is_root = ranks.rank() == root;
  Tensor result =
      is_root ? given_or_fresh(std::move(all), mine.tensor, ranks.size(), counts) : Tensor();
  ranks.gather(mine.tensor, result, root, counts);
  if (is_root) return result;
  return std::nullopt;
}

Tensor run_scatter(Communicator& ranks, std::optional<ReadTensor> all, WrittenTensor mine, int root,
                   const RankCounts& counts) {
  ranks.scatter(all.value_or(ReadTensor()).tensor, mine.tensor, root, counts);
  return mine.tensor;
}

Tensor run_all_to_all(Communicator& ranks, ReadTensor to_each,
                      std::optional<WrittenTensor> from_each, const RankCounts& to_counts,
                      const RankCounts& from_counts) {
  if (!from_each && !from_counts.empty()) {
    throw ValueError("ranks send different numbers of elements: give the tensor for the result");
  }
  Tensor result = from_each ? from_each->tensor : Tensor::empty(to_each.tensor.desc());
  ranks.all_to_all(to_each.tensor, result, to_counts, from_counts);
  return result;
}

std::pair<int, std::int64_t> run_receive(Communicator& ranks, WrittenTensor into, int source,
                                         int tag) {
  Received received;
  ranks.receive(into.tensor, source, tag, &received);
  return {received.from, received.elements};
}

Tensor run_all_reduce(Communicator& ranks, WrittenTensor data, const std::string& reduction) {
  ranks.all_reduce(data.tensor, reduction_of(reduction));
  return data.tensor;
}

Tensor run_broadcast(Communicator& ranks, WrittenTensor data, int root) {
  ranks.broadcast(data.tensor, root);
  return data.tensor;
}

}  // namespace

void bind_blocking_calls(CommunicatorClass& communicator) {
  const auto released = py::call_guard<py::gil_scoped_release>();
  const RankCounts equal;
  communicator
      .def("all_reduce", &run_all_reduce, py::arg("tensor"), py::arg("reduction") = "sum", released,
           "Reduces in place over all ranks, a d5.Tensor or a writable dense array; `reduction`: "
           "sum, maximum or minimum.")
      .def("broadcast", &run_broadcast, py::arg("tensor"), py::arg("root") = 0, released,
           "Overwrites the tensor, or a writable dense array, with that of rank `root`.")
      .def("all_gather", &run_all_gather, py::arg("mine"), py::arg("all") = py::none(),
           py::arg("counts") = equal, released,
           "Gathers every rank's `mine`, one after the other, into `all` if it is given, else into "
           "a new tensor of {ranks, mine's shape...}. `counts` are the numbers of elements of each "
           "rank, if they differ.")
      .def("reduce_scatter", &run_reduce_scatter, py::arg("all"), py::arg("mine") = py::none(),
           py::arg("reduction") = "sum", py::arg("counts") = equal, released,
           "Reduces `all`, and returns this rank's part; `reduction`: sum, maximum or minimum.")
      .def("gather", &run_gather, py::arg("mine"), py::arg("all") = py::none(), py::arg("root") = 0,
           py::arg("counts") = equal, released, "Like all_gather, to `root` alone; None elsewhere.")
      .def("scatter", &run_scatter, py::arg("all"), py::arg("mine"), py::arg("root") = 0,
           py::arg("counts") = equal, released,
           "Copies this rank's part of root's `all` to `mine`; `all` is None elsewhere.")
      .def("all_to_all", &run_all_to_all, py::arg("to_each"), py::arg("from_each") = py::none(),
           py::arg("to_counts") = equal, py::arg("from_counts") = equal, released,
           "Sends a part to each rank, and receives one from each.")
      .def(
          "send",
          [](Communicator& ranks, ReadTensor tensor, int to, int tag) {
            ranks.send(tensor.tensor, to, tag);
          },
          py::arg("tensor"), py::arg("to"), py::arg("tag") = 0, released,
          "Sends the tensor to rank `to`, which receives it with the same `tag`.")
      .def("receive", &run_receive, py::arg("tensor"), py::arg("source"), py::arg("tag") = 0,
           released,
           "Returns the sender, and the number of elements; receives from any rank if `source` is "
           "-1.")
      .def("barrier", &Communicator::barrier, released, "Waits until all ranks have called it.");
}

}  // namespace d5::python
