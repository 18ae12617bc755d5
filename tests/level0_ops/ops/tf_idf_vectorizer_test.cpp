// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;

using Floats = std::vector<float>;

// Unigrams 2 and 3 in columns 0 and 1; bigrams 3 3 and 2 3 in columns 2 and 3.
const std::string kPool =
    "pool_int64s=2x3x3x3x2x3 ngram_counts=0x2 ngram_indexes=0x1x2x3 min_gram_length=1 "
    "max_gram_length=2 max_skip_count=0 ";

TEST_CASE("TfIdfVectorizer counts n-grams of each row") {
  const std::string line = "TfIdfVectorizer int64:2x4{2,3,3,3,9,2,9,3} " + kPool;
  CHECK(result_of(line + "mode=TF") == Floats{1, 3, 2, 1, 1, 1, 0, 0});
  CHECK(shape_of("TfIdfVectorizer int64:{2,3} mode=TF " + kPool) == "4");
  CHECK(shape_of("TfIdfVectorizer int64:3x0 mode=TF " + kPool) == "3x4");
}

TEST_CASE("TfIdfVectorizer skips up to so many tokens between two of an n-gram") {
  const std::string pool =
      "pool_strings=a,b ngram_counts=0x0 ngram_indexes=0 min_gram_length=2 max_gram_length=2 "
      "mode=TF";
  const std::string line = "TfIdfVectorizer string:{a,b,x,b} " + pool + " max_skip_count=";
  CHECK(result_of(line + "0") == Floats{1});
  CHECK(result_of(line + "1") == Floats{1});
  CHECK(result_of(line + "2") == Floats{2});
  CHECK(result_of(line + "9223372036854775807") == Floats{2});
}

TEST_CASE("TfIdfVectorizer weighs the n-grams of its pool, wherever their columns are") {
  const std::string line =
      "TfIdfVectorizer int32:{7,7,8} pool_int64s=7x8 ngram_counts=0 ngram_indexes=2x0 "
      "weights=0.5x3 min_gram_length=1 max_gram_length=1 max_skip_count=0 mode=";
  CHECK(result_of(line + "TF") == Floats{1, 0, 2});
  CHECK(result_of(line + "IDF") == Floats{3, 0, 0.5});
  CHECK(result_of(line + "TFIDF") == Floats{3, 0, 1});
}

TEST_CASE("TfIdfVectorizer refuses pools that say nothing, or too much") {
  const auto with = [](const std::string& more) {
    return "TfIdfVectorizer int64:{1} mode=TF min_gram_length=1 max_gram_length=1 "
           "max_skip_count=0 " +
           more;
  };
  CHECK_THROWS_AS(run_case(with("pool_int64s=1x2 ngram_counts=0 ngram_indexes=0")), ValueError);
  CHECK_THROWS_AS(run_case(with("pool_int64s=1x1 ngram_counts=0 ngram_indexes=0x1")), ValueError);
  CHECK_THROWS_AS(run_case(with("pool_int64s=1 ngram_counts=2 ngram_indexes=0")), ValueError);
  CHECK_THROWS_AS(run_case(with("pool_int64s=1 ngram_counts=0 ngram_indexes=-1")), ValueError);
  CHECK_THROWS_AS(run_case(with("ngram_counts=0 ngram_indexes=0")), ValueError);
  CHECK_THROWS_AS(run_case(with("pool_strings=a ngram_counts=0 ngram_indexes=0")), TypeError);
  CHECK_THROWS_AS(run_case(with("pool_int64s=1 ngram_counts=0 ngram_indexes=9223372036854775806")),
                  Error);
  CHECK_THROWS_AS(run_case("TfIdfVectorizer int64:1x1x1 mode=TF " + kPool), ShapeError);
}
