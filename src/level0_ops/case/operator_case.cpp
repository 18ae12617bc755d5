// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/case/operator_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/onnx/schema.hpp"
#include "level0_ops/case/case_data.hpp"
#include "level0_ops/case/case_grammar.hpp"
#include "level0_ops/case/case_ranges.hpp"

namespace d5 {
namespace {

using detail::number;
using detail::refuse;
using detail::split;
using detail::Word;

template <class T>
std::vector<T> numbers(const Word& word, char separator, std::string_view expected) {
  std::vector<T> result;
  if (word.text.empty()) return result;
  for (const Word& part : split(word, separator)) {
    result.push_back(number<T>(part, expected));
  }
  return result;
}

/// A tensor of the elements between braces.
Tensor literal(DType dtype, const std::optional<Shape>& shape, const Word& list) {
  std::vector<Word> words;
  if (!list.text.empty()) words = split(list, ',');
  const Shape own = shape ? *shape : Shape{std::int64_t(words.size())};
  if (own.elements() != std::int64_t(words.size())) {
    refuse(list, fmt::format("{} values", own.elements()));
  }
  Tensor tensor = Tensor::empty(dtype, own);
  dispatch(Join<NumberTypes, Types<bool, std::string>>{}, dtype, "case", [&]<class T>() {
    T* to = tensor.data<T>();
    for (const Word& word : words) {
      if constexpr (std::is_same_v<T, std::string>) {
        *to++ = std::string(word.text);
      } else if constexpr (std::is_same_v<T, bool>) {
        *to++ = number<int>(word, "0 or 1") != 0;
      } else if constexpr (std::is_integral_v<T>) {
        *to++ = number<T>(word, fmt::format("an {}", name_of(dtype)));
      } else {
        *to++ = T(number<Arithmetic<T>>(word, "a number"));
      }
    }
  });
  return tensor;
}

Shape parse_shape(const Word& word) {
  if (word.text == "scalar") return {};
  const auto dims = numbers<std::int64_t>(word, 'x', "sizes as 2x3, or 'scalar'");
  for (const std::int64_t dim : dims) {
    if (dim < 0) refuse(word, "sizes of 0 or more");
  }
  return Shape(dims);
}

/// Removes the suffix after `sign` from `word`, and parses it.
template <class T>
std::optional<T> suffix(Word& word, char sign, std::string_view expected) {
  const std::size_t place = word.text.find(sign);
  if (place == std::string_view::npos) return std::nullopt;
  const T result = number<T>({word.text.substr(place + 1), word.column + place + 1}, expected);
  word.text = word.text.substr(0, place);
  return result;
}

/// Without `random`, nothing is drawn or allocated.
Value parse_input(Word word, const onnx::Node& node, RandomStream* random) {
  DType dtype = DType::float32;
  if (const std::size_t colon = word.text.substr(0, word.text.find('{')).find(':');
      colon != std::string_view::npos) {
    dtype = dtype_from_name(word.text.substr(0, colon));
    word = {word.text.substr(colon + 1), word.column + colon + 1};
  }
  if (word.text.ends_with('}')) {
    const std::size_t open = word.text.find('{');
    if (open == std::string_view::npos) refuse(word, "an opening brace");
    std::optional<Shape> shape;
    if (open > 0) shape = parse_shape({word.text.substr(0, open), word.column});
    return literal(
        dtype, shape,
        {word.text.substr(open + 1, word.text.size() - open - 2), word.column + open + 1});
  }
  detail::Distribution distribution;
  distribution.bound = suffix<double>(word, '%', "a bound after %");
  distribution.most_whole = suffix<std::int64_t>(word, '~', "a whole number after ~");
  if (distribution.most_whole && (*distribution.most_whole < 1 || distribution.bound)) {
    refuse(word, "a whole number of 1 or more after ~, and no % beside it");
  }
  if (word.text.empty()) refuse(word, "sizes as 2x3, 'scalar', or values in braces");
  if (dtype == DType::string) {
    refuse(word, "strings in braces, as string:2{a,b}: there are no random ones");
  }
  const Shape shape = parse_shape(word);
  if (!random) return {};
  distribution.scale = detail::usual_scale(node, node.inputs.size(), shape);
  Tensor tensor = Tensor::empty(dtype, shape);
  detail::fill(tensor, distribution, *random);
  return tensor;
}

/// An expected output: values in braces only, because random values cannot be expected.
Value parse_expected(const Word& word) {
  if (word.text == "-") return {};
  if (!word.text.ends_with('}')) refuse(word, "the values of an output, as {1,2}, or -");
  return parse_input(word, onnx::Node(), nullptr);  // nothing is drawn
}

onnx::AttributeKind guess_kind(std::string_view text) {
  using onnx::AttributeKind;
  if (text.find_first_not_of("-0123456789") == std::string_view::npos)
    return AttributeKind::integer;
  if (text.find_first_not_of("-0123456789x") == std::string_view::npos) {
    return AttributeKind::integers;
  }
  if (text.find_first_not_of("-+0123456789.e") == std::string_view::npos) {
    return AttributeKind::real;
  }
  return AttributeKind::text;
}

onnx::Attribute parse_attribute(const Word& value, onnx::AttributeKind kind) {
  using onnx::AttributeKind;
  switch (kind) {
    case AttributeKind::integer:
      return number<std::int64_t>(value, "an integer");
    case AttributeKind::real:
      return number<float>(value, "a number");
    case AttributeKind::text:
      return std::string(value.text);
    case AttributeKind::integers:
      return numbers<std::int64_t>(value, 'x', "integers separated by x");
    case AttributeKind::reals:
      return numbers<float>(value, 'x', "numbers separated by x");
    case AttributeKind::texts: {
      std::vector<std::string> texts;
      for (const Word& word : split(value, ',')) texts.emplace_back(word.text);
      return texts;
    }
    default:
      refuse(value, "an attribute that can be written on a line: numbers or words");
  }
}

/// `[domain.]Op[@opset]`
onnx::Node parse_operator(const Word& word) {
  onnx::Node node;
  std::string_view name = word.text;
  const std::size_t at = name.find('@');
  name = name.substr(0, at);
  if (const std::size_t dot = name.rfind('.'); dot != std::string_view::npos) {
    node.domain = std::string(name.substr(0, dot));
    name = name.substr(dot + 1);
  }
  if (name.empty()) refuse(word, "the name of an operator");
  node.op_type = std::string(name);
  const int newest = onnx::newest_opset(node.domain);
  if (at == std::string_view::npos) {
    node.opset = newest;
    return node;
  }
  const Word opset{word.text.substr(at + 1), word.column + at + 1};
  node.opset = number<int>(opset, "an opset after @");
  const bool of_onnx = node.domain.empty() || node.domain.starts_with("ai.onnx");
  if (node.opset < 1 || (of_onnx && node.opset > newest)) {
    refuse(opset, of_onnx ? fmt::format("an opset from 1 to {}", newest) : "an opset of 1 or more");
  }
  return node;
}

enum class Inputs { drawn, looked_at };

OperatorCase parse(const std::string& line, std::uint64_t seed, Inputs inputs) {
  std::vector<Word> words = detail::words_of(line);
  if (words.empty()) throw FormatError("case: the line is empty, expected an operator's name");
  OperatorCase result{parse_operator(words[0]), {}, line, seed};
  if (const auto several = std::ranges::find(words, "for", &Word::text); several != words.end()) {
    refuse(*several, "one case: with 'for' a line is several");
  }
  onnx::Node& node = result.node;
  const auto schema = onnx::schema_of(node);
  int outputs = schema ? std::max(1, schema->least_outputs) : 1;
  const auto arrow = std::ranges::find(words, "->", &Word::text);
  const std::vector<Word> expected(arrow == words.end() ? arrow : arrow + 1, words.end());
  if (arrow != words.end() && expected.empty()) refuse(*arrow, "outputs after it, as {1,2}");
  words.erase(arrow, words.end());
  outputs = std::max(outputs, int(expected.size()));
  for (std::size_t i = 1; i < words.size(); ++i) {
    const Word& word = words[i];
    const std::size_t equals = word.text.find('=');
    if (equals == std::string_view::npos || equals > word.text.find('{')) {
      if (!node.attributes.empty()) refuse(word, "attributes only, after the inputs");
      RandomStream random(seed, std::uint32_t(node.inputs.size()));
      const bool left_out = word.text == "-";
      result.inputs.push_back(
          left_out ? Value()
                   : parse_input(word, node, inputs == Inputs::drawn ? &random : nullptr));
      node.inputs.push_back(left_out ? "" : fmt::format("input{}", node.inputs.size()));
      continue;
    }
    const std::string name(word.text.substr(0, equals));
    const Word value{word.text.substr(equals + 1), word.column + equals + 1};
    if (name == "outputs") {
      outputs = number<int>(value, "how many outputs are wanted");
      if (outputs < 1 || outputs > 1000) refuse(value, "1 to 1000 outputs");
      if (outputs < int(expected.size())) {
        refuse(value, fmt::format("{} outputs or more, as are expected", expected.size()));
      }
      continue;
    }
    onnx::AttributeKind kind = guess_kind(value.text);
    if (schema) {
      const auto known = schema->attributes.find(name);
      if (known == schema->attributes.end()) {
        std::string names;
        for (const auto& [other, ignored] : schema->attributes) names += " " + other;
        refuse(word, fmt::format("an attribute of {} in opset {}:{}", node.op_type, node.opset,
                                 names.empty() ? " it has none" : names));
      }
      kind = known->second;
    }
    node.attributes[name] = parse_attribute(value, kind);
  }
  for (int i = 0; i < outputs; ++i) node.outputs.push_back(fmt::format("output{}", i));
  for (const Word& word : expected) result.expected.push_back(parse_expected(word));
  return result;
}

}  // namespace

OperatorCase parse_case(const std::string& line, std::uint64_t seed) {
  return parse(line, seed, Inputs::drawn);
}

CaseLine read_case(const std::string& line, std::uint64_t seed) {
  return {parse(line, seed, Inputs::looked_at).node, line, seed};
}

std::vector<CaseLine> expand_case(const std::string& line, std::uint64_t seed) {
  const auto lines = detail::without_ranges(line);
  if (lines.front().sweep.line.empty()) return {read_case(lines.front().line, seed)};
  std::vector<CaseLine> cases;
  for (const auto& one : lines) {
    try {
      cases.push_back(read_case(one.line, seed));
      cases.back().sweep = one.sweep;
    } catch (const FormatError& error) {
      throw FormatError(fmt::format("{}, in '{}'", error.what(), printable(one.line)));
    }
  }
  return cases;
}

OperatorCase CaseLine::draw() const {
  if (!refusal.empty()) throw FormatError(refusal);
  OperatorCase drawn = parse_case(line, seed);
  drawn.sweep = sweep;
  return drawn;
}

std::vector<CaseLine> read_cases(const std::string& path, std::uint64_t seed,
                                 const std::function<void(const CaseLine&)>& check) {
  std::ifstream file(path);
  if (!file) throw IoError(fmt::format("cases '{}' cannot be read", printable(path)));
  std::vector<CaseLine> cases;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    line.resize(line.find_last_not_of(" \t\r") + 1);
    try {
      for (auto& one : expand_case(line, seed)) {
        if (check) check(one);
        cases.push_back(std::move(one));
      }
    } catch (const Error& error) {
      cases.push_back(
          {.node = {},
           .line = line,
           .seed = seed,
           .refusal = fmt::format("'{}', line {}: {}", printable(path), number, error.what())});
    }
  }
  if (cases.empty()) {
    throw FormatError(fmt::format("'{}' has no case, expected one per line", printable(path)));
  }
  const auto is_refused = [](const CaseLine& one) { return !one.refusal.empty(); };
  if (std::ranges::all_of(cases, is_refused)) throw FormatError(cases.front().refusal);
  return cases;
}

}  // namespace d5
