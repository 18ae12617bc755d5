// SPDX-License-Identifier: Apache-2.0
// DepthToSpace and SpaceToDepth: move elements between channels and square blocks of an image.
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/moving/strided_copy_kernel.hpp"

namespace d5::ops {
namespace {

namespace nodes = onnx::nodes;

/// One side is n x c x (h b) x (w b), the other n x (c b b) x h x w. The depth is ordered by
/// position in the block, then channel (DCR); or by channel, then position (CRD).
class BlockMove : public MovingOperator {
 public:
  template <class View>
  explicit BlockMove(const View& view)
      : block_(view.blocksize()), channel_first_(channel_first(view.node(), view.mode())) {
    std::int64_t area;
    if (block_ < 1 || __builtin_mul_overflow(block_, block_, &area)) {
      throw ValueError(
          fmt::format("{}: blocksize is {}, expected 1 or more, with a square in 64 "
                      "bits",
                      onnx::describe(view.node()), block_));
    }
  }

  Places gradients() const override { return {0}; }

 protected:
  static const TensorDesc& image(const InferContext& context) {
    const TensorDesc& x = context.input(0);
    if (x.shape.rank() != 4) {
      throw ShapeError(fmt::format("{}: the input is {}, expected four dimensions", context.who(),
                                   to_string(x.shape)));
    }
    return x;
  }
  static void multiply(std::int64_t& dim, std::int64_t by, const InferContext& context) {
    if (__builtin_mul_overflow(dim, by, &dim)) {
      throw ShapeError(
          fmt::format("{}: a dimension of {} cannot be {} times as large", context.who(), dim, by));
    }
  }
  static void divide(std::int64_t& dim, std::int64_t by, const InferContext& context) {
    if (dim % by != 0) {
      throw ShapeError(
          fmt::format("{}: a dimension of {} is not a multiple of {}", context.who(), dim, by));
    }
    dim /= by;
  }

  enum class Output { depth, space };
  /// Shapes: `depth` is the side with more channels.
  [[nodiscard]] std::unique_ptr<Kernel> move(DType dtype, const Shape& depth, Output output) const {
    return std::make_unique<detail::StridedCopyKernel>(
        detail::StridedCopy(dtype, walk(depth, output)));
  }

  std::int64_t block_;

 private:
  static bool channel_first(const onnx::Node& node, const std::string& mode) {
    if (mode == "DCR") return false;
    if (mode == "CRD") return true;
    throw ValueError(
        fmt::format("{}: mode is {}, expected DCR or CRD", onnx::describe(node), printable(mode)));
  }

  /// Operand 0 is the output.
  [[nodiscard]] detail::StridedLoop walk(const Shape& depth, Output output) const {
    detail::StridedLoop loop(2);
    if (depth.elements() == 0) {  // the blocks' size may overflow a step
      loop.add(0, {0, 0});
      return loop;
    }
    const std::int64_t b = block_, area = b * b, c = depth[1] / area, h = depth[2], w = depth[3];
    const std::int64_t plane = h * w, channel = channel_first_ ? area * plane : plane;
    const std::int64_t place = channel_first_ ? plane : c * plane;
    const auto add = [&](std::int64_t size, std::int64_t in_space, std::int64_t in_depth) {
      if (output == Output::space) {
        loop.add(size, {in_space, in_depth});
      } else {
        loop.add(size, {in_depth, in_space});
      }
    };
    add(depth[0], c * area * plane, c * area * plane);
    add(c, area * plane, channel);
    add(h, area * w, w);
    add(b, b * w, b * place);
    add(w, b, 1);
    add(b, 1, place);
    return loop;
  }

  bool channel_first_;
};

class DepthToSpace final : public BlockMove {
 public:
  using BlockMove::BlockMove;
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    TensorDesc y = image(context);
    divide(y.shape[1], block_ * block_, context);
    multiply(y.shape[2], block_, context);
    multiply(y.shape[3], block_, context);
    return {y};
  }
  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return move(context.dtype(0), context.shape(0), Output::space);
  }
};

class SpaceToDepth final : public BlockMove {
 public:
  using BlockMove::BlockMove;
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    TensorDesc y = image(context);
    multiply(y.shape[1], block_ * block_, context);
    divide(y.shape[2], block_, context);
    divide(y.shape[3], block_, context);
    return {y};
  }
  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return move(context.dtype(0), context.output(0).shape, Output::depth);
  }
};

}  // namespace

void register_depth_to_space(OperatorRegistry& registry) {
  registry.add<DepthToSpace, nodes::DepthToSpace>();
  registry.add<SpaceToDepth, nodes::SpaceToDepth>();
}

}  // namespace d5::ops
