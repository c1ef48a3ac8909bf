#include "core/comm/shm/meeting.hpp"

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "core/base/error.hpp"

namespace titan::comm::shm {
namespace {

// Each has a part of every buffer.
constexpr std::size_t kMostRanks = 256;
constexpr const char* kOffer = "shm/offer";
constexpr const char* kVerdict = "shm/verdict";
// Behind a mark that tells it from a problem.
constexpr char kYes = '+', kNo = '-';

std::string answer_key(std::size_t position) { return concat("shm/answer/", position); }
std::string heard_key(std::size_t position) { return concat("shm/heard/", position); }

/// One rank's way to the agreement.
class Meeting {
 public:
  explicit Meeting(const BackendParts& parts)
      : store_(*parts.store),
        members_(parts.facts.members),
        position_(static_cast<std::size_t>(parts.facts.position)) {}

  Agreement hold() {
    if (members_.size() > kMostRanks) return {nullptr, concat("there are more than ", kMostRanks, " ranks")};
    std::string problem = obtain();
    const bool is_first = position_ == 0;
    if (!is_first) store_.set(answer_key(position_), mark(problem));
    const std::string verdict = is_first ? judge(std::move(problem)) : store_.get_to_str(kVerdict);
    if (verdict.front() == kYes) return {std::move(segment_), {}};
    // It may end the run: nobody should learn that from another rank's failure.
    if (!is_first) store_.set(heard_key(position_), std::string(1, kYes));
    for (std::size_t position = 1; is_first && position < members_.size(); ++position) {
      store_.get_to_str(heard_key(position));
    }
    return {nullptr, verdict.substr(1)};
  }

 private:
  static std::string mark(const std::string& problem) { return problem.empty() ? std::string(1, kYes) : kNo + problem; }

  /// Makes the segment, or opens that of the first rank. Gives the problem.
  std::string obtain() {
    std::string offer;
    if (position_ != 0) offer = store_.get_to_str(kOffer);
    if (!offer.empty() && offer.front() == kNo) return offer.substr(1);
    std::string problem;
    try {
      segment_ = position_ == 0 ? Segment::create(members_.size()) : Segment::open(offer.substr(1), members_.size());
      segment_->claim(position_);
    } catch (const std::exception& error) {
      problem = concat("rank ", members_[position_], ": ", error.what());
    }
    if (position_ == 0) store_.set(kOffer, problem.empty() ? kYes + segment_->offer() : kNo + problem);
    return problem;
  }

  /// Hears the others and tells them what counts for all.
  std::string judge(std::string problem) {
    for (std::size_t position = 1; position < members_.size() && problem.empty(); ++position) {
      problem = store_.get_to_str(answer_key(position)).substr(1);
    }
    const std::string verdict = mark(problem);
    store_.set(kVerdict, verdict);
    return verdict;
  }

  c10d::Store& store_;
  const std::vector<std::int64_t>& members_;
  std::size_t position_;
  std::shared_ptr<Segment> segment_;
};

}  // namespace

Agreement meet(const BackendParts& parts) { return Meeting(parts).hold(); }

void decline(const BackendParts& parts) {
  const auto position = static_cast<std::size_t>(parts.facts.position);
  const std::string text = concat(kNo, "rank ", parts.facts.members[position], ": its comm.cpu_backend is gloo");
  if (position != 0) {
    parts.store->set(answer_key(position), text);
    return parts.store->set(heard_key(position), std::string(1, kYes));
  }
  parts.store->set(kOffer, text);
  parts.store->set(kVerdict, text);
}

}  // namespace titan::comm::shm
