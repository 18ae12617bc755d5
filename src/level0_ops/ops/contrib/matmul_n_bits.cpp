// SPDX-License-Identifier: Apache-2.0
// com.microsoft's MatMulNBits: a product with block-wise quantized weights of 2, 4 or 8 bits, as in
// ONNX Runtime's large language models.
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/expected_shape.hpp"
#include "level0_ops/kernels/parallel_each.hpp"
#include "level0_ops/operator/composed_operator.hpp"

namespace d5::ops {
namespace {

using MatMulNBitsView = onnx::nodes::microsoft::MatMulNBits;
using In = MatMulNBitsView::In;
using detail::Composition;
using detail::Term;

/// Numbers of a few bits packed in bytes, the first in the lowest bits; each row begins with a new
/// byte.
struct Bits {
  std::int64_t bits;
  [[nodiscard]] std::int64_t per_byte() const { return 8 / bits; }
  [[nodiscard]] std::int64_t bytes(std::int64_t numbers) const {
    return (numbers + per_byte() - 1) / per_byte();
  }
  [[nodiscard]] int at(const std::uint8_t* row, std::int64_t i) const {
    return row[i / per_byte()] >> (i % per_byte() * bits) & ((1 << bits) - 1);
  }
};

/// N columns of K numbers, in blocks of `block` consecutive ones.
struct BlockLayout {
  std::int64_t n, k, block;
  Bits bits;
  [[nodiscard]] std::int64_t blocks() const { return (k + block - 1) / block; }
};

/// w = (q - zero point) scale; the default zero point is half of the range.
template <class T>
class BlockWeightsKernel final : public Kernel {
 public:
  BlockWeightsKernel(const BlockLayout& layout, bool packs_zeros)
      : s_(layout), packs_zeros_(packs_zeros) {}

  void forward(OpContext& context) override {
    const auto* q = context.input(0).data<std::uint8_t>();
    const T* scales = context.input(1).data<T>();
    const std::int32_t* groups =
        context.has_input(3) ? context.input(3).data<std::int32_t>() : nullptr;
    check(groups, context);
    T* w = context.output(0).data<T>();
    const std::int64_t blocks = s_.blocks(), row = blocks * s_.bits.bytes(s_.block);
    detail::parallel_for_each(s_.n, s_.k, 16384, [&](std::int64_t n) {
      for (std::int64_t k = 0; k < s_.k; ++k) {
        const std::int64_t block = groups ? groups[k] : k / s_.block;
        const T zero = zero_of(context, n, block);
        w[n * s_.k + k] = (T(s_.bits.at(q + n * row, k)) - zero) * scales[n * blocks + block];
      }
    });
  }

 private:
  void check(const std::int32_t* groups, const OpContext& context) const {
    for (std::int64_t k = 0; groups && k < s_.k; ++k) {
      if (groups[k] >= 0 && groups[k] < s_.blocks()) continue;
      throw ValueError(fmt::format("{}: g_idx has {}, expected 0 to {}", context.who(), groups[k],
                                   s_.blocks() - 1));
    }
  }
  T zero_of(const OpContext& context, std::int64_t n, std::int64_t block) const {
    if (!context.has_input(2)) return T(1 << (s_.bits.bits - 1));
    const Tensor& zeros = context.input(2);
    if (!packs_zeros_) return zeros.data<T>()[n * s_.blocks() + block];
    return T(s_.bits.at(zeros.data<std::uint8_t>() + n * s_.bits.bytes(s_.blocks()), block));
  }

  BlockLayout s_;
  bool packs_zeros_;
};

/// Dequantizes B with scales, zero points and g_idx to N x K numbers.
class BlockWeights final : public Operator {
 public:
  explicit BlockWeights(const BlockLayout& layout) : layout_(layout) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {TensorDesc{context.dtype(1), {layout_.n, layout_.k}}};
  }
  /// A difference and a product per element.
  Cost cost(const InferContext& context) const override {
    return with_flop(context, 2.0 * double(layout_.n) * double(layout_.k));
  }
  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const bool packs = context.has_input(2) && context.dtype(2) == DType::uint8;
    return kernel_for(RealTypes{}, context.dtype(1), context, [&]<class T>() {
      return std::make_unique<BlockWeightsKernel<T>>(layout_, packs);
    });
  }

