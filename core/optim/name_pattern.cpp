#include "core/optim/name_pattern.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <new>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace titan::optim {
namespace {

// Names are short: a search that needs more steps than this is a pattern gone wrong.
constexpr std::uint32_t kMatchLimit = 1'000'000;

std::string reason(int code) {
  std::array<PCRE2_UCHAR8, 256> text{};
  pcre2_get_error_message_8(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

PCRE2_SPTR8 units(std::string_view text) { return reinterpret_cast<PCRE2_SPTR8>(text.data()); }

template <class Pointer>
Pointer made(Pointer pointer) {
  if (pointer == nullptr) throw std::bad_alloc();
  return pointer;
}

}  // namespace

struct NamePattern::Compiled {
  explicit Compiled(const std::string& pattern) {
    int error = 0;
    PCRE2_SIZE offset = 0;
    code.reset(pcre2_compile_8(units(pattern), pattern.size(), PCRE2_UTF | PCRE2_UCP, &error, &offset, nullptr));
    if (code == nullptr) {
      throw ConfigError("[optim] optimizer.param_groups has a malformed pattern: '", printable(pattern),
                        "': ", reason(error), " at offset ", offset);
    }
    match.reset(made(pcre2_match_data_create_8(1, nullptr)));
    context.reset(made(pcre2_match_context_create_8(nullptr)));
    pcre2_set_match_limit_8(context.get(), kMatchLimit);
  }

  struct Free {
    void operator()(pcre2_code_8* p) const { pcre2_code_free_8(p); }
    void operator()(pcre2_match_data_8* p) const { pcre2_match_data_free_8(p); }
    void operator()(pcre2_match_context_8* p) const { pcre2_match_context_free_8(p); }
  };
  std::unique_ptr<pcre2_code_8, Free> code;
  std::unique_ptr<pcre2_match_data_8, Free> match;
  std::unique_ptr<pcre2_match_context_8, Free> context;
};

NamePattern::NamePattern(std::string pattern)
    : text_(std::move(pattern)), compiled_(std::make_unique<Compiled>(text_)) {}
NamePattern::~NamePattern() = default;
NamePattern::NamePattern(NamePattern&&) noexcept = default;

bool NamePattern::matches(std::string_view name) const {
  const int found = pcre2_match_8(compiled_->code.get(), units(name), name.size(), 0, 0, compiled_->match.get(),
                                  compiled_->context.get());
  // 0 is a match too: the match data has room for the whole match only.
  if (found >= 0) return true;
  if (found == PCRE2_ERROR_NOMATCH) return false;
  throw ConfigError("[optim] optimizer.param_groups has a pattern that cannot be searched for: '", printable(text_),
                    "': ", reason(found));
}

}  // namespace titan::optim
