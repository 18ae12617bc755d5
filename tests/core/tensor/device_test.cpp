// SPDX-License-Identifier: Apache-2.0
#include "d5/core/tensor/device.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/device_memory.hpp"
#include "d5/core/tensor/dlpack.hpp"
#include "d5/core/tensor/tensor.hpp"

using namespace d5;

namespace {

/// The device of the plug-in "toy" (tests/core/plugins), which lies beside this program.
Device toy(int index = 0) {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "plugins";
  setenv("D5_PLUGIN_PATH", folder.c_str(), 1);
  return device_from_name("toy:" + std::to_string(index));
}

Tensor numbers() { return Tensor::of<float>({3}, {1, 2, 3}); }

}  // namespace

TEST_CASE("the CPU is there, and described") {
  CHECK(device_from_name("cpu") == Device{});
  CHECK(device_from_name("cpu:0") == Device{});
  const DeviceInfo cpu = devices().at(0);
  CHECK(cpu.present);
  CHECK(cpu.description.find("cores") != std::string::npos);
  std::ifstream file("/proc/meminfo");
  std::string word;
  double kibibytes = 0;
  file >> word >> kibibytes;
  REQUIRE(word == "MemTotal:");
  CHECK(cpu.memory_bytes == Approx(kibibytes * 1024).epsilon(0.01));
}

TEST_CASE("a device is present or says why it is absent") {
  bool cuda = false;
  for (const auto& info : devices()) {
    CHECK(info.present == info.reason.empty());
    cuda = cuda || info.device.kind == DeviceKind::cuda;
    if (info.present) {
      CHECK(device_from_name(to_string(info.device)) == info.device);
      CHECK(info.memory_bytes > 0);
    } else {
      CHECK_THROWS_WITH(device_from_name(to_string(info.device)), Catch::Contains(info.reason));
      CHECK_THROWS_AS(device_from_name(to_string(info.device)), Unsupported);
    }
  }
  CHECK(cuda);
}

TEST_CASE("a device that no framework has, or an unknown word, is an error") {
  CHECK_THROWS_AS(device_from_name("cuda:4096"), Unsupported);
  CHECK_THROWS_AS(device_from_name("cpu:1"), Unsupported);
  CHECK_THROWS_WITH(device_from_name("cudo"), Catch::Contains("did you mean cuda"));
  CHECK_THROWS_WITH(device_from_name("gpu:1"), Catch::Contains("did you mean cuda"));
  CHECK_THROWS_AS(device_from_name("cuda:"), NotFound);
  CHECK_THROWS_AS(device_from_name("cuda:-1"), NotFound);
  CHECK_THROWS_AS(device_from_name("cuda:1x"), NotFound);
  CHECK_THROWS_AS(device_from_name(""), NotFound);
}

TEST_CASE("a plug-in that brings a device makes its name work") {
  const Device device = toy();
  CHECK(to_string(device) == "toy:0");
  CHECK(device_from_name("toy") == device);
  const auto all = devices();
  CHECK(std::any_of(all.begin(), all.end(), [&](auto& info) { return info.device == device; }));
}

TEST_CASE("an absent device of a plug-in says why, and an index that it lacks is refused") {
  CHECK_THROWS_WITH(toy(2), Catch::Contains("there are two toys"));
  CHECK_THROWS_AS(toy(7), Unsupported);
}

TEST_CASE("a device cannot be brought twice") {
  (void)toy();
  auto& framework = d5::framework("toy");
  struct Nothing final : DeviceMemory {
    std::vector<DeviceInfo> devices() const override { return {}; }
    std::shared_ptr<void> allocate(int, std::size_t) override { return nullptr; }
    std::unique_ptr<Stream> make_stream(int) override { return nullptr; }
    void copy(Place, Place, std::size_t, Stream&) override {}
    void zero(Place, std::size_t, Stream&) override {}
  };
  CHECK_THROWS_AS(add_device(framework, "toy", std::make_shared<Nothing>()), ValueError);
  CHECK_THROWS_AS(add_device(framework, "cpu", std::make_shared<Nothing>()), ValueError);
  CHECK_THROWS_AS(add_device(framework, "none", nullptr), ValueError);
}

TEST_CASE("a tensor goes to a device and comes back") {
  const Tensor there = numbers().copy(toy());
  CHECK(there.device() == toy());
  CHECK(to_string(there) == "float32 3 on toy:0");
  CHECK(there.copy().copy(Device{}).span<float>()[2] == 3);
  Tensor back = Tensor::empty(DType::float32, {3});
  back.copy_from(there);
  CHECK(back.span<float>()[1] == 2);
  CHECK(Tensor::zeros({DType::float32, {2}, Layout::row_major, toy()}).copy({}).span<float>()[1] ==
        0);
}

TEST_CASE("the host cannot read elements that are on a device") {
  const Tensor there = numbers().copy(toy());
  CHECK_THROWS_AS(there.data<float>(), Unsupported);
  CHECK_THROWS_AS(there.slice(0, 1).item<float>(), Unsupported);
  CHECK_THROWS_AS(to_dlpack(there), Unsupported);
  CHECK_THROWS_AS(Tensor::empty({DType::string, {1}, Layout::row_major, toy()}), Unsupported);
}

TEST_CASE("touching a device's memory without a copy crashes on the toy") {
  const Tensor there = numbers().copy(toy());
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);
    _exit(int(*static_cast<const volatile float*>(there.raw())));
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
}

TEST_CASE("a queued copy is done at its moment, not before the wait") {
  const auto stream = make_stream(toy());
  const Tensor from = numbers();
  Tensor there = Tensor::empty({DType::float32, {3}, Layout::row_major, toy()});
  Tensor back = Tensor::zeros(DType::float32, {3});
  queue_copy(there, from, *stream);
  queue_copy(back, there, *stream);
  const auto moment = stream->record();
  moment->wait();
  CHECK(moment->reached());
  CHECK(back.span<float>()[0] == 1);
}

TEST_CASE("a stream waits for a moment of another one") {
  const auto first = make_stream(toy()), second = make_stream(toy());
  Tensor there = Tensor::zeros({DType::float32, {3}, Layout::row_major, toy()});
  Tensor back = Tensor::zeros(DType::float32, {3});
  const Tensor from = numbers();
  queue_copy(there, from, *first);
  second->wait(first->record());
  queue_copy(back, there, *second);
  second->synchronise();
  CHECK(back.span<float>()[2] == 3);
}

TEST_CASE("a device whose copy fails says so at the wait") {
  CHECK_THROWS_AS(numbers().copy(toy(1)), DeviceError);
}

TEST_CASE("copies between what does not fit are refused before anything is queued") {
  Tensor there = Tensor::empty({DType::float32, {3}, Layout::row_major, toy()});
  CHECK_THROWS_AS(there.copy_from(Tensor::of<float>({2}, {1, 2})), ShapeError);
  CHECK_THROWS_AS(there.copy_from(Tensor::of<double>({3}, {1, 2, 3})), TypeError);
}
