// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/validation/node_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level1_network/graph/execution_interrupt.hpp"
#include "d5/level1_network/validation/network_validation.hpp"
#include "level1_network/graph/network_parts.hpp"
#include "level1_network/nodes/node_names.hpp"
#include "level1_network/validation/answers.hpp"
#include "level1_network/validation/first_run.hpp"
#include "level1_network/validation/inner_values.hpp"
#include "level1_network/validation/value_check.hpp"

namespace d5 {
namespace {

constexpr const char *kAccumulated = "accumulated_error", *kOwnError = "own_error",
                     *kWhole = "whole_error";

/// Bytes that each node of a run writes, by its first output; missing if known only at run time.
class WrittenBytes final : public ExecutionEvent {
 public:
  void before_node(const StepInfo& step) override { bytes_[first_output(step.node)] = step.memory; }
  [[nodiscard]] std::size_t of(const onnx::Node& node) const {
    const auto place = bytes_.find(first_output(node));
    return place == bytes_.end() ? 0 : place->second;
  }

 private:
  std::map<std::string, std::size_t> bytes_;
};

/// The record to show first.
const Measurement& worst_of(const std::vector<Measurement>& records) {
  const auto rank = [](const Measurement& m) {
    const int status = m.status == Status::failed        ? 3
                       : m.status == Status::unsupported ? 2
                       : m.status == Status::passed      ? 0
                                                         : 1;
    return std::pair(status, m.samples.empty() ? 0.0 : m.samples.front());
  };
  return *std::ranges::max_element(records, {}, rank);
}

/// Records of `outputs`; if a run ended early, the one with the reason.
std::vector<Measurement> records_of(const std::vector<std::string>& outputs,
                                    const std::vector<Measurement>& all) {
  std::vector<Measurement> found;
  for (const auto& m : all) {
    const auto tensor = m.conditions.find("tensor");
    const bool is_its = tensor == m.conditions.end() ||
                        std::ranges::any_of(outputs, [&](const std::string& output) {
                          return tensor->second == printable("output " + output);
                        });
    if (is_its) found.push_back(m);
  }
  return found;
}

class NodeComparison {
 public:
  /// `path`: of a nested graph, followed by a slash; empty: `network` is the whole.
  NodeComparison(const Network& network, const MakeExecutor& subject, const MakeExecutor& reference,
                 const ValueMap& inputs, const NodeComparisonOptions& options,
                 std::string path = "")
      : path_(std::move(path)),
        network_(network.copy()),
        nodes_(network_.graph().nodes),
        subject_(subject),
        reference_(reference),
        inputs_(inputs),
        options_(options) {}

  std::vector<Measurement> run() {
    const WrittenBytes bytes = written_bytes();
    for (std::size_t begin = 0; begin < nodes_.size();) {
      std::size_t end = begin, sum = 0;
      do {
        sum += bytes.of(nodes_[end++]);
      } while (end < nodes_.size() && sum + bytes.of(nodes_[end]) <= options_.piece_bytes);
      compare(begin, end);
      begin = end;
    }
    if (differing_.empty() && path_.empty()) add_whole();
    return std::move(records_);
  }

 private:
  [[nodiscard]] WrittenBytes written_bytes() const {
    const auto bytes = std::make_shared<WrittenBytes>();
    const auto executor = reference_(network_.copy());
    executor->events().add(bytes);
    const InterruptibleRuns within(*executor, options_.interrupt);
    (void)executor->inference(inputs_);
    return *bytes;
  }

  /// Nodes [begin, end).
  void compare(std::size_t begin, std::size_t end) {
    std::set<std::string> written;
    for (std::size_t i = begin; i < end; ++i) {
      written.insert(nodes_[i].outputs.begin(), nodes_[i].outputs.end());
    }
    written.erase("");
    const auto accumulated = test(beginning_of(network_, end, written), inputs_);
    const ValueMap values = values_read(begin, end);
    for (std::size_t i = begin; i < end; ++i) {
      if (first_output(nodes_[i]).empty()) continue;
      look_into(nodes_[i], values);
      add_accumulated(i, records_of(nodes_[i].outputs, accumulated));
      add(i, kOwnError, test_alone(nodes_[i], values));
    }
  }

  [[nodiscard]] std::vector<Measurement> test(const Network& part, const ValueMap& fed) const {
    return guarded(base_, [&] {
      const auto subject = subject_(part.copy()), reference = reference_(part.copy());
      return test_inner_values(*subject, *reference, fed, options_.tolerance, options_.interrupt);
    });
  }

