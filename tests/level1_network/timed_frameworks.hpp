// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "core/measuring/turn_clock.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "tests/level1_network/wrapped_executor.hpp"

/// Frameworks whose kernels take as long as a test says, on a clock that they move themselves.
namespace timed {

struct World {
  double now = 0;  ///< seconds
  int runs = 0;    ///< number of forward runs of kernels
  /// Seconds by framework and operator; "Up'" is Up's backward.
  std::map<std::string, std::map<std::string, double>> costs = {};
  double switching = 0;  ///< seconds added to a kernel behind one of another framework
  double reordering = 0;
  std::set<std::string> arranging = {};  ///< frameworks that keep their results in their own order
  std::map<std::string, std::string> faults =
      {};                 ///< "beta Up": "throws", "nan", "wrong" or "changes"
  std::string last = {};  ///< framework of the last kernel
  double others = 0;      ///< processors that other work keeps busy
};
inline World world;

/// Its threads never spin.
inline const d5::TurnClock clock{[] { return world.now; }, [] {}};
inline std::function<double()> watch_others() {
  return [] { return world.others; };
}

/// A test begins with a world and a folder for choices of its own.
class Fresh {
 public:
  Fresh()
      : folder_(std::filesystem::temp_directory_path() /
                ("d5_timed_frameworks-" + std::to_string(getpid()))) {
    std::filesystem::remove_all(folder_);
    if (const char* before = std::getenv("D5_CACHE_DIR")) before_ = before;
    setenv("D5_CACHE_DIR", folder_.c_str(), 1);
    world = {};
  }
  ~Fresh() {
    setenv("D5_CACHE_DIR", before_.c_str(), 1);
    std::filesystem::remove_all(folder_);
  }
  Fresh(const Fresh&) = delete;
  Fresh& operator=(const Fresh&) = delete;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
  std::string before_;
};

class Order final : public d5::Arrangement {
 public:
  Order(std::string framework, std::size_t bytes)
      : Arrangement(std::move(framework)), bytes_(bytes) {}
  std::string name() const override { return "order of " + framework(); }
  std::size_t bytes() const override { return bytes_; }
  bool equals(const Arrangement& other) const override { return other.bytes() == bytes_; }

 private:
  std::size_t bytes_;
};

inline const float* elements(const d5::Tensor& tensor) {
  return static_cast<const float*>(tensor.raw());
}

/// y = x + 1; ones in all outputs besides.
class UpKernel final : public d5::Kernel {
 public:
  UpKernel(std::string framework, std::string op)
      : framework_(std::move(framework)), op_(std::move(op)) {
    const auto fault = world.faults.find(framework_ + " " + op_);
    if (fault != world.faults.end()) fault_ = fault->second;
  }
  void forward(d5::OpContext& context) override {
    ++world.runs;
    spend(op_);
    if (fault_ == "throws") throw std::runtime_error("out of order");
    const float one = fault_ == "nan" ? NAN : fault_ == "wrong" ? 3 : 1;
    auto* y = static_cast<float*>(context.output(0).raw());
    const d5::Tensor& x = context.input(0);
    for (std::int64_t i = 0; i < x.elements(); ++i) y[i] = elements(x)[i] + one;
    for (std::size_t k = 1; k < context.outputs.size(); ++k) {
      if (!context.wants_output(k)) continue;
      auto* ones = static_cast<float*>(context.output(k).raw());
      std::fill_n(ones, x.elements(), fault_ == "wrong beside" ? 3.0f : 1.0f);
    }
    if (fault_ == "changes") const_cast<float*>(elements(x))[0] -= 4;
  }
  void backward(d5::GradContext& context) override {
    spend(op_ + "'");
    context.grad_input(0).copy_from(context.grad_output(0));
    if (fault_ == "changes back") const_cast<float*>(elements(context.grad_output(0)))[0] -= 4;
  }

