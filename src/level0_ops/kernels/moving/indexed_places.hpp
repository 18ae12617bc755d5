// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "d5/level0_ops/operator/plan_context.hpp"
#include "level0_ops/kernels/parallel_each.hpp"
#include "level0_ops/kernels/strided_loop.hpp"

namespace d5::detail {

/// Maps the entries of an index tensor to the data: each points to a run of `inner` elements.
///
///     std::int64_t* places = context.scratch_as<std::int64_t>();
///     indexed.find(context.input(1), context.node(), places);
///     indexed.visit(places, [=](auto place, auto i) { dx[place] += dy[i]; });
class IndexedPlaces {
 public:
  /// An entry is an element's index along `axis`; along the other dimensions it points to its own
  /// position. Input 0 is the data, input 1 has the indices.
  static IndexedPlaces along_axis(const InferContext& context, std::size_t axis);
  /// An entry is a row of the indices' last dimension: coordinates of a slice, in the data's
  /// dimensions after the first `batch_dims`, which are common.
  static IndexedPlaces of_slices(const InferContext& context, std::size_t batch_dims);

  /// The shape of the addressed elements. Throws: ShapeError if indices and data do not match.
  static const Shape& shape_along_axis(const InferContext& context, std::size_t axis);
  static Shape shape_of_slices(const InferContext& context, std::size_t batch_dims);

  /// Size of the memory for `find`: one place per entry.
  [[nodiscard]] std::size_t scratch_bytes() const {
    return std::size_t(entries_) * sizeof(std::int64_t);
  }

  /// Writes the begin of each entry's run.
  /// Throws: ValueError for an index outside [-size, size), naming the node.
  void find(const Tensor& indices, const onnx::Node& node, std::int64_t* places) const {
    find_(*this, indices, node, places);
  }

  /// Calls `f(element of the data, addressed element)`, in order.
  template <class F>
  void visit(const std::int64_t* places, const F& f) const {
    for (std::int64_t i = 0; i < entries_; ++i) visit_run(places, i, f);
  }
  /// The same in any order, on several threads.
  template <class F>
  void visit_any(const std::int64_t* places, const F& f) const {
    parallel_for_each(entries_, inner_, kGrain, [&](auto i) { visit_run(places, i, f); });
  }

 private:
  // Elements; below, a thread costs more than it saves.
  static constexpr std::int64_t kGrain = 16384;
  struct Coordinate {
    std::int64_t size, stride;
  };
  using Find = void (*)(const IndexedPlaces&, const Tensor&, const onnx::Node&, std::int64_t*);

  IndexedPlaces(DType index_type, StridedLoop bases, std::vector<Coordinate> coordinates,
                std::int64_t inner);

  template <class F>
  void visit_run(const std::int64_t* places, std::int64_t i, const F& f) const {
    for (std::int64_t j = 0; j < inner_; ++j) f(places[i] + j, i * inner_ + j);
  }
  template <class I>
  static void find_as(const IndexedPlaces& self, const Tensor& indices, const onnx::Node& node,
                      std::int64_t* places);

  StridedLoop bases_;  // operand 0: the entries; operand 1: their origins in the data
  std::vector<Coordinate> coordinates_;  // an entry's coordinates
  std::int64_t entries_, inner_;
  Find find_ = nullptr;
};

}  // namespace d5::detail
