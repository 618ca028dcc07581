// SPDX-License-Identifier: BSD-3-Clause
#include "asm_events.hpp"

#include "asm_address.hpp"
#include "asm_text.hpp"

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <cstdlib>

namespace scute_pass {
namespace {

int flush_kind_of(const asm_statement& statement) {
  const auto& name = statement.mnemonic;
  // How they were written before assemblers knew them: clflushopt and clwb are clflush and xsaveopt
  // after a prefix.
  if (name == "clflush")
    return statement.has_prefix("data16") ? SCUTE_SHIELD_CLFLUSHOPT : SCUTE_SHIELD_CLFLUSH;
  if (name == "xsaveopt" && statement.has_prefix("data16")) return SCUTE_SHIELD_CLWB;
  if (name == "clflushopt") return SCUTE_SHIELD_CLFLUSHOPT;
  if (name == "clwb") return SCUTE_SHIELD_CLWB;
  return 0;
}

enum class stream_form { none, sized, vector, masked, direct64 };

struct stream_mnemonic {
  stream_form form = stream_form::none;
  unsigned size = 0;
};

stream_mnemonic stream_of(std::string_view name) {
  struct row {
    std::string_view name;
    stream_mnemonic meaning;
  };
  static constexpr row rows[] = {
      {"movnti", {stream_form::sized, 0}},       {"movntil", {stream_form::sized, 4}},
      {"movntiq", {stream_form::sized, 8}},      {"movntq", {stream_form::sized, 8}},
      {"movntss", {stream_form::sized, 4}},      {"movntsd", {stream_form::sized, 8}},
      {"movdiri", {stream_form::sized, 0}},      {"movdiril", {stream_form::sized, 4}},
      {"movdiriq", {stream_form::sized, 8}},     {"movntdq", {stream_form::sized, 16}},
      {"movntps", {stream_form::sized, 16}},     {"movntpd", {stream_form::sized, 16}},
      {"vmovntdq", {stream_form::vector, 0}},    {"vmovntps", {stream_form::vector, 0}},
      {"vmovntpd", {stream_form::vector, 0}},    {"maskmovq", {stream_form::masked, 8}},
      {"maskmovdqu", {stream_form::masked, 16}}, {"vmaskmovdqu", {stream_form::masked, 16}},
      {"movdir64b", {stream_form::direct64, 64}}};
  for (const auto& known : rows)
    if (known.name == name) return known.meaning;
  return {};
}

bool is_jump(const asm_statement& statement) {
  const auto& name = statement.mnemonic;
  return !name.empty() && (name[0] == 'j' || name.compare(0, 4, "loop") == 0);
}

// Bytes written out that may be one of the instructions which must be seen: 0f ae (flushes,
// fences), 0f c3, 0f e7, 0f 2b, 0f f7 (non-temporal stores), 0f 38 (movdir64b).
bool is_hidden_code(const asm_statement& statement) {
  if (statement.mnemonic != ".byte") return false;
  for (size_t i = 0; i + 1 < statement.operands.size(); ++i) {
    if (std::strtoul(statement.operands[i].c_str(), nullptr, 0) != 0x0f) continue;
    const auto next = std::strtoul(statement.operands[i + 1].c_str(), nullptr, 0);
    for (const unsigned long second : {0xaeUL, 0xc3UL, 0xe7UL, 0x2bUL, 0xf7UL, 0x38UL})
      if (next == second) return true;
  }
  return false;
}

class reader {
 public:
  reader(llvm::CallBase& call, bool want_locked) : call_(call), want_locked_(want_locked) {
    const auto* code = llvm::cast<llvm::InlineAsm>(call.getCalledOperand());
    intel_ = code->getDialect() == llvm::InlineAsm::AD_Intel;
    text_ = parse_asm(code->getAsmString(), intel_);
  }

