// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/communicator/traffic.hpp"

#include <sstream>

#include "level3_distributed/communicator/gather_texts.hpp"

namespace d5 {
namespace {

std::string to_text(const Traffic& traffic) {
  std::ostringstream text;
  for (const auto& [name, line] : traffic.by_call) {
    text << name << ' ' << line.calls << ' ' << line.bytes_sent << ' ' << line.bytes_received
         << '\n';
  }
  return text.str();
}

Traffic from_text(const std::string& text) {
  Traffic traffic;
  std::istringstream stream(text);
  std::string name;
  for (Traffic::Line line;
       stream >> name >> line.calls >> line.bytes_sent >> line.bytes_received;) {
    traffic.by_call[name] = line;
  }
  return traffic;
}

}  // namespace

void Traffic::add(std::string_view call, std::int64_t bytes_sent, std::int64_t bytes_received) {
  auto place = by_call.find(call);
  if (place == by_call.end()) place = by_call.emplace(call, Line{}).first;
  ++place->second.calls;
  place->second.bytes_sent += bytes_sent;
  place->second.bytes_received += bytes_received;
}

void Traffic::add_bytes(std::string_view call, std::int64_t bytes_sent,
                        std::int64_t bytes_received) {
  add(call, bytes_sent, bytes_received);
  --by_call.find(call)->second.calls;
}

Traffic::Line Traffic::total() const {
  Line sum;
  for (const auto& [name, line] : by_call) {
    sum.calls += line.calls;
    sum.bytes_sent += line.bytes_sent;
    sum.bytes_received += line.bytes_received;
  }
  return sum;
}

Traffic Traffic::since(const Traffic& earlier) const {
  Traffic result;
  for (const auto& [name, line] : by_call) {
    Line difference = line;
    if (const auto place = earlier.by_call.find(name); place != earlier.by_call.end()) {
      difference.calls -= place->second.calls;
      difference.bytes_sent -= place->second.bytes_sent;
      difference.bytes_received -= place->second.bytes_received;
    }
    if (difference.calls > 0) result.by_call[name] = difference;
  }
  return result;
}

std::vector<Traffic> gather_traffic(Communicator& communicator, const Traffic& traffic) {
  std::vector<Traffic> result;
  for (const auto& text : detail::gather_texts(communicator, to_text(traffic))) {
    result.push_back(from_text(text));
  }
  return result;
}

}  // namespace d5
