// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "d5/evaluation/predictor/predictor.hpp"
#include "d5/level1_network/graph/network.hpp"

namespace d5::detail {

/// The inputs of a network that are one number for a whole batch, such as a sampling rate.
[[nodiscard]] std::set<std::string> scalar_inputs(const Network& network);

/// A batch with these inputs as the network takes them: the number that all its samples have.
/// Throws: ValueError if they differ.
[[nodiscard]] ValueMap with_scalars(ValueMap inputs, const std::set<std::string>& scalars);

/// A predictor whose network has such inputs.
class ScalarInputs final : public Predictor {
 public:
  ScalarInputs(std::shared_ptr<Predictor> predictor, std::set<std::string> scalars)
      : predictor_(std::move(predictor)), scalars_(std::move(scalars)) {}
  [[nodiscard]] std::string name() const override { return predictor_->name(); }
  const ValueMap& predict(const ValueMap& inputs) override {
    return predictor_->predict(with_scalars(inputs, scalars_));
  }
  [[nodiscard]] EventList* events() override { return predictor_->events(); }

 private:
  std::shared_ptr<Predictor> predictor_;
  std::set<std::string> scalars_;
};

}  // namespace d5::detail