  asm_reading read() {
    const bool alone =
        std::count_if(text_.statements.begin(), text_.statements.end(), [](const asm_statement& s) {
          return s.mnemonic.empty() || s.mnemonic[0] != '.';
        }) == 1;
    asm_operands operands(call_, alone);
    for (const auto& statement : text_.statements) {
      read_statement(statement, operands);
      if (!result_.error.empty()) return std::move(result_);
    }
    if (result_.found.empty()) return std::move(result_);
    if (llvm::isa<llvm::CallBrInst>(call_) || llvm::isa<llvm::InvokeInst>(call_))
      return refuse(
          "assembly that jumps or throws cannot be instrumented; put the flush or fence into an "
          "asm of its own");
    if (moved_ && (text_.has_label || has_jump_))
      return refuse(
          "a flush or a non-temporal store in assembly that jumps cannot be followed; write the "
          "loop in C");
    if (moved_ && (locked_ || stored_after_fence_))
      return refuse(
          "a fence, a store and a flush in one assembly cannot be reported in time; put each into "
          "its own asm");
    result_.stores = stored_;
    result_.before = !(moved_ && stored_);
    result_.skippable = alone && flush_begins_.size() == 1 && call_.getType()->isVoidTy();
    label();
    return std::move(result_);
  }

 private:
  asm_reading refuse(std::string text) {
    result_.error = std::move(text);
    return std::move(result_);
  }

  bool is_memory_target(const asm_statement& statement, const asm_operands& operands) const {
    if (statement.operands.empty()) {
      static constexpr std::string_view harmless[] = {"nop",      "pause", "lfence", "vzeroupper",
                                                      "vzeroall", "emms",  "ud2",    "rdtsc"};
      return std::find(std::begin(harmless), std::end(harmless), statement.mnemonic) ==
             std::end(harmless);
    }
    if (is_jump(statement) || statement.mnemonic.compare(0, 8, "prefetch") == 0 ||
        statement.mnemonic.compare(0, 3, "nop") == 0)
      return false;
    for (std::string_view reading :
         {"cmp", "test", "vptest", "ptest", "bt", "btl", "btq", "cmpl", "cmpq", "testl", "testq"})
      if (statement.mnemonic == reading) return false;
    if (statement.mnemonic.compare(0, 4, "push") == 0 ||
        statement.mnemonic.compare(0, 4, "call") == 0)
      return true;
    return operands.is_memory(target(statement));
  }

  const std::string& target(const asm_statement& statement) const {
    return intel_ ? statement.operands.front() : statement.operands.back();
  }
  const std::string& source(const asm_statement& statement) const {
    return intel_ ? statement.operands.back() : statement.operands.front();
  }

  void read_statement(const asm_statement& statement, asm_operands& operands) {
    if (is_hidden_code(statement)) {
      result_.error =
          "bytes of '.byte' may be a flush, a fence or a non-temporal store; write its mnemonic";
      return;
    }
    if (!statement.mnemonic.empty() && statement.mnemonic[0] == '.') return;
    if (is_jump(statement)) has_jump_ = true;
    if (const int kind = flush_kind_of(statement)) return read_flush(statement, kind, operands);
    if (statement.mnemonic == "sfence" || statement.mnemonic == "mfence") {
      result_.found.push_back(
          {event::kind::fence,
           statement.mnemonic == "sfence" ? SCUTE_SHIELD_SFENCE : SCUTE_SHIELD_MFENCE, nullptr, 0});
      return;
    }
    if (const auto form = stream_of(statement.mnemonic); form.form != stream_form::none)
      return read_stream(statement, form, operands);
    const bool exchange = statement.mnemonic.compare(0, 4, "xchg") == 0;
    bool memory = false;
    for (const auto& operand : statement.operands) memory = memory || operands.is_memory(operand);
    if (statement.has_prefix("lock") || (exchange && memory))
      return read_locked(statement, operands);
    if (statement.mnemonic.empty()) return;
    if (is_memory_target(statement, operands)) {
      stored_ = true;
      stored_after_fence_ = stored_after_fence_ || !result_.found.empty();
      if (moved_) too_late(statement);
    }
  }

  void too_late(const asm_statement& statement) {
    result_.error = "'" + statement.mnemonic +
                    "' may store after a flush or a non-temporal store of the same assembly; put "
                    "them into an asm each";
  }

  void read_flush(const asm_statement& statement, int kind, asm_operands& operands) {
    if (statement.operands.size() != 1) {
      result_.error = "'" + statement.mnemonic + "' without one operand";
      return;
    }
    auto* address = operands.address_of(statement.operands[0]);
    if (!address) return unresolved(statement, operands);
    result_.found.push_back({event::kind::flush, kind, address, 0});
    flush_begins_.push_back(statement.begin);
    moved_ = true;
  }

