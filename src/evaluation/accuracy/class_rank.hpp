// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/evaluation/accuracy/accuracy_measure.hpp"

namespace d5::detail {

/// Whether the right class, `label`, is among the first k of `classes`: what top-1 and top-5 share.
class ClassRank : public AccuracyMeasure {
 public:
  ClassRank(std::string name, std::int64_t k) : name_(std::move(name)), k_(k) {}
  double judge(const ValueMap& answer, const ValueMap& right) override;
  [[nodiscard]] Compared compares() const override {
    return k_ == 1 ? Compared{"classes", "label"} : Compared{};
  }
  void miss(const ValueMap&) override { right_.push_back(0); }
  [[nodiscard]] Measurement record() const override;

 private:
  std::string name_;
  std::int64_t k_;
  std::vector<double> right_;
};

}  // namespace d5::detail
