// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/judge/baseline.hpp"

#include <vector>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/entries/framework.hpp"

namespace d5::detail {

Baseline::Baseline(const std::string& name, const Measurement& source, JudgedPass pass)
    : pass_(pass), record_(source) {
  Framework& owner = framework(name);
  registry_ = &owner.part<OperatorRegistry>();
  record_.framework = name;
  record_.framework_version = owner.version();
}

void Baseline::run(const FreshCall& fresh, bool is_timed) {
  if (record_.status != Status::passed) return;
  const OperatorCase& drawn = fresh.drawn;
  const bool is_forward = pass_ == JudgedPass::forward;
  try {
    if (!runner_) {
      runner_.emplace(*registry_, drawn.node, drawn.inputs,
                      is_forward ? Mode::inference : Mode::training);
    }
    for (std::size_t i = 0; i < drawn.inputs.size(); ++i) {
      if (drawn.inputs[i].is_tensor()) {
        runner_->input(i).tensor().copy_from(drawn.inputs[i].tensor());
      }
    }
    std::vector<Tensor> gradients;
    if (!is_forward) {
      const std::size_t first = fresh.read.size() - drawn.node.outputs.size();
      for (std::size_t i = first; i < fresh.read.size(); ++i) {
        gradients.push_back(fresh.read[i].is_tensor() ? fresh.read[i].tensor() : Tensor());
      }
      runner_->forward();
      runner_->synchronise();
    }
    const double begin = now_seconds();  // the clock: the pass alone
    if (is_forward) {
      runner_->forward();
    } else {
      runner_->backward(gradients);
    }
    runner_->synchronise();
    const double end = now_seconds();
    if (is_timed) record_.samples.push_back(end - begin);
  } catch (...) {
    record_failure(record_, std::current_exception());
  }
}

}  // namespace d5::detail
