#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/config/mesh.hpp"
#include "core/config/rehearsal.hpp"
#include "core/rehearsal/channel_kind.hpp"

namespace titan::rehearsal {

/// What a rehearsed rank's calls mean for those it stands for: ranks of other places call the same in channels of the
/// same kind, and their peers stand as many places after them.
struct TranslatedCall {
  enum class Role { collective, send, receive };
  Role role = Role::collective;
  std::uint32_t kind = 0;       // index into Layout::kinds
  std::uint32_t signature = 0;  // equal numbers: what must be equal on all sides is
  std::int64_t steps = 0;       // of sends and receives: from the rank to its peer, wrapped
};

/// A number for each rank of a layout: those with equal numbers are alike in something. kNobody: not known.
using Colors = std::vector<std::int32_t>;
inline constexpr std::int32_t kNobody = -1;

/// The colors that meet in channels of a kind.
struct Meeting {
  std::vector<std::int32_t> colors;  // increasing, each once; kNobody among them where a member is not known
  std::int64_t leader = 0;           // of the first such channel
};

/// A rehearsal's report, read for all ranks of its layout. The report and the mesh outlive it.
class Layout {
 public:
  /// InternalError for a report that contradicts itself: an index out of range, a rank that two stand for, members of
  /// a channel that its name does not mean.
  Layout(const RehearsalReport& report, const config::Mesh& mesh);

  const std::vector<RehearsedRank>& ranks() const { return report_.ranks; }
  const config::Mesh& mesh() const { return mesh_; }
  const std::vector<ChannelKind>& kinds() const { return kinds_; }
  /// Of each rank the index of who stands for it.
  const Colors& classes() const { return classes_; }
  bool is_whole() const { return is_whole_; }
  /// By index of a call of a rehearsed rank.
  const std::vector<TranslatedCall>& calls(std::size_t rehearsed) const { return calls_[rehearsed]; }

  /// The distinct sets of colors that meet in channels of a kind. With `of_ranks` it also says for each rank which one
  /// is its own.
  std::vector<Meeting> meetings(const ChannelKind& kind, const Colors& colors,
                                std::vector<std::int32_t>* of_ranks = nullptr) const;

 private:
  void set_classes();
  void translate(std::size_t rehearsed);
  std::uint32_t kind_of(const std::string& channel);

  const RehearsalReport& report_;
  const config::Mesh& mesh_;
  std::vector<ChannelKind> kinds_;
  Colors classes_;
  bool is_whole_ = true;
  std::vector<std::vector<TranslatedCall>> calls_;
  std::map<std::string, std::uint32_t> kind_names_;
  std::map<std::string, std::uint32_t> signatures_;
};

}  // namespace titan::rehearsal
