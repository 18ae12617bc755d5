// SPDX-License-Identifier: Apache-2.0
#include "serving/inference/model_line.hpp"

#include <sys/socket.h>

#include <array>
#include <catch2/catch.hpp>
#include <future>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

using Catch::Contains;

struct Ends {
  std::array<int, 2> both{};
  Ends() { REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both.data()) == 0); }
};

double in_a_minute() { return now_seconds() + 60; }

TEST_CASE("words and tensors arrive as they were sent") {
  const Ends ends;
  ModelLine here{OwnedDescriptor(ends.both[0])}, there{OwnedDescriptor(ends.both[1])};
  const std::int64_t many = 1 << 20;  // more than a socket holds
  Tensor large = Tensor::zeros(DType::float32, {many});
  large.span<float>()[many - 1] = 7;
  const ValueMap sent = {{"half", Tensor::zeros(DType::float16, {2, 3})},
                         {"large", large},
                         {"flags", Tensor::of<bool>({2}, {true, false})},
                         {"none", Tensor::zeros(DType::int64, {0, 4})},
                         {"one", Tensor::scalar(1.5)},
                         {"text", Tensor::of<std::string>({2}, {"", "zero \0 inside"})}};
  auto sending = std::async(std::launch::async,
                            [&] { return here.send({{"say", "it"}}, sent, in_a_minute()); });
  const auto message = there.receive(in_a_minute());
  CHECK(sending.get());
  REQUIRE(message.has_value());
  CHECK(message->words == nlohmann::json{{"say", "it"}});
  REQUIRE(message->tensors.size() == sent.size());
  for (const auto& [name, value] : sent) {
    CAPTURE(name);
    CHECK(message->tensors.at(name).tensor().desc() == value.tensor().desc());
  }
  CHECK(message->tensors.at("large").tensor().span<float>()[many - 1] == 7);
  CHECK(message->tensors.at("flags").tensor().span<bool>()[0]);
  CHECK(message->tensors.at("one").tensor().item<double>() == 1.5);
  CHECK(std::ranges::equal(message->tensors.at("text").tensor().span<std::string>(),
                           sent.at("text").tensor().span<std::string>()));
}

TEST_CASE("a line whose other end is closed or silent says nothing") {
  const Ends ends;
  ModelLine here{OwnedDescriptor(ends.both[0])};
  {
    const ModelLine there{OwnedDescriptor(ends.both[1])};
    CHECK(!here.receive(now_seconds() + 0.01));
  }
  CHECK(!here.receive(in_a_minute()));
  CHECK(!here.send({}, {}, in_a_minute()));
}

TEST_CASE("a malformed message is refused") {
  const Ends ends;
  ModelLine here{OwnedDescriptor(ends.both[0])};
  const OwnedDescriptor there(ends.both[1]);
  const auto heard = [&](std::string head, std::uint64_t length) {
    head.insert(0, reinterpret_cast<const char*>(&length), sizeof length);
    REQUIRE(::send(there.get(), head.data(), head.size(), 0) == ssize_t(head.size()));
    return here.receive(in_a_minute());
  };
  const auto head = [&](const std::string& text) { return heard(text, text.size()); };
  CHECK_THROWS_AS(heard("", std::uint64_t{1} << 60), FormatError);
  CHECK_THROWS_AS(head("{"), FormatError);
  CHECK_THROWS_AS(head("[{}, 3]"), FormatError);
  CHECK_THROWS_AS(head(R"([{}, [["x", "float32", [2], 4]]])"), FormatError);
  CHECK_THROWS_AS(head(R"([{}, [["x", "float32", [-2], 8]]])"), ShapeError);
  CHECK_THROWS_AS(head(R"([{}, [["x", "flota32", [2], 8]]])"), NotFound);
}

}  // namespace
}  // namespace d5::detail
