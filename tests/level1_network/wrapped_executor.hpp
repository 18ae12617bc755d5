// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "d5/level1_network/graph/graph_executor.hpp"

namespace d5::testing {

/// An executor that another one runs; a test says what it makes of the runs.
class WrappedExecutor : public GraphExecutor {
 public:
  WrappedExecutor(std::string framework, std::unique_ptr<GraphExecutor> inner)
      : inner_(std::move(inner)), framework_(std::move(framework)) {}
  const Tensor& gradient(std::string_view name) const override { return inner_->gradient(name); }
  void set_mode(NetworkMode mode) override { inner_->set_mode(mode); }
  NetworkMode mode() const override { return inner_->mode(); }
  ValueMap state() const override { return inner_->state(); }
  void restore(const ValueMap& state) override { inner_->restore(state); }
  Network& network() override { return inner_->network(); }
  EventList& events() override { return inner_->events(); }
  std::string framework() const override { return framework_; }

 protected:
  GraphExecutor& inner() { return *inner_; }

 private:
  std::unique_ptr<GraphExecutor> inner_;
  std::string framework_;
};

}  // namespace d5::testing
