// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "tests/level1_network/wrapped_executor.hpp"

/// The framework "planted": executors that answer as the reference does, but for one fault each.
namespace planted {

/// The state that a fault may see, and corrupt.
struct Run {
  int runs = 0;  ///< number of runs of this executor, with this one
  d5::Network network;
  d5::ValueMap& outputs;

  [[nodiscard]] d5::Tensor& first() const { return outputs.begin()->second.tensor(); }
};
using Fault = std::function<void(const Run&)>;

/// Two nodes, of which the first is read by the second alone.
inline bool has_exp_of_tanh(const d5::Network& network) {
  const auto outputs = network.output_names();
  for (const auto& node : network.graph().nodes) {
    if (node.op_type != "Exp") continue;
    const d5::onnx::Node* before = network.producer(node.inputs.at(0));
    const bool is_inner = std::ranges::find(outputs, node.inputs.at(0)) == outputs.end();
    if (before && before->op_type == "Tanh" && is_inner) return true;
  }
  return false;
}

inline bool has(const d5::Network& network, std::string_view op_type) {
  return std::ranges::find(network.graph().nodes, op_type, &d5::onnx::Node::op_type) !=
         network.graph().nodes.end();
}

/// The gradients of what goes into an Exp, as far as parameters have them.
inline void spoil_gradients_behind_exp(d5::Network network) {
  std::set<std::string> behind;
  const auto& nodes = network.graph().nodes;
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    const bool leads_there = std::ranges::any_of(
        node->outputs, [&](const std::string& output) { return behind.contains(output); });
    if (node->op_type == "Exp" || leads_there) {
      behind.insert(node->inputs.begin(), node->inputs.end());
    }
  }
  for (auto& parameter : network.parameters()) {
    if (!behind.contains(parameter.name)) continue;
    for (float& slope : parameter.gradient.span<float>()) slope *= 1.05F;
  }
}

/// A batch of another executor, after whose backward run a fault is called.
class Batch final : public d5::BatchInFlight {
 public:
  Batch(std::unique_ptr<BatchInFlight> inner, std::function<void()> after)
      : inner_(std::move(inner)), after_(std::move(after)) {}
  const d5::ValueMap& outputs() const override { return inner_->outputs(); }
  void backward(const d5::ValueMap& output_gradients) override {
    inner_->backward(output_gradients);
    after_();
  }
  const d5::Tensor& gradient(std::string_view name) const override {
    return inner_->gradient(name);
  }

 private:
  std::unique_ptr<BatchInFlight> inner_;
  std::function<void()> after_;
};

class Executor final : public d5::testing::WrappedExecutor {
 public:
  Executor(d5::Network network, Fault fault)
      : WrappedExecutor("planted", d5::make_executor(std::move(network))),
        fault_(std::move(fault)) {}
  const d5::ValueMap& inference(const d5::ValueMap& inputs) override {
    return spoiled(inner().inference(inputs));
  }
  const d5::ValueMap& inference_and_backprop(const d5::ValueMap& inputs,
                                             std::string_view loss) override {
    return spoiled(inner().inference_and_backprop(inputs, loss));
  }
  std::unique_ptr<d5::BatchInFlight> forward(const d5::ValueMap& inputs,
                                             const std::vector<std::string>& outputs) override {
    auto batch = inner().forward(inputs, outputs);
    return std::make_unique<Batch>(std::move(batch),
                                   [this] { fault_({++runs_, inner().network(), outputs_}); });
  }

 private:
  const d5::ValueMap& spoiled(const d5::ValueMap& outputs) {
    outputs_.clear();
    for (const auto& [name, value] : outputs) outputs_[name] = d5::Value(value.tensor().copy());
    fault_({++runs_, inner().network(), outputs_});
    return outputs_;
  }
  Fault fault_;
  d5::ValueMap outputs_;
  int runs_ = 0;
};