  void read_stream(const asm_statement& statement, stream_mnemonic form, asm_operands& operands) {
    if (statement.operands.size() < 2) {
      result_.error = "'" + statement.mnemonic + "' without its operands";
      return;
    }
    const bool fenced =
        std::any_of(result_.found.begin(), result_.found.end(),
                    [](const event& earlier) { return earlier.what == event::kind::fence; });
    unsigned size = form.size;
    if (size == 0) size = operands.register_size(source(statement));
    if (size == 0) {
      result_.error =
          "the length of '" + statement.mnemonic + "' cannot be derived from its operands";
      return;
    }
    llvm::Value* address = nullptr;
    if (form.form == stream_form::masked) {
      address = operands.address_in_named("%rdi");
    } else if (form.form == stream_form::direct64) {
      address = operands.address_in_register(target(statement));
    } else {
      address = operands.address_of(target(statement));
    }
    if (!address) return unresolved(statement, operands);
    result_.found.push_back({event::kind::stream, 0, address, size});
    stored_after_fence_ = stored_after_fence_ || fenced;
    moved_ = stored_ = true;
  }

  void read_locked(const asm_statement& statement, asm_operands& operands) {
    if (moved_) return too_late(statement);
    result_.found.push_back({event::kind::fence, SCUTE_SHIELD_LOCKED, nullptr, 0});
    stored_ = locked_ = true;
    if (!want_locked_) return;
    for (const auto& operand : statement.operands) {
      if (!operands.is_memory(operand)) continue;
      auto* address = operands.address_of(operand);
      // The stack's register points to no view.
      if (!address && operand.find("%rsp") == std::string::npos &&
          operand.find("%esp") == std::string::npos)
        return unresolved(statement, operands);
      if (address) result_.locked.push_back(address);
    }
  }

  void unresolved(const asm_statement& statement, const asm_operands& operands) {
    result_.error =
        "the address of '" + statement.mnemonic + "' cannot be resolved: " + operands.error();
  }

  void label() {
    if (flush_begins_.empty()) return;
    result_.labelled = text_.text;
    for (auto place = flush_begins_.rbegin(); place != flush_begins_.rend(); ++place)
      result_.labelled.insert(*place, flush_row());
  }

  llvm::CallBase& call_;
  bool want_locked_, intel_ = false;
  asm_text text_;
  asm_reading result_;
  llvm::SmallVector<size_t, 2> flush_begins_;
  bool moved_ = false;   // a flush or a non-temporal store was there
  bool stored_ = false;  // a store was there
  bool stored_after_fence_ = false, locked_ = false, has_jump_ = false;
};

}  // namespace

asm_reading read_asm(llvm::CallBase& call, bool want_locked) {
  return reader(call, want_locked).read();
}

bool asm_may_fence(const llvm::CallBase& call) {
  const auto* code = llvm::cast<llvm::InlineAsm>(call.getCalledOperand());
  const auto text =
      parse_asm(code->getAsmString(), code->getDialect() == llvm::InlineAsm::AD_Intel);
  return std::any_of(
      text.statements.begin(), text.statements.end(), [](const asm_statement& statement) {
        const auto& name = statement.mnemonic;
        return name == "sfence" || name == "mfence" || statement.has_prefix("lock") ||
               name.compare(0, 4, "xchg") == 0 || name.compare(0, 4, "call") == 0;
      });
}

std::string flush_row() {
  return ".pushsection scute_shield_flushes,\"a?\",@progbits\n.long 7713f-.\n.popsection\n7713: ";
}

std::string module_asm_offence(std::string_view text) {
  std::string escaped;  // there are no operands: a dollar is a dollar
  for (const char c : text) escaped += c == '$' ? std::string("$$") : std::string(1, c);
  for (const auto& statement : parse_asm(escaped, false).statements) {
    if (is_hidden_code(statement)) return ".byte";
    if (flush_kind_of(statement) || stream_of(statement.mnemonic).form != stream_form::none ||
        statement.mnemonic == "sfence" || statement.mnemonic == "mfence")
      return statement.mnemonic;
  }
  return {};
}

}  // namespace scute_pass
