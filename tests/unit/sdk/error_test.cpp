#include "titan/sdk/error.hpp"

#include <gtest/gtest.h>

#include "tests/unit/sdk/fake_host.hpp"

namespace titan::sdk {
namespace {

class SdkError : public ::testing::Test {
 protected:
  ~SdkError() override { EXPECT_EQ(host_.live_errors(), 0); }

  template <class Body>
  std::string guarded(Body body) {
    return host_.take(guard(host_.table(), body));
  }

  test::FakeHost host_;
};

TEST_F(SdkError, NoExceptionIsNoError) {
  EXPECT_EQ(guarded([] {}), "");
}

TEST_F(SdkError, KeepsTheCodeOfOurOwnErrors) {
  EXPECT_EQ(guarded([] { throw ConfigError("[x] bad: ", 3); }), "78: [x] bad: 3");
  EXPECT_EQ(guarded([] { throw InputError("[x] gone"); }), "66: [x] gone");
}

TEST_F(SdkError, MapsForeignExceptions) {
  EXPECT_EQ(guarded([] { throw std::runtime_error("odd"); }), "70: odd");
  EXPECT_EQ(guarded([] { throw std::bad_alloc(); }), "71: out of memory");
  EXPECT_EQ(guarded([] { throw 7; }), "70: an exception of unknown type");
}

TEST_F(SdkError, PassesAnErrorOfTheHostOnWhole) {
  titan_error* original = host_.table()->error_new(host_.table(), TITAN_ERROR_IO, borrow("disk full"));
  titan_error* passed = guard(host_.table(), [&] { check(host_.table(), original); });
  EXPECT_EQ(passed, original);
  EXPECT_EQ(host_.take(passed), "74: disk full");
}

TEST_F(SdkError, FreesAnErrorOfTheHostThatIsHandled) {
  titan_error* error = host_.table()->error_new(host_.table(), TITAN_ERROR_IO, borrow("disk full"));
  EXPECT_EQ(guarded([&] {
              try {
                check(host_.table(), error);
              } catch (const Error& caught) {
                EXPECT_EQ(caught.code(), TITAN_ERROR_IO);
                EXPECT_STREQ(caught.what(), "disk full");
              }
            }),
            "");
}

}  // namespace
}  // namespace titan::sdk
