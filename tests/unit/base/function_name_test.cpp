#include "core/base/function_name.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace titan {
namespace {

__attribute__((noinline)) int hidden_function(int number) { return number * 3; }

TEST(FunctionName, IsFoundForOnesThatAreNotExported) {
  const FunctionName found = function_at(reinterpret_cast<const void*>(&hidden_function));
  EXPECT_EQ(found.function, "titan::hidden_function");
  EXPECT_EQ(found.library, "base_test");
  EXPECT_EQ(hidden_function(1), 3);
}

TEST(FunctionName, IsFoundInLibraries) {
  EXPECT_NE(function_at(reinterpret_cast<const void*>(&std::abort)).function.find("abort"), std::string::npos);
}

TEST(FunctionName, OfNoCodeIsItsAddress) {
  EXPECT_EQ(function_at(reinterpret_cast<const void*>(0x10)).function, "0x10");
}

TEST(FunctionName, IsBare) {
  EXPECT_EQ(bare_function_name("void titan::a::(anonymous namespace)::f<int, b<c> >(int, char)"), "titan::a::f");
  EXPECT_EQ(bare_function_name("titan::X::operator()(int) const"), "titan::X::operator()");
  EXPECT_EQ(bare_function_name("titan::X::operator<(int)"), "titan::X::operator<");
  EXPECT_EQ(bare_function_name("titan::f(int) [clone .constprop.0]"), "titan::f");
  EXPECT_EQ(bare_function_name("titan::X::name[abi:cxx11]() const"), "titan::X::name");
  EXPECT_EQ(bare_function_name("main"), "main");
  EXPECT_EQ(bare_function_name(""), "");
}

}  // namespace
}  // namespace titan
