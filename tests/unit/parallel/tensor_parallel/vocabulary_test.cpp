#include "plugins/parallel/tensor_parallel/vocabulary.hpp"

#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "titan/sdk/error.hpp"

namespace titan::parallel {
namespace {

using ::testing::HasSubstr;

at::Tensor words(std::initializer_list<std::int64_t> list) { return at::tensor(list, at::kLong); }

TEST(VocabularyPart, FindsTheRowsOfItsWords) {
  const VocabularyPart part{4, 3, 10};
  const auto found = part.find(words({3, 4, 6, 7, -100}));
  EXPECT_TRUE(found.row.equal(words({0, 0, 2, 0, 0})));
  EXPECT_TRUE(found.is_here.to(at::kLong).equal(words({0, 1, 1, 0, 0})));
}

TEST(VocabularyPart, MayBeEmpty) {
  EXPECT_FALSE((VocabularyPart{10, 0, 10}.find(words({0, 9, -100})).is_here.any().item<bool>()));
}

std::string error_of(const at::Tensor& list, bool are_labels) {
  try {
    VocabularyPart{4, 3, 10}.check("somewhere", list, are_labels);
  } catch (const sdk::InternalError& error) {
    return error.what();
  }
  return "(nothing)";
}

TEST(VocabularyPart, RefusesWordsThatNobodyHas) {
  EXPECT_EQ(error_of(words({0, 9}), false), "(nothing)");
  EXPECT_EQ(error_of(words({0, 10}), false), "[somewhere] token id out of range: 10, the vocabulary has 10");
  EXPECT_THAT(error_of(words({-100}), false), HasSubstr("token id out of range: -100"));
}

TEST(VocabularyPart, IgnoresLabelsThatAreToBeIgnored) {
  EXPECT_EQ(error_of(words({0, -100}), true), "(nothing)");
  EXPECT_EQ(error_of(words({0, -1}), true),
            "[somewhere] label out of range: -1, the vocabulary has 10, -100 is ignored");
}

}  // namespace
}  // namespace titan::parallel
