// SPDX-License-Identifier: Apache-2.0
#include "fuzz/json_damage.hpp"

#include <nlohmann/json.hpp>
#include <vector>

#include "fuzz/mutation.hpp"

namespace d5::fuzz {
namespace {

using nlohmann::json;

/// Every value, those that hold others too.
void collect(json& value, std::vector<json*>& into) {
  into.push_back(&value);
  if (!value.is_structured()) return;
  for (auto& inner : value) collect(inner, into);
}

json some_value(RandomStream& random) {
  switch (random.below(8)) {
    case 0:
      return nullptr;
    case 1:
      return one_in(random, 2);
    case 2:
      return some_real(random);
    case 3:
      return json::array({some_integer(random), some_integer(random)});
    case 4:
      return json::object({{some_text(random), some_integer(random)}});
    case 5:
      return std::uint64_t(some_integer(random));
    case 6:
      return some_integer(random);
    default:
      return some_text(random);
  }
}

void change(json& root, RandomStream& random) {
  std::vector<json*> values;
  collect(root, values);
  json& value = *pick(random, values);
  const json other = *pick(random, values);  // a copy: it may hold `value`, or be in it
  switch (random.below(5)) {
    case 0:
      value = other;
      return;
    case 1:
      if (value.is_structured() && !value.empty()) {
        value.erase(std::next(value.begin(), std::ptrdiff_t(random.below(value.size()))));
        return;
      }
      break;
    case 2:
      if (value.is_array()) {
        value.push_back(other);
        return;
      }
      if (value.is_object()) {
        value[some_text(random)] = other;
        return;
      }
      break;
    case 3:
      if (value.is_string()) {
        value = with_damage(value.get<std::string>(), random);
        return;
      }
      break;
    default:
      break;
  }
  value = some_value(random);
}

/// Lists or objects in each other; some are more than a stack has room for.
std::string deep_value(RandomStream& random) {
  const bool lists = one_in(random, 2);
  const int levels = one_in(random, 2) ? 150 : 150'000;
  std::string text;
  for (int i = 0; i < levels; ++i) text += lists ? "[" : R"({"a":)";
  text += "1";
  return text.append(std::size_t(levels), lists ? ']' : '}');
}

}  // namespace

std::string with_other_values(const std::string& text, RandomStream& random) {
  json root = json::parse(text);
  for (auto changes = 1 + random.below(3); changes > 0; --changes) change(root, random);
  const bool has_deep_value = one_in(random, 16);
  constexpr const char* kPlace = "here is a deep value";
  if (has_deep_value) {
    std::vector<json*> values;
    collect(root, values);
    *pick(random, values) = kPlace;
  }
  // Infinity and NaN become null, and what is no UTF-8 the replacement character.
  std::string result = root.dump(-1, ' ', false, json::error_handler_t::replace);
  if (has_deep_value) {
    const std::string place = json(kPlace).dump();
    result.replace(result.find(place), place.size(), deep_value(random));
  }
  return result;
}

}  // namespace d5::fuzz
