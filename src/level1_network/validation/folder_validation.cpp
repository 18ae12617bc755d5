// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "d5/level1_network/graph/execution_interrupt.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "d5/level1_network/source/network_inputs.hpp"
#include "d5/level1_network/validation/network_validation.hpp"
#include "d5/onnx/file.hpp"
#include "level1_network/nodes/random_nodes.hpp"
#include "level1_network/validation/draw_validation.hpp"
#include "level1_network/validation/value_check.hpp"

namespace d5 {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string result;
  for (const auto& name : names) result += (result.empty() ? "" : ",") + name;
  return result;
}

ValueMap read_inputs(const Network& network, const onnx::TestFolder::DataSet& data) {
  return detail::data_set_inputs(network, data.inputs);
}

/// ONNX's own tolerance: the folder's, in the sense of numpy.testing.assert_allclose. Its runner
/// widens that of bfloat16, whose significand has 8 bits.
ForwardTolerance tolerance_for(const onnx::TestFolder& folder, const Value& expected) {
  ForwardTolerance tolerance{.relative = folder.relative, .absolute = folder.absolute};
  if (expected.is_tensor() && expected.tensor().dtype() == DType::bfloat16) {
    tolerance.relative = std::max(tolerance.relative, 0x1p-6);
  }
  return tolerance;
}

/// Checks only the type and shape of a random output: the expected one is a draw of NumPy's
/// generator. `test_draws` checks the distribution.
Measurement check_type(const Measurement& base, const std::string& what, const Value& got,
                       const Value& expected) {
  Measurement record = base;
  record.conditions["tensor"] = identity(printable(what));
  record.conditions["compared"] = finding("type and shape: it is random");
  const std::string given = to_string(got.desc()), wanted = to_string(expected.desc());
  if (given == wanted) return record;
  record.status = Status::failed;
  record.reason = fmt::format("{}: got {}, expected {}", printable(what), given, wanted);
  return record;
}

/// One run of a test folder with one executor.
class FolderCheck {
 public:
  FolderCheck(onnx::TestFolder folder, const ExecutorOptions& options,
              std::optional<ForwardTolerance> tolerance, const Interrupt& interrupt,
              const TransformChain& transforms)
      : folder_(std::move(folder)),
        options_(options),
        tolerance_(tolerance),
        executor_(open(open_model(folder_.model_path, {}, transforms, interrupt), options.seed)),
        interrupt_(interrupt),
        random_(draws_random_numbers(executor_->network().graph())) {}

  void plan() {
    for (const auto& data : folder_.data_sets) {
      executor_->plan(read_inputs(executor_->network(), data));
    }
  }

  std::vector<Measurement> run(const Measurement& base) {
    std::vector<Measurement> results;
    for (const auto& data : folder_.data_sets) {
      Measurement of_set = base;
      of_set.conditions["data set"] =
          identity(printable(std::filesystem::path(data.path).filename().string()));
      auto records = guarded(of_set, [&] { return run(of_set, data); });
      std::ranges::move(records, std::back_inserter(results));
    }
    return results;
  }

 private:
  [[nodiscard]] std::shared_ptr<GraphExecutor> open(Network network, std::uint64_t seed) const {
    ExecutorOptions options = options_;
    options.seed = seed;
    return open_executor(ExecutorWord(options.frameworks), std::move(network), options);
  }

  std::vector<Measurement> run(const Measurement& base, const onnx::TestFolder::DataSet& data) {
    const Network& network = executor_->network();
    const auto& outputs = network.graph().outputs;
    if (data.outputs.size() > outputs.size()) {
      throw FormatError(fmt::format("'{}' has {} expected outputs, but the network has {}",
                                    printable(data.path), data.outputs.size(), outputs.size()));
    }
    const InterruptibleRuns within(*executor_, interrupt_);
    const ValueMap inputs = read_inputs(network, data);
    const ValueMap& got = executor_->inference(inputs);
    std::vector<Measurement> results;
    for (std::size_t i = 0; i < data.outputs.size(); ++i) {
      const std::string what = "output " + outputs[i].name;
      const Value& value = got.at(outputs[i].name);
      const Value expected = onnx::load_value(data.outputs[i], outputs[i].type);
      if (random_) {
        results.push_back(check_type(base, what, value, expected));
        continue;
      }
      const ForwardTolerance tolerance =
          tolerance_ ? *tolerance_ : tolerance_for(folder_, expected);
      Measurement& record = results.emplace_back(
          check_value(base, what, value, expected, tolerance, detail::Expectation::written));
      record.conditions["tolerance"] = setting(to_string(tolerance));
    }
    if (!random_) return results;
    auto draws = test_draws(
        base, network, inputs,
        [&](Network drawing, std::uint64_t run) {
          return open(std::move(drawing), options_.seed + run);
        },
        tolerance_.value_or(ForwardTolerance{folder_.relative, folder_.absolute}), interrupt_);
    std::ranges::move(draws, std::back_inserter(results));
    return results;
  }

  onnx::TestFolder folder_;
  ExecutorOptions options_;
  std::optional<ForwardTolerance> tolerance_;
  std::shared_ptr<GraphExecutor> executor_;
  Interrupt interrupt_;
  bool random_;
};

onnx::TestFolder open_folder(const std::string& path) {
  onnx::TestFolder folder = onnx::open_test_folder(path);
  if (!folder.data_sets.empty()) return folder;
  throw FormatError(
      fmt::format("'{}' has no test_data_set_0 to compare with; name {} itself to hold it "
                  "against the reference",
                  printable(path), printable(folder.model_path)));
}

}  // namespace

std::vector<Measurement> test_folder(const std::string& path, const ExecutorOptions& options,
                                     std::optional<ForwardTolerance> tolerance,
                                     const Interrupt& interrupt, const TransformChain& transforms) {
  Measurement base = error_record(printable(model_name(path)), joined(options.frameworks));
  base.command = CommandLine("net check")
                     .word(path)
                     .runs_in({ExecutorWord(options.frameworks).text()}, options.device)
                     .option("--seed", options.seed)
                     .text();
  return guarded(base, [&] {
    return FolderCheck(open_folder(path), options, tolerance, interrupt, transforms).run(base);
  });
}

ValueMap folder_inputs(const std::string& path, const Network& network) {
  return read_inputs(network, open_folder(path).data_sets.front());
}

void plan_folder(const std::string& path, const ExecutorOptions& options,
                 const TransformChain& transforms) {
  FolderCheck(open_folder(path), options, {}, {}, transforms).plan();
}

}  // namespace d5
