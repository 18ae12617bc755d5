// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <onnx/defs/schema.h>

#include <algorithm>
#include <array>
#include <map>

#include "d5/core/entries/framework.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/schema.hpp"
#include "fuzz/mutation.hpp"
#include "fuzz/node_line.hpp"

namespace d5::fuzz {
namespace {

using ::onnx::OpSchema;
using Dims = std::vector<std::int64_t>;

/// The words that attributes of some operator may be.
constexpr std::array<const char*, 24> kWords = {
    "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER", "constant", "reflect",       "edge",    "wrap",
    "none",   "mean",  "sum",        "forward",    "reverse",  "bidirectional", "nearest", "linear",
    "cubic",  "tanh",  "LEFT",       "RIGHT",      "DCR",      "CRD",           "add",     "mul"};

/// d5's name of ONNX's "tensor(float)"; nothing for what is no tensor.
std::string line_type(const std::string& type) {
  if (type == "tensor(float)") return "float32";
  if (type == "tensor(double)") return "float64";
  return type.starts_with("tensor(") ? type.substr(7, type.size() - 8) : "";
}

class LineBySchema {
 public:
  LineBySchema(const OpSchema& schema, int opset, RandomStream& random)
      : schema_(schema), random_(random), base_(some_dims()) {
    line_ = schema.domain().empty() ? schema.Name() : schema.domain() + "." + schema.Name();
    if (opset > 0) line_ += fmt::format("@{}", opset);
  }

  std::string line() {
    for (const auto& parameter : schema_.inputs()) add_inputs(parameter);
    if (one_in(random_, 30)) line_ += ' ' + input("float32");
    const std::map<std::string, OpSchema::Attribute> attributes(schema_.attributes().begin(),
                                                                schema_.attributes().end());
    for (const auto& [name, attribute] : attributes) {
      const bool wanted = attribute.required ? !one_in(random_, 20) : one_in(random_, 3);
      if (wanted) add_attribute(name, attribute.type);
    }
    const std::int64_t most = std::min(schema_.max_output(), 4);
    const std::int64_t outputs =
        between(random_, schema_.min_output(), std::max<std::int64_t>(most, 1));
    if (one_in(random_, 3)) line_ += fmt::format(" outputs={}", std::max<std::int64_t>(outputs, 1));
    return line_;
  }

 private:
  [[nodiscard]] std::int64_t some_dim() {
    return one_in(random_, 20) ? between(random_, 0, 9) : between(random_, 1, 4);
  }
  Dims some_dims() {
    Dims dims(random_.below(one_in(random_, 8) ? 7 : 5));
    for (auto& dim : dims) dim = some_dim();
    return dims;
  }

  /// Mostly what the base broadcasts with.
  Dims dims() {
    Dims result = base_;
    switch (random_.below(8)) {
      case 0:
        return some_dims();
      case 1:
        if (!result.empty()) return {pick(random_, result)};
        break;
      case 2:
        if (!result.empty())
          result[random_.below(result.size())] = one_in(random_, 2) ? 1 : some_dim();
        break;
      case 3:
        if (!result.empty()) result.erase(result.begin());
        break;
      default:
        break;
    }
    return result;
  }

  /// Numbers in braces: as many as `shape` has, or a list of some.
  std::string literal(const std::string& dtype, Dims shape) {
    std::int64_t count = 1;
    for (const auto dim : shape) count *= dim;
    if (count > 24 || one_in(random_, 2)) shape = {count = between(random_, 0, 4)};
    std::vector<std::string> words;
    for (std::int64_t i = 0; i < count; ++i) {
      if (dtype == "string") {
        words.push_back(pick(random_, kWords));
      } else if (dtype == "bool") {
        words.push_back(one_in(random_, 2) ? "1" : "0");
      } else if (dtype.starts_with("uint")) {
        words.push_back(std::to_string(between(random_, 0, 12)));
      } else if (dtype == "int64" || dtype == "int32") {
        const auto value = one_in(random_, 3) ? some_integer(random_) : between(random_, 0, 4);
        words.push_back(std::to_string(dtype == "int64" ? value : std::int32_t(value)));
      } else if (dtype.starts_with("int")) {
        words.push_back(std::to_string(between(random_, -3, 9)));
      } else {
        words.push_back(fmt::format("{}", float(some_real(random_))));
      }
    }
    return fmt::format("{}:{}{{{}}}", dtype, text(shape), fmt::join(words, ","));
  }