 private:
  BlockLayout layout_;
};

/// y = a w^T + bias. Shapes: A is ... x K, B is N x blocks x bytes of a block, scales have N x
/// blocks numbers, and so have zero points, or N rows of packed ones; y is ... x N.
class MatMulNBits final : public detail::ComposedOperator {
 public:
  explicit MatMulNBits(const MatMulNBitsView& view)
      : layout_{view.N(), view.K(), view.block_size(), {view.bits()}} {
    const std::string who = onnx::describe(view.node());
    const std::int64_t bits = view.bits();
    if (bits != 2 && bits != 4 && bits != 8) {
      throw Unsupported(fmt::format("{}: bits is {}, expected 2, 4 or 8", who, bits));
    }
    if (view.weight_prepacked() != 0) {
      throw Unsupported(
          fmt::format("{}: its weights are packed for one processor; give them with "
                      "weight_prepacked 0",
                      who));
    }
    for (const auto& [name, size] : {std::pair{"N", layout_.n}, std::pair{"K", layout_.k},
                                     std::pair{"block_size", layout_.block}}) {
      if (size >= 1) continue;
      throw ValueError(fmt::format("{}: {} is {}, expected 1 or more", who, name, size));
    }
    if (layout_.block % layout_.bits.per_byte() != 0) {
      throw ValueError(fmt::format("{}: block_size is {}, expected whole bytes of {} bits", who,
                                   layout_.block, bits));
    }
  }

  /// Excludes the quantized inputs.
  Places gradients() const override { return {In::A, In::bias}; }

 protected:
  void compose(Composition& c) const override {
    check(c.context());
    const Term w =
        c.add(1, std::make_shared<BlockWeights>(layout_), "BlockWeights",
              {c.input(In::B), c.input(In::scales), c.input(In::zero_points), c.input(In::g_idx)})
            .front();
    const Term columns = c.add("Transpose", {w}, {{"perm", std::vector<std::int64_t>{1, 0}}});
    Term y = c.add("MatMul", {c.input(In::A), columns});
    if (const Term bias = c.input(In::bias)) y = c.add("Add", {y, bias});
    c.output(0, y);
  }

 private:
  void check(const InferContext& context) const {
    const std::int64_t blocks = layout_.blocks();
    detail::expect_shape(context, In::B, "B",
                         {layout_.n, blocks, layout_.bits.bytes(layout_.block)});
    expect_elements(context, In::scales, "scales", layout_.n * blocks);
    const bool packs =
        context.has_input(In::zero_points) && context.dtype(In::zero_points) == DType::uint8;
    expect_elements(context, In::zero_points, "zero_points",
                    layout_.n * (packs ? layout_.bits.bytes(blocks) : blocks));
    expect_elements(context, In::bias, "bias", layout_.n);
    if (!context.has_input(In::g_idx)) return;
    const std::int64_t given = context.shape(In::g_idx).elements();
    if (given != layout_.k && given != blocks * layout_.block) {
      throw ShapeError(
          fmt::format("{}: g_idx has {} elements, expected {}", context.who(), given, layout_.k));
    }
  }
  /// Accepts lists and matrices, because exporters write both.
  static void expect_elements(const InferContext& context, std::size_t i, std::string_view name,
                              std::int64_t expected) {
    if (!context.has_input(i) || context.shape(i).elements() == expected) return;
    throw ShapeError(fmt::format("{}: {} is {}, expected {} elements", context.who(), name,
                                 to_string(context.shape(i)), expected));
  }

  BlockLayout layout_;
};

}  // namespace

void register_matmul_n_bits(OperatorRegistry& registry) {
  registry.add<MatMulNBits, MatMulNBitsView>();
}

}  // namespace d5::ops