 private:
  void spend(const std::string& what) {
    const auto& costs = world.costs[framework_];
    const auto cost = costs.find(what);
    world.now += cost == costs.end() ? 1 : cost->second;
    if (!world.last.empty() && world.last != framework_) world.now += world.switching;
    world.last = framework_;
  }
  std::string framework_, op_, fault_;
};

class ReorderKernel final : public d5::Kernel {
  void forward(d5::OpContext& context) override {
    world.now += world.reordering;
    const d5::Tensor& x = context.input(0);
    std::copy_n(elements(x), x.elements(), static_cast<float*>(context.output(0).raw()));
  }
};

class Up final : public d5::MovingOperator {
 public:
  std::vector<d5::ValueDesc> infer(const d5::InferContext& context) const override {
    return std::vector<d5::ValueDesc>(context.node().outputs.size(), context.input(0));
  }
  d5::Places gradients() const override { return {0}; }
  std::unique_ptr<d5::Kernel> plan(d5::PlanContext& context) const override {
    return std::make_unique<UpKernel>("slow", context.node().op_type);
  }
};

/// Runs whole networks in "slow", and takes as long as costs["whole"] says of "run".
class WholeExecutor final : public d5::testing::WrappedExecutor {
 public:
  explicit WholeExecutor(d5::Network network)
      : WrappedExecutor(
            "alpha", d5::make_executor(std::move(network), {.frameworks = {"slow", "reference"}})) {
  }
  const d5::ValueMap& inference(const d5::ValueMap& inputs) override {
    return in_time([&]() -> const d5::ValueMap& { return inner().inference(inputs); });
  }
  const d5::ValueMap& inference_and_backprop(const d5::ValueMap& inputs,
                                             std::string_view loss) override {
    if (world.faults.contains("whole")) throw d5::Unsupported("inference alone");
    return in_time(
        [&]() -> const d5::ValueMap& { return inner().inference_and_backprop(inputs, loss); });
  }

 private:
  template <class F>
  const d5::ValueMap& in_time(const F& run) {
    const double before = world.now;
    const d5::ValueMap& outputs = run();
    world.now = before + world.costs["whole"]["run"];
    world.last = "";
    return outputs;
  }
};

/// "alpha" and "beta" have kernels for Up, Over and On of the domain "timed"; "slow" says what
/// those mean, and takes a hundred times as long.
inline void use_frameworks() {
  static const bool once = [] {
    d5::add_framework("slow", "1", [](d5::Framework& framework) {
      for (const char* op : {"Up", "Over", "On"}) {
        framework.part<d5::OperatorRegistry>().add<Up>(op, {.domain = "timed"});
        world.costs["slow"][op] = 100;
      }
    });
    for (const char* name : {"alpha", "beta"}) {
      d5::add_framework(name, "1", [name](d5::Framework& framework) {
        auto& registry = framework.part<d5::OperatorRegistry>();
        for (const char* op : {"Up", "Over", "On"}) {
          registry.add_kernel(op, {.domain = "timed"}, [name, op](d5::PlanContext& context) {
            if (world.arranging.contains(name) && context.keeps_layouts()) {
              context.accept_layout(0);
              context.arrange_output(0, std::make_shared<Order>(name, context.output(0).bytes()));
            }
            return std::make_unique<UpKernel>(name, op);
          });
        }
        if (name == std::string("alpha")) {
          framework.part<d5::ExecutorRegistry>().add(
              "whole", {"runs all at once", [](d5::Network network, const d5::ExecutorOptions&) {
                          return std::make_shared<WholeExecutor>(std::move(network));
                        }});
        }
        registry.set_reorder([](const d5::TensorDesc&, const d5::TensorDesc&) {
          return std::make_unique<ReorderKernel>();
        });
      });
    }
    return true;
  }();
  (void)once;
}

/// A node of the domain that the frameworks have kernels for.
inline void add_operator(d5::Network& network, const std::string& op, const std::string& from,
                         const std::vector<std::string>& to) {
  d5::onnx::Node node;
  node.op_type = op;
  node.domain = "timed";
  node.opset = 1;
  node.inputs = {from};
  node.outputs = to;
  network.splice({.nodes = {node}});
}

/// x -> Up -> Over -> Up -> y
inline d5::Network chain(const std::vector<std::string>& ops = {"Up", "Over", "Up"}) {
  d5::Network network("chain");
  network.add_input("x", d5::DType::float32, {"N"});
  std::string before = "x";
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const std::string after = i + 1 == ops.size() ? "y" : "h" + std::to_string(i);
    add_operator(network, ops[i], before, {after});
    before = after;
  }
  network.add_output("y");
  return network;
}

/// loss = w + 1, one operator; w is 2.
inline d5::Network trained() {
  d5::Network network("trained");
  network.add_parameter("w", d5::Tensor::of<float>({1}, {2}));
  add_operator(network, "Up", "w", {"loss"});
  network.add_output("loss");
  return network;
}

}  // namespace timed
