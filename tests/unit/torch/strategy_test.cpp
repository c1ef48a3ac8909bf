#include "titan/torch/strategy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/unit/torch/strategy_fixture.hpp"

namespace titan::strategy {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// Fails as libtorch does.
class Failing {
 public:
  static constexpr std::int32_t kPriority = 0;
  explicit Failing(sdk::Host) {}
  void apply(const sdk::TreeHandle&, const sdk::MeshHandle&) { throw sdk::ConfigError("does not fit"); }
  void materialised() { throw c10::OutOfMemoryError({"f", "f.cpp", 1}, "GPU full"); }
  void updated() { TORCH_CHECK(false, "sizes do not match"); }
  void discard() {}
};

class TorchStrategy : public ::testing::Test {
 protected:
  /// "code: text" of an error, which is released.
  std::string taken(titan_error* error) const {
    if (error == nullptr) return "(nothing)";
    const titan_host* host = host_.get();
    std::string text = sdk::concat(host->error_code(host, error), ": ", sdk::view(host->error_text(host, error)));
    host->error_release(host, error);
    return text;
  }

  const plugin::HostTable host_{plugin::HostServices{nullptr, engine_interface, 0, 1}};
  sdk::Instance<Failing> instance_{sdk::Host(host_.get())};
  const titan_strategy_v1& calls_ = *static_cast<const titan_strategy_v1*>(Interface<Failing>::table());
};

TEST_F(TorchStrategy, AShortageOfMemoryKeepsItsKind) {
  const std::string text = taken(calls_.materialised(&instance_));
  EXPECT_THAT(text, StartsWith("71: "));
  EXPECT_THAT(text, HasSubstr("GPU full"));
}

TEST_F(TorchStrategy, LibtorchsErrorsLoseTheirBacktraces) {
  const std::string text = taken(calls_.updated(&instance_));
  EXPECT_THAT(text, StartsWith("70: sizes do not match"));
  EXPECT_THAT(text, Not(HasSubstr("frame #")));
}

TEST_F(TorchStrategy, OurOwnErrorsStayAsTheyAre) {
  EXPECT_EQ(taken(calls_.apply(&instance_, nullptr, nullptr)), "78: does not fit");
  const titan_micro_batch last{sizeof(titan_micro_batch), 0, 1, 1, 0};
  EXPECT_EQ(taken(calls_.micro_batch_end(&instance_, &last)), "(nothing)");
}

}  // namespace
}  // namespace titan::strategy
