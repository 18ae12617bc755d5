// SPDX-License-Identifier: Apache-2.0
#include "d5/core/tensor/npy.hpp"

#include <catch2/catch.hpp>
#include <complex>

#include "d5/core/errors/error.hpp"

using namespace d5;
using Catch::Contains;

namespace {

/// A file of version 1 with this dictionary, as the format's specification lays it out.
std::string file_of(const std::string& dictionary, const std::string& values) {
  const std::string header = dictionary + "\n";
  return std::string("\x93NUMPY\x01\x00", 8) + char(header.size()) + '\0' + header + values;
}

std::string bytes_of(const Tensor& tensor) {
  return {static_cast<const char*>(tensor.raw()), tensor.bytes()};
}

}  // namespace

TEST_CASE("an array is written so that it is read again, whatever its rank and type") {
  for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 0, 3}, Shape{2, 3, 4}}) {
    for (const DType dtype : {DType::boolean, DType::int8, DType::uint64, DType::float16,
                              DType::float64, DType::complex64}) {
      Tensor tensor = Tensor::zeros(dtype, shape);
      for (std::size_t i = 0; i < tensor.bytes(); i += size_of(dtype)) {
        static_cast<char*>(tensor.raw())[i] = char(i % 2);
      }
      const std::string file = to_npy(tensor);
      CHECK((file.size() - tensor.bytes()) % 64 == 0);  // values are aligned
      const Tensor read = parse_npy(file, "file");
      CHECK(read.desc() == tensor.desc());
      CHECK(bytes_of(read) == bytes_of(tensor));
    }
  }
}

TEST_CASE("an array in Fortran's order is read row by row") {
  const std::string file =
      file_of("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", {1, 4, 2, 5, 3, 6});
  const Tensor tensor = parse_npy(file, "file");
  CHECK(tensor.shape() == Shape{2, 3});
  CHECK(bytes_of(tensor) == std::string{1, 2, 3, 4, 5, 6});
}

TEST_CASE("a file that is no array of numbers is refused with a reason") {
  const std::string good = "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }";
  CHECK(parse_npy(file_of(good, "ab"), "file").elements() == 2);
  for (const auto& [file, message] : std::vector<std::pair<std::string, std::string>>{
           {"", "NUMPY"},
           {"\x93NUMPY", "ends before"},
           {file_of(good, "a"), "1 bytes"},
           {file_of(good, "abc"), "3 bytes"},
           {file_of("{'descr': '|u1', 'fortran_order': False}", ""), "shape"},
           {file_of("{'descr': '|u1', 'fortran_order': 3, 'shape': ()}", ""), "neither"},
           {file_of("{'descr': '|u1', 'fortran_order': False, 'shape': (-1,)}", ""), "sizes"},
           {file_of("{'descr': '|u1', 'fortran_order': False, 'shape': (4611686018427387904, 4)}",
                    ""),
            "0 bytes"}}) {
    CHECK_THROWS_AS(parse_npy(file, "file"), FormatError);
    CHECK_THROWS_WITH(parse_npy(file, "file"), Contains(message));
  }
  for (const char* type : {"'>f3'", "'|O'", "[('a', '<f4')]"}) {
    const std::string file =
        file_of(std::string("{'descr': ") + type + ", 'fortran_order': False, 'shape': ()}", "");
    CHECK_THROWS_AS(parse_npy(file, "file"), Unsupported);
  }
  CHECK_THROWS_AS(to_npy(Tensor::zeros(DType::bfloat16, {2})), Unsupported);
}

TEST_CASE("big-endian numbers are swapped as they are read, but not where they lie") {
  using namespace std::string_literals;
  const auto big = [](const std::string& type, const std::string& values) {
    return file_of("{'descr': '" + type + "', 'fortran_order': False, 'shape': (2,)}", values);
  };
  const Tensor integers = parse_npy(big(">i2", "\x01\x02\xff\xfe"s), "file");
  CHECK(integers.span<std::int16_t>()[0] == 0x0102);
  CHECK(integers.span<std::int16_t>()[1] == -2);
  const Tensor floats = parse_npy(big(">f4", "\x3f\x80\0\0\xc0\0\0\0"s), "file");
  CHECK(floats.span<float>()[0] == 1);
  CHECK(floats.span<float>()[1] == -2);
  // Two numbers each: 1 - 2i, 0.
  const Tensor complex =
      parse_npy(big(">c8", "\x3f\x80\0\0\xc0\0\0\0"s + std::string(8, '\0')), "file");
  CHECK(complex.span<std::complex<float>>()[0] == std::complex<float>(1, -2));
  CHECK_THROWS_WITH(parse_npy_header(big(">i2", "1234"), "file"), Contains("newbyteorder('<')"));
}
