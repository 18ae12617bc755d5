// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <span>
#include <string>

#include "d5/core/tensor/tensor.hpp"

namespace d5::onednn {

using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;

/// `undef` for a type that oneDNN lacks. A boolean is a byte of 0 or 1.
[[nodiscard]] dnnl::memory::data_type data_type(DType dtype);
[[nodiscard]] Dims dims_of(const Shape& shape);

/// Dense and row-major. A scalar is one element of one dimension.
[[nodiscard]] Desc rows(const Dims& dims, dnnl::memory::data_type type);
[[nodiscard]] Desc rows(const TensorDesc& desc);
/// `desc` in a layout that the primitive chooses.
[[nodiscard]] Desc any(const Desc& desc);
/// Row-major elements of `desc`'s shape with leading dimensions of 1, to broadcast to `rank`
/// dimensions.
[[nodiscard]] Desc padded_rows(const TensorDesc& desc, std::size_t rank);
/// Swaps the last two dimensions, without moving elements.
[[nodiscard]] Desc transposed(const Desc& desc);

/// Name of a layout as in oneDNN's verbose mode: "aBcd16b", outer dimensions from the slowest to
/// the fastest, blocked ones in capitals, then the blocks.
[[nodiscard]] std::string layout_name(const Desc& desc);
/// "2x3x4"
[[nodiscard]] std::string shape_name(const Desc& desc);

class Pass;
struct Argument;

/// A layout of oneDNN, which its other primitives accept.
class Blocked : public Arrangement {
 public:
  /// `rows`: the row-major layout of the same elements, in `desc`'s dimensions, which may be
  /// permuted or split compared with the tensor's.
  Blocked(Desc desc, Desc rows);
  [[nodiscard]] const Desc& desc() const { return desc_; }
  [[nodiscard]] const Desc& rows() const { return rows_; }
  [[nodiscard]] std::string name() const override { return layout_name(desc_); }
  [[nodiscard]] std::size_t bytes() const override { return desc_.get_size(); }
  [[nodiscard]] bool equals(const Arrangement& other) const override;
  /// Prepares the reorder to `desc`: returns `x`, laid out as `rows`, unless elements move in a way
  /// that no layout can express.
  [[nodiscard]] virtual Argument prepared(Pass& pass, const Argument& x) const;
  /// Whether a reorder converts it back to row-major.
  [[nodiscard]] virtual bool is_layout() const { return true; }

 private:
  Desc desc_, rows_;
};

/// Null if the elements are row-major, or in another framework's layout.
[[nodiscard]] const Blocked* blocked(const TensorDesc& desc);

}  // namespace d5::onednn
