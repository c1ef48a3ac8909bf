#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/checkpoint/read.hpp"
#include "tests/unit/base/temporary_folder.hpp"
#include "tests/unit/checkpoint/made_step.hpp"

namespace titan::checkpoint {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class VerifyTest : public ::testing::Test {
 protected:
  VerifyTest() : step_(folder_.path()) {
    std::mt19937_64 random(1);
    step_.add_shard({testing::random_tensor("layers.0.w", DType::f32, {50, 100}, random)});
    step_.add_shard({testing::random_tensor("layers.1.w", DType::f32, {50, 100}, random)});
    step_.set_block_size(4096);
    Manifest manifest;
    folder_.write("train_state.json", "{}");
    for (const char* name :
         {"shard-00000-of-00099.safetensors", "shard-00001-of-00099.safetensors", "train_state.json"}) {
      const std::string content = read_file(folder_ / name, 1U << 20U);
      manifest.files.push_back({name, content.size(), hash128(content)});
    }
    step_.source.manifest = manifest;
  }
  std::vector<std::string> faults() const { return verify(step_.source); }
  void flip(const char* name, std::size_t at) const {
    std::string content = read_file(folder_ / name, 1U << 20U);
    content[at] = static_cast<char>(content[at] ^ 4);
    folder_.write(name, content);
  }

  const test::TemporaryFolder folder_;
  testing::MadeStep step_;
};

TEST_F(VerifyTest, FindsNothingWrongAndTellsHowFarItIs) {
  std::uint64_t last = 0, all = 0;
  EXPECT_THAT(verify(step_.source,
                     [&](std::uint64_t done, std::uint64_t total) {
                       EXPECT_GT(done, last);
                       last = done;
                       all = total;
                     }),
              IsEmpty());
  EXPECT_EQ(last, all);
  EXPECT_EQ(all, 2 * step_.source.files[0].size + 2);
}

TEST_F(VerifyTest, NamesTensorsOfTheFirstHundredFindingsOnly) {
  std::mt19937_64 random(2);
  step_.add_shard({testing::random_tensor("layers.2.w", DType::u8, {120, 4096}, random)});
  step_.set_block_size(4096);
  folder_.write("shard-00002-of-00099.safetensors", std::string(step_.source.files[2].size, '\0'));
  const std::vector<std::string> found = faults();
  ASSERT_EQ(found.size(), 121U);
  EXPECT_THAT(found[99], HasSubstr(", in layers.2.w"));
  EXPECT_THAT(found[100], AllOf(HasSubstr("damaged: bytes 409600 to 413696"), Not(HasSubstr("layers.2.w"))));
}

TEST_F(VerifyTest, NamesFileAndTensorOfEveryDamagedBlock) {
  flip("shard-00001-of-00099.safetensors", 17);
  flip("shard-00001-of-00099.safetensors", 10'000);
  EXPECT_THAT(faults(),
              ElementsAre(AllOf(StartsWith("shard-00001-of-00099.safetensors: damaged"), HasSubstr("in the header")),
                          AllOf(StartsWith("shard-00001-of-00099.safetensors: damaged: bytes 8192 to 12288"),
                                HasSubstr("in layers.1.w"))));
}

TEST_F(VerifyTest, ComparesTheWholeToo) {
  flip("train_state.json", 0);
  step_.source.manifest->files[0].hash = "00";
  EXPECT_THAT(faults(), ElementsAre(StartsWith("shard-00000-of-00099.safetensors: damaged"),
                                    StartsWith("train_state.json: damaged")));
}

TEST_F(VerifyTest, GoesOnAfterFilesThatCannotBeRead) {
  std::filesystem::remove(folder_ / "shard-00000-of-00099.safetensors");
  folder_.write("shard-00001-of-00099.safetensors", "short");
  std::filesystem::remove(folder_ / "train_state.json");
  std::filesystem::create_symlink("shard-00001-of-00099.safetensors", folder_ / "train_state.json");
  EXPECT_THAT(faults(), ElementsAre(AllOf(StartsWith("shard-00000-of-00099.safetensors: "), HasSubstr("No such file")),
                                    StartsWith("shard-00001-of-00099.safetensors: 5 bytes, expected "),
                                    AllOf(StartsWith("train_state.json: "), HasSubstr("links"))));
}

TEST_F(VerifyTest, WithoutHashesChecksThatFilesCanBeRead) {
  step_.set_block_size(0);
  step_.source.manifest.reset();
  EXPECT_THAT(faults(), IsEmpty());
  folder_.write("shard-00001-of-00099.safetensors", "");
  EXPECT_THAT(faults(), ElementsAre(StartsWith("shard-00001-of-00099.safetensors: 0 bytes")));
}

TEST_F(VerifyTest, MayBeGivenUp) {
  EXPECT_THROW(verify(step_.source, [](std::uint64_t, std::uint64_t) { throw Interrupted(2); }), Interrupted);
}

}  // namespace
}  // namespace titan::checkpoint