  static std::string text(const Dims& shape) {
    return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, "x"));
  }

  std::string input(const std::string& dtype) {
    const Dims shape = dims();
    const bool indices = dtype == "int64" || dtype == "int32";
    if (dtype == "string" || one_in(random_, indices ? 2 : 12)) return literal(dtype, shape);
    std::string result = dtype == "float32" && !shape.empty()
                             ? text(shape)
                             : fmt::format("{}:{}", dtype, text(shape));
    if (one_in(random_, 3)) result += fmt::format("%{}", between(random_, 1, 5));
    return result;
  }

  void add_inputs(const OpSchema::FormalParameter& parameter) {
    if (parameter.GetOption() == OpSchema::Optional && one_in(random_, 2)) {
      line_ += " -";
      return;
    }
    std::int64_t count = 1;
    if (parameter.GetOption() == OpSchema::Variadic) count = between(random_, 1, 3);
    if (one_in(random_, 40)) count = 0;
    for (; count > 0; --count) line_ += ' ' + input(type_of(parameter));
  }

  /// Parameters of one type variable have one type, mostly float32 where that is allowed.
  const std::string& type_of(const OpSchema::FormalParameter& parameter) {
    std::string& chosen = types_[parameter.GetTypeStr()];
    if (!chosen.empty() && !one_in(random_, 40)) return chosen;
    std::vector<std::string> allowed;
    for (const std::string* name : parameter.GetTypes()) {
      const std::string type = line_type(*name);
      if (std::ranges::find(kLineTypes, type) != kLineTypes.end()) allowed.push_back(type);
    }
    std::ranges::sort(allowed);  // they came in the order of their addresses
    const bool has_float = std::ranges::find(allowed, "float32") != allowed.end();
    if (allowed.empty() || (has_float && one_in(random_, 2))) allowed = {"float32"};
    return chosen = pick(random_, allowed);
  }

  std::int64_t some_number() {
    return one_in(random_, 8) ? some_integer(random_) : between(random_, -1, 3);
  }

  template <class Make>
  std::string list(const char* separator, Make&& make) {
    const std::size_t rank = base_.size(), spatial = rank > 2 ? rank - 2 : 1;
    const std::array<std::size_t, 5> counts = {rank, spatial, 2 * spatial, 2, 1};
    std::vector<std::string> words(one_in(random_, 6) ? random_.below(6) : pick(random_, counts));
    for (auto& word : words) word = make();
    return fmt::format("{}", fmt::join(words, separator));
  }

  void add_attribute(const std::string& name, ::onnx::AttributeProto::AttributeType type) {
    using Proto = ::onnx::AttributeProto;
    const auto integer = [&] { return std::to_string(some_number()); };
    const auto real = [&] { return fmt::format("{}", float(some_real(random_))); };
    const auto word = [&] { return std::string(pick(random_, kWords)); };
    std::string value;
    switch (type) {
      case Proto::INT:
        value = integer();
        break;
      case Proto::FLOAT:
        value = real();
        break;
      case Proto::STRING:
        value = word();
        break;
      case Proto::INTS:
        value = list("x", integer);
        break;
      case Proto::FLOATS:
        value = list("x", real);
        break;
      case Proto::STRINGS:
        value = list(",", word);
        break;
      default:
        return;  // no words for it on a line
    }
    line_ += fmt::format(" {}={}", name, value);
  }

  const OpSchema& schema_;
  RandomStream& random_;
  Dims base_;
  std::map<std::string, std::string> types_;  // by type variable
  std::string line_;
};

}  // namespace

std::string line_by_schema(RandomStream& random) {
  static const auto entries = framework("reference").part<OperatorRegistry>().list();
  for (;;) {
    const auto& entry = pick(random, entries);
    const int newest = std::min(entry.until, onnx::newest_opset(entry.domain));
    const bool old = one_in(random, 3);
    const int opset = old ? int(between(random, entry.since, newest)) : newest;
    const OpSchema* schema = ::onnx::OpSchemaRegistry::Schema(entry.name, opset, entry.domain);
    if (schema) return LineBySchema(*schema, opset, random).line();
  }
}

}  // namespace d5::fuzz
