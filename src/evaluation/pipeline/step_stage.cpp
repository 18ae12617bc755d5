// SPDX-License-Identifier: Apache-2.0
#include "evaluation/pipeline/step_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

/// A run whose result is a tensor of its own.
class TensorRun final : public StepRun {
 public:
  TensorRun(Tensor& in, const SampleView& view, RandomStream& random, Memory* memory)
      : StepRun(view, random, memory), in_(in) {}

  using StepRun::output;
  SampleView output(DType dtype, std::span<const std::int64_t> dims) override {
    result_ = Tensor::empty(dtype, Shape(dims));
    return view_of(result_);
  }
  SampleView edit() override {
    keep();
    return input();
  }
  void keep() override { result_ = in_; }
  [[nodiscard]] Tensor take() { return std::move(result_); }

  static SampleView view_of(Tensor& tensor) {
    SampleView view{.dtype = tensor.dtype(), .rank = tensor.shape().rank(), .data = tensor.raw()};
    std::ranges::copy(tensor.shape().dims(), view.sizes.begin());
    return view;
  }

 private:
  Tensor& in_;
  Tensor result_;
};

}  // namespace

/// What a step keeps from sample to sample, for one run.
class StepStage::Loan {
 public:
  explicit Loan(const StepStage& stage) : stage_(stage) {
    const std::lock_guard lock(stage_.mutex_);
    if (stage_.idle_.empty()) {
      memory_ = stage_.step_->memory();
      return;
    }
    memory_ = std::move(stage_.idle_.back());
    stage_.idle_.pop_back();
  }
  ~Loan() {
    const std::lock_guard lock(stage_.mutex_);
    stage_.idle_.push_back(std::move(memory_));
  }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  [[nodiscard]] StepRun::Memory* memory() const { return memory_.get(); }

 private:
  const StepStage& stage_;
  std::unique_ptr<StepRun::Memory> memory_;
};

Tensor StepStage::run(Tensor in, std::int64_t sample, const Draw& draw) const {
  const Loan loan(*this);
  RandomStream random = draw.stream(stream_, sample);
  TensorRun run(in, TensorRun::view_of(in), random, loan.memory());
  try {
    step_->run(run);
  } catch (const Error& error) {
    throw FormatError(fmt::format("step {}: {}", name_, error.what()));
  }
  Tensor result = run.take();
  if (!result.defined()) {
    throw ContractError(fmt::format("sample {}, step {} gave no result", sample, name_));
  }
  return result;
}

std::vector<std::shared_ptr<const StepStage>> step_stages(const std::vector<EntryChoice>& steps) {
  struct Link {
    std::shared_ptr<const SampleStep> step;
    std::string name, stream;
  };
  std::vector<Link> links;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto& [name, settings] = steps[i];
    Link link{sample_steps().at(name).make(settings), name, fmt::format("steps.{}.{}", i, name)};
    if (!links.empty()) {
      if (auto both = links.back().step->joined_with(link.step)) {
        link.step = std::move(both);
        link.name = links.back().name + "+" + link.name;
        links.pop_back();
      }
    }
    links.push_back(std::move(link));
  }
  std::vector<std::shared_ptr<const StepStage>> stages;
  for (Link& link : links) {
    stages.push_back(std::make_shared<const StepStage>(std::move(link.step), std::move(link.name),
                                                       std::move(link.stream)));
  }
  return stages;
}

}  // namespace d5::detail
