// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "d5/level0_ops/operator/plan_context.hpp"
#include "level0_ops/kernels/parallel_each.hpp"
#include "level0_ops/kernels/strided_loop.hpp"

namespace d5::detail {

/// Where the entries of an index tensor point into a tensor, the data: each to a run of `inner`
/// elements.
///
///     std::int64_t* places = context.scratch_as<std::int64_t>();
///     indexed.find(context.input(1), context.node(), places);
///     indexed.visit(places, [=](auto place, auto i) { dx[place] += dy[i]; });
class IndexedPlaces {
 public:
  /// An entry is the place along `axis` of one element; along the other dimensions it points to
  /// where it stands itself. Input 0 is the data, input 1 has the indices.
  static IndexedPlaces along_axis(const InferContext& context, std::size_t axis);
  /// An entry is a row of the indices' last dimension: coordinates of a slice, in the dimensions of
  /// the data that follow the first `batch_dims`, which both have.
  static IndexedPlaces of_slices(const InferContext& context, std::size_t batch_dims);

  /// The shape of what is pointed to. Throws: ShapeError where indices and data do not fit.
  static const Shape& shape_along_axis(const InferContext& context, std::size_t axis);
  static Shape shape_of_slices(const InferContext& context, std::size_t batch_dims);

  /// What `find` fills: one place an entry.
  [[nodiscard]] std::size_t scratch_bytes() const {
    return std::size_t(entries_) * sizeof(std::int64_t);
  }

  /// Writes for each entry where its run begins.
  /// Throws: ValueError for an index outside [-size, size), naming the node.
  void find(const Tensor& indices, const onnx::Node& node, std::int64_t* places) const {
    find_(*this, indices, node, places);
  }

  /// Calls `f(element of the data, element among those that are pointed to)`, in order.
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
  static constexpr std::int64_t kGrain = 16384;  // elements; below it a thread costs more
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

  StridedLoop bases_;  // operand 0: the entries; operand 1: where in the data they count from
  std::vector<Coordinate> coordinates_;  // those that an entry holds
  std::int64_t entries_, inner_;
  Find find_ = nullptr;
};

}  // namespace d5::detail