/// Those that can be opened as "planted:NAME". "honest" has no fault.
inline const std::map<std::string, std::function<Fault()>>& faults() {
  using F = const Run&;
  static const std::map<std::string, std::function<Fault()>> all = {
      {"honest", [] { return Fault([](F) {}); }},
      {"flushing",  // as honest as an engine whose small numbers are zero
       [] {
         return Fault([](F run) {
           for (float& y : run.first().span<float>()) y = std::abs(y) < 1e-30F ? 0 : y;
         });
       }},
      {"wrong", [] { return Fault([](F run) { run.first().span<float>().front() *= 1.01F; }); }},
      {"wrong-below-zero",  // what only some inputs show
       [] {
         return Fault([](F run) {
           const auto numbers = run.first().span<float>();
           if (numbers.front() < 0) numbers.back() *= 1.01F;
         });
       }},
      {"wrong-after-ten",
       [] {
         return Fault([](F run) {
           if (run.runs > 10) run.first().span<float>().front() *= 1.01F;
         });
       }},
      {"wrong-at-batch-8",
       [] {
         return Fault([](F run) {
           if (run.first().shape()[0] == 8) run.first().span<float>().back() *= 1.01F;
         });
       }},
      {"stale",
       [] {
         const auto kept = std::make_shared<d5::Tensor>();
         return Fault([kept](F run) {
           if (kept->defined()) run.first().copy_from(*kept);
           *kept = run.first().copy();
         });
       }},
      {"wrong-gradient",
       [] {
         return Fault([](F run) {
           d5::Network network = run.network;
           for (float& slope : network.parameters().front().gradient.span<float>()) slope *= 1.01F;
         });
       }},
      {"wrong-fusion",
       [] {
         return Fault([](F run) {
           if (!has_exp_of_tanh(run.network)) return;
           for (auto& [name, value] : run.outputs) {
             for (float& number : value.tensor().span<float>()) number *= 1.05F;
           }
         });
       }},
      {"refuses-pair",
       [] {
         return Fault([](F run) {
           if (has_exp_of_tanh(run.network)) throw d5::Unsupported("node 'y7': no Exp of a Tanh");
         });
       }},
      {"wrong-gradient-of-exp",
       [] { return Fault([](F run) { spoil_gradients_behind_exp(run.network); }); }},
      {"crashes-at-exp",
       [] {
         return Fault([](F run) {
           if (has(run.network, "Exp")) std::raise(SIGSEGV);
         });
       }},
      {"hangs-at-exp",
       [] {
         return Fault([](F run) {
           while (has(run.network, "Exp")) std::this_thread::sleep_for(std::chrono::seconds(1));
         });
       }},
      {"slow-at-exp",
       [] {
         return Fault([](F run) {
           if (has(run.network, "Exp")) std::this_thread::sleep_for(std::chrono::milliseconds(2));
         });
       }},
      {"wrong-at-constant-3",
       [] {
         return Fault([](F run) {
           for (const auto& [name, value] : run.network.graph().initializers) {
             const bool is_3 = value.elements() == 1 && value.dtype() == d5::DType::float32 &&
                               value.item<float>() == 3;
             if (is_3) run.first().span<float>().front() *= 1.05F;
           }
         });
       }},
      {"off-by-size",
       [] {
         return Fault([](F run) {
           run.first().span<float>().front() += 2e-7F * float(run.first().elements());
         });
       }},
      {"wrong-above-4-channels",
       [] {
         return Fault([](F run) {
           for (const auto& [name, value] : run.network.graph().initializers) {
             const auto& shape = value.shape();
             if (shape.rank() == 4 && shape[1] > 4) run.first().span<float>().back() += 1;
           }
         });
       }},
      {"wrong-now-and-then",
       [] {
         return Fault([](F run) {
           static int calls = 0;
           if (has_exp_of_tanh(run.network) && ++calls % 2 == 0) {
             run.first().span<float>().front() *= 1.05F;
           }
         });
       }},
      {"wrong-fusion-and-a-step",  // the step is one that rounding may cause
       [] {
         return Fault([](F run) {
           for (auto& [name, value] : run.outputs) {
             d5::Tensor& tensor = value.tensor();
             if (tensor.dtype() == d5::DType::uint8) {
               for (auto& number : tensor.span<std::uint8_t>()) ++number;
             } else if (has_exp_of_tanh(run.network)) {
               for (float& number : tensor.span<float>()) number *= 1.05F;
             }
           }
         });
       }},
      {"wrong-at-qlinear-add",
       [] {
         return Fault([](F run) {
           if (!has(run.network, "QLinearAdd")) return;
           for (auto& [name, value] : run.outputs) {
             d5::Tensor& tensor = value.tensor();
             if (tensor.dtype() == d5::DType::uint8) {
               tensor.span<std::uint8_t>().front() ^= 64;
             } else {
               tensor.span<float>().front() += 1;
             }
           }
         });
       }},
      {"one-nan", [] { return Fault([](F run) { run.first().span<float>().back() = NAN; }); }},
  };
  return all;
}

inline void use_framework() {
  static const bool once = [] {
    d5::add_framework("planted", "1", [](d5::Framework& framework) {
      for (const auto& [name, fault] : faults()) {
        framework.part<d5::ExecutorRegistry>().add(
            name, {"as the reference, but for one fault",
                   [fault](d5::Network network, const d5::ExecutorOptions&) {
                     return std::make_shared<Executor>(std::move(network), fault());
                   }});
      }
    });
    return true;
  }();
  (void)once;
}

}  // namespace planted
