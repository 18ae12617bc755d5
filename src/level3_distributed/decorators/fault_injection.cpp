// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/decorators/fault_injection.hpp"

#include <fmt/format.h>

#include <csignal>
#include <limits>
#include <thread>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/decorators/training_step.hpp"

namespace d5 {
namespace {

/// Puts a NaN into `data`; returns whether it has floating-point elements.
bool put_nan(Tensor data) {
  if (!data.defined() || data.elements() == 0) return false;
  switch (data.dtype()) {
    case DType::float32:
      data.data<float>()[0] = std::numeric_limits<float>::quiet_NaN();
      return true;
    case DType::float64:
      data.data<double>()[0] = std::numeric_limits<double>::quiet_NaN();
      return true;
    case DType::float16:
    case DType::bfloat16:
      *static_cast<std::uint16_t*>(data.raw()) = 0x7fff;  // all bits of exponent and fraction
      return true;
    default:
      return false;
  }
}

}  // namespace

struct FaultInjection::Plan {
  FaultOptions fault;
  bool here = false, done = false;
  std::int64_t calls = 0;

  [[nodiscard]] bool due() {
    ++calls;
    const bool of_steps = fault.counts == FaultOptions::Counts::training_steps;
    return here && !done && (of_steps ? training_step() : calls) >= fault.step;
  }
};

FaultInjection::FaultInjection(std::shared_ptr<Communicator> inner, const FaultOptions& options)
    : FaultInjection(std::move(inner), std::make_shared<Plan>(Plan{.fault = options})) {
  if (options.rank < 0 || options.rank >= size()) {
    throw ValueError(fmt::format("fault '{}': there is no rank {}; the ranks are 0 to {}",
                                 to_string(options), options.rank, size() - 1));
  }
  plan_->here = rank() == options.rank;
}
FaultInjection::FaultInjection(std::shared_ptr<Communicator> inner, std::shared_ptr<Plan> plan)
    : CommunicatorDecorator(std::move(inner)), plan_(std::move(plan)) {}

std::shared_ptr<Communicator> FaultInjection::decorate(std::shared_ptr<Communicator> group) {
  return std::shared_ptr<FaultInjection>(new FaultInjection(std::move(group), plan_));
}

std::unique_ptr<Request> FaultInjection::do_start(const CommunicationCall& call) {
  before(call);
  return start_inner(call);
}

void FaultInjection::do_run(const CommunicationCall& call) {
  before(call);
  run_inner(call);
}

void FaultInjection::before(const CommunicationCall& call) {
  if (!plan_->due()) return;
  switch (plan_->fault.kind) {
    case FaultOptions::Kind::kill:
      std::raise(SIGKILL);
      break;
    case FaultOptions::Kind::hang:
      for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    case FaultOptions::Kind::delay:
      plan_->done = true;
      std::this_thread::sleep_for(plan_->fault.duration);
      break;
    case FaultOptions::Kind::nan:
      if (call.kind == CallKind::all_reduce) plan_->done = put_nan(call.output);
      if (call.kind == CallKind::send) plan_->done = put_nan(call.input);
      break;
  }
}

}  // namespace d5
