#include "core/train/vocabulary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace titan::train {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Vocabulary, ATokenizerLargerThanTheModelIsRefusedNamingBoth) {
  EXPECT_NO_THROW(check_vocabulary(2048, "assets", 2048));
  EXPECT_NO_THROW(check_vocabulary(100, "assets", 2048));
  try {
    check_vocabulary(2049, "assets", 2048);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("2049 in assets"), HasSubstr("--hf_assets_path"), HasSubstr("2048"),
                                    HasSubstr("--model.vocab_size")));
  }
}

}  // namespace
}  // namespace titan::train
