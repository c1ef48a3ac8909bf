#include "core/plugin/dl_message.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace titan::plugin {
namespace {

using ::testing::HasSubstr;

TEST(DlMessage, DemanglesAMissingSymbol) {
  const LoadProblem problem = explain_dl_message("/x/a.so: undefined symbol: _ZN2at4goneEi", {"libc.so.6"});
  EXPECT_EQ(problem.exit(), Exit::abi);
  EXPECT_STREQ(problem.what(), "missing symbol at::gone(int) (needed by /x/a.so)");
  EXPECT_THAT(problem.remedy(), HasSubstr("built for another libtorch"));
}

TEST(DlMessage, KeepsAPlainSymbol) {
  const LoadProblem problem = explain_dl_message("/x/a.so: undefined symbol: frobnicate, version FROB_1", {});
  EXPECT_STREQ(problem.what(), "missing symbol frobnicate (needed by /x/a.so)");
  EXPECT_THAT(problem.remedy(), HasSubstr("link the library that defines it"));
}

TEST(DlMessage, NamesAMissingLibrary) {
  const LoadProblem problem =
      explain_dl_message("libdep.so.3: cannot open shared object file: No such file or directory", {"libdep.so.3"});
  EXPECT_EQ(problem.exit(), Exit::abi);
  EXPECT_STREQ(problem.what(), "it needs the library libdep.so.3, which cannot be found");
  EXPECT_THAT(problem.remedy(), HasSubstr("LD_LIBRARY_PATH"));
}

TEST(DlMessage, KeepsWhatItDoesNotKnow) {
  const LoadProblem problem = explain_dl_message("/x/a.so: cannot apply additional memory protection", {});
  EXPECT_STREQ(problem.what(), "the system cannot open it: /x/a.so: cannot apply additional memory protection");
}

}  // namespace
}  // namespace titan::plugin
