// SPDX-License-Identifier: Apache-2.0
// A plug-in as one was written against 0.1.0: an operator of its own, and a metric.
#include "d5/core/measurement.hpp"
#include "d5/core/metric.hpp"
#include "d5/core/plugin.hpp"
#include "d5/level0_ops/operator_registry.hpp"

namespace {

class TripleKernel final : public d5::Kernel {
 public:
  void forward(d5::OpContext& context) override {
    const auto x = context.input(0).span<float>();
    float* y = context.output(0).data<float>();
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = 3 * x[i];
  }
};

class Triple final : public d5::ElementwiseOperator {
 public:
  std::vector<d5::ValueDesc> infer(const d5::InferContext& context) const override {
    return {context.input(0)};
  }
  std::unique_ptr<d5::Kernel> plan(d5::PlanContext& context) const override {
    return d5::kernel_for(d5::Types<float>{}, context.dtype(0), context,
                          []<class T>() { return std::make_unique<TripleKernel>(); });
  }
};

class CallCount final : public d5::Metric {
 public:
  std::string name() const override { return "calls_before"; }
  std::string unit() const override { return "1"; }
  d5::Quantity quantity() const override { return d5::Quantity::count; }
  d5::Direction direction() const override { return d5::Direction::neither; }
  void begin(int repetitions) override { samples_.push_back(repetitions); }
  void summarise(d5::Measurement& result) const override { result.samples = samples_; }

 private:
  std::vector<double> samples_;
};

void fill(d5::Framework& framework) {
  framework.part<d5::OperatorRegistry>().add<Triple>("Triple", {.domain = "org.example"});
  d5::metrics().add("calls_before",
                    d5::MetricEntry::of<CallCount>("calls of the subject a sample"));
}

}  // namespace

D5_FRAMEWORK_PLUGIN("before", "1.0", fill)
