// SPDX-License-Identifier: BSD-3-Clause
// asm_text.hpp: inline assembly as text: statements, their prefixes, mnemonics and operands. Knows
// nothing of LLVM.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace scute_pass {

struct asm_statement {
  size_t begin = 0;                   // of its first prefix, in asm_text::text
  std::vector<std::string> prefixes;  // "lock", "data16", "rep" ..., written out or as .byte
  std::string mnemonic;  // in small letters; a directive begins with a dot; empty: prefixes alone
  std::vector<std::string> operands;  // without blanks around them

  bool has_prefix(std::string_view name) const;
};

struct asm_text {
  std::string text;  // that of the dialect, where the source gives one for each
  std::vector<asm_statement> statements;
  bool has_label = false;
};

// Without blanks around it.
std::string_view trimmed(std::string_view text);

// `source`: as in IR: $0 and ${0:q} are operands, $$ is a dollar, $( $| $) are the dialects'
// alternatives.
asm_text parse_asm(std::string_view source, bool intel);

}  // namespace scute_pass
