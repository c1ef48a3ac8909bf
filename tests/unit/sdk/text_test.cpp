#include "titan/sdk/text.hpp"

#include <gtest/gtest.h>

namespace titan::sdk {
namespace {

TEST(SdkText, ViewsAnAbsentStringAsEmpty) {
  EXPECT_EQ(view(kAbsent), "");
  EXPECT_EQ(view(borrow("wq")), "wq");
}

TEST(SdkText, BorrowsNeverAbsent) { EXPECT_NE(borrow(std::string_view()).data, nullptr); }

TEST(SdkText, JoinsTextsAndNumbers) {
  EXPECT_EQ(concat("dim ", 4096, ", lr ", 8e-4, ", ", true, ' ', std::string("end"), std::string_view("!")),
            "dim 4096, lr 8e-04, true end!");
  EXPECT_EQ(concat(0.1, " ", 500000.0, " ", 1e300), "0.1 5e+05 1e+300");
}

}  // namespace
}  // namespace titan::sdk
