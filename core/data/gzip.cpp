#include "core/data/gzip.hpp"

#include <zlib.h>

#include <new>
#include <string>

#include "core/base/error.hpp"
#include "core/base/files.hpp"

namespace titan::data {

namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20U;
constexpr int kGzipFormat = 16 + MAX_WBITS;

/// One gzip file on its way through zlib.
class Inflater {
 public:
  Inflater(std::string name, const std::function<void(std::string_view)>& piece)
      : name_(std::move(name)), piece_(piece), buffer_(kPieceBytes, '\0') {
    if (inflateInit2(&stream_, kGzipFormat) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  void take(std::string_view bytes) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    while (stream_.avail_in > 0) {
      if (between_members_ && !begin_member()) return;
      // A full buffer means that more may be ready, even when all input is taken.
      do {
        step();
      } while (stream_.avail_out == 0 && !between_members_);
    }
  }

  void finish() const {
    if (!started_) fail("the file is empty");
    if (!between_members_) fail("the gzip stream is cut");
  }

 private:
  [[noreturn]] void fail(std::string_view reason) const { throw DataError("[data] ", printable(name_), ": ", reason); }

  /// Skips the zeros that may pad a file behind its last member. Returns false when nothing else is left.
  bool begin_member() {
    while (started_ && stream_.avail_in > 0 && *stream_.next_in == 0) {
      ++stream_.next_in;
      --stream_.avail_in;
    }
    if (stream_.avail_in == 0) return false;
    if (started_) inflateReset(&stream_);
    started_ = true;
    between_members_ = false;
    return true;
  }

  void step() {
    stream_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
    stream_.avail_out = static_cast<uInt>(buffer_.size());
    const int result = inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      fail(concat("not a valid gzip stream: ", stream_.msg != nullptr ? stream_.msg : "damaged"));
    }
    const std::size_t produced = buffer_.size() - stream_.avail_out;
    if (produced > 0) piece_(std::string_view(buffer_).substr(0, produced));
    between_members_ = result == Z_STREAM_END;
  }

  std::string name_;
  const std::function<void(std::string_view)>& piece_;
  std::string buffer_;
  z_stream stream_{};
  bool started_ = false;
  bool between_members_ = true;
};

}  // namespace

void gunzip_in_pieces(const std::filesystem::path& path, const std::function<void(std::string_view)>& piece) {
  Inflater inflater(path.string(), piece);
  read_file_in_pieces(path, [&](std::string_view bytes) { inflater.take(bytes); });
  inflater.finish();
}

}  // namespace titan::data
