// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "d5/level1_network/graph/graph_executor.hpp"

namespace d5::test {

/// An executor that computes nothing: a script writes the gradients and returns the loss of each
/// step. What optimizers and trainers do with gradients can be checked by hand.
class ScriptedExecutor final : public GraphExecutor {
 public:
  using Script = std::function<double(Network&, std::int64_t step)>;

  explicit ScriptedExecutor(std::vector<std::pair<std::string, Tensor>> parameters, Script script)
      : network_("scripted"), script_(std::move(script)) {
    std::vector<std::string> names;
    for (auto& [name, value] : parameters) {
      network_.add_parameter(name, std::move(value));
      names.push_back(name);
    }
    network_.add_node("Sum", names, {"loss"});
    network_.add_output("loss");
  }

  const ValueMap& inference(const ValueMap&) override { return outputs_; }
  const ValueMap& inference_and_backprop(const ValueMap&, std::string_view) override {
    outputs_["loss"] = Tensor::scalar(script_(network_, step_++));
    for (Parameter& parameter : network_.parameters()) {
      if (loss_factor_ == 1) break;
      dispatch(FloatTypes{}, parameter.gradient.dtype(), "script", [&]<class T>() {
        for (T& g : parameter.gradient.span<T>()) g = T(float(g) * float(loss_factor_));
      });
    }
    return outputs_;
  }
  void set_loss_factor(double factor) override { loss_factor_ = factor; }
  const Tensor& gradient(std::string_view) const override { throw NotFound("no gradients"); }
  void set_mode(NetworkMode mode) override { mode_ = mode; }
  NetworkMode mode() const override { return mode_; }
  ValueMap state() const override { return {}; }
  void restore(const ValueMap&) override {}
  Network& network() override { return network_; }
  EventList& events() override { return events_; }
  std::string framework() const override { return "scripted"; }

 private:
  Network network_;
  Script script_;
  EventList events_;
  ValueMap outputs_;
  std::int64_t step_ = 0;
  double loss_factor_ = 1;
  NetworkMode mode_ = NetworkMode::as_written;
};

}  // namespace d5::test
