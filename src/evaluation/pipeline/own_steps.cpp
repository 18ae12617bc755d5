// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/pipeline/own_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/entries/path_option.hpp"
#include "core/tensor/shape_text.hpp"
#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/sample_step.hpp"
#include "evaluation/pipeline/python_worker.hpp"

namespace d5 {
namespace {

constexpr const char* kOwnStep = "python";

struct PythonStepOptions {
  std::string function, type, shape;
  double seconds = 60;
  void declare(OptionList& options) {
    options.add("function", function, "FILE.py::NAME, which takes a numpy array and returns one",
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

/// A user's Python function.
class PythonStep final : public SampleStep {
 public:
  using Options = PythonStepOptions;
  explicit PythonStep(const Options& options) : options_(options) {
    const std::size_t colons = options.function.rfind("::");
    if (colons == std::string::npos || colons == 0 || colons + 2 == options.function.size()) {
      throw ValueError(fmt::format("step python: function '{}', expected FILE.py::NAME",
                                   printable(options.function)));
    }
    file_ = options.function.substr(0, colons);
    name_ = options.function.substr(colons + 2);
  }

  [[nodiscard]] TensorDesc describe(const TensorDesc& in) const override {
    if (in.dtype == DType::string) {
      throw TypeError("it gets encoded bytes, expected numbers; put 'decode' before it");
    }
    TensorDesc out = in;
    if (!options_.type.empty()) out.dtype = dtype_from_name(options_.type);
    if (!options_.shape.empty()) out.shape = shape_of(options_.shape);
    return out;
  }
  [[nodiscard]] std::unique_ptr<StepRun::Memory> memory() const override {
    return std::make_unique<Worker>(file_, name_, options_.seconds);
  }
  void run(StepRun& run) const override {
    const SampleView& in = run.input();
    const std::vector<std::int64_t> dims(in.dims().begin(), in.dims().end());
    const detail::PythonArray array = run.memory<Worker>().python.call(
        in.dtype, dims, {static_cast<const char*>(in.data), in.bytes()});
    if (array.dims.size() > SampleView::kMostDims) {
      throw ShapeError(fmt::format("it returned {} dimensions", array.dims.size()));
    }
    const SampleView out = run.output(array.dtype, std::span<const std::int64_t>(array.dims));
    if (out.bytes() != array.bytes.size()) {
      throw ShapeError(
          fmt::format("it returned {} bytes, its shape needs {}", array.bytes.size(), out.bytes()));
    }
    if (!array.bytes.empty()) std::memcpy(out.data, array.bytes.data(), array.bytes.size());
  }

 private:
  struct Worker final : StepRun::Memory {
    Worker(const std::string& file, const std::string& name, double seconds)
        : python(file, name, seconds) {}
    detail::PythonWorker python;
  };
  Options options_;
  std::string file_, name_;
};

}  // namespace

void allow_own_steps() {
  static std::once_flag allowed;
  std::call_once(allowed, [] {
    sample_steps().add(kOwnStep, SampleStepEntry::of<PythonStep>(
                                     "a Python function of yours, in a separate process"));
  });
}

std::string own_step_refusal(const std::string& step) {
  if (step != kOwnStep || sample_steps().find(step)) return {};
  return fmt::format("step '{}' runs code of your own, which it does with {} alone", step,
                     option_word("allow_code"));
}

}  // namespace d5
