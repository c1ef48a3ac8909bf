#include "core/chart/axis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace titan::chart {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> texts(double low, double high, Unit unit, std::size_t count = 5) {
  return tick_texts(ticks(low, high, count, unit), unit);
}

TEST(AxisTest, TicksAreRound) {
  EXPECT_THAT(ticks(0, 10, 5, Unit::number), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(ticks(0, 4096, 4, Unit::bytes), ElementsAre(0, 1024, 2048, 3072, 4096));
  EXPECT_THAT(ticks(1, 3, 7, Unit::count), ElementsAre(1, 2, 3));
  EXPECT_THAT(ticks(1, 1, 5, Unit::number), IsEmpty());
  EXPECT_THAT(ticks(0, std::numeric_limits<double>::infinity(), 5, Unit::number), IsEmpty());
}

TEST(AxisTest, NumbersAreForAPerson) {
  EXPECT_EQ(number_text(1024, Unit::bytes), "1 KiB");
  EXPECT_EQ(number_text(8e-5, Unit::number), "8e-05");
  EXPECT_EQ(number_text(0.25, Unit::seconds), "250 ms");
  EXPECT_EQ(number_text(12.5, Unit::seconds), "12.5 s");
  EXPECT_EQ(number_text(599, Unit::seconds), "599 s");
  EXPECT_EQ(number_text(605, Unit::seconds), "10 min 5 s");
  EXPECT_EQ(number_text(123456, Unit::seconds), "34 h 18 min");
  EXPECT_EQ(number_text(5e-6, Unit::seconds), "5 µs");
  EXPECT_EQ(number_text(9999, Unit::count), "9999");
  EXPECT_EQ(number_text(1234567, Unit::count), "1,234,567");
  EXPECT_EQ(number_text(-12345, Unit::number), "-12,345");
}

TEST(AxisTest, TicksOfAnAxisHaveTheSameDigitsAndUnit) {
  EXPECT_THAT(texts(6, 8, Unit::number), ElementsAre("6.0", "6.5", "7.0", "7.5", "8.0"));
  EXPECT_THAT(texts(0, 8e-4, Unit::number), ElementsAre("0", "2e-4", "4e-4", "6e-4", "8e-4"));
  EXPECT_THAT(texts(0, 3e-4, Unit::number, 6),
              ElementsAre("0", "0.5e-4", "1.0e-4", "1.5e-4", "2.0e-4", "2.5e-4", "3.0e-4"));
  EXPECT_THAT(texts(0, 1.5, Unit::seconds, 3), ElementsAre("0", "0.5 s", "1.0 s", "1.5 s"));
  EXPECT_THAT(texts(0, 0.2, Unit::seconds, 2), ElementsAre("0", "100 ms", "200 ms"));
  EXPECT_THAT(texts(31457280, 32505856, Unit::bytes, 2), ElementsAre("30.0 MiB", "30.5 MiB", "31.0 MiB"));
  EXPECT_THAT(texts(0, 1e6, Unit::count), ElementsAre("0", "0.2M", "0.4M", "0.6M", "0.8M", "1.0M"));
  EXPECT_THAT(texts(40000, 50000, Unit::number, 2), ElementsAre("40k", "45k", "50k"));
  EXPECT_THAT(texts(1, 5, Unit::count), ElementsAre("1", "2", "3", "4", "5"));
}

TEST(AxisTest, TicksThatAreNearToEachOtherDiffer) {
  EXPECT_THAT(texts(1234567, 1234569, Unit::count, 2), ElementsAre("1,234,567", "1,234,568", "1,234,569"));
  EXPECT_THAT(texts(10.0001, 10.0003, Unit::number, 2), ElementsAre("10.0001", "10.0002", "10.0003"));
}

TEST(AxisTest, ARoundScaleEndsInTicks) {
  for (const Unit unit : {Unit::number, Unit::bytes, Unit::seconds}) {
    for (const double high : {1.7, 2.1, 99.0, 1e9}) {
      const Scale found = round_scale(1, high, 5, unit, 0, 100);
      const std::vector<double> places = ticks(found.low, found.high, 5, unit);
      EXPECT_LE(found.low, 1);
      EXPECT_GE(found.high, high);
      EXPECT_NEAR(places.front(), found.low, 1e-9 * high);
      EXPECT_NEAR(places.back(), found.high, 1e-9 * high);
    }
  }
}

}  // namespace
}  // namespace titan::chart