  /// The reference's values that the nodes [begin, end) read from inputs and from other nodes.
  [[nodiscard]] ValueMap values_read(std::size_t begin, std::size_t end) const {
    std::set<std::string> wanted;
    for (std::size_t i = begin; i < end; ++i) {
      for (const auto& name : read_names(nodes_[i])) {
        const bool is_known =
            inputs_.contains(name) || network_.graph().initializers.contains(name);
        if (!is_known) wanted.insert(name);
      }
    }
    ValueMap values = inputs_;
    if (wanted.empty()) return values;
    const auto executor = reference_(beginning_of(network_, end, wanted));
    const InterruptibleRuns within(*executor, options_.interrupt);
    for (auto& [name, value] : executor->inference(inputs_)) {
      values[name] = value.is_tensor() ? Value(value.tensor().copy({})) : value;
    }
    return values;
  }

  [[nodiscard]] std::vector<Measurement> test_alone(const onnx::Node& node,
                                                    const ValueMap& values) const {
    return guarded(base_, [&] {
      const Network part = alone(node, network_, values);
      ValueMap fed;
      for (const auto& name : part.input_names()) fed[name] = values.at(name);
      return test(part, fed);
    });
  }

  /// Compares the nodes of the graph that a node runs first, on the node's inputs. They precede the
  /// node, which inherits their differences.
  void look_into(const onnx::Node& node, const ValueMap& values) {
    std::optional<FirstRun> first;
    try {
      if (first = first_run(node, network_, values); !first) return;
    } catch (const Interrupted&) {
      throw;
    } catch (const Error&) {  // the node says so itself
      return;
    }
    const std::string path = path_ + name_of(node) + '/' + first->attribute + '/';
    std::ranges::move(
        NodeComparison(first->body, subject_, reference_, first->inputs, options_, path).run(),
        std::back_inserter(records_));
  }

  void add_accumulated(std::size_t place, const std::vector<Measurement>& records) {
    const onnx::Node& node = nodes_[place];
    add(place, kAccumulated, records);
    const auto names = read_names(node);
    const bool differ = std::ranges::any_of(
        names, [&](const std::string& name) { return differing_.contains(name); });
    records_.back().conditions["inputs"] = finding(differ ? "differ" : "agree");
    for (const auto& output : node.outputs) {
      const auto of_output = records_of({output}, records);
      if (std::ranges::any_of(of_output,
                              [](const Measurement& m) { return m.status == Status::failed; })) {
        differing_.insert(output);
      }
    }
  }

  /// Compares the whole network: with all inner values as outputs, as above, nodes cannot be fused.
  void add_whole() {
    const auto records = test(network_, inputs_);
    if (records.empty() || worst_of(records).status != Status::failed) return;
    Measurement& record = records_.emplace_back(worst_of(records));
    record.subject = printable(network_.name());
    record.metric = kWhole;
  }

  void add(std::size_t place, const char* metric, const std::vector<Measurement>& records) {
    const onnx::Node& node = nodes_[place];
    Measurement& record = records_.emplace_back(
        records.empty() ? missing_value(base_, first_output(node)) : worst_of(records));
    record.subject = printable(network_.name());
    record.level = "operator";
    record.metric = metric;
    record.conditions["node"] = identity(printable(path_ + name_of(node)));
    record.conditions["operator"] =
        identity(printable((node.domain.empty() ? "" : node.domain + ".") + node.op_type));
    record.conditions["place"] = finding(place + 1);
  }

  static std::string name_of(const onnx::Node& node) {
    return node.name.empty() ? first_output(node) : node.name;
  }

  const std::string path_;
  const Network network_;
  const std::vector<onnx::Node>& nodes_;
  const MakeExecutor& subject_;
  const MakeExecutor& reference_;
  const ValueMap& inputs_;
  const NodeComparisonOptions& options_;
  const Measurement base_ = error_record("", "");
  std::set<std::string> differing_;
  std::vector<Measurement> records_;
};

}  // namespace

std::vector<Measurement> compare_nodes(const Network& network, const MakeExecutor& subject,
                                       const MakeExecutor& reference, const ValueMap& inputs,
                                       const NodeComparisonOptions& options) {
  return guarded(error_record(printable(network.name()), ""), [&] {
    return NodeComparison(network, subject, reference, inputs, options).run();
  });
}

const Measurement* first_to_differ(std::span<const Measurement> records) {
  const auto place = std::ranges::find_if(records, [](const Measurement& m) {
    return m.metric == kAccumulated && m.status == Status::failed &&
           m.conditions.at("inputs") == "agree";
  });
  return place == records.end() ? nullptr : &*place;
}

bool is_node_comparison(const Measurement& record) {
  return record.metric == kAccumulated || record.metric == kOwnError || record.metric == kWhole;
}

}  // namespace d5
