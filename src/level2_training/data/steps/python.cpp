// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "core/entries/path_option.hpp"
#include "core/tensor/shape_text.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/own_steps.hpp"
#include "d5/level2_training/data/sample_step.hpp"
#include "level2_training/data/python/python_worker.hpp"

namespace d5 {
namespace {

using detail::PythonFunction;

struct PythonStepOptions {
  std::string function, type, shape;
  double seconds = 60;
  void declare(OptionList& options) {
    options.add("function", function,
                "FILE.py::NAME, which takes a numpy array (uint8 for the bytes of a file) and "
                "returns one",
                detail::function_text());
    options.add("type", type, "element type of the result; empty: that of the argument");
    options.add("shape", shape,
                "shape of the result, such as 3x224x224; ? stands for any size; empty: that of the "
                "argument");
    options.add("seconds", seconds, "time limit for a call", {.above = 0, .most = 3600});
  }
};

Shape shape_of(const std::string& text) {
  if (const auto shape = detail::shape_in(text)) return *shape;
  throw ValueError(fmt::format("step python: shape '{}', expected sizes as 3x224x224 or ?x?x3",
                               printable(text)));
}

/// The argument that a sample is: the bytes of a file are numbers.
TensorDesc argument_of(const TensorDesc& in) {
  if (in.dtype != DType::string) return in;
  if (in.shape.rank() == 0) return {DType::uint8, {kUnknownDim}};
  throw TypeError("it gets " + to_string(in) + ", expected numbers, or the bytes of one file");
}

/// A user's Python function.
class PythonStep final : public SampleStep {
 public:
  using Options = PythonStepOptions;
  explicit PythonStep(const Options& options)
      : function_(
            PythonFunction::of(options.function, PythonFunction::Form::array, options.seconds)) {
    if (const auto refusal = own_step_refusal("python"); !refusal.empty()) {
      throw ValueError(refusal);
    }
    if (!options.type.empty()) type_ = dtype_from_name(options.type);
    if (!options.shape.empty()) shape_ = shape_of(options.shape);
  }

  [[nodiscard]] TensorDesc describe(const TensorDesc& in) const override {
    TensorDesc out = argument_of(in);
    if (type_) out.dtype = *type_;
    if (shape_) out.shape = *shape_;
    return out;
  }
  [[nodiscard]] std::unique_ptr<StepRun::Memory> memory() const override {
    return std::make_unique<Worker>(function_);
  }
  void run(StepRun& run) const override {
    const Tensor result =
        run.memory<Worker>().python.call({{"", argument(run.input())}}).at("").tensor();
    if (result.shape().rank() > SampleView::kMostDims) {
      throw ShapeError(fmt::format("it returned {} dimensions", result.shape().rank()));
    }
    if (result.dtype() == DType::string) throw TypeError("it returned text, expected numbers");
    const SampleView out = run.output(result.dtype(), result.shape().dims());
    if (result.elements() > 0) std::memcpy(out.data, result.raw(), result.bytes());
  }

 private:
  struct Worker final : StepRun::Memory {
    explicit Worker(const PythonFunction& function) : python(function) {}
    detail::PythonWorker python;
  };

  /// The sample, sharing its memory.
  static Tensor argument(const SampleView& in) {
    if (in.dtype == DType::string) {
      auto& bytes = *in.as<std::string>();
      return Tensor::borrow({DType::uint8, {std::int64_t(bytes.size())}}, bytes.data());
    }
    return Tensor::borrow({in.dtype, Shape(in.dims())}, in.data);
  }

  PythonFunction function_;
  std::optional<DType> type_ = {};
  std::optional<Shape> shape_ = {};
};

}  // namespace

namespace sample_step {

void register_python(Registry<SampleStepEntry>& registry) {
  registry.add("python", SampleStepEntry::of<PythonStep>(
                             "a Python function of yours, in a separate process, where code is "
                             "allowed"));
}

}  // namespace sample_step
}  // namespace d5
