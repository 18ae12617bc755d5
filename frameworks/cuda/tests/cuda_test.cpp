// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/device_memory.hpp"
#include "d5/core/tensor/tensor.hpp"
#include "d5/level0_ops/operator/build_operators.hpp"
#include "d5/level0_ops/operator/custom_operator.hpp"
#include "d5/level0_ops/validation/operator_check.hpp"
#include "d5/level1_network/validation/network_check.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

/// A driver on the host's memory (driver/driver.cpp), in place of the machine's. It is found by
/// name, because it is already loaded.
void load_test_driver() {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "cuda_driver";
  static void* const driver = dlopen((folder / "libcuda.so.1").c_str(), RTLD_NOW | RTLD_LOCAL);
  INFO(dlerror());
  REQUIRE(driver);
}

Device gpu() {
  load_test_driver();
  return device_from_name("cuda");
}

Tensor numbers() { return Tensor::of<float>({3}, {1, 2, 3}); }
Tensor three_on_gpu() { return Tensor::empty({DType::float32, {3}, Layout::row_major, gpu()}); }

}  // namespace

TEST_CASE("the GPUs that the driver shows are devices of d5") {
  const Device device = gpu();
  CHECK(device == Device{DeviceKind::cuda, 0});
  for (const DeviceInfo& info : devices()) {
    if (info.device != device) continue;
    CHECK(info.description == "Test GPU");
    CHECK(info.memory_bytes == 1 << 20);
  }
  CHECK_THROWS_AS(device_from_name("cuda:1"), Unsupported);
}

TEST_CASE("without a GPU", "[.without-gpu]") {
  load_test_driver();
  CHECK_THROWS_WITH(device_from_name("cuda"),
                    "device 'cuda' is absent: the NVIDIA driver finds no GPU");
}

TEST_CASE("a driver without a GPU says so") {
  // Runs in a separate process, because the driver starts once.
  const auto program = std::filesystem::read_symlink("/proc/self/exe").string();
  CHECK(std::system(("D5_TEST_GPUS=0 '" + program + "' '[.without-gpu]'").c_str()) == 0);
}

TEST_CASE("a tensor goes to the GPU and comes back, and zeros are written there") {
  const Tensor there = numbers().copy(gpu());
  CHECK(there.copy().copy(Device{}).span<float>()[2] == 3);
  const Tensor zeros = Tensor::zeros({DType::float32, {2}, Layout::row_major, gpu()});
  CHECK(zeros.copy({}).span<float>()[1] == 0);
}

TEST_CASE("a moment is reached when what was queued before it is done") {
  const auto stream = make_stream(gpu());
  REQUIRE(stream->native());
  Tensor there = three_on_gpu(), back = Tensor::zeros(DType::float32, {3});
  const Tensor from = numbers();
  queue_copy(there, from, *stream);
  queue_copy(back, there, *stream);
  const auto moment = stream->record();
  CHECK_FALSE(moment->reached());  // the driver of the test works 0.4 ms later
  moment->wait();
  CHECK(moment->reached());
  CHECK(back.span<float>()[0] == 1);
}

TEST_CASE("a stream waits for moments of another GPU stream and of the host") {
  const auto first = make_stream(gpu()), second = make_stream(gpu());
  Tensor there = three_on_gpu(), back = Tensor::zeros(DType::float32, {3});
  const Tensor from = numbers();
  queue_copy(there, from, *first);
  second->wait(first->record());
  second->wait(host_stream().record());
  queue_copy(back, there, *second);
  second->synchronise();
  CHECK(back.span<float>()[2] == 3);
}

TEST_CASE("memory that the GPU does not have is a MemoryError, work that fails a DeviceError") {
  CHECK_THROWS_WITH(Tensor::empty({DType::uint8, {2 << 20}, Layout::row_major, gpu()}),
                    Catch::Contains("2 MiB on cuda:0"));
  CHECK_THROWS_AS(Tensor::empty({DType::uint8, {2 << 20}, Layout::row_major, gpu()}), MemoryError);

  const auto stream = make_stream(gpu());
  Tensor there = three_on_gpu();
  device_memory(gpu()).copy({gpu(), there.raw()}, {{}, reinterpret_cast<void*>(1)}, 4, *stream);
  CHECK_THROWS_WITH(stream->synchronise(), Catch::Contains("an illegal address (error 700)"));
}

TEST_CASE("page-locked memory is the host's to use") {
  const auto memory = device_memory(gpu()).allocate_pinned(64);
  static_cast<char*>(memory.get())[63] = 1;
  CHECK(static_cast<char*>(memory.get())[63] == 1);
}

TEST_CASE("an operator with forward_cuda runs on the GPU, judged by what it does on the host") {
  const testing::TemporaryFolder folder;
  load_custom_operators(build_operators(D5_CUDA_TEST_DIR "/operators/negate.cpp",
                                        (folder.path() / "negate.so").string()));
  const auto check = [](const std::string& line, Device device) {
    return check_operator(read_case(line), {.gradient = false, .forward = {.device = device}});
  };
  for (const auto& record : check("test.Negate 5x7", gpu())) {
    CHECK(record.status == Status::passed);
    CHECK(record.device == "cuda:0");
  }
  CHECK(check("test.WrongNegate 5x7", gpu()).front().status == Status::failed);
  CHECK(check("test.Negate 5x7", {}).front().status == Status::skipped);  // by itself

  const auto network = [](const std::string& line, Device device) {
    return check_network(line, {.execution = {.device = device}});
  };
  CHECK(network("test.Negate 5x7", gpu()).front().status == Status::passed);
  CHECK(network("test.WrongNegate 5x7", gpu()).front().status == Status::failed);
  CHECK(network("test.Negate 5x7", {}).front().status == Status::skipped);  // by itself
}
