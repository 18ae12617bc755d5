// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/schemes/parameter_server/server_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "d5/core/errors/error.hpp"
#include "level2_training/data/storage/safetensors.hpp"

namespace d5::detail {
namespace {

// Short enough for an eager message, which is sent even without a receive.
constexpr std::size_t kMostText = 1024;

Tensor bytes_of(const std::string& text) {
  Tensor bytes = Tensor::empty(DType::uint8, {std::int64_t(text.size())});
  if (!text.empty()) std::memcpy(bytes.raw(), text.data(), text.size());
  return bytes;
}

}  // namespace

void ServerLine::say(int to, ServerWord word, std::initializer_list<double> numbers) {
  Tensor message = Tensor::zeros(DType::float64, {ServerMessage::kNumbers + 1});
  message.data<double>()[0] = static_cast<double>(word);
  std::ranges::copy(numbers, message.data<double>() + 1);
  send(message, to);
}

void ServerLine::send(const Tensor& data, int to) {
  Sent& sent = under_way_.emplace_back(data.on_host(), nullptr);
  sent.request = ranks_->start_send(sent.data, to, tag_);
}

void ServerLine::settle() {
  for (Sent& sent : under_way_) sent.request->wait();
  under_way_.clear();
}

ServerMessage ServerLine::hear(int from) {
  Tensor message = Tensor::zeros(DType::float64, {ServerMessage::kNumbers + 1});
  Received received;
  ranks_->receive(message, from, tag_, &received);
  const auto numbers = message.span<double>();
  ServerMessage heard{.from = received.from, .word = static_cast<ServerWord>(int(numbers[0]))};
  std::copy(numbers.begin() + 1, numbers.end(), heard.numbers.begin());
  if (heard.word == ServerWord::failed) throw_failure(heard);
  return heard;
}

void ServerLine::receive(Tensor data, int from) {
  if (data.device() == Device{}) return ranks_->receive(data, from, tag_);
  Tensor here = Tensor::empty(data.dtype(), data.shape());
  ranks_->receive(here, from, tag_);
  data.copy_from(here);
}

void ServerLine::send_map(const ValueMap& map, int to) {
  std::vector<TensorName> names;
  std::vector<Tensor> tensors;
  for (const auto& [name, value] : map) {
    tensors.push_back(value.tensor().on_host());
    names.push_back({name, tensors.back().desc()});
  }
  std::string text = safetensors_begin({}, names, "what a server keeps");
  for (const Tensor& tensor : tensors) {
    text.append(static_cast<const char*>(tensor.raw()), tensor.bytes());
  }
  send(Tensor::scalar(std::int64_t(text.size())), to);
  send(bytes_of(text), to);
}

ValueMap ServerLine::receive_map(int from) {
  Tensor size = Tensor::scalar(std::int64_t{0});
  receive(size, from);
  Tensor bytes = Tensor::empty(DType::uint8, {size.item<std::int64_t>()});
  receive(bytes, from);
  const std::string who = fmt::format("what rank {} keeps", from);
  const std::string_view text(static_cast<const char*>(bytes.raw()), bytes.bytes());
  ValueMap map;
  for (const auto& stored :
       read_safetensors(split_safetensors(text, who, "state of a server"), who).tensors) {
    Tensor value = Tensor::empty(stored.desc);
    if (!stored.bytes.empty()) std::memcpy(value.raw(), stored.bytes.data(), stored.bytes.size());
    map[stored.name] = value;
  }
  return map;
}

void ServerLine::send_numbers(const std::vector<std::int64_t>& numbers, int to) {
  send(Tensor::scalar(std::int64_t(numbers.size())), to);
  send(Tensor::vector(numbers), to);
}

std::vector<std::int64_t> ServerLine::receive_numbers(int from) {
  Tensor size = Tensor::scalar(std::int64_t{0});
  receive(size, from);
  Tensor numbers = Tensor::empty(DType::int64, {size.item<std::int64_t>()});
  receive(numbers, from);
  return {numbers.span<std::int64_t>().begin(), numbers.span<std::int64_t>().end()};
}

void ServerLine::tell_failure(int to, const std::exception& error) {
  std::string text = error.what();
  text.resize(std::min(text.size(), kMostText));
  const bool is_numeric = dynamic_cast<const NumericError*>(&error) != nullptr;
  const bool is_unsupported = dynamic_cast<const Unsupported*>(&error) != nullptr;
  say(to, ServerWord::failed,
      {double(text.size()), is_numeric ? 1.0 : 0.0, is_unsupported ? 1.0 : 0.0});
  send(bytes_of(text), to);
}

void ServerLine::throw_failure(const ServerMessage& message) {
  Tensor bytes = Tensor::empty(DType::uint8, {std::int64_t(message.numbers[0])});
  receive(bytes, message.from);
  heard_failure_ = true;
  const std::string text(static_cast<const char*>(bytes.raw()), bytes.bytes());
  if (message.numbers[1] != 0) throw NumericError(text);
  if (message.numbers[2] != 0) throw Unsupported(text);
  throw CommunicationError(fmt::format("rank {}: {}", message.from, text));
}

}  // namespace d5::detail
