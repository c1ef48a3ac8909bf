#include "core/rehearsal/fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace titan::rehearsal {
namespace {

constexpr std::int64_t kGibi = std::int64_t{1} << 30U;

RehearsalReport report_of(std::int64_t first, std::int64_t second) {
  RehearsalReport report;
  report.ranks.resize(2);
  report.ranks[0].stands_for = {0, 1};
  report.ranks[0].peak_bytes = first;
  report.ranks[1].rank = 2;
  report.ranks[1].stands_for = {2, 3, 4};
  report.ranks[1].peak_bytes = second;
  report.ranks[1].peak_place = "backward of micro-batch 3, layers.7.feed_forward";
  return report;
}

TEST(Fit, SaysWhatIsLeft) {
  const Fit found = fit(report_of(20 * kGibi, 60 * kGibi), 80 * kGibi);
  EXPECT_TRUE(found.fits());
  EXPECT_EQ(found.worst, 1U);
  EXPECT_EQ(found.ranks[0].headroom_bytes, 60 * kGibi);
  EXPECT_EQ(found.text,
            "fits in 80 GiB: rank 2 needs 60 GiB at its peak, in backward of micro-batch 3, layers.7.feed_forward; "
            "20 GiB are left");
}

TEST(Fit, SaysWhatIsMissingAndForHowMany) {
  const Fit found = fit(report_of(20 * kGibi, 85 * kGibi), 80 * kGibi);
  EXPECT_FALSE(found.fits());
  EXPECT_EQ(found.num_unfit, 3);
  EXPECT_EQ(found.text,
            "does not fit in 80 GiB: rank 2 needs 85 GiB at its peak, in backward of micro-batch 3, "
            "layers.7.feed_forward; 5 GiB are missing, and 3 ranks do not fit");
}

TEST(Fit, OfNobodyFits) { EXPECT_TRUE(fit({}, 1).fits()); }

}  // namespace
}  // namespace titan::rehearsal
