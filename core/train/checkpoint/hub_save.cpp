#include "core/train/checkpoint/hub_save.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/hashing.hpp"
#include "core/base/log.hpp"
#include "core/base/number.hpp"
#include "core/checkpoint/disk.hpp"
#include "core/checkpoint/index.hpp"
#include "core/checkpoint/shard.hpp"
#include "core/checkpoint/step_folders.hpp"
#include "core/train/checkpoint/rank_team.hpp"

namespace titan::train {
namespace {

namespace fs = std::filesystem;
using checkpoint::ManifestFile;
using checkpoint::ShardReport;

std::uintmax_t size_of(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) throw IoError("[checkpoint] cannot read file: ", printable(path.native()), ": ", error.message());
  return size;
}

/// The save of one step, as one rank goes through it.
class HubSave {
 public:
  HubSave(checkpoint::Team& team, const checkpoint::Options& options, const HubStep& what)
      : team_(team), calls_(checkpoint::system_calls()), options_(options), what_(what) {}

  void run() {
    begin();
    try {
      write_shards();
      write_files();
      work_together(team_, act("publishing"), [this] {
        if (is_first()) publish();
      });
    } catch (...) {
      if (is_first()) checkpoint::give_up_step(calls_, temporary_);
      throw;
    }
  }

 private:
  std::string act(const char* what) const { return concat(what, ' ', checkpoint::step_name(what_.step)); }
  bool is_first() const { return team_.rank() == 0; }

  void begin() {
    work_together(team_, act("beginning"), [this] {
      if (!is_first()) return;
      save_id_ = checkpoint::draw_id();
      temporary_ = checkpoint::begin_step(calls_, options_.folder, what_.step, save_id_, what_.history);
    });
    save_id_ = team_.gather(save_id_).front();
    temporary_ = team_.gather(temporary_.native()).front();
  }

  void write_shards() {
    ShardReport mine;
    work_together(team_, act("writing"), [&] {
      const checkpoint::ShardLayout layout = checkpoint::lay_out_shard(what_.parts, save_id_);
      mine = checkpoint::write_shard(calls_, temporary_ / checkpoint::shard_name(team_.rank(), team_.size()), layout);
    });
    for (const std::string& text : team_.gather(checkpoint::write_shard_report(mine))) {
      shards_.push_back(checkpoint::read_shard_report(text));
    }
  }

  void write_files() {
    std::string mine;
    work_together(team_, act("exporting"), [&] {
      checkpoint::Source source;
      source.folder = temporary_;
      checkpoint::add_index(source, checkpoint::index_of(temporary_, shards_, save_id_));
      const checkpoint::HubExport how{.dtype = options_.export_dtype, .rank = team_.rank(), .world_size = team_.size()};
      for (const std::string& name : checkpoint::export_hub(calls_, source, what_.names, temporary_, how)) {
        mine += concat(name, ' ', size_of(temporary_ / name), ' ', hash128_file(temporary_ / name), '\n');
      }
    });
    for (const std::string& text : team_.gather(mine)) {
      for (const std::string& line : split(text, '\n')) {
        if (!line.empty()) files_.push_back(listed(line));
      }
    }
  }

  static ManifestFile listed(const std::string& line) {
    const std::vector<std::string> words = split(line, ' ');
    TITAN_CHECK(words.size() == 3, "a report of a hub file: ", line);
    return {words[0], parse_number<std::uint64_t>(words[1]).value_or(0), words[2]};
  }

  void publish() {
    for (const ShardReport& shard : shards_) {
      if (calls_.unlink((temporary_ / shard.name).c_str()) == 0) continue;
      throw IoError("[checkpoint] cannot remove file: ", printable((temporary_ / shard.name).native()));
    }
    checkpoint::Manifest manifest;
    manifest.step = what_.step;
    manifest.save_id = save_id_;
    manifest.contents = checkpoint::Contents::model_only;
    manifest.origin = what_.origin;
    manifest.files = files_;
    checkpoint::publish_step(calls_, options_.folder, temporary_, std::move(manifest), {}, {}, [this] {
      checkpoint::abandon_newer(calls_, options_.folder, what_.history, save_id_.substr(0, 8));
    });
    checkpoint::retain(calls_, options_.folder, options_.keep_latest_k, what_.history);
    log_info("checkpoint", checkpoint::step_name(what_.step),
             " saved in the form of the Hugging Face hub: ", files_.size(), files_.size() == 1 ? " file" : " files");
  }

  checkpoint::Team& team_;
  checkpoint::SystemCalls& calls_;
  const checkpoint::Options& options_;
  const HubStep& what_;
  std::string save_id_;
  fs::path temporary_;
  std::vector<ShardReport> shards_;
  std::vector<ManifestFile> files_;
};

}  // namespace

void save_hub_step(checkpoint::Team& team, const checkpoint::Options& options, const HubStep& what) {
  HubSave(team, options, what).run();
}

}  // namespace titan::train
