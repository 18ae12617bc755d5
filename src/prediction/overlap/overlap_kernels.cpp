// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/overlap/overlap_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/machine/machine.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/run/operator_runner.hpp"
#include "d5/level1_network/picture/network_summary.hpp"
#include "d5/level1_network/source/model_source.hpp"

namespace d5 {
namespace {

constexpr std::int64_t kChannels = 64;

double input_bytes(KernelScale scale) {
  const detail::Machine& machine = detail::machine();
  const double l2 = machine.l2_bytes > 0 ? machine.l2_bytes : 1 << 20;
  const double l3 = machine.l3_bytes > 0 ? machine.l3_bytes : 32 << 20;
  switch (scale) {
    case KernelScale::l2:
      return l2 / 2;
    case KernelScale::l3:
      return l3 / 2;
    case KernelScale::memory:
      return l3 * 4;
    case KernelScale::full:
      break;
  }
  return 64.0 * kChannels * 224 * 224 * 4;
}

/// A kernel of one operator, which `make` completes; its first failure is the reason why it cannot
/// run.
OverlapKernel kernel_of(const std::string& name, const std::function<void(OverlapKernel&)>& make) {
  OverlapKernel kernel{.name = name};
  try {
    make(kernel);
  } catch (const Error& error) {
    kernel.reason = error.what();
  }
  return kernel;
}

void make_pass(OverlapKernel& kernel, const OperatorCase& one, const std::string& framework,
               BenchOptions::Passes pass) {
  const Subject subject = operator_subject(one, framework, pass);
  kernel.flop = subject.work.flop;
  kernel.bytes = subject.work.bytes;
  kernel.run = subject.run;
  if (subject.prepare) kernel.run = [subject] { subject.prepare(), subject.run(); };
}

/// Random data for the node's inputs, except weights and constants, which are the network's.
std::vector<Value> inputs_of(const Network& network, const NetworkSummary& summary,
                             const onnx::Node& node) {
  std::vector<Value> inputs;
  for (const std::string& name : node.inputs) {
    if (name.empty()) {
      inputs.emplace_back();
      continue;
    }
    const auto known = summary.tensors.find(name);
    if (known == summary.tensors.end() || network.is_parameter(name)) {
      inputs.emplace_back(network.fetch(name).copy());
      continue;
    }
    Tensor data = Tensor::zeros(known->second.desc.tensor);
    if (data.dtype() == DType::float32) {
      for (std::size_t i = 0; float& x : data.span<float>()) x = 0.01F * float(1 + i++ % 100);
    }
    inputs.emplace_back(std::move(data));
  }
  return inputs;
}

}  // namespace

std::vector<std::string> study_kernel_cases(KernelScale scale) {
  const double bytes = input_bytes(scale);
  // As many images as in the study, or fewer if they would have less than 8 x 8 pixels.
  const auto images = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(bytes / (4.0 * kChannels * 32 * 32)), 1, 64);
  const auto side = std::max<std::int64_t>(
      8, std::llround(std::sqrt(bytes / (4.0 * kChannels * double(images)))));
  const std::string image = fmt::format("{}x{}x{}x{}", images, kChannels, side, side);
  return {fmt::format("GlobalAveragePool {}", image),
          fmt::format("BatchNormalization {} 64 64 64 64%2 training_mode=1 outputs=3", image),
          fmt::format("Conv {} 64x64x7x7 strides=2x2 pads=3x3x3x3", image),
          fmt::format("Relu {}", image),
          fmt::format("MatMul {}x{} {}x64", images * kChannels, side * side, side * side)};
}

std::vector<OverlapKernel> kernels_of_cases(const std::vector<std::string>& lines,
                                            const std::string& framework) {
  using enum BenchOptions::Passes;
  std::vector<OverlapKernel> kernels;
  for (const std::string& line : lines) {
    for (const CaseLine& one : expand_case(line)) {
      const OperatorCase drawn = one.draw();
      kernels.push_back(kernel_of(one.line + " forward", [&](OverlapKernel& kernel) {
        make_pass(kernel, drawn, framework, forward);
      }));
      auto back = kernel_of(one.line + " backward", [&](OverlapKernel& kernel) {
        make_pass(kernel, drawn, framework, backward);
      });
      if (back.run) kernels.push_back(std::move(back));
    }
  }
  return kernels;
}

std::vector<OverlapKernel> kernels_of_network(const std::string& model, std::int64_t batch,
                                              const std::string& framework_name) {
  const Network network = open_model(model, {});
  const NetworkSummary summary = summarise(network, {.batch = batch});
  const auto& registry = framework(framework_name).part<OperatorRegistry>();
  std::vector<OverlapKernel> kernels;
  for (std::size_t i = 0; i < network.graph().nodes.size(); ++i) {
    const onnx::Node& node = network.graph().nodes[i];
    const std::string name = fmt::format("{} ({})", summary.nodes[i].name, node.op_type);
    kernels.push_back(kernel_of(name, [&](OverlapKernel& kernel) {
      const auto runner =
          std::make_shared<OperatorRunner>(registry, node, inputs_of(network, summary, node));
      runner->forward();
      const Cost cost = runner->cost();
      kernel.flop = cost.flop;
      kernel.bytes = cost.bytes_read + cost.bytes_written;
      kernel.run = [runner] { runner->forward(); };
    }));
  }
  return kernels;
}

}  // namespace d5
