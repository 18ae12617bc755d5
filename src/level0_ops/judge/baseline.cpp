// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/judge/baseline.hpp"

#include "d5/core/clocks/clock.hpp"
#include "d5/core/entries/framework.hpp"

namespace d5::detail {

Baseline::Baseline(const std::string& name, const Measurement& source) : record_(source) {
  Framework& owner = framework(name);
  registry_ = &owner.part<OperatorRegistry>();
  record_.framework = name;
  record_.framework_version = owner.version();
}

void Baseline::run(const OperatorCase& drawn, bool is_timed) {
  if (record_.status != Status::passed) return;
  try {
    if (!runner_) {
      runner_.emplace(*registry_, drawn.node, drawn.inputs);
    } else {
      for (std::size_t i = 0; i < drawn.inputs.size(); ++i) {
        if (drawn.inputs[i].is_tensor()) {
          runner_->input(i).tensor().copy_from(drawn.inputs[i].tensor());
        }
      }
    }
    const double begin = now_seconds();  // the clock: forward alone
    runner_->forward();
    runner_->synchronise();
    const double end = now_seconds();
    if (is_timed) record_.samples.push_back(end - begin);
  } catch (...) {
    record_failure(record_, std::current_exception());
  }
}

}  // namespace d5::detail
