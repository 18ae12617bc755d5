// SPDX-License-Identifier: Apache-2.0
// com.microsoft's GatherBlockQuantized: rows of a table with block-wise quantization, as for
// embeddings of language models.
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/operator/packed_elements.hpp"

namespace d5::ops {
namespace {

using View = onnx::nodes::microsoft::GatherBlockQuantized;
using In = View::In;
using detail::Composition;
using detail::Term;

/// y = (data - zero point) scale, for the gathered elements.
///
/// Shapes: scales and zero points have one element per `block_size` elements along `quantize_axis`.
/// uint8 data packs elements of `bits` in the bytes of the last dimension, the first in the low
/// bits, and so do its zero points, which default to half the range.
class GatherBlockQuantized final : public detail::ComposedOperator {
 public:
  explicit GatherBlockQuantized(const View& view)
      : gather_axis_(view.gather_axis()),
        quantize_axis_(view.quantize_axis()),
        block_size_(view.block_size()),
        bits_(view.bits()) {}

  [[nodiscard]] Places gradients() const override { return {In::scales}; }

 protected:
  void compose(Composition& c) const override {
    const Term data = movable(c, c.input(In::data)), scales = c.input(In::scales);
    const std::string who = c.context().who();
    const std::size_t rank = c.shape(data).rank();
    const std::size_t from = normalize_axis(gather_axis_, rank, who);
    const std::size_t blocks = normalize_axis(quantize_axis_, rank, who);
    if (from == blocks) {
      throw ValueError(fmt::format(
          "{}: gather_axis and quantize_axis are both {}, expected two dimensions", who, from));
    }
    const bool is_packed = c.context().dtype(In::data) == DType::uint8;
    if (is_packed && bits_ != 8 && from + 1 == rank) {
      throw Unsupported(
          fmt::format("{}: gather_axis is {}, along which elements are packed in bytes; expected "
                      "another dimension",
                      who, gather_axis_));
    }
    const auto gathered = [&](Term term) {
      return c.add("Gather", {term, c.input(In::indices)}, {{"axis", std::int64_t(from)}});
    };
    const auto elements = [&](Term term) {
      return is_packed ? detail::unpacked(c, gathered(term), bits_, detail::FirstElement::low)
                       : gathered(term);
    };
    const Term scale = gathered(scales);
    const Shape numbers = c.shape(scale);  // shape of scales and zero points
    Term zero = c.input(In::zero_points);
    if (zero) {
      zero = first_ones(c, elements(movable(c, zero)), numbers);
    } else if (is_packed) {
      Tensor half = Tensor::empty(DType::uint8, numbers);
      for (std::uint8_t& value : half.span<std::uint8_t>()) value = std::uint8_t(1 << (bits_ - 1));
      zero = c.constant(half);
    }
    const auto added = std::int64_t(c.shape(c.input(In::indices)).rank()) - 1;
    const std::int64_t axis = std::int64_t(blocks) + (blocks > from ? added : 0);
    c.output(0, c.add("DequantizeLinear", {elements(data), scale, zero},
                      {{"axis", axis}, {"block_size", block_size_}}));
  }

 private:
  /// ONNX's Gather does not support 4-bit elements.
  static Term movable(Composition& c, Term x) {
    const DType type = c.desc(x).dtype;
    if (type != DType::int4 && type != DType::uint4) return x;
    const DType byte = type == DType::int4 ? DType::int8 : DType::uint8;
    return c.add("Cast", {x}, {{"to", std::int64_t(byte)}});
  }
  /// Drops elements in the last bytes beyond the number of scales.
  static Term first_ones(Composition& c, Term x, const Shape& scales) {
    if (c.shape(x) == scales || scales.rank() == 0) return x;
    const std::int64_t last = std::int64_t(scales.rank()) - 1;
    return c.add("Slice",
                 {x, c.integers({0}), c.integers({scales[std::size_t(last)]}), c.integers({last})});
  }

  std::int64_t gather_axis_, quantize_axis_, block_size_, bits_;
};

}  // namespace

void register_gather_block_quantized(OperatorRegistry& registry) {
  registry.add<GatherBlockQuantized, View>();
}

}  // namespace d5::ops
