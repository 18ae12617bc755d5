// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <list>
#include <string>
#include <vector>

#include "d5/abi.h"
#include "level0_ops/judge/protocol.hpp"

namespace d5::judged {

/// The attributes in an order, as `d5_operator::create` takes them.
class NodeAttributes {
 public:
  explicit NodeAttributes(const Orders& orders) : at_(orders.attributes) {
    for (std::uint32_t i = 0; i < orders.attribute_count; ++i) add();
  }
  [[nodiscard]] const std::vector<d5_attribute>& all() const { return all_; }

 private:
  void add() {
    const auto kind = take<std::uint32_t>(), count = take<std::uint32_t>();
    d5_attribute one{texts_.emplace_back(text(take<std::uint32_t>())).c_str(),
                     static_cast<std::int32_t>(kind),
                     count,
                     nullptr,
                     nullptr,
                     nullptr};
    if (kind == D5_ATTRIBUTE_INT || kind == D5_ATTRIBUTE_INTS) {
      one.integers = many(integers_, count).data();
    } else if (kind == D5_ATTRIBUTE_FLOAT || kind == D5_ATTRIBUTE_FLOATS) {
      one.floats = many(reals_, count).data();
    } else {
      auto& words = words_.emplace_back();
      for (std::uint32_t i = 0; i < count; ++i) {
        words.push_back(texts_.emplace_back(text(take<std::uint32_t>())).c_str());
      }
      one.strings = words.data();
    }
    all_.push_back(one);
  }

  template <class T>
  T take() {
    T value;
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  template <class T>
  std::vector<T>& many(std::list<std::vector<T>>& lists, std::uint32_t count) {
    auto& list = lists.emplace_back();
    for (std::uint32_t i = 0; i < count; ++i) list.push_back(take<T>());
    return list;
  }
  std::string text(std::uint32_t length) {
    std::string result(at_, length);
    at_ += length;
    return result;
  }

  const char* at_;
  std::list<std::string> texts_;
  std::list<std::vector<std::int64_t>> integers_;
  std::list<std::vector<float>> reals_;
  std::list<std::vector<const char*>> words_;
  std::vector<d5_attribute> all_;
};

}  // namespace d5::judged
