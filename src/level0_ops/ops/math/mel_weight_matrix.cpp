// SPDX-License-Identifier: Apache-2.0
// MelWeightMatrix: triangles over the bins of a spectrum, evenly spaced on the mel scale.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "d5/onnx/schema.hpp"
#include "level0_ops/kernels/output_type.hpp"
#include "level0_ops/operator/conversion.hpp"

namespace d5::ops {
namespace {

using MelWeightMatrixView = onnx::nodes::MelWeightMatrix;

double mel(double hertz) { return 2595 * std::log1p(hertz / 700) / std::numbers::ln10; }
double hertz(double mel) { return 700 * std::expm1(mel / 2595 * std::numbers::ln10); }

class MelKernel final : public Kernel {
 public:
  explicit MelKernel(PlanContext& context)
      : read_edge_(context.dtype(MelWeightMatrixView::In::lower_edge_hertz), DType::float64),
        read_count_(context.dtype(MelWeightMatrixView::In::sample_rate), DType::float64),
        write_(DType::float64, context.output(0).dtype),
        rows_(context.output(0).shape[0]),
        columns_(context.output(0).shape[1]) {
    context.request_scratch(sizeof(double) * std::size_t(rows_ * columns_));
  }

  void forward(OpContext& context) override {
    const double low = read(read_edge_, context.input(MelWeightMatrixView::In::lower_edge_hertz));
    const double high = read(read_edge_, context.input(MelWeightMatrixView::In::upper_edge_hertz));
    const double rate = read(read_count_, context.input(MelWeightMatrixView::In::sample_rate));
    if (!(low >= 0 && low <= high && rate > 0)) {
      throw ValueError(
          fmt::format("{}: the edges are {} and {} Hz, the sample rate {} Hz; expected 0 <= lower "
                      "<= upper and a positive rate",
                      context.who(), low, high, rate));
    }
    const double length = read(read_count_, context.input(MelWeightMatrixView::In::dft_length));
    const double step = (mel(high) - mel(low)) / double(columns_ + 2);
    const auto bin = [&](std::int64_t i) {
      return std::floor((length + 1) * hertz(mel(low) + double(i) * step) / rate);
    };
    if (columns_ > 0 && !(bin(columns_ + 1) <= double(rows_))) {
      throw ValueError(
          fmt::format("{}: an upper edge of {} Hz lies beyond the {} bins of the "
                      "spectrum; expected at most half of the sample rate, {} Hz",
                      context.who(), high, rows_, rate / 2));
    }
    double* y = context.scratch_as<double>();
    std::fill_n(y, rows_ * columns_, 0.0);
    for (std::int64_t i = 0; i < columns_; ++i) triangle(bin(i), bin(i + 1), bin(i + 2), y + i);
    write_.run(context.output(0).raw(), y, rows_ * columns_);
  }

 private:
  static double read(const detail::Conversion& conversion, const Tensor& tensor) {
    double value = 0;
    conversion.run(&value, tensor.raw(), 1);
    return value;
  }
  /// Rises from 0 at the lower bin to 1 at the centre, and falls to 0 at the upper bin.
  void triangle(double lower, double centre, double upper, double* column) const {
    const auto at = [&](double bin) -> double& { return column[std::int64_t(bin) * columns_]; };
    for (double bin = lower; bin < centre; ++bin) at(bin) = (bin - lower) / (centre - lower);
    if (centre < double(rows_)) at(centre) = 1;
    for (double bin = centre + 1; bin < upper; ++bin) at(bin) = (upper - bin) / (upper - centre);
  }

  detail::Conversion read_edge_, read_count_, write_;
  std::int64_t rows_, columns_;
};

/// Shapes: all inputs are scalars; y is (dft_length / 2 + 1) x num_mel_bins.
class MelWeightMatrix final : public ElementwiseOperator {
 public:
  explicit MelWeightMatrix(const MelWeightMatrixView& view)
      : type_(detail::output_type(view.node(), "output_datatype", view.output_datatype())) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    for (std::size_t i = 0; i < context.input_count(); ++i) {
      if (context.shape(i).elements() == 1) continue;
      throw ShapeError(fmt::format("{}: {} is {}, expected one number", context.who(),
                                   onnx::describe_input(context.node(), i),
                                   to_string(context.shape(i))));
    }
    const auto bins = context.integers(MelWeightMatrixView::In::num_mel_bins);
    const auto length = context.integers(MelWeightMatrixView::In::dft_length);
    if (bins.is_untold() || length.is_untold()) {
      return {TensorDesc{type_, {kUnknownDim, kUnknownDim}}};
    }
    const std::int64_t n = length.values()[0], columns = bins.values()[0];
    if (n < 1 || columns < 0) {
      throw ValueError(
          fmt::format("{}: dft_length is {} and num_mel_bins {}, expected 1 or more and 0 or more",
                      context.who(), n, columns));
    }
    return {TensorDesc{type_, {n / 2 + 1, columns}}};
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return std::make_unique<MelKernel>(context);
  }

 private:
  DType type_;
};

}  // namespace

void register_mel_weight_matrix(OperatorRegistry& registry) {
  registry.add<MelWeightMatrix, MelWeightMatrixView>();
}

}  // namespace d5::ops
