// SPDX-License-Identifier: Apache-2.0
#include "level2_training/optimization/read_gradients.hpp"

#include <algorithm>
#include <set>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/training/training_metric.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

using ReadOptimizers = std::set<std::weak_ptr<Optimizer>, std::owner_less<>>;

/// Optimizers whose gradients a function in Python reads. Guarded by the GIL.
ReadOptimizers& read_in_python() {
  static ReadOptimizers all;
  std::erase_if(all, [](const auto& one) { return one.expired(); });
  return all;
}

bool is_gradient_norm(const std::shared_ptr<Event>& event) {
  const auto* metric = dynamic_cast<const TrainingMetric*>(event.get());
  return metric && metric->name() == "gradient_norm";
}

}  // namespace

void read_gradients(const std::shared_ptr<Optimizer>& optimizer,
                    const std::optional<ReadGradient>& reader) {
  if (!reader) {
    optimizer->read_gradients({});
    read_in_python().erase(optimizer);
    return;
  }
  const auto called = std::make_shared<PythonReference>(*reader);
  Network& network = optimizer->executor().network();
  optimizer->read_gradients([called, &network](ParameterRange range, double factor) {
    call_python([&] {
      for (std::size_t i = range.begin; i < range.end; ++i) {
        const Parameter& parameter = network.parameters()[i];
        called->object(parameter.name, parameter.gradient, factor);
      }
    });
  });
  read_in_python().insert(optimizer);
}

void expect_one_reader(Trainer& trainer) {
  const bool is_read = std::ranges::any_of(
      read_in_python(), [&](const auto& one) { return one.lock().get() == &trainer.optimizer(); });
  if (!is_read || std::ranges::none_of(trainer.events().all(), is_gradient_norm)) return;
  throw ValueError(
      "trainer: the metric gradient_norm would replace the function given to "
      "optimizer.read_gradients; an optimizer has one reader: leave the metric out, and sum the "
      "squares in the function, or end the function with read_gradients(None)");
}

}  // namespace d5::python
