#pragma once

#include <string>
#include <string_view>

namespace titan::data {

/// Rewrites a pattern written for Oniguruma (which Hugging Face's tokenizers use) so that PCRE2 with UTF and UCP
/// matches the same text. std::invalid_argument says what the two engines understand differently and cannot be
/// rewritten.
std::string oniguruma_to_pcre2(std::string_view pattern);

/// A pattern that matches `text` itself.
std::string escape_regex(std::string_view text);

}  // namespace titan::data
