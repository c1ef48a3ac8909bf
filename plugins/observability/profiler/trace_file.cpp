#include "plugins/observability/profiler/trace_file.hpp"

#include <zlib.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "plugins/observability/output_file.hpp"
#include "titan/sdk/text.hpp"

namespace titan::observability {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20U;
constexpr std::string_view kEvents = "\"traceEvents\": [";
constexpr std::string_view kBase = "\"baseTimeNanoseconds\": ";

/// Compresses what is written to it into a file. One thread.
class GzipFile {
 public:
  explicit GzipFile(const std::filesystem::path& path) : file_(path) {
    constexpr int kGzipWindow = 15 + 16, kMemory = 8;
    if (::deflateInit2(&stream_, Z_BEST_SPEED, Z_DEFLATED, kGzipWindow, kMemory, Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~GzipFile() { ::deflateEnd(&stream_); }
  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;

  void write(std::string_view bytes) { feed(bytes, Z_NO_FLUSH); }
  void finish() {
    feed({}, Z_FINISH);
    file_.finish();
  }

 private:
  void feed(std::string_view bytes, int flush) {
    // zlib does not write to its input.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      std::array<char, 1 << 16> out;
      stream_.next_out = reinterpret_cast<Bytef*>(out.data());
      stream_.avail_out = static_cast<uInt>(out.size());
      if (::deflate(&stream_, flush) == Z_STREAM_ERROR) throw std::runtime_error("zlib cannot compress a trace");
      file_.write({out.data(), out.size() - stream_.avail_out});
    } while (stream_.avail_out == 0);
  }

  OutputFile file_;
  z_stream stream_{};
};

std::size_t read_piece(std::ifstream& source, std::vector<char>& piece) {
  source.read(piece.data(), static_cast<std::streamsize>(piece.size()));
  return static_cast<std::size_t>(source.gcount());
}

std::int64_t base_of(std::string_view head) {
  const std::size_t at = head.find(kBase);
  std::int64_t base = 0;
  if (at == std::string_view::npos) return base;
  std::from_chars(head.data() + at + kBase.size(), head.data() + head.size(), base);
  return base;
}

/// Whether an array that begins here has elements.
bool has_elements(std::string_view rest) {
  const std::size_t next = rest.find_first_not_of(" \n\r\t");
  return next != std::string_view::npos && rest[next] != ']';
}

}  // namespace

void write_trace_file(const std::filesystem::path& source, const std::filesystem::path& target, std::string_view head,
                      const std::function<std::string(std::int64_t base_ns)>& events) {
  std::ifstream input(source, std::ios::binary);
  std::vector<char> piece(kPieceBytes);
  const std::string_view first(piece.data(), read_piece(input, piece));
  const std::size_t brace = first.find('{'), list = first.find(kEvents);
  if (list == std::string_view::npos || brace > list) {
    throw std::runtime_error(sdk::concat("Kineto wrote no trace: ", source.native()));
  }
  GzipFile file(target);
  file.write("{\n");
  file.write(head);
  if (!head.empty()) file.write(",");
  file.write(first.substr(brace + 1, list - brace - 1));
  file.write(kEvents);
  const std::string_view rest = first.substr(list + kEvents.size());
  const std::string own = events(base_of(first.substr(0, list)));
  file.write("\n  ");
  file.write(own);
  if (!own.empty() && has_elements(rest)) file.write(",");
  file.write(rest);
  while (const std::size_t size = read_piece(input, piece)) file.write({piece.data(), size});
  if (input.bad()) throw std::system_error(errno, std::generic_category(), "cannot read: " + source.native());
  file.finish();
}

}  // namespace titan::observability
