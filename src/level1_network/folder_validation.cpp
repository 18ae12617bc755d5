// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "d5/core/error.hpp"
#include "d5/level1_network/network_validation.hpp"
#include "d5/onnx/file.hpp"
#include "level1_network/value_check.hpp"

namespace d5 {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string result;
  for (const auto& name : names) result += (result.empty() ? "" : ",") + name;
  return result;
}

ValueMap read_inputs(const Network& network, const onnx::TestFolder::DataSet& data) {
  ValueMap inputs;
  std::size_t next = 0;
  for (const auto& input : network.graph().inputs) {
    if (network.graph().initializers.contains(input.name)) continue;
    if (next == data.inputs.size()) break;  // the executor names what is missing
    inputs[input.name] = onnx::load_value(data.inputs[next++], input.type);
  }
  return inputs;
}

std::vector<Measurement> check_data_set(const Measurement& base, GraphExecutor& executor,
                                        const onnx::TestFolder::DataSet& data,
                                        ForwardTolerance tolerance) {
  return guarded(base, [&] {
    Network& network = executor.network();
    const auto& outputs = network.graph().outputs;
    if (data.outputs.size() > outputs.size()) {
      throw FormatError(fmt::format("'{}' has {} expected outputs, but the network has {}",
                                    printable(data.path), data.outputs.size(), outputs.size()));
    }
    const ValueMap& got = executor.inference(read_inputs(network, data));
    std::vector<Measurement> results;
    for (std::size_t i = 0; i < data.outputs.size(); ++i) {
      const Value expected = onnx::load_value(data.outputs[i], outputs[i].type);
      results.push_back(check_value(base, "output " + outputs[i].name, got.at(outputs[i].name),
                                    expected, tolerance));
    }
    return results;
  });
}

}  // namespace

std::vector<Measurement> test_folder(const std::string& path, const ExecutorOptions& options,
                                     ForwardTolerance tolerance) {
  Measurement base = error_record(printable(path), joined(options.frameworks));
  base.command = fmt::format("d5 net check {} --framework {}", path, base.framework);
  return guarded(base, [&] {
    const onnx::TestFolder folder = onnx::open_test_folder(path);
    const auto executor = make_executor(Network::load(folder.model_path), options);
    std::vector<Measurement> results;
    for (const auto& data : folder.data_sets) {
      base.conditions["data set"] = printable(data.path);
      for (auto& record : check_data_set(base, *executor, data, tolerance)) {
        results.push_back(std::move(record));
      }
    }
    return results;
  });
}

}  // namespace d5
