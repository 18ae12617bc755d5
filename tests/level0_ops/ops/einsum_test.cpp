// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("Einsum multiplies and sums over the indices that the output lacks") {
  const std::string a = " 2x2{1,2,3,4} ";
  CHECK(result_of("Einsum" + a + "2x2{0,1,1,0} equation=ij,jk->ik") == Floats{2, 1, 4, 3});
  CHECK(result_of("Einsum" + a + "equation=ij->ji") == Floats{1, 3, 2, 4});
  CHECK(result_of("Einsum" + a + "equation=ij->") == Floats{10});
  CHECK(result_of("Einsum {1,2} {3,4} equation=i,j->ij") == Floats{3, 4, 6, 8});
  CHECK(result_of("Einsum {1,2}" + a + "{5,6} equation=i,ij,j->") == Floats{17 + 2 * 39});
  CHECK(result_of("Einsum scalar{3} {1,2} scalar{2} equation=,a,->a") == Floats{6, 12});
}

TEST_CASE("Einsum's repeated letters walk diagonals") {
  const std::string a = " 2x2{1,2,3,4} ";
  CHECK(result_of("Einsum" + a + "equation=ii->i") == Floats{1, 4});
  CHECK(result_of("Einsum" + a + "equation=ii") == Floats{5});
  CHECK(result_of("Einsum" + a + "{10,100} equation=ii,i->i") == Floats{10, 400});
  CHECK(shape_of("Einsum 3x2x3x2 equation=abab->ba") == "2x3");
}

TEST_CASE("Einsum without an output takes the letters that stand there once, in order") {
  CHECK(shape_of("Einsum 2x3 3x4 equation=cb,ba") == "4x2");
  CHECK(shape_of("Einsum 2x3 equation=aB") == "3x2");  // capitals come first
  CHECK(shape_of("Einsum 5x2x3 3x4 equation=...cb,ba") == "5x4x2");
  CHECK(result_of("Einsum {1,2} {3,4} equation=i,i") == Floats{11});
}

TEST_CASE("Einsum's ellipsis stands for the same dimensions of all, which broadcast") {
  CHECK(shape_of("Einsum 5x1x2x3 1x4x3x6 equation=...ij,...jk->...ik") == "5x4x2x6");
  CHECK(result_of("Einsum 2x1{1,2} 1x2{10,100} equation=...,...") == Floats{10, 100, 20, 200});
  CHECK(result_of("Einsum 2x2{1,2,3,4} equation=...i->i") == Floats{4, 6});
  CHECK(result_of("Einsum 2x2{1,2,3,4} equation=i...->...i") == Floats{1, 3, 2, 4});
  CHECK(result_of("Einsum 2x1{1,2} 2x2{1,2,3,4} equation=ij,ij->ij") == Floats{1, 2, 6, 8});
}

TEST_CASE("Einsum takes integers, which wrap around, and empty tensors") {
  CHECK(result_of<std::uint8_t>("Einsum uint8:{200,100} uint8:{2,1} equation=i,i->") ==
        std::vector<std::uint8_t>{500 - 256});
  CHECK(result_of("Einsum 2x0 0x3 equation=ij,jk->ik") == Floats(6));
  CHECK(shape_of("Einsum 0x3 equation=ij->ji") == "3x0");
}

TEST_CASE("Einsum's rows are added up in pieces, whatever their length") {
  std::string ones = "1";
  for (int i = 1; i < 200; ++i) ones += ",1";
  CHECK(result_of("Einsum 200{" + ones + "} 2x1{1,2} equation=j,ij->i") == Floats{200, 400});
}

TEST_CASE("Einsum refuses equations that say nothing") {
  CHECK_THROWS_WITH(run_case("Einsum 2x3 equation=i1->i"),
                    "Einsum 'output0': equation 'i1->i', at '1': expected letters and at most "
                    "one ... in each term, commas between the terms, and perhaps one -> before "
                    "the last");
  for (const std::string equation :
       {"ij->k", "ij->ii", "ij->i->j", "ij-i", "..ij", "i......", "ij->i,j"}) {
    CHECK_THROWS_AS(run_case("Einsum 2x3 equation=" + equation), ValueError);
  }
}

TEST_CASE("Einsum refuses shapes that the equation does not describe") {
  CHECK_THROWS_AS(run_case("Einsum 2x3 equation=i->i"), ShapeError);
  CHECK_THROWS_AS(run_case("Einsum 2x3 equation=ijk...->i"), ShapeError);
  CHECK_THROWS_AS(run_case("Einsum 2x3 equation=ii->i"), ShapeError);
  CHECK_THROWS_AS(run_case("Einsum 1x3 equation=ii->i"), ShapeError);
  CHECK_THROWS_AS(run_case("Einsum 2x3 4x5 equation=ij,jk->ik"), ShapeError);
  CHECK_THROWS_AS(run_case("Einsum 2x3 equation=ij,jk->ik"), ShapeError);
  CHECK_THROWS_AS(run_case("Einsum 2x3 2x3x4 equation=...i,...i->i"), ShapeError);
}

TEST_CASE("Einsum's work is what its definition multiplies and adds") {
  CHECK(run_case("Einsum 2x3 3x4 equation=ij,jk->ik").cost().flop == 2 * 2 * 3 * 4);
  CHECK(run_case("Einsum 2 3 equation=i,j->ij").cost().flop == 6);
  CHECK(run_case("Einsum 2x3 equation=ij->ji").cost().flop == 0);
}
