// SPDX-License-Identifier: Apache-2.0
#include "serving/inference/model_line.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <utility>

#include "core/parsing/json_depth.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "serving/inference/raw_tensor.hpp"

// A message: the length of its head, its head (JSON: the words, and what the tensors are), the
// tensors' bytes one after the other.
namespace d5::detail {
namespace {

using nlohmann::json;
using HeadLength = std::uint64_t;

constexpr std::size_t kMostHeadBytes = std::size_t{16} << 20;
constexpr std::size_t kMostStringBytes = std::size_t{1} << 30;
constexpr std::size_t kSmall = std::size_t{64} << 10;  // is copied once more, and sent with others

[[noreturn]] void fail(const std::string& why) {
  throw FormatError(fmt::format("what a model's process says: {}", why));
}

json described_tensor(const std::string& name, const Tensor& tensor) {
  const auto dims = tensor.shape().dims();
  return json::array({name, std::string(name_of(tensor.dtype())),
                      std::vector<std::int64_t>(dims.begin(), dims.end()), raw_size_of(tensor)});
}

struct SentTensor {
  std::string name, who;
  DType dtype = {};
  Shape shape;
  std::size_t bytes = 0;
};

SentTensor tensor_told(const json& told) {
  SentTensor tensor;
  tensor.name = told.at(0).get<std::string>();
  tensor.who = fmt::format("tensor '{}'", printable(tensor.name));
  tensor.dtype = dtype_from_name(told.at(1).get<std::string>());
  tensor.shape = Shape(told.at(2).get<std::vector<std::int64_t>>());
  tensor.bytes = told.at(3).get<std::size_t>();
  expect_sound_shape(tensor.who, tensor.shape);
  return tensor;
}

}  // namespace

ModelLine::ModelLine(OwnedDescriptor socket, int other)
    : socket_(std::move(socket)), other_(other) {}

bool ModelLine::wait(short events, double deadline) const {
  constexpr double kMost = 3600;
  for (;;) {
    const double left = std::min(deadline - now_seconds(), kMost);
    if (left <= 0) return false;
    std::array<pollfd, 2> watched{{{socket_.get(), events, 0}, {other_, POLLIN, 0}}};
    const int count = ::poll(watched.data(), watched.size(), int(left * 1000) + 1);
    if (count > 0) return (watched[0].revents & events) != 0;
    if (count < 0 && errno != EINTR) return false;
  }
}

bool ModelLine::send_bytes(std::string_view bytes, double deadline) const {
  while (!bytes.empty()) {
    const ssize_t count =
        ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      bytes.remove_prefix(std::size_t(count));
    } else if (errno != EINTR && (errno != EAGAIN || !wait(POLLOUT, deadline))) {
      return false;
    }
  }
  return true;
}

bool ModelLine::receive_bytes(void* bytes, std::size_t count, double deadline) const {
  auto* place = static_cast<char*>(bytes);
  while (count > 0) {
    const ssize_t got = ::recv(socket_.get(), place, count, MSG_DONTWAIT);
    if (got > 0) {
      place += got;
      count -= std::size_t(got);
    } else if (got == 0 || (errno != EINTR && (errno != EAGAIN || !wait(POLLIN, deadline)))) {
      return false;
    }
  }
  return true;
}

bool ModelLine::send(const json& words, const ValueMap& tensors, double deadline) {
  std::vector<Tensor> sent;
  json described = json::array();
  for (const auto& [name, value] : tensors) {
    sent.push_back(value.tensor().on_host());
    described.push_back(described_tensor(name, sent.back()));
  }
  const std::string head =
      json::array({words, described}).dump(-1, ' ', false, json::error_handler_t::replace);
  const HeadLength length = head.size();
  buffer_.assign(reinterpret_cast<const char*>(&length), sizeof length);
  buffer_ += head;
  for (const Tensor& tensor : sent) {
    const bool is_small = raw_size_of(tensor) <= kSmall - std::min(kSmall, buffer_.size());
    if (is_small || tensor.dtype() == DType::string) {
      append_raw(tensor, buffer_);
      continue;
    }
    if (!send_bytes(std::exchange(buffer_, {}), deadline)) return false;
    const std::string_view bytes(static_cast<const char*>(tensor.raw()), tensor.bytes());
    if (!send_bytes(bytes, deadline)) return false;
  }
  return send_bytes(buffer_, deadline);
}

std::optional<ModelMessage> ModelLine::receive(double deadline) {
  HeadLength length = 0;
  if (!receive_bytes(&length, sizeof length, deadline)) return std::nullopt;
  if (length > kMostHeadBytes) fail(fmt::format("a head of {} bytes", length));
  buffer_.resize(length);
  if (!receive_bytes(buffer_.data(), length, deadline)) return std::nullopt;
  expect_shallow_json(buffer_, "what a model's process says");
  json head = json::parse(buffer_, nullptr, false);
  ModelMessage message;
  try {
    message.words = std::move(head.at(0));
    for (const json& told : head.at(1)) {
      const SentTensor sent = tensor_told(told);
      if (sent.dtype == DType::string) {
        if (sent.bytes > kMostStringBytes)
          fail(fmt::format("{} of {} bytes", sent.who, sent.bytes));
        std::string raw(sent.bytes, '\0');
        if (!receive_bytes(raw.data(), raw.size(), deadline)) return std::nullopt;
        message.tensors[sent.name] = tensor_of_raw(sent.who, sent.dtype, sent.shape, raw);
        continue;
      }
      Tensor tensor = Tensor::empty(sent.dtype, sent.shape);
      if (tensor.bytes() != sent.bytes) fail(fmt::format("{} of {} bytes", sent.who, sent.bytes));
      if (!receive_bytes(tensor.raw(), sent.bytes, deadline)) return std::nullopt;
      message.tensors[sent.name] = std::move(tensor);
    }
  } catch (const json::exception& error) {
    fail(error.what());
  }
  return message;
}

}  // namespace d5::detail
