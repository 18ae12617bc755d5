// SPDX-License-Identifier: Apache-2.0
#include "d5/core/device.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "d5/core/error.hpp"

using namespace d5;

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

TEST_CASE("a device that nobody has, or a word that is none, is an error") {
  CHECK_THROWS_AS(device_from_name("cuda:4096"), Unsupported);
  CHECK_THROWS_AS(device_from_name("cpu:1"), Unsupported);
  CHECK_THROWS_WITH(device_from_name("cudo"), Catch::Contains("did you mean cuda"));
  CHECK_THROWS_AS(device_from_name("cuda:"), NotFound);
  CHECK_THROWS_AS(device_from_name("cuda:-1"), NotFound);
  CHECK_THROWS_AS(device_from_name("cuda:1x"), NotFound);
  CHECK_THROWS_AS(device_from_name(""), NotFound);
}
