#pragma once

#include "core/base/json_field.hpp"
#include "core/data/bpe.hpp"
#include "core/data/tokenizer_file.hpp"

namespace titan::data {

/// Makes the tables of a byte-level BPE from the model section and the two tables of the file. Warns when some bytes
/// have no token. DataError: another kind of model, an option that is not supported, a merge of tokens that are not in
/// the vocabulary.
BpeTables make_bpe_tables(const JsonField& model, const TokenizerFile& file);

}  // namespace titan::data
