#include <zlib.h>

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"
#include "core/checkpoint/dcp/dcp.hpp"
#include "core/checkpoint/dcp/item_bytes.hpp"
#include "core/checkpoint/dcp/metadata.hpp"

namespace titan::checkpoint {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{4} << 20U;

using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// An item and whose it is.
struct NamedItem {
  const std::string* name;
  const DcpItem* item;
};

/// The items of each file, in its order.
std::vector<std::vector<NamedItem>> items_by_file(const DcpMetadata& metadata) {
  std::vector<std::vector<NamedItem>> files(metadata.files.size());
  for (const auto& [name, tensor] : metadata.tensors) {
    for (const DcpChunk& chunk : tensor.chunks) files.at(chunk.item.file).push_back({&name, &chunk.item});
  }
  for (const auto& [name, item] : metadata.objects) files.at(item.file).push_back({&name, &item});
  for (std::vector<NamedItem>& items : files) {
    std::ranges::stable_sort(items, {}, [](const NamedItem& named) { return named.item->offset; });
  }
  return files;
}

/// Whether what went wrong is the checkpoint's fault, or its disk's.
bool is_of_a_checkpoint(const Error& error) {
  return error.exit() == Exit::data || error.exit() == Exit::no_input || error.exit() == Exit::io;
}

class DcpVerifier {
 public:
  DcpVerifier(const std::filesystem::path& folder, const Progress& progress)
      : folder_(folder), progress_(progress), metadata_(read_dcp_metadata(folder)) {}

  std::vector<std::string> run() {
    const std::vector<std::vector<NamedItem>> files = items_by_file(metadata_);
    for (const std::vector<NamedItem>& items : files) {
      for (const NamedItem& named : items) total_ += named.item->length;
    }
    for (std::size_t i = 0; i < files.size(); ++i) {
      noting(printable(metadata_.files[i]), [&] { check_file(metadata_.files[i], files[i]); });
    }
    return std::move(findings_);
  }

 private:
  /// Errors of what `check` looks at are findings of that place.
  template <class Check>
  void noting(const std::string& place, const Check& check) {
    try {
      check();
    } catch (const Error& error) {
      if (!is_of_a_checkpoint(error)) throw;
      findings_.push_back(concat(place, ": ", error.what()));
    }
  }

  void check_file(const std::string& name, const std::vector<NamedItem>& items) {
    const InputFile file = open_patiently(folder_ / name);
    for (const NamedItem& named : items) {
      const std::string place = concat(printable(name), ": ", printable(*named.name));
      noting(place, [&] { check_item(file, place, *named.item); });
    }
  }

  void check_item(const InputFile& file, const std::string& place, const DcpItem& item) {
    const ItemBytes bytes(file, item.offset, item.length);
    const ArchiveReader archive(bytes.range(), place);
    for (const std::string& name : archive.names()) {
      const ArchiveRecord record = archive.find(name);
      if (record.checksum == 0 || checksum_of(archive.bytes(), record) == record.checksum) continue;
      findings_.push_back(concat(place, ": damaged: bytes ", item.offset + record.begin, " to ",
                                 item.offset + record.begin + record.size, ", checksum is not its archive's"));
    }
  }

  std::uint32_t checksum_of(const RangeOfBytes& bytes, const ArchiveRecord& record) {
    uLong checksum = 0;
    for (std::uint64_t at = 0; at < record.size;) {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, record.size - at));
      piece_.resize(size);
      bytes.read(record.begin + at, piece_);
      checksum = ::crc32_z(checksum, reinterpret_cast<const Bytef*>(piece_.data()), size);
      at += size;
      done_ += size;
      if (progress_) progress_(done_, total_);
    }
    return static_cast<std::uint32_t>(checksum);
  }

  std::filesystem::path folder_;
  const Progress& progress_;
  DcpMetadata metadata_;
  std::string piece_;
  std::uint64_t done_ = 0, total_ = 0;
  std::vector<std::string> findings_;
};

}  // namespace

std::vector<std::string> verify_dcp(const std::filesystem::path& folder, const Progress& progress) {
  return DcpVerifier(folder, progress).run();
}

}  // namespace titan::checkpoint
