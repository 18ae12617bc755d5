// SPDX-License-Identifier: Apache-2.0
// GGUF files that are damaged: refused, or every tensor is read to its end.
#include <vector>

#include "d5/core/errors/error.hpp"
#include "evaluation/generation/gguf_file.hpp"
#include "evaluation/generation/gguf_writer.hpp"
#include "fuzz/fuzzer.hpp"
#include "fuzz/mutation.hpp"

namespace d5::fuzz {

std::string name() { return "gguf"; }

void prepare() {}

std::string make_case(RandomStream& random) {
  testing::GgufWriter writer;
  writer.set("general.architecture", "llama");
  writer.set("count", std::uint32_t(between(random, 0, 9)));
  writer.set("words", std::vector<std::string>{"a", some_text(random)});
  writer.set("kinds", std::vector<std::int32_t>{1, 2, 3});
  writer.add_floats("x", {2, 4}, std::vector<float>(8, 1.0F));
  writer.add_tensor("q8_0", {32}, 8, std::string(34, 'q'));
  writer.add_tensor("q4_1", {64, 2}, 3, std::string(80, 'p'));
  writer.add_tensor("f16", {3}, 1, std::string(6, 'h'));
  const std::string file = writer.file();
  if (one_in(random, 8)) return file;
  return one_in(random, 2) ? with_flipped_bit(file, random) : with_damage(file, random);
}

std::string run_case(const std::string& bytes) {
  const detail::GgufFile file(bytes, "'fuzz'");
  for (const std::string_view tensor : file.tensor_names()) {
    const Shape shape = file.shape(tensor);
    std::vector<float> numbers(std::size_t(shape.elements()));
    file.read(tensor, shape, numbers);
  }
  return {};
}

}  // namespace d5::fuzz
