#include "core/data/text_normalizer.hpp"

#include <array>
#include <utility>

namespace titan::data {

TextNormalizer TextNormalizer::parse(const JsonField& section) {
  TextNormalizer result;
  result.add(section);
  return result;
}

void TextNormalizer::add(const JsonField& section) {
  constexpr std::array<std::pair<const char*, NormalForm>, 4> kForms = {
      {{"NFC", NormalForm::nfc}, {"NFD", NormalForm::nfd}, {"NFKC", NormalForm::nfkc}, {"NFKD", NormalForm::nfkd}}};
  const std::string& type = section.at("type").text();
  if (type == "Sequence") {
    for (const JsonField& item : section.at("normalizers").items()) add(item);
    return;
  }
  for (const auto& [name, form] : kForms) {
    if (type != name) continue;
    constexpr std::size_t kMaxForms = 16;
    if (forms_.size() >= kMaxForms) section.fail("too many normalizers: limit ", kMaxForms);
    forms_.push_back(form);
    return;
  }
  section.fail("normalizer not supported: ", printable(type), " (supported: NFC, NFD, NFKC, NFKD, Sequence)");
}

std::string TextNormalizer::apply(std::string_view text) const {
  std::string result(text);
  for (const NormalForm form : forms_) result = normalize(result, form);
  return result;
}

}  // namespace titan::data
