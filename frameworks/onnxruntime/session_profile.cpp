// SPDX-License-Identifier: Apache-2.0
#include "session_profile.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "d5/core/trace/trace.hpp"
#include "d5/onnx/model.hpp"

namespace d5::onnxruntime {
namespace {

using Json = nlohmann::json;
constexpr std::string_view kSuffix = "_kernel_time";  // suffix of events of nodes

/// Ends the session's profile, and reads and deletes its file.
Json take_profile(Session& session) {
  Allocator* allocator = nullptr;
  kGetAllocator(&allocator);
  char* name = nullptr;
  kEndProfiling(&session, allocator, &name);
  const std::filesystem::path file = name;
  kAllocatorFree(allocator, static_cast<void*>(name));
  Json events;
  {
    std::ifstream stream(file);
    events = Json::parse(stream, nullptr, false);
  }
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  return events;
}

/// Start of the profile on the trace's clock; ONNX Runtime gives it on the system's.
std::int64_t begin_of(const Session& session) {
  std::uint64_t begin = 0;
  kGetProfilingStart(&session, &begin);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::int64_t system = std::chrono::nanoseconds(now).count();
  return std::int64_t(begin) + Trace::now_ns() - system;
}

void add_node(const Json& event, std::int64_t begin, int lane) {
  const std::string name = event.at("name");
  onnx::Node node;
  node.name = name.substr(0, name.size() - kSuffix.size());
  const Json arguments = event.value("args", Json::object());
  node.op_type = arguments.value("op_name", "");
  TraceRecord record{.lane = lane, .level = "operator", .name = onnx::describe(node)};
  record.begin_ns = begin + event.at("ts").get<std::int64_t>() * 1000;
  record.end_ns = record.begin_ns + event.at("dur").get<std::int64_t>() * 1000;
  record.arguments = {{"framework", "onnxruntime"}, {"provider", arguments.value("provider", "")}};
  Trace::add(std::move(record));
}

void add_nodes(Session& session) {
  const std::int64_t begin = begin_of(session);
  std::map<std::int64_t, int> lanes;  // keyed by thread
  for (const Json& event : take_profile(session)) {
    const std::string name = event.value("name", "");
    if (event.value("cat", "") != "Node" || !name.ends_with(kSuffix)) continue;
    const auto [lane, fresh] = lanes.try_emplace(event.value("tid", std::int64_t{0}), 0);
    if (fresh) lane->second = Trace::lane(fmt::format("onnxruntime {}", lanes.size()));
    add_node(event, begin, lane->second);
  }
}

}  // namespace

std::string profile_prefix() {
  static std::atomic<int> number = 0;
  return std::filesystem::temp_directory_path() /
         fmt::format("d5-onnxruntime-{}-{}", getpid(), number++);
}

void put_on_trace(std::shared_ptr<Session> session) {
  Trace::at_stop([session = std::move(session)] { add_nodes(*session); });
}

}  // namespace d5::onnxruntime
