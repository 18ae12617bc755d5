// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/sample_step.hpp"

#include <fmt/format.h>
#include <pybind11/trampoline_self_life_support.h>

#include <algorithm>
#include <cstring>

#include "answered.hpp"
#include "d5/core/errors/error.hpp"
#include "lent_inputs.hpp"
#include "level2_training/data/described_fields.hpp"
#include "long_call.hpp"
#include "part_kind.hpp"

namespace d5::python {
namespace {

constexpr const char* kSampleStepHelp =
    R"(One preprocessing step from a data set's samples to a network's inputs, sample by sample; base class of
sample steps in Python.

    class Invert(d5.SampleStep):
        def run(self, sample, seed):
            return 255 - sample.numpy()

`sample` is one field's tensor, valid during the call alone. `seed` differs for each sample, epoch and step;
all randomness derives from it. `describe(dtype, shape)` returns type and shape of the result, if they differ
from the sample's; -1 is an open dimension.)";

class PythonSampleStep final : public SampleStep, public py::trampoline_self_life_support {
 public:
  [[nodiscard]] TensorDesc describe(const TensorDesc& in) const override {
    return call_python([&]() -> TensorDesc {
      const py::function method = override_of(static_cast<const SampleStep*>(this), "describe");
      if (!method) return in;
      const auto [type, shape] = words_of(in);
      return desc_of(answered<TypeAndShape>(method(type, py::cast(shape)), py::cast(this),
                                            "describe()", "(type, shape)"));
    });
  }
  void run(StepRun& run) const override {
    const std::uint64_t seed = drawn_seed(run.random());
    call_python([&] {
      const py::function method =
          method_of<SampleStep>(this, "run", "run(sample, seed), which returns an array");
      const SampleView& in = run.input();
      const LeaseScope step("a step's call");
      const Tensor lent = Tensor::borrow({in.dtype, Shape(in.dims())}, in.data);
      const Tensor out = to_tensor(method(lend_input(lent, step.lease()), seed));
      if (out.dtype() == DType::string) {
        throw Unsupported("a step in Python returns numbers; text is for steps in C++");
      }
      const SampleView into = run.output(out.dtype(), out.shape().dims());
      if (into.bytes() > 0) std::memcpy(into.data, out.raw(), into.bytes());
    });
  }
};

/// Runs one step alone, whose result is a tensor.
class SingleRun final : public StepRun {
 public:
  SingleRun(Tensor in, RandomStream& random, Memory* memory)
      : StepRun(view_of(in), random, memory), in_(std::move(in)) {}
  SampleView output(DType dtype, std::span<const std::int64_t> dims) override {
    result = Tensor::empty(dtype, Shape(dims));
    return view_of(result);
  }
  SampleView edit() override {
    result = in_.copy();
    return view_of(result);
  }
  void keep() override { result = in_; }

  Tensor result;

 private:
  static SampleView view_of(const Tensor& tensor) {
    const auto dims = tensor.shape().dims();
    if (dims.size() > SampleView::kMostDims) {
      throw ShapeError(fmt::format("a step takes samples of up to {} dimensions, this has {}",
                                   SampleView::kMostDims, dims.size()));
    }
    SampleView view{.dtype = tensor.dtype(), .rank = dims.size()};
    view.data = const_cast<void*>(tensor.raw());
    std::ranges::copy(dims, view.sizes.begin());
    return view;
  }

  Tensor in_;
};

Tensor run_alone(const SampleStep& step, const Anything& sample, std::uint64_t seed) {
  RandomStream random(seed);
  const auto memory = step.memory();
  Tensor in = to_tensor(sample);
  const py::gil_scoped_release released;
  (void)step.describe(in.desc());  // refuses what the step cannot process
  SingleRun run(std::move(in), random, memory.get());
  step.run(run);
  return run.result;
}

}  // namespace

void register_sample_step(py::module_& m) {
  py::classh<SampleStep, PythonSampleStep> step(m, "SampleStep", kSampleStepHelp);
  step.def(py::init<>())
      .def(
          "describe",
          [](const SampleStep& self, const DTypeName& dtype,
             const std::vector<std::int64_t>& shape) {
            return words_of(self.describe({dtype_from_name(dtype.name), Shape(shape)}));
          },
          py::arg("dtype"), py::arg("shape"), "Type and shape of the result for such a sample.")
      .def("run", &run_alone, py::arg("sample"), py::arg("seed") = 0,
           "Runs the step on one sample.");
  let_derive(step);
  add_part_kind<SampleStep>(sample_steps(), "SampleStep", "sample step");
  bind_by_name<SampleStep>(m, sample_steps(), "sample_step", "sample_steps");
}

}  // namespace d5::python
