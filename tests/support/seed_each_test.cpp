// Linked into a test program as a source: seeds libtorch's generator before each test, which it would else seed from
// the system's entropy.
#include <ATen/Context.h>
#include <gtest/gtest.h>

namespace {

class Seeder : public ::testing::EmptyTestEventListener {
  void OnTestStart(const ::testing::TestInfo&) override { at::manual_seed(1234); }
};

[[maybe_unused]] const bool installed = [] {
  ::testing::UnitTest::GetInstance()->listeners().Append(new Seeder);
  return true;
}();

}  // namespace
