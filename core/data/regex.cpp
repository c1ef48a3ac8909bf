#define PCRE2_CODE_UNIT_WIDTH 8

#include "core/data/regex.hpp"

#include <pcre2.h>

#include <new>
#include <stdexcept>
#include <utility>

#include "core/base/error.hpp"

namespace titan::data {

namespace {

// A linear pattern needs a few steps a match; a catastrophic one reaches this within a second.
constexpr std::uint32_t kMaxSteps = 20'000'000;
constexpr std::uint32_t kMaxHeapKibibytes = 64 * 1024;
constexpr std::size_t kMaxStackBytes = std::size_t{1} << 20U;

std::string error_text(int code) {
  PCRE2_UCHAR buffer[256];
  if (pcre2_get_error_message(code, buffer, sizeof buffer) < 0) return concat("error ", code);
  return reinterpret_cast<const char*>(buffer);
}

template <auto free>
struct Freeing {
  template <class T>
  void operator()(T* object) const {
    free(object);
  }
};

}  // namespace

struct RegexScratch::Buffers {
  std::unique_ptr<pcre2_match_data, Freeing<pcre2_match_data_free>> data{pcre2_match_data_create(1, nullptr)};
  std::unique_ptr<pcre2_match_context, Freeing<pcre2_match_context_free>> context{pcre2_match_context_create(nullptr)};
  std::unique_ptr<pcre2_jit_stack, Freeing<pcre2_jit_stack_free>> stack{
      pcre2_jit_stack_create(32 * 1024, kMaxStackBytes, nullptr)};
};

RegexScratch::RegexScratch() : buffers_(std::make_unique<Buffers>()) {
  if (!buffers_->data || !buffers_->context) throw std::bad_alloc();
  pcre2_set_match_limit(buffers_->context.get(), kMaxSteps);
  pcre2_set_heap_limit(buffers_->context.get(), kMaxHeapKibibytes);
  // Without a stack (no JIT on this processor) the library takes its interpreter.
  if (buffers_->stack) pcre2_jit_stack_assign(buffers_->context.get(), nullptr, buffers_->stack.get());
}

RegexScratch::~RegexScratch() = default;
RegexScratch::RegexScratch(RegexScratch&&) noexcept = default;
RegexScratch& RegexScratch::operator=(RegexScratch&&) noexcept = default;

struct Regex::Code {
  std::unique_ptr<pcre2_code, Freeing<pcre2_code_free>> code;
};

Regex::Regex(std::string pattern) : pattern_(std::move(pattern)) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  // In Oniguruma's Ruby syntax ^ and $ match at every line.
  constexpr std::uint32_t kOptions = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C;
  auto code = std::make_shared<Code>();
  code->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern_.data()), pattern_.size(), kOptions, &error,
                                 &offset, nullptr));
  if (!code->code) {
    throw std::invalid_argument(concat("invalid regular expression: ", error_text(error), " at byte ", offset));
  }
  pcre2_jit_compile(code->code.get(), PCRE2_JIT_COMPLETE);
  code_ = std::move(code);
}

bool Regex::find(std::string_view text, std::size_t start, RegexScratch& scratch, Match& match) const {
  RegexScratch::Buffers& buffers = *scratch.buffers_;
  const auto subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  const auto run = [&](std::uint32_t options) {
    return pcre2_match(code_->code.get(), subject, text.size(), start, PCRE2_NO_UTF_CHECK | options, buffers.data.get(),
                       buffers.context.get());
  };
  int result = run(0);
  // The compiled form has a fixed stack; the interpreter goes on within the heap limit.
  if (result == PCRE2_ERROR_JIT_STACKLIMIT) result = run(PCRE2_NO_JIT);
  if (result == PCRE2_ERROR_NOMATCH) return false;
  if (result < 0) {
    throw DataError("[tokenizer] the regular expression cannot be matched on this text: ", error_text(result),
                    ", text of ", text.size(), " bytes, pattern ", shortened(printable(pattern_), 200));
  }
  const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(buffers.data.get());
  match = {bounds[0], bounds[1]};
  return true;
}

}  // namespace titan::data
